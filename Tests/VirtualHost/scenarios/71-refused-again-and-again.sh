# Two beacons that stay, and a controller that refuses, accepts and refuses again, for times of 1 to 30 s, beside discoveries of another
# program: no beacon leaves, and what is told is true within 2 s each time.
# kernels: uml
# for a release
# long
. "$BENCH/guest/lib.sh"
. "$BENCH/guest/orders.sh"

bluetoothd_beside_page
tell first "beacon 1 C0:00:00:00:00:0A 500 20 -65 5 $UUID 10053 4097 -59"
tell first "beacon 2 C0:00:00:00:00:0B 500 20 -70 5 $UUID 10053 4098 -59"
mkdir -p /run/state
cat >/run/config.json <<Y
{
    "_type": "configuration", "tid": "RM", "host": "127.0.0.1", "pubTopicBase": "owntracks/test/room", "scanner": "mgmt", "http": $GATEWAY_HTTP,
    "waypoints": [
        { "_type": "waypoint", "desc": "One:$UUID:10053:4097", "tst": 1 }, { "_type": "waypoint", "desc": "Two:$UUID:10053:4098", "tst": 2 }]
}
Y
chmod 600 /run/config.json
# shellcheck disable=SC2016 # the other shell expands it
sh -c 'echo $$ >/run/gateway.pid; exec "$0" "$@"' "$GATEWAY" --verbose --config /run/config.json --state-dir /run/state run 2>&1 |
    stamped >/out/first.gateway &
within 20 "the beacons enter" happened enter 2
sleep 30
# Seconds of refusal, then of acceptance.
for round in "20 1" "1 1" "8 3" "30 2" "3 5" "12 12" "2 30" "25 1" "6 20" "60 60"; do
    say "refuses for ${round% *} s, accepts for ${round#* } s"
    tell first refuse 0x0c
    discovery 1 &
    sleep "${round% *}"
    tell first refuse 0
    sleep "${round#* }"
    wait $!
done
within 10 "it listens at the end" listens
sleep 60
longest=$(longest_false_claim first)
expect "no claim is false for more than 2 s, but $longest s" at_most "$longest" 2
expect "both entered once, and none left" [ "$(events enter) $(events leave)" = "2 0" ]
tell first "stop 2"
within 30 "one that goes then leaves" happened leave 1
kill "$(cat /run/gateway.pid)"
