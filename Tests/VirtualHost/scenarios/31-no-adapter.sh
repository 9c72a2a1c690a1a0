# Where the adapter is another one, another program has it for itself, or it is not configured, the log, status and doctor name
# that and what to do; with one that is free again the gateway goes on.
# kernels: uml
. "$BENCH/guest/lib.sh"

# gateway_with MEMBERS: a gateway of its own log
gateway_with() {
    mkdir -p /run/state
    : >/out/gateway
    cat >/run/config.json <<X
{
    "_type": "configuration", "tid": "RM", "host": "127.0.0.1", "pubTopicBase": "owntracks/test/room", "http": null,
    "waypoints": [{ "_type": "waypoint", "desc": "Key:$UUID:10053:4097", "lat": 0, "lon": 0, "rad": 0, "tst": 1 }],
    $1
}
X
    chmod 600 /run/config.json
    "$GATEWAY" --config /run/config.json --state-dir /run/state run >>/out/gateway 2>&1 &
    GATEWAY_PID=$!
}
# all_say CAUSE CURE: the log, status and doctor
all_say() {
    within 5 "the log says: $1" grep -q "$1; .*$2" /out/gateway
    expect "once" [ "$(grep -c "$1" /out/gateway)" = 1 ]
    "$GATEWAY" --config /run/config.json --state-dir /run/state status >/out/status
    expect "status says it" grep -q "$1; .*$2" /out/status
    "$GATEWAY" --config /run/config.json --state-dir /run/state2 doctor --listen 2 >/out/doctor
    expect "doctor says it" doctor_says "$1" "$2"
    expect "and names no findings that are not there" sh -c '! grep -q "see the findings above" /out/doctor'
}
doctor_says() { grep -A1 "BAD  radio.*$1" /out/doctor | grep -q -- "-> .*$2"; }

broker_on
controller_on first
controller_on second -a 00:AA:01:00:00:43
sleep 1
controller_off first
two_beacons second
for scanner in mgmt hci; do
    gateway_with "\"scanner\": \"$scanner\", \"adapter\": \"hci0\""
    all_say "the adapter hci0 of the setting 'adapter' is not there; there is hci1 (00:AA:01:00:00:43)" 'name one that is there'
    gateway_off
done
gateway_with '"scanner": "mgmt", "adapter": "00:AA:01:00:00:42"'
all_say "the adapter 00:AA:01:00:00:42 of the setting 'adapter' is not there; there is hci1 (00:AA:01:00:00:43)" 'name one that is there'
controller_on first
tell first "beacon 1 C0:00:00:00:00:0A 100 10 -65 5 $UUID 10053 4097 -59"
within 20 "the adapter that comes back is heard" happened enter 1
"$GATEWAY" --config /run/config.json --state-dir /run/state status >/out/status
expect "and is missed no more" sh -c '! grep -q "is not there" /out/status'
gateway_off
controller_off second
sleep 1

gateway_with '"scanner": "mgmt"'
within 10 "the gateway listens" grep -q '>listening: hci0' /out/gateway
python3 "$BENCH/userchannel.py" hci0 >/out/userchannel 2>&1 & TAKER=$!
within 5 "another program takes the adapter" grep -q taken /out/userchannel
all_say 'hci0 (00:AA:01:00:00:42) is used by another program for itself (HCI user channel)' 'end that program'
kill $TAKER
wait $TAKER
within 20 "the gateway goes on when that ends" sh -c "grep 'listening: hci0' /out/gateway | tail -n 1 | grep -q '>listening'"
gateway_off
controller_off first
sleep 1

controller_on raw -r
gateway_with '"scanner": "mgmt"'
all_say 'hci0.* is a raw device, which the kernel does not use' 'another adapter'
gateway_off
controller_off raw
sleep 1
controller_on unconfigured -u
gateway_with '"scanner": "mgmt"'
all_say 'hci0.* is not configured, so the kernel does not use it' 'journalctl -k'
gateway_off
