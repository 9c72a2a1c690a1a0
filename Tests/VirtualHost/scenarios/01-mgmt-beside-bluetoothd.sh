# mgmt with bluetoothd running hears at least 95 % of two beacons at 10 Hz, and sets the scan's duty.
# kernels: uml qemu
. "$BENCH/guest/lib.sh"

bus_on
bluetoothd_on
controller_on first
two_beacons first
probe_on mgmt
within 10 "reports come" hears
before=$(stat_of first sent)
counted=$(reports_so_far)
sleep 20
after=$(stat_of first sent)
sleep 1
heard=$(($(reports_so_far) - counted))
expect "the controller listens all the time" grep -q 'scan on filter=0 passive .*duty=100%' /out/first.log
probe_off
expect "two beacons were heard" [ "$(total beacons)" = 2 ]
expect "95 % of $((after - before)) reports arrive, not $heard" at_least "$heard" $(((after - before) * 95 / 100))
expect "there was something to hear" at_least "$heard" 300
expect "nothing is left scanning" sh -c "sleep 1; tail -1 /out/first.log | grep -q 'scan off'"
