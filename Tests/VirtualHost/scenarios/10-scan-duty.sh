# The scan's duty reaches the controller: the window and the interval at each duty, by mgmt and by hci. A reload changes it
# while the gateway runs, and the beacon stays. bluez cannot set it, and says so.
# kernels: uml
# long
# not quick: half a minute of a processor
. "$BENCH/guest/lib.sh"

# scans_with SCANNER WINDOW: what the controller was asked for last
scans_with() {
    grep 'scan on' /out/first.log | tail -n 1 | grep -q "filter=0 passive interval=96 window=$2 "
}
# set_duty DUTY: for the next start or reload
set_duty() { sed -i "s/\"http\"/\"scanDuty\": $1, \"http\"/; s/\"scanDuty\": [^,]*, \"scanDuty\": [^,]*,/\"scanDuty\": $1,/" /run/config.json; }

duty_is() { [ "$(metric ibeacon_gateway_scan_duty_ratio | awk '{ printf "%d", $1 * 100 + 0.5 }')" = "$1" ]; }
status_says() { "$GATEWAY" --config /run/config.json --state-dir /run/state status | grep -q "$1"; }

GATEWAY_HTTP='{"listen": "127.0.0.1:8080"}'
broker_on
controller_on first
two_beacons first
enters=0
for way in mgmt hci; do
    probe_on $way
    within 10 "$way hears" hears
    expect "$way lets the controller listen all the time, passively, without duplicate filter" scans_with $way 96
    probe_off
    expect "$way knows the duty" [ "$(total_of hci0 duty)" = 1.0 ]
    within 5 "nothing is left scanning by $way" is_idle first

    gateway_on $way 20
    enters=$((enters + 1))
    within 20 "the beacon enters" happened enter $enters
    # Duty, window in units of 0.625 ms, duty as the status rounds it.
    for row in "0.5 48 50" "0.25 24 25" "0.1 10 10" "0.05 5 5" "\"auto\" 96 100"; do
        # shellcheck disable=SC2086
        set -- $row
        set_duty "$1"
        restarts=$(metric ibeacon_gateway_scan_restarts_total)
        kill -HUP "$GATEWAY_PID"
        within 5 "$way asks for a window of $2 of 96 at scanDuty $1" scans_with $way "$2"
        within 5 "the metrics show $3 %" duty_is "$3"
        expect "this is no restart" [ "$(metric ibeacon_gateway_scan_restarts_total)" = "$restarts" ]
        reports=$(metric ibeacon_gateway_advertising_reports_total)
        sleep 20
        share=$(($(metric ibeacon_gateway_advertising_reports_total) - reports))
        say "$way at scanDuty $1: $share reports in 20 s"
        # Two beacons of 100 ms: 400 advertisements in 20 s, and chance.
        expect "at least 0.6 of the expected $(($3 * 4)) arrive" at_least $((share * 10)) $(($3 * 4 * 6))
        expect "at most 1.4 of them arrive" at_most $((share * 10)) $(($3 * 4 * 14))
    done
    expect "the beacon stayed" [ "$(events enter) $(events leave)" = "$enters $((enters - 1))" ]
    stop_beacons first
    within 40 "the beacon leaves" happened leave $enters
    gateway_off
    rm -rf /run/state
    two_beacons first
done

bus_on
bluetoothd_on
gateway_on bluez 20
within 20 "it listens by bluez" status_says 'by bluez'
set_duty 0.25
kill -HUP "$GATEWAY_PID"
within 10 "the status says that bluez did not set it" status_says "scanDuty 0.25 has no effect on hci0: 'bluez' did not set it"
gateway_off
