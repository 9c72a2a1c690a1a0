# mgmt with no bluetoothd at all: an adapter that is off is switched on, nothing is missed, and enter and leave come
# out on a real broker.
# kernels: uml
. "$BENCH/guest/lib.sh"

controller_on first
two_beacons first
# The kernel switches a new adapter off by itself, 2 s after its set-up, if no program uses it.
sleep 3
expect "the adapter is off" sh -c "hciconfig hci0 | grep -q DOWN"
probe_on mgmt
within 5 "reports come" hears
sleep 20
stop_beacons first
probe_off
expect_share_of first 95
expect "there was something to hear" at_least "$(total reports)" 300
expect "no second is missed" at_most "$(total gap_ms)" 1000

hciconfig hci0 down
broker_on
two_beacons first
gateway_on mgmt 6
within 10 "the beacon enters" happened enter 1
stop_beacons first
within 25 "the beacon leaves" happened leave 1
gateway_off
expect "one enter and one leave, no more" [ "$(events enter) $(events leave)" = "1 1" ]
