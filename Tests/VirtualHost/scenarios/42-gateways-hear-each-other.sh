# Two gateways whose controllers hear each other: each reports the beacon of the other like that of a tag, and never its own. No beacon of
# a gateway enters a region, even if a region's pattern fits it.
# kernels: uml
# not quick: a minute and a half of the virtual host's time
. "$BENCH/guest/lib.sh"
. "$BENCH/guest/survey.sh"

broker_on
mkdir -p /run/air
for room in kitchen hall; do
    address=00:AA:01:00:00:0$([ $room = kitchen ] && echo 1 || echo 2)
    controller_on $room -a "$address" -l /run/air
    printf '{_type: "configuration", host: "127.0.0.1", username: "test", deviceId: "%s", scanner: "mgmt", adapter: "%s", http: null,
        waypoints: [{_type: "waypoint", desc: "Any:%s", tst: 1}]}' "$room" "$address" $SURVEY >/run/$room.json
    "$GATEWAY" --config /run/$room.json --state-dir /run/state-$room run >>/out/$room 2>&1 &
    echo $! >/run/$room.gateway
    within 20 "the gateway of the $room listens" grep -q "listening: hci" /out/$room
done
site_asks '"kitchen":1,"hall":2'
# reports GATEWAY MINOR: how many of its messages have a reading of that gateway's beacon
reports() { grep "^ibeacon-rooms/home/heard/$1 " /out/messages | grep -ic "\"id\":\"$SURVEY:0:$2\""; }
reported() { [ "$(reports "$1" "$2")" -ge "${3:-1}" ]; }
within 80 "the hall reports the kitchen" reported hall 1
within 80 "the kitchen reports the hall" reported kitchen 2
before=$(reports hall 1)
sleep 60
seconds=$(($(reports hall 1) - before))
say "seconds of a minute in which the hall reports the kitchen: $seconds"
expect "in its share of the minute" at_least "$seconds" 5
[ "$CONTROLLER" = legacy ] || expect "nearly each second" at_least "$seconds" 50
for pair in "kitchen 1" "hall 2"; do
    set -- $pair
    expect "the $1 never reports its own" [ "$(reports "$1" "$2")" = 0 ]
    card_says '"survey":{"interval"' "$1" || fail "the card of the $1 does not say that it sends"
    expect "the status of the $1 names the other gateway" sh -c "'$GATEWAY' --config /run/$1.json --state-dir /run/state-$1 status --json | grep -q '\"gateway\":\"'"
done
expect "no region is entered by a gateway" [ "$(events enter)" = 0 ]
for room in kitchen hall; do
    kill "$(cat /run/$room.gateway)"
    wait "$(cat /run/$room.gateway)"
done
