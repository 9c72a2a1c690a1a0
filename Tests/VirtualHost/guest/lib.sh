# What a scenario is written with. Sourced inside the virtual host; variables come from /out/environment:
# CONTROLLER (legacy or bluetooth5), KERNEL (uml or qemu), TOOLS (folder of the bench's programs), PROBE, GATEWAY.

say() { echo "[$(cut -d' ' -f1 /proc/uptime)] $*"; }

# The scenario ends here, and this is why.
fail() { say "$@"; echo "$*" >/out/reason; exit 1; }

# expect WHAT COMMAND...: the sentence WHAT becomes the reason if the command fails.
expect() { what=$1; shift; "$@" || fail "not so: $what"; say "so: $what"; }

# wait_for SECONDS COMMAND...: on a slow machine PATIENCE times as long
wait_for() {
    _begin=$(uptime_ms) _pause=0.2
    _end=$((_begin + $1 * 1000 * ${PATIENCE:-1})); shift
    until "$@" >/dev/null 2>&1; do
        _now=$(uptime_ms)
        [ "$_now" -lt $_end ] || return 1
        # Asking costs more than waiting.
        [ $((_now - _begin)) -lt 2000 ] || _pause=0.5
        sleep $_pause
    done
}
uptime_ms() { read -r _up _ </proc/uptime; echo $((${_up%.*} * 1000 + 1${_up#*.} * 10 - 1000)); }

# within SECONDS WHAT COMMAND...
within() { _limit=$1; what=$2; shift 2; wait_for "$_limit" "$@" || fail "not within $_limit s: $what"; say "so: $what"; }

# at_least A B: A >= B, whole numbers or fractions
at_least() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a >= b) }'; }
at_most() { at_least "$2" "$1"; }

# ---- the rest of the host ----

bus_on() {
    dbus-daemon --system --fork --nopidfile --print-pid=3 3>/run/dbus.pid || fail "dbus-daemon does not start"
}
bluetoothd_on() {
    /usr/libexec/bluetooth/bluetoothd -n "$@" >>/out/bluetoothd.log 2>&1 &
    BLUETOOTHD=$!
    within 10 "bluetoothd answers" busctl call org.bluez / org.freedesktop.DBus.Peer Ping
}
bluetoothd_killed() { kill -9 "$BLUETOOTHD"; wait "$BLUETOOTHD" 2>/dev/null; say "bluetoothd killed"; }
bluetoothd_off() { kill "$BLUETOOTHD"; wait "$BLUETOOTHD" 2>/dev/null; say "bluetoothd ended"; }
# adapter_is_on: as bluetoothd sees it. What is asked of it before comes to nothing.
adapter_is_on() {
    busctl get-property org.bluez "/org/bluez/${1:-hci0}" org.bluez.Adapter1 Powered | grep -q true
}
# discovery SECONDS: a discovery by another program, bluetoothctl
discovery() {
    (echo "scan on"; sleep "$1"; echo "scan off"; sleep 1; echo quit) | bluetoothctl >>/out/bluetoothctl 2>&1
}
broker_on() {
    printf 'listener 1883 127.0.0.1\nallow_anonymous true\n' >/run/mosquitto.conf
    mosquitto -c /run/mosquitto.conf >/out/mosquitto.log 2>&1 &
    within 10 "the broker answers" mosquitto_pub -t test -m test
    mosquitto_sub -v -t '#' >/out/messages &
    within 10 "the witness hears" sh -c 'mosquitto_pub -t test -m test; sleep 0.1; grep -q "^test test" /out/messages'
}

# ---- controllers ----

# controller_on NAME [OPTIONS]: plugs one in; it takes orders by `tell NAME`.
controller_on() {
    _name=$1; shift
    [ "$CONTROLLER" = bluetooth5 ] && set -- -x "$@"
    rm -f "/run/$_name.orders"; mkfifo "/run/$_name.orders"
    "$TOOLS/controller" "$@" "/run/$_name.orders" 2>>"/out/$_name.log" &
    echo $! >"/run/$_name.pid"
    within 5 "controller $_name is there" grep -q 'controller hci' "/out/$_name.log"
}
controller_off() { kill "$(cat "/run/$1.pid")"; say "controller $1 unplugged"; }
tell() { _name=$1; shift; echo "$*" >"/run/$_name.orders"; }

# stat_of NAME COUNTER
stat_of() {
    _lines=$(grep -c ' stat ' "/out/$1.log")
    tell "$1" stat
    wait_for 30 sh -c "[ \$(grep -c ' stat ' /out/$1.log) -gt $_lines ]" || fail "controller $1 does not answer"
    sed -n "s/.* stat .*\b$2=\([0-9]*\).*/\1/p" "/out/$1.log" | tail -1
}
is_scanning() { awk '$2 == "scan" && /scan o[nf]/ { last = $3 } END { exit last != "on" }' "/out/$1.log"; }

UUID=fda50693a4e24fb1afcfc6eb07647825
# Two beacons that stay put, 10 Hz each.
two_beacons() {
    tell "$1" "beacon 1 C0:00:00:00:00:0A 100 10 -65 5 $UUID 10053 4097 -59"
    tell "$1" "beacon 2 C0:00:00:00:00:0B 100 10 -75 5 $UUID 10053 4098 -59"
}

# ---- what is tested ----

# probe_on SCANNER [OPTIONS]: runs one way of scanning; its lines are in /out/probe.
probe_on() {
    ${PROBE_AS:-} "$PROBE" "$@" >/out/probe 2>/out/probe.errors &
    PROBE_PID=$!
}
# Ends it and waits for its last line.
probe_off() {
    kill -TERM "$PROBE_PID" 2>/dev/null
    wait "$PROBE_PID"
    PROBE_STATUS=$?
    cat /out/probe.errors
}
# total COUNTER: from the probe's last summary
total() { sed -n "s/^[0-9]* total .*\b$1=\([0-9.]*\).*/\1/p" /out/probe | tail -1; }
# total_of ADAPTER COUNTER
total_of() { sed -n "s/^[0-9]* adapter $1 .*\b$2=\([0-9.]*\).*/\1/p" /out/probe | tail -1; }
# hears [N]: in the last second, more than N reports
hears() { awk -v n="${1:-0}" '$2 == "second" { last = substr($3, 9) } END { exit !(last > n + 0) }' /out/probe; }
# mgmt_hears [OPTIONS OF BLUETOOTHD]: beside bluetoothd, the probe hears two beacons by mgmt
mgmt_hears() {
    bus_on
    bluetoothd_on "$@"
    controller_on first
    two_beacons first
    within 20 "the adapter is on" adapter_is_on
    probe_on mgmt
    within 10 "reports come" hears
}
# window_is STATE: what the probe said last of the windows of active scan
window_is() { awk -v state="$1" '$2 == "window" { last = $4 } END { exit last != state }' /out/probe; }
probe_says() { grep -q "$1" /out/probe; }
reports_so_far() { awk '$2 == "second" { sub("reports=", "", $3); sum += $3 } END { print sum + 0 }' /out/probe; }
# Silence on the air; what was sent before has time to arrive.
stop_beacons() { tell "$1" "stop 1"; tell "$1" "stop 2"; sleep 1; }
is_idle() { ! is_scanning "$1"; }
# expect_share_of NAME PERCENT: of all that the controller has sent, from the start of its scanning
expect_share_of() {
    _sent=$(stat_of "$1" sent)
    say "sent $_sent, received $(total reports)"
    expect "$2 % of $_sent reports arrive, not $(total reports)" at_least "$(total reports)" $((_sent * $2 / 100))
}
# is_listening ADAPTER on|off: what the probe said last
is_listening() {
    awk -v name="$1" -v state="$2" '$2 == "listening" && $3 == name { last = $4 } END { exit last != state }' /out/probe
}
# resumes SECONDS SINCE WHAT: reports came within so many seconds of the moment SINCE (of uptime_ms)
resumes() { _since=$2; within "$1" "$3, $1 s after it could" heard_since "$2"; }
# The first report after a silence has a line of its own; a second's line counts the reports of the second before it.
heard_since() {
    awk -v since="$1" '$2 == "again" && $1 >= since { yes = 1 }
        $2 == "second" && $1 - 1000 >= since && $3 != "reports=0" { yes = 1 }
        END { exit !yes }' /out/probe
}
# For a probe that ends by itself.
probe_ends() { wait "$PROBE_PID"; PROBE_STATUS=$?; cat /out/probe.errors; }

# ---- the gateway itself ----

# gateway_on SCANNER LEAVE-AFTER: one region, the first of the two beacons
gateway_on() {
    mkdir -p /run/state
    cat >/run/config.json <<X
{
    "_type": "configuration", "tid": "RM", "host": "127.0.0.1", "pubTopicBase": "owntracks/test/room",
    "scanner": "$1", "leaveAfter": $2, "http": ${GATEWAY_HTTP:-null},
    "waypoints": [{ "_type": "waypoint", "desc": "Key:$UUID:10053:4097", "lat": 0, "lon": 0, "rad": 0, "tst": 1 }]
}
X
    chmod 600 /run/config.json
    [ -z "${PROBE_AS:-}" ] || chown -R nobody /run/config.json /run/state
    ${PROBE_AS:-} "$GATEWAY" --config /run/config.json --state-dir /run/state run >>/out/gateway 2>&1 &
    GATEWAY_PID=$!
}
gateway_off() {
    kill "$GATEWAY_PID"
    wait "$GATEWAY_PID"
    expect "the gateway ends cleanly" [ $? = 0 ]
}
# events enter|leave: how many have come out
events() { grep -c "\"event\":\"$1\"" /out/messages; }
happened() { [ "$(events "$1")" -ge "$2" ]; }
# metric NAME: of the first adapter, where it is one of adapters
metric() { busybox wget -qO- http://127.0.0.1:8080/metrics | sed -n "s/^$1\({[^}]*}\)\{0,1\} //p" | head -n 1; }

# With GATEWAY_HTTP and one adapter:
listens() { [ "$(metric ibeacon_gateway_adapter_listening)" = 1 ]; }
listens_not() { [ "$(metric ibeacon_gateway_adapter_listening)" = 0 ]; }
# heard_more N: more than N reports until now
heard_more() { [ "$(metric ibeacon_gateway_advertising_reports_total)" -gt "$1" ]; }
resets() { metric ibeacon_gateway_controller_resets_total; }
# status_says TEXT
status_says() { "$GATEWAY" --config /run/config.json --state-dir /run/state status | grep -q "$1"; }
# did NAME PATTERN [N]: the controller's log has at least N (1) such lines
did() { [ "$(grep -c "$2" "/out/$1.log")" -ge "${3:-1}" ]; }
logged() { grep -c "$1" /out/gateway; }
# A beacon of 2 Hz that stays put.
slow_beacon() { tell "$1" "beacon 1 C0:00:00:00:00:0A 500 20 -65 5 $UUID 10053 4097 -59"; }
# bluetoothd, a broker and a controller, for a gateway with a page.
bluetoothd_beside_page() {
    GATEWAY_HTTP='{"listen": "127.0.0.1:8080"}'
    bus_on
    bluetoothd_on
    broker_on
    controller_on first
}
# A gateway with mgmt and a page, beside bluetoothd, and such a beacon that has entered.
slow_beacon_is_inside() {
    bluetoothd_beside_page
    slow_beacon first
    gateway_on mgmt '"auto"'
    within 20 "the beacon enters" happened enter 1
}
