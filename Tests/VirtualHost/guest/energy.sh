# How often the gateway wakes and how long it computes, beside bluetoothd and dbus-daemon. One line for each rate.
. "$BENCH/guest/lib.sh"

SPAN=${SPAN:-30}
# All threads: how often each of them waited for something, and nanoseconds of processor time.
wakes_of() { cat /proc/"$1"/task/*/status | awk '/^voluntary/ { sum += $2 } END { print sum }'; }
time_of() { cat /proc/"$1"/task/*/schedstat | awk '{ sum += $1 } END { printf "%d\n", sum / 1000 }'; }
# snapshot: wakes and microseconds of each process
snapshot() { for _pid in "$GATEWAY_PID" "$BLUETOOTHD" "$BUS"; do wakes_of "$_pid"; time_of "$_pid"; done | tr '\n' ' '; }

bus_on
BUS=$(cat /run/dbus.pid)
bluetoothd_on
controller_on first
within 20 "the adapter is on" adapter_is_on
broker_on
GATEWAY_HTTP='{"listen": "127.0.0.1:8080"}' gateway_on mgmt '"auto"'
within 60 "the gateway listens" grep -q "listening" /out/gateway
# Until the work after a start is over, and no beacon is expected.
sleep 30
echo "| reports/s | gateway: wake-ups/s | CPU | bluetoothd: wake-ups/s | CPU | dbus-daemon: wake-ups/s | CPU |"
echo "|---|---|---|---|---|---|---|"
for rate in 0 ${RATES:-10 100 500}; do
    [ "$rate" = 0 ] || tell first "flood $rate $((SPAN + 10)) 50 3"
    sleep 5
    before=$(snapshot) begin=$(uptime_ms)
    sleep "$SPAN"
    after=$(snapshot) span=$(($(uptime_ms) - begin))
    echo "$rate $span $before $after" | awk '{
        printf "| %s ", $1
        for (i = 3; i < 9; i += 2) {
            printf "| %.1f | %.2f %% ", ($(i + 6) - $i) * 1000 / $2, ($(i + 7) - $(i + 1)) / $2 / 10
        }
        print "|" }'
    sleep 10
done
