# What each way in delivers, and what it costs. One line for each way and rate, in Markdown.
. "$BENCH/guest/lib.sh"

SECONDS_OF_FLOOD=${SECONDS_OF_FLOOD:-10}
cpu_of() { awk '{ print ($14 + $15) * 10 }' "/proc/$1/stat"; }
cpu_of_bus() { cpu_of "$(cat /run/dbus.pid)"; }
counted() { sed -n "s/.*\b$1=\([0-9.]*\).*/\1/p" "$2" | tail -n 1; }

is_ready() { grep -q 'ready\|listening hci0 on' /run/measured || [ "${name%% *}" = btmon ]; }

# measure NAME RATE COMMAND...: the command runs until SIGTERM and prints reports=N. What it costs to start is not
# counted.
measure() {
    name=$1 rate=$2
    shift 2
    "$@" >/run/measured 2>/out/measured.errors &
    pid=$!
    wait_for 120 is_ready || echo "$name is not ready: $(tail -n 1 /out/measured.errors)"
    sleep 3
    before=$(stat_of first sent)
    cpu=$(cpu_of "$pid") daemon=$(cpu_of "$BLUETOOTHD") bus=$(cpu_of_bus)
    tell first "flood $rate $SECONDS_OF_FLOOD 50 3"
    sleep $((SECONDS_OF_FLOOD + 2))
    sent=$(($(stat_of first sent) - before))
    cpu=$(($(cpu_of "$pid") - cpu)) daemon=$(($(cpu_of "$BLUETOOTHD") - daemon)) bus=$(($(cpu_of_bus) - bus))
    kill -TERM "$pid"
    wait "$pid"
    received=$(counted reports /run/measured)
    case $name in btmon*) received=$(grep -c '^> HCI Event: LE Meta Event' /run/measured) ;; esac
    echo "| $name | $rate | $((rate * SECONDS_OF_FLOOD)) | $sent | ${received:-0} | $cpu | $daemon | $bus |"
    sleep 2
}

bus_on
bluetoothd_on -E
controller_on first
wait_for 20 sh -c "busctl get-property org.bluez /org/bluez/hci0 org.bluez.Adapter1 Powered | grep -q true"
echo "| way | reports/s | on the air | sent by the controller | received | CPU ms | bluetoothd ms | dbus-daemon ms |"
echo "|---|---|---|---|---|---|---|---|"
for rate in ${RATES:-10 100 1000 2000}; do
    measure "counter in C, mgmt" "$rate" "$TOOLS/count" mgmt 0 600
    measure "mgmt" "$rate" "$PROBE" mgmt
    measure "bluez, monitor" "$rate" "$PROBE" bluez
    [ -x "${BLEAK:-/none}/bin/python" ] && measure "bleak" "$rate" "$BLEAK/bin/python" "$BENCH/bleak_count.py"
done
kill "$BLUETOOTHD"
wait "$BLUETOOTHD"
sleep 1
bluetoothd_on
hciconfig hci0 up
for rate in ${RATES:-10 100 1000 2000}; do
    "$PROBE" hci >/dev/null 2>&1 &
    scanning=$!
    sleep 2
    measure "counter in C, hci (another scans)" "$rate" "$TOOLS/count" raw 0 600
    measure "btmon (another scans)" "$rate" stdbuf -oL btmon
    kill $scanning
    wait $scanning
    measure "hci" "$rate" "$PROBE" hci
    measure "bluez, discovery" "$rate" "$PROBE" bluez
done
