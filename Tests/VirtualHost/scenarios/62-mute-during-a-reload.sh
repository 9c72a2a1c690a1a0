# A reload changes the share of the time in which the radio listens while the controller does not answer, refuses, or does not stop its
# scan, by mgmt and by hci. That is told with the reason; the beacon does not leave, and afterwards the new share is in force.
# kernels: uml
# for a release
# long
. "$BENCH/guest/lib.sh"

GATEWAY_HTTP='{"listen": "127.0.0.1:8080"}'
set_duty() { sed -i "s/\"http\"/\"scanDuty\": $1, \"http\"/; s/\"scanDuty\": [^,]*, \"scanDuty\": [^,]*,/\"scanDuty\": $1,/" /run/config.json; }
# scans_with WINDOW
scans_with() { grep 'scan on' /out/first.log | tail -n 1 | grep -q "interval=96 window=$1 "; }
broker_on
controller_on first
tell first "beacon 1 C0:00:00:00:00:0A 200 20 -65 5 $UUID 10053 4097 -59"
entered=0
for way in mgmt hci; do
    gateway_on $way '"auto"'
    entered=$((entered + 1))
    within 20 "the beacon enters by $way" happened enter $entered
    sleep 30
    # Trouble, what is told, the share, the window.
    while read -r order value share window reason; do
        say "$way: $order $value"
        tell first $order $value
        [ $order != stuck ] || tell first deaf
        set_duty $share
        kill -HUP "$GATEWAY_PID"
        within 4 "it is told that nothing listens" listens_not
        within 2 "with the reason" status_says "$reason"
        sleep 30
        expect "the beacon does not leave" [ "$(events leave)" = 0 ]
        heard=$(metric ibeacon_gateway_advertising_reports_total)
        tell first $order 0
        within 8 "the beacon is heard again" heard_more "$heard"
        within 2 "it listens" listens
        expect "with the new share" scans_with $window
        sleep 70
        expect "the beacon does not leave" [ "$(events leave)" = 0 ]
    done <<Y
mute 1 0.5 48 does not answer the command to scan
refuse 0x0c 0.25 24 refuses to scan: Command Disallowed
stuck 0x0c "auto" 96 .
Y
    gateway_off
    rm -rf /run/state
    : >/out/gateway
done
expect "the beacon entered once by each and never left" [ "$(events enter) $(events leave)" = "2 0" ]
