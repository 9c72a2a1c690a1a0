# mgmt and a controller that refuses to scan, or does not answer, when the service begins. That is told with the reason, also by doctor
# beside it; the beacon enters soon after the controller accepts, and stays.
# kernels: uml
# not quick: it tests the radio; what the rest of the program makes of a fault, 09, 65 and 67 test
. "$BENCH/guest/lib.sh"

GATEWAY_HTTP='{"listen": "127.0.0.1:8080"}'
broker_on
controller_on first
slow_beacon first
entered=0
# begins TROUBLE REASON
begins() {
    tell first "$1"
    gateway_on mgmt '"auto"'
    within 10 "the reason is told" status_says "the controller $2"
    expect "and that nothing listens" listens_not
    sleep 60
    expect "it is told all the time" listens_not
    expect "the log says so once" [ "$(logged 'not listening:')" = 1 ]
    expect "no claim came before it" [ "$(logged '[^t] listening:')" = 0 ]
    expect "the controller was reset" at_least "$(resets)" 1
    "$GATEWAY" --config /run/config.json --state-dir /run/state doctor --listen 5 >/out/doctor
    expect "doctor names the reason beside the service" grep -q "the controller $2" /out/doctor
    tell first "${1% *} 0"
    entered=$((entered + 1))
    within 6 "the beacon enters when the controller accepts" happened enter $entered
    within 2 "it listens" listens
    sleep 60
    expect "the beacon does not leave" [ "$(events leave)" = 0 ]
    gateway_off
    rm -rf /run/state
    : >/out/gateway
}
begins "refuse 0x0c" "refuses to scan: Command Disallowed (0x0c)"
begins "refuse 0x1f" "refuses to scan: Unspecified Error (0x1f)"
begins "mute 1" "does not answer the command to scan"
