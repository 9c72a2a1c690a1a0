# Where no beacon is on the air, beside bluetoothd, the check that the controller scans costs at most one wake-up a minute and 2 % of the
# memory: the same program with CAP_NET_ADMIN alone, which cannot check it.
# kernels: uml
# for a release
. "$BENCH/guest/lib.sh"

# All threads: how often each of them waited for something.
wakes() { cat /proc/"$GATEWAY_PID"/task/*/status | awk '/^voluntary/ { sum += $2 } END { print sum }'; }
# Its own memory, without that of the files that it maps.
memory() { awk '/^RssAnon/ { print $2 }' /proc/"$GATEWAY_PID"/status; }
# rests CAPABILITIES: sets woken, the wake-ups of half an hour, and kept, kB
rests() {
    mkdir -p /run/state
    printf '{ "_type": "configuration", "host": "127.0.0.1", "scanner": "mgmt", "tid": "RM", "pubTopicBase": "owntracks/test/room",
        "waypoints": [{ "_type": "waypoint", "desc": "Key:%s:10053:4097", "tst": 1 }] }\n' "$UUID" >/run/config.json
    chmod 600 /run/config.json
    setpriv --bounding-set="-all,$1" --inh-caps="-all,$1" "$GATEWAY" --config /run/config.json --state-dir /run/state run >/out/gateway 2>&1 &
    GATEWAY_PID=$!
    within 60 "the gateway listens" grep -q '>listening: hci0' /out/gateway
    # Until the work after a start is over.
    sleep 120
    woken=$(wakes)
    sleep 1800
    woken=$(($(wakes) - woken)) kept=$(memory)
    say "half an hour with $1: $woken wake-ups, $kept kB"
    gateway_off
    rm -rf /run/state
}
bus_on
bluetoothd_on
broker_on
controller_on first
within 20 "the adapter is on" adapter_is_on
rests +net_admin
expect "without the capability nothing is checked" grep -q 'really scans is not checked' /out/gateway
unchecked=$woken least=$kept
rests +net_admin,+net_raw
expect "with it, it is" sh -c '! grep -q "is not checked" /out/gateway'
expect "at most one wake-up a minute more" at_most "$woken" $((unchecked + 30))
expect "at most 2 % more memory" at_most $((kept * 100)) $((least * 102))
