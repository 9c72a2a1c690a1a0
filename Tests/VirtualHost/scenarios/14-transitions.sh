# The gateway itself: enter and leave come out on a real broker, and no discovery, bluetoothd or adapter that comes
# and goes makes a beacon leave that stays put.
# kernels: uml qemu
. "$BENCH/guest/lib.sh"

events() { grep -c "\"event\":\"$1\"" /out/messages; }
happened() { [ "$(events "$1")" -ge "$2" ]; }

bus_on
bluetoothd_on
broker_on
controller_on first
two_beacons first
mkdir -p /run/state
cat >/run/config.json <<X
{
    "_type": "configuration", "tid": "RM", "host": "127.0.0.1", "pubTopicBase": "owntracks/test/room",
    "scanner": "mgmt", "leaveAfter": 6, "http": null,
    "waypoints": [{ "_type": "waypoint", "desc": "Key:$UUID:10053:4097", "lat": 0, "lon": 0, "rad": 0, "tst": 1 }]
}
X
chmod 600 /run/config.json
"$GATEWAY" --config /run/config.json --state-dir /run/state run >/out/gateway 2>&1 &
GATEWAY_PID=$!
within 20 "the beacon enters" happened enter 1

if [ "$KERNEL" = uml ]; then
    (echo "scan on"; sleep 8; echo "scan off"; sleep 1; echo quit) | bluetoothctl >/out/bluetoothctl 2>&1
    bluetoothd_killed
    sleep 8
    bluetoothd_on
    sleep 2
    rfkill block bluetooth
    sleep 10
    rfkill unblock bluetooth
    sleep 5
    controller_off first
    sleep 10
    controller_on first -a 00:AA:01:00:00:43
    two_beacons first
    sleep 8
    expect "a beacon that stayed put never left" [ "$(events leave)" = 0 ]
    expect "and did not enter again" [ "$(events enter)" = 1 ]
fi

stop_beacons first
within 25 "the beacon leaves" happened leave 1
kill "$GATEWAY_PID"
wait "$GATEWAY_PID"
expect "the gateway ends cleanly" [ $? = 0 ]
expect "one enter and one leave, no more" [ "$(events enter) $(events leave)" = "1 1" ]
