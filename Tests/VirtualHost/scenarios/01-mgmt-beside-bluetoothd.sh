# mgmt with bluetoothd running hears at least 95 % of two beacons at 10 Hz, and leaves nothing scanning.
# kernels: uml qemu
. "$BENCH/guest/lib.sh"

bus_on
bluetoothd_on
controller_on first
two_beacons first
probe_on mgmt
within 10 "reports come" hears
sleep 20
stop_beacons first
probe_off
expect "two beacons were heard" [ "$(total beacons)" = 2 ]
expect_share_of first 95
expect "there was something to hear" at_least "$(total reports)" 300
within 5 "nothing is left scanning" is_idle first
