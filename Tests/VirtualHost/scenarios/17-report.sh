# A report for a maintainer: what the controller, the kernel and the service say, beside a gateway that goes on. What can be
# known in the virtual host is filled. A controller that has to be reset is counted.
# kernels: uml
. "$BENCH/guest/lib.sh"

GATEWAY_HTTP='{"listen": "127.0.0.1:8080"}'
report() { "$GATEWAY" --config /run/config.json --state-dir /run/state doctor --force --report /run/report.json "$@"; }
# shows PATTERN
shows() { grep -q "$1" /run/report.json || { cat /run/report.json; return 1; }; }

bus_on
bluetoothd_on
broker_on
controller_on first
two_beacons first
gateway_on mgmt 20
within 20 "the beacon enters" happened enter 1
sed -i 's/"http"/"scanDuty": 0.5, "http"/' /run/config.json
kill -HUP "$GATEWAY_PID"
sleep 2
expect "a report is made" report --duration 60
cat /run/report.json
for field in '"bluetoothd": "5' '"bluetoothdRuns": true' '"scanDutySetting": 0.5' '"attachedBy": "\(virtual\|UART\)"' '"hciVersion": [89]' \
    '"monitorsSet": 1' '"isOn": true' '"scanner": "mgmt"' '"duty": 0.5' '"listeningShare": 1' '"resets": 0' '"lost": 0' \
    '"restartsOfTheService": 0' '"statusesMissed": 0' '"sharesAntennaWithActiveWiFi": false'; do
    expect "the report has $field" shows "$field"
done
extended=false
[ "$CONTROLLER" = bluetooth5 ] && extended=true
expect "it knows whether the controller has extended scanning" shows "\"extendedScanning\": $extended"
expect "about 10 reports a second are counted at half of the time" shows '"reportsPerSecond": \(8\|9\|1[0-2]\)\.'
expect "no identity or address is in it" sh -c \
    "! grep -i -E '$UUID|00.AA.01.00.00.42|C0.00.00.00.00|fda50693' /run/report.json"
expect "the beacon stayed" [ "$(events enter) $(events leave)" = "1 0" ]

tell first hang
expect "a report is made while the controller hangs" report --duration 60
expect "the reset is counted" shows '"resets": 1'
expect "the beacon stayed" [ "$(events enter) $(events leave)" = "1 0" ]
gateway_off

report_without_service() { report --duration 60; [ $? = 69 ]; }
expect "a report without a service is no success" report_without_service
expect "it says why there are no figures" shows '"service": {"unknown":"the service did not answer'
