# A host that is shared with Home Assistant in its automatic mode: another program opens windows of 10 s every 5 min, once with a filter and
# once without, for an hour (a third of it where idle time is not skipped). A beacon that stays does not leave, and one that comes in
# every second window enters each time.
# kernels: uml
# long
# not quick
. "$BENCH/guest/lib.sh"

bus_on
bluetoothd_on
broker_on
controller_on first
tell first "beacon 1 C0:00:00:00:00:0A 1000 20 -65 5 $UUID 10053 4097 -59"
tell first "beacon 3 C0:00:00:00:00:0C 500 20 -70 5 $UUID 10053 4099 -59"
mkdir -p /run/state
cat >/run/config.json <<X
{
    "_type": "configuration", "tid": "RM", "host": "127.0.0.1", "pubTopicBase": "owntracks/test/room", "scanner": "mgmt",
    "waypoints": [
        { "_type": "waypoint", "rid": "stays", "desc": "Stays:$UUID:10053:4097", "tst": 1 },
        { "_type": "waypoint", "rid": "comes", "desc": "Comes:$UUID:10053:4098", "tst": 2 }]
}
X
chmod 600 /run/config.json
"$GATEWAY" --config /run/config.json --state-dir /run/state run >>/out/gateway 2>&1 &
GATEWAY_PID=$!
# told EVENT RID
told() { grep "\"event\":\"$1\"" /out/messages | grep -c "\"rid\":\"$2\""; }
# entered TIMES: the beacon that comes
entered() { [ "$(told enter comes)" -ge "$1" ]; }
# window FILTER SECONDS: as bleak opens one
window() {
    (
        printf 'menu scan\n%sback\n' "$1"
        echo "scan on"
        sleep "$2"
        echo "scan off"
        sleep 1
        echo quit
    ) | bluetoothctl >>/out/bluetoothctl 2>&1
}
within 20 "the adapter is on" adapter_is_on
sleep 60
if [ "$KERNEL" = uml ]; then rounds=6; else rounds=2; fi
for round in $(seq 1 $rounds); do
    window '' 10 &
    sleep 3
    tell first "beacon 2 C0:00:00:00:00:0B 1000 20 -70 5 $UUID 10053 4098 -59"
    within 5 "the beacon that comes in window $round enters" entered $round
    wait $!
    sleep 120
    tell first "stop 2"
    sleep 170
    window 'uuids 0000180d-0000-1000-8000-00805f9b34fb
' 10
    sleep 288
done
expect "the beacon that stays entered once and never left" [ "$(told enter stays) $(told leave stays)" = "1 0" ]
expect "the other came and went $rounds times" [ "$(told enter comes) $(told leave comes)" = "$rounds $rounds" ]
expect "nothing was told of the pauses" [ "$(logged 'not listening:')" = 0 ]
expect "no controller was reset" [ "$(logged 'reset:')" = 0 ]
kill "$GATEWAY_PID"
