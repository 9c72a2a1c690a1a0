# What each way in delivers, and what it costs. One line for each way and rate, in Markdown.
. "$BENCH/guest/lib.sh"

SECONDS_OF_FLOOD=${SECONDS_OF_FLOOD:-10}
cpu_of() { awk '{ print ($14 + $15) * 10 }' "/proc/$1/stat"; }
cpu_of_bus() { cpu_of "$(cat /run/dbus.pid)"; }
counted() { sed -n "s/.*\b$1=\([0-9.]*\).*/\1/p" "$2" | tail -n 1; }

# measure NAME RATE COMMAND...: the command runs until SIGTERM or for its own time, and prints reports=N.
measure() {
    name=$1 rate=$2
    shift 2
    before=$(stat_of first sent)
    daemon=$(cpu_of "$BLUETOOTHD") bus=$(cpu_of_bus)
    "$@" >/run/measured 2>/run/measured.errors &
    pid=$!
    wait_for 15 sh -c "! tail -n 1 /out/first.log | grep -q 'scan off'"
    sleep 3
    tell first "flood $rate $SECONDS_OF_FLOOD 50 3"
    sleep $((SECONDS_OF_FLOOD + 2))
    sent=$(($(stat_of first sent) - before))
    [ -d "/proc/$pid" ] && cpu=$(cpu_of "$pid")
    kill -TERM "$pid" 2>/dev/null
    kill -INT "$pid" 2>/dev/null
    wait "$pid"
    received=$(counted reports /run/measured)
    case $name in btmon*) received=$(grep -c '^> HCI Event: LE Meta Event' /run/measured) ;; esac
    daemon=$(($(cpu_of "$BLUETOOTHD") - daemon)) bus=$(($(cpu_of_bus) - bus))
    air=$((rate * SECONDS_OF_FLOOD))
    echo "| $name | $rate | $air | $sent | ${received:-0} | $cpu | $daemon | $bus |"
    sleep 1
}

bus_on
bluetoothd_on -E
controller_on first
wait_for 20 sh -c "busctl get-property org.bluez /org/bluez/hci0 org.bluez.Adapter1 Powered | grep -q true"
total=$((SECONDS_OF_FLOOD + 8))
echo "| way | reports/s | on the air | sent by the controller | received | CPU ms | bluetoothd ms | dbus-daemon ms |"
echo "|---|---|---|---|---|---|---|---|"
for rate in ${RATES:-10 100 1000 2000}; do
    measure "counter in C, mgmt" "$rate" "$TOOLS/count" mgmt 0 $total
    measure "mgmt" "$rate" "$PROBE" mgmt
    measure "bluez, monitor" "$rate" "$PROBE" bluez
    [ -x "${BLEAK:-/none}/bin/python" ] && measure "bleak" "$rate" "$BLEAK/bin/python" "$BENCH/bleak_count.py" $total
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
    measure "counter in C, hci (another scans)" "$rate" "$TOOLS/count" raw 0 $total
    measure "btmon (another scans)" "$rate" stdbuf -oL btmon
    kill $scanning
    wait $scanning
    measure "hci" "$rate" "$PROBE" hci
    measure "bluez, discovery" "$rate" "$PROBE" bluez
done
