# How soon beacons leave, and that none leaves that stays, at 100, 50, 25 and 10 % of the time: the table in Docs/presence.md.
# At 10 % chance decides: a beacon leaves falsely 0.1 to 0.7 times an hour (the same document), so one of three in two
# minutes may, and comes back.
# Three beacons stay for two minutes and depart. A fourth stays, because a radio that suddenly hears nothing looks deaf.
# kernels: uml
# long
# not quick
. "$BENCH/guest/lib.sh"

# Intervals in milliseconds; the minor number is the same.
intervals="250 500 1000"
config() {
    printf '{_type: "configuration", tid: "RM", host: "127.0.0.1", pubTopicBase: "owntracks/test/room", scanner: "mgmt", http: null,'
    printf ' scanDuty: %s, waypoints: [' "$1"
    for ms in $intervals; do
        printf '{_type: "waypoint", rid: "r%s", desc: "B%s:%s:10053:%s", tst: 1},' "$ms" "$ms" "$UUID" "$ms"
    done
    echo ']}'
}
# told EVENT MILLISECONDS: how often this beacon's region was entered or left
told() { grep "\"event\":\"$1\"" /out/messages | grep -c "\"rid\":\"r$2\""; }
left() { eval "[ $(told leave "$1") -gt \$leaves_$1 ]"; }
inside() { [ "$(told enter "$1")" -gt "$(told leave "$1")" ]; }

broker_on
controller_on first
tell first "beacon 9 C0:00:00:00:00:09 400 10 -65 3 $UUID 10053 9 -59"
for duty in 1 0.5 0.25 0.1; do
    falsely=0
    [ $duty != 0.1 ] || falsely=1
    rm -rf /run/state && mkdir -p /run/state
    config $duty >/run/config.json && chmod 600 /run/config.json
    number=0
    for ms in $intervals; do
        number=$((number + 1))
        tell first "beacon $number C0:00:00:00:00:0$number $ms 10 -65 3 $UUID 10053 $ms -59"
    done
    "$GATEWAY" --config /run/config.json --state-dir /run/state run >>/out/gateway 2>&1 &
    GATEWAY_PID=$!
    for ms in $intervals; do within 60 "the beacon of $ms ms enters at scanDuty $duty" inside $ms; done
    before=$(events leave)
    sleep 120
    expect "of those that stay at scanDuty $duty, $falsely leave at most" [ "$(events leave)" -le $((before + falsely)) ]
    for ms in $intervals; do
        within 60 "the beacon of $ms ms is inside before it departs" inside $ms
        eval "leaves_$ms=$(told leave $ms)"
    done
    for number in 1 2 3; do tell first "stop $number"; done
    begin=$(uptime_ms)
    waiting=$intervals
    while [ -n "$waiting" ]; do
        still=''
        passed=$(($(uptime_ms) - begin))
        for ms in $waiting; do
            if left $ms; then
                say "scanDuty $duty, $ms ms: left after $((passed / 1000)).$((passed / 100 % 10)) s"
            else
                still="$still $ms"
            fi
        done
        waiting=$still
        [ $passed -lt 300000 ] || fail "these beacons do not leave: $waiting"
        sleep 0.5
    done
    gateway_off
done
