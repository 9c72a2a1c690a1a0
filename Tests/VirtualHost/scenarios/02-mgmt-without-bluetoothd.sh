# mgmt with no bluetoothd at all: an adapter that is off is switched on, and nothing is missed.
# kernels: uml
. "$BENCH/guest/lib.sh"

controller_on first
two_beacons first
# The kernel switches a new adapter off by itself, 2 s after it has looked at it, if nobody wants it.
sleep 3
expect "the adapter is off" sh -c "hciconfig hci0 | grep -q DOWN"
probe_on mgmt
within 5 "reports come" hears
sleep 10
stop_beacons first
probe_off
expect_share_of first 95
expect "no second is missed" at_most "$(total gap_ms)" 1000
