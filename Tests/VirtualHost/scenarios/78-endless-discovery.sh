# Another program's discovery that never ends, without a filter and with one for a service. Beacons are heard all the time. While it runs,
# the controller refuses to scan, and later does not answer. No beacon that stays leaves, and one that goes does.
# kernels: uml
# long
# for a release
# not quick
. "$BENCH/guest/lib.sh"

slow_beacon_is_inside
within 20 "the adapter is on" adapter_is_on
# endless FILTER
endless() {
    (
        printf 'menu scan\n%sback\n' "$1"
        echo "scan on"
        sleep 100000
    ) | bluetoothctl >>/out/bluetoothctl 2>&1 &
    ENDLESS=$!
}
for filter in '' 'uuids 0000180d-0000-1000-8000-00805f9b34fb
'; do
    for trouble in "refuse 0x0c" "mute 1"; do
        endless "$filter"
        sleep 300
        expect "the beacon is heard" listens
        heard=$(metric ibeacon_gateway_advertising_reports_total)
        sleep 20
        expect "often" heard_more $((heard + 25))
        tell first "$trouble"
        within 20 "it is told that nothing listens" listens_not
        within 2 "with the reason" status_says "the controller"
        sleep 60
        expect "the beacon does not leave" [ "$(events leave)" = 0 ]
        heard=$(metric ibeacon_gateway_advertising_reports_total)
        tell first "${trouble% *} 0"
        within 10 "the beacon is heard again" heard_more "$heard"
        within 10 "it listens" listens
        sleep 100
        expect "the beacon does not leave" [ "$(events leave)" = 0 ]
        # A reset of the controller ends the discovery in bluetoothd, so that the next trouble needs another one.
        kill $ENDLESS
        sleep 20
    done
done
endless ''
sleep 60
tell first "stop 1"
within 40 "a beacon that goes during the discovery leaves" happened leave 1
gateway_off
