# The words of the scenarios in which a controller misbehaves at random for an hour. Sourced after lib.sh.

# orders SEED KINDS: prints an hour of orders, each with the seconds before it. KINDS: kinds of trouble, each for 1 to 60 s.
orders() {
    awk -v seed="$1" -v kinds="$2" 'BEGIN {
        srand(seed)
        count = split(kinds, kind, " ")
        split("0x0c 0x07 0x11 0x12 0x1f 0x3a", status, " ")
        for (t = 0; t < 3500; ) {
            pause = 5 + int(rand() * 90)
            length_ = 1 + int(rand() * 60)
            which = kind[1 + int(rand() * count)]
            value = which == "mute" ? 1 : status[1 + int(rand() * 6)]
            if (which == "discovery") print pause, "discovery", length_ % 20 + 1
            else if (which == "deaf") print pause, "tell deaf"
            else {
                print pause, "tell", which, value
                # Something that makes the kernel change the scan, so that the controller can refuse.
                if (rand() < 0.7) print 0, "discovery", 1 + int(rand() * 5)
                print length_, "tell", which, 0
            }
            t += pause + length_
        }
    }'
}

# stamped: each line of standard input, behind the seconds since the start
stamped() {
    while IFS= read -r line; do
        read -r up _ </proc/uptime
        echo "$up $line"
    done
}

# longest_false_claim CONTROLLER: for how many seconds at most the gateway claimed to listen while the controller did not scan. Both logs
# count the seconds since the start.
longest_false_claim() {
    {
        awk '/ scan on filter=0/ { print $1, "scan", 1 } / scan on filter=1| scan off filter| reset ends/ { print $1, "scan", 0 }' "/out/$1.log"
        awk '/ <[67]>listening: |>goes on: / { print $1, "claim", 1 } />not listening: |>pauses: / { print $1, "claim", 0 }' "/out/$1.gateway"
    } | sort -n | awk '
        { if (isFalse && $1 - since > longest) longest = $1 - since
          state[$2] = $3
          now = state["claim"] == 1 && state["scan"] != 1
          if (now && !isFalse) since = $1
          isFalse = now }
        END { print longest + 0 }'
}

# an_hour SEED KINDS BEACONS: with so many beacons (at most 3) that stay; fails if one of them leaves, or if a claim is false for more
# than 2 s. The controller's name is hour and the seed.
an_hour() {
    _entered=$(events enter) _left=$(events leave) _hour=hour$1
    controller_on "$_hour"
    _number=0
    while [ $_number -lt "$3" ]; do
        _number=$((_number + 1))
        tell "$_hour" "beacon $_number C0:00:00:00:00:0$_number $((_number * 250)) 20 -65 3 $UUID 10053 $((4096 + _number)) -59"
    done
    rm -rf /run/state && mkdir /run/state
    cat >/run/config.json <<X
{
    "_type": "configuration", "tid": "RM", "host": "127.0.0.1", "pubTopicBase": "owntracks/test/room", "scanner": "mgmt",
    "waypoints": [
        { "_type": "waypoint", "desc": "One:$UUID:10053:4097", "tst": 1 }, { "_type": "waypoint", "desc": "Two:$UUID:10053:4098", "tst": 2 },
        { "_type": "waypoint", "desc": "Three:$UUID:10053:4099", "tst": 3 }]
}
X
    chmod 600 /run/config.json
    # Pauses are told with --verbose alone.
    # shellcheck disable=SC2016 # the other shell expands it
    sh -c 'echo $$ >/run/gateway.pid; exec "$0" "$@"' "$GATEWAY" --verbose --config /run/config.json --state-dir /run/state run 2>&1 |
        stamped >"/out/$_hour.gateway" &
    within 20 "the beacons enter (seed $1)" happened enter $((_entered + $3))
    sleep 20
    orders "$1" "$2" >"/out/$_hour.orders"
    while read -r pause what rest; do
        sleep "$pause"
        say "$what $rest"
        # shellcheck disable=SC2086 # words are wanted
        if [ "$what" = tell ]; then tell "$_hour" $rest; else discovery $rest & fi
    done <"/out/$_hour.orders"
    sleep 60
    _longest=$(longest_false_claim "$_hour")
    expect "no beacon that stays leaves (seed $1)" [ "$(events leave)" = "$_left" ]
    expect "no claim is false for more than 2 s, but $_longest s (seed $1)" at_most "$_longest" 2
    kill "$(cat /run/gateway.pid)"
    controller_off "$_hour"
    sleep 5
}
