# Sourced by the demos, after lib.sh. Builds the program ($gateway), and gives a folder ($work) and programs in the background, which go when
# the demo ends.
cd "$top"
need_swift
Scripts/install-dependencies build test
# Without optimization: that takes half the time, and the tests use the same build.
say "building (about a minute the first time, on two processors)"
swift_build --product ibeacon-gateway
gateway=$(swift build --show-bin-path)/ibeacon-gateway
work=$(mktemp -d)
jobs_started=
clean_up() {
    trap - EXIT INT TERM
    # The last one started goes first: a program goes before the broker that it talks to.
    for job in $jobs_started; do
        kill "$job" 2>/dev/null && wait "$job" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# wait_for SECONDS COMMAND...: tries it ten times a second until it succeeds; fails if it does not in time
wait_for() {
    local tries=$(($1 * 10))
    shift
    for _ in $(seq "$tries"); do
        "$@" 2>/dev/null && return
        sleep 0.1
    done
    return 1
}

# start_broker: mosquitto on a free port ($port) of the loopback interface
start_broker() {
    port=$(free_port)
    printf 'listener %s 127.0.0.1\nallow_anonymous true\n' "$port" >"$work/mosquitto.conf"
    mosquitto -c "$work/mosquitto.conf" >"$work/mosquitto.log" 2>&1 &
    jobs_started="$! $jobs_started"
    wait_for 5 mosquitto_pub -h 127.0.0.1 -p "$port" -t demo/ready -m yes || stop 70 "mosquitto does not start: $(cat "$work/mosquitto.log")"
}

# start_gateway NAME COMMAND...: the program with $work/NAME.json, its state in $work/NAME, its log in $work/NAME.log
start_gateway() {
    local name=$1
    shift
    "$gateway" --config "$work/$name.json" --state-dir "$work/$name" "$@" 2>"$work/$name.log" &
    jobs_started="$! $jobs_started"
}
