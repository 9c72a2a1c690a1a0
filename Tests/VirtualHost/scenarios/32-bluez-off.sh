# bluez: an adapter that is off and blocked is said to be so, in the log, status and doctor; a scan in a terminal shows why nothing
# is heard, and the reason stays on the screen.
# kernels: uml
# not quick: it tests the radio; what the rest of the program makes of a fault, 09, 65 and 67 test
. "$BENCH/guest/lib.sh"

# screen [SCANNER]: what a terminal shows at the end of a scan by a scanner
screen() {
    printf '{ "_type": "configuration", "host": "127.0.0.1", "scanner": "%s" }\n' "$1" >/run/scan.json
    script -qec "$GATEWAY --config /run/scan.json --state-dir /run/none scan --duration 4" /dev/null >/out/typescript
    # What was before the last page is gone.
    awk 'BEGIN { RS = "\033\\[H\033\\[J" } { page = $0 } END { printf "%s", page }' /out/typescript | tee /out/screen
}

for scanner in mgmt hci; do
    screen $scanner
    expect "without an adapter, $scanner says why" grep -q 'there is no Bluetooth adapter; plug one in' /out/screen
done
bus_on
screen bluez
expect "without bluetoothd, bluez says why" grep -q 'bluetoothd is not running; start it: sudo systemctl start bluetooth' /out/screen
bluetoothd_on
screen bluez
expect "without an adapter, bluez says why" grep -q 'there is no Bluetooth adapter; plug one in' /out/screen

broker_on
rfkill block bluetooth
controller_on first
two_beacons first
sleep 2
expect "the adapter is off" sh -c '! hciconfig hci0 | grep -q "UP RUNNING"'
gateway_on bluez 30
within 10 "the block is said" grep -q 'hci0: off, and blocked by rfkill; to unblock: rfkill unblock bluetooth' /out/gateway
"$GATEWAY" --config /run/config.json --state-dir /run/state status >/out/status
expect "status says it" grep -q 'hci0: off, and blocked by rfkill' /out/status
"$GATEWAY" --config /run/config.json --state-dir /run/state2 doctor --listen 3 >/out/doctor
expect "doctor says it" grep -q 'BAD  radio.*blocked by rfkill' /out/doctor
screen bluez
expect "a scan shows it" grep -q 'hci0: off, and blocked by rfkill' /out/screen
sleep 20
expect "it is said once" [ "$(grep -c 'blocked by rfkill' /out/gateway)" = 1 ]
rfkill unblock bluetooth
within 20 "the beacon enters when the block ends" happened enter 1
gateway_off
