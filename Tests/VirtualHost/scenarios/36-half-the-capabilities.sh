# A container with the host's network and without capabilities, and one with CAP_NET_ADMIN alone: log, scan and doctor name what is missing.
# With CAP_NET_ADMIN alone mgmt hears, and says once that what it claims is not checked.
# kernels: uml
# not quick: 11 and 12 show what the rest of the program makes of a missing right
. "$BENCH/guest/lib.sh"

broker_on
controller_on first
slow_beacon first
asks() { printf '{ "_type": "configuration", "host": "127.0.0.1", "scanner": "%s", "tid": "RM", "pubTopicBase": "owntracks/test/room" }\n' "$1" >/run/config.json; chmod 600 /run/config.json; }
none="setpriv --bounding-set=-all --inh-caps=-all"
half="setpriv --bounding-set=-all,+net_admin --inh-caps=-all,+net_admin"
for row in mgmt/CAP_NET_ADMIN hci/CAP_NET_RAW; do
    way=${row%/*} capability=${row#*/}
    asks $way
    $none "$GATEWAY" --config /run/config.json scan --duration 2 >/out/said 2>&1
    expect "scan names what $way needs" grep -q "the $way scanner needs $capability" /out/said
    $none "$GATEWAY" --config /run/config.json --state-dir /run/none doctor --listen 2 >/out/said 2>&1
    expect "doctor does" grep -A1 "BAD  radio.*$capability is missing" /out/said
    rm -rf /run/state && mkdir /run/state
    $none timeout 10 "$GATEWAY" --config /run/config.json --state-dir /run/state run >/out/said 2>&1
    expect "the log does, once" [ "$(grep -c "the $way scanner needs $capability" /out/said)" = 1 ]
done
asks mgmt
$half "$GATEWAY" --config /run/config.json scan --duration 3 >/out/said 2>&1
expect "scan says once that the claim is not checked" [ "$(grep -c 'whether the controller really scans is not checked: CAP_NET_RAW is missing' /out/said)" = 1 ]
expect "and hears" grep -q ':10053:4097' /out/said
$half "$GATEWAY" --config /run/config.json --state-dir /run/none doctor --listen 2 >/out/said 2>&1
expect "doctor names the missing capability" grep -q 'BAD  radio.*CAP_NET_RAW is missing' /out/said
rm -rf /run/state && mkdir /run/state
$half timeout 30 "$GATEWAY" --config /run/config.json --state-dir /run/state run >/out/said 2>&1
expect "the log says once that the claim is not checked" [ "$(grep -c 'really scans is not checked' /out/said)" = 1 ]
