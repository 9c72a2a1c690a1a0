# Two adapters, of which one refuses to scan, then the other, then both. A beacon that only one of them hears does not leave while that
# one refuses, and leaves when it has gone while the other one refuses. What refuses is told with its name.
# kernels: uml
# not quick: it tests the radio; what the rest of the program makes of a fault, 09, 65 and 67 test
. "$BENCH/guest/lib.sh"

broker_on
controller_on first
controller_on second -a 00:AA:01:00:00:43
tell first "beacon 1 C0:00:00:00:00:0A 500 20 -65 5 $UUID 10053 4097 -59"
tell second "beacon 1 C0:00:00:00:00:0B 500 20 -65 5 $UUID 10053 4098 -59"
mkdir -p /run/state
cat >/run/config.json <<Y
{
    "_type": "configuration", "tid": "RM", "host": "127.0.0.1", "pubTopicBase": "owntracks/test/room", "scanner": "mgmt",
    "waypoints": [
        { "_type": "waypoint", "rid": "one", "desc": "One:$UUID:10053:4097", "tst": 1 },
        { "_type": "waypoint", "rid": "two", "desc": "Two:$UUID:10053:4098", "tst": 2 }]
}
Y
chmod 600 /run/config.json
"$GATEWAY" --config /run/config.json --state-dir /run/state run >>/out/gateway 2>&1 &
GATEWAY_PID=$!
# told EVENT RID
told() { grep "\"event\":\"$1\"" /out/messages | grep -c "\"rid\":\"$2\""; }
left() { [ "$(told leave "$1")" -ge "$2" ]; }
# off NAME ADAPTER: another program switches the scan off, so that the kernel must start it again
off() {
    if [ "$CONTROLLER" = bluetooth5 ]; then
        hcitool -i "$2" cmd 0x08 0x0042 00 00 00 00 00 00 >>/out/hcitool
    else
        hcitool -i "$2" cmd 0x08 0x000c 00 00 >>/out/hcitool
    fi
}
refuses() { tell "$1" refuse 0x0c; off "$1" "$2"; within 4 "it is told that $2 refuses" status_says "$2.*refuses to scan"; }
# goes_on NAME ADAPTER
goes_on() { tell "$1" refuse 0; within 6 "$2 listens again" is_well "$2"; }
is_well() { "$GATEWAY" --config /run/config.json --state-dir /run/state status | grep '^radio' | grep "$1" | grep -q '  listening  '; }

within 20 "both beacons enter" happened enter 2
within 5 "both listen" sh -c "is_both=\$($GATEWAY --config /run/config.json --state-dir /run/state status | grep -c '^radio *listening'); [ \$is_both = 2 ]"
sleep 30
refuses first hci0
sleep 90
expect "the other one listens" is_well hci1
expect "no beacon leaves" [ "$(events leave)" = 0 ]
tell second "stop 1"
within 30 "what goes at the other adapter leaves" left two 1
expect "what the first one heard stays" [ "$(told leave one)" = 0 ]
tell second "beacon 1 C0:00:00:00:00:0B 500 20 -65 5 $UUID 10053 4098 -59"
within 10 "what comes back enters" sh -c "[ \$(grep '\"event\":\"enter\"' /out/messages | grep -c '\"rid\":\"two\"') = 2 ]"
sleep 30
refuses second hci1
sleep 60
expect "where both refuse, no beacon leaves" [ "$(events leave)" = 1 ]
goes_on first hci0
sleep 60
expect "and none where the first one is back" [ "$(events leave)" = 1 ]
goes_on second hci1
sleep 60
expect "and none where both are" [ "$(events leave)" = 1 ]
tell first "stop 1"
within 30 "what goes at the first one leaves" left one 1
gateway_off
