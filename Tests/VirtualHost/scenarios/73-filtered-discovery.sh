# Another program's discovery has a filter for a service, so the kernel tells nobody of beacons while it runs. They are heard all the
# same, none of them leaves, and one that comes during it enters.
# kernels: uml
# not quick: it tests the radio; what the rest of the program makes of a fault, 09, 65 and 67 test
. "$BENCH/guest/lib.sh"

bluetoothd_beside_page
tell first "beacon 2 C0:00:00:00:00:0B 500 20 -65 5 $UUID 10053 4098 -59"
gateway_on mgmt '"auto"'
within 20 "it listens" listens
within 20 "the adapter is on" adapter_is_on
sleep 20
# discovery_with_filter SECONDS
discovery_with_filter() {
    (
        echo "menu scan"
        echo "uuids 0000180d-0000-1000-8000-00805f9b34fb"
        echo back
        echo "scan on"
        sleep "$1"
        echo "scan off"
        sleep 1
        echo quit
    ) | bluetoothctl >>/out/bluetoothctl 2>&1
}
discovery_with_filter 120 &
within 5 "the discovery runs" did first "scan on .* active"
sleep 2
heard=$(metric ibeacon_gateway_advertising_reports_total)
sleep 20
now=$(metric ibeacon_gateway_advertising_reports_total)
expect "a beacon of 2 Hz is heard each time, and once: $((now - heard)) times in 20 s" [ $((now - heard)) -ge 36 -a $((now - heard)) -le 41 ]
slow_beacon first
within 5 "a beacon that comes during the discovery enters" happened enter 1
wait $!
sleep 30
expect "and does not leave" [ "$(events leave)" = 0 ]
discovery_with_filter 60 &
sleep 5
tell first "stop 1"
within 50 "one that goes during a discovery leaves" happened leave 1
wait $!
expect "no controller was reset" [ "$(resets)" = 0 ]
gateway_off
