# bluez without any capability: beacons are heard through bluetoothd's monitor (where it offers one) and through a
# discovery, a beacon that leaves falls silent, enter and leave come out, and what is lost is told.
# kernels: uml
# long
. "$BENCH/guest/lib.sh"

PROBE_AS="setpriv --reuid=65534 --clear-groups --bounding-set=-all --inh-caps=-all"
bus_on
controller_on first
two_beacons first

bluetoothd_on -E
probe_on bluez
within 10 "bluetoothd's monitor is used" probe_says 'listening hci0 on .*monitor'
within 5 "both beacons are heard" hears 1
expect "what is lost is told" probe_says 'with CAP_NET_ADMIN the mgmt scanner hears all'
sleep 10
expect "a beacon that stays put is heard every second" hears 1
tell first "stop 1"
tell first "stop 2"
sleep 9
expect "beacons that left are heard no more" sh -c "tail -n 2 /out/probe | grep -q 'reports=0'"
bluetoothd_killed
within 3 "bluetoothd's end is told" is_listening hci0 off
bluetoothd_on -E
two_beacons first
within 10 "bluetoothd's return is told" is_listening hci0 on
within 5 "beacons are heard again" hears 1
probe_off
expect "two beacons were heard" [ "$(total beacons)" = 2 ]

broker_on
gateway_on bluez 8
within 10 "the beacon enters" happened enter 1
sleep 15
expect "and does not leave while it is there" [ "$(events leave)" = 0 ]
stop_beacons first
within 25 "the beacon leaves" happened leave 1
gateway_off
expect "one enter and one leave, no more" [ "$(events enter) $(events leave)" = "1 1" ]
expect "the gateway reports the loss" grep -q 'with CAP_NET_ADMIN the mgmt scanner hears all' /out/gateway
two_beacons first

bluetoothd_off
sleep 2
bluetoothd_on
within 20 "the adapter is on" adapter_is_on
probe_on bluez
within 10 "a discovery is used" probe_says 'listening hci0 on .*discovery'
within 15 "beacons are heard" hears
sleep 25
probe_off
say "by discovery: $(total reports) reports, longest gap $(total gap_ms) ms"
expect "two beacons were heard" [ "$(total beacons)" = 2 ]
expect "the gaps are no longer than the discovery's round" at_most "$(total gap_ms)" 13000

gateway_on bluez 40
within 20 "the beacon enters by discovery" happened enter 2
sleep 40
expect "and does not leave while it is there" [ "$(events leave)" = 1 ]
stop_beacons first
within 70 "the beacon leaves" happened leave 2
gateway_off
expect "the gateway reports this loss, too" grep -q 'about once in 10 s' /out/gateway
