# What a scenario is written with. Sourced inside the virtual host; variables come from /out/environment:
# CONTROLLER (legacy or bluetooth5), KERNEL (uml or qemu), TOOLS (folder of the bench's programs), PROBE, GATEWAY.

say() { echo "[$(cut -d' ' -f1 /proc/uptime)] $*"; }

# The scenario ends here, and this is why.
fail() { say "$@"; echo "$*" >/out/reason; exit 1; }

# expect WHAT COMMAND...: the sentence WHAT becomes the reason if the command fails.
expect() { what=$1; shift; "$@" || fail "not so: $what"; say "so: $what"; }

# wait_for SECONDS COMMAND...
wait_for() {
    _end=$(($(uptime_ms) + $1 * 1000)); shift
    until "$@" >/dev/null 2>&1; do
        [ "$(uptime_ms)" -lt $_end ] || return 1
        sleep 0.05
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
broker_on() {
    printf 'listener 1883 127.0.0.1\nallow_anonymous true\n' >/run/mosquitto.conf
    mosquitto -c /run/mosquitto.conf >/out/mosquitto.log 2>&1 &
    within 10 "the broker answers" mosquitto_pub -t test -m test
    mosquitto_sub -v -t '#' >/out/messages &
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
    wait_for 5 sh -c "[ \$(grep -c ' stat ' /out/$1.log) -gt $_lines ]" || fail "controller $1 does not answer"
    sed -n "s/.* stat .*\b$2=\([0-9]*\).*/\1/p" "/out/$1.log" | tail -1
}
is_scanning() { tail -n 1000 "/out/$1.log" | grep ' scan o[nf]' | tail -1 | grep -q 'scan on'; }

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
hears() { [ "$(sed -n 's/^[0-9]* second reports=\([0-9]*\).*/\1/p' /out/probe | tail -1)" -gt "${1:-0}" ]; }
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
is_listening() { grep " listening $1 " /out/probe | tail -n 1 | grep -q " listening $1 $2 "; }
# For a probe that ends by itself.
probe_ends() { wait "$PROBE_PID"; PROBE_STATUS=$?; cat /out/probe.errors; }
