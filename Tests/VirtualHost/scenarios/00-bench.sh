# The bench itself: a bare counter hears what the controller sends, with bluetoothd running.
# kernels: uml
. "$BENCH/guest/lib.sh"

bus_on
bluetoothd_on
controller_on first
two_beacons first
within 20 "the adapter is on" adapter_is_on
before=$(stat_of first sent)
"$TOOLS/count" mgmt 0 5 >/out/counted
after=$(stat_of first sent)
cat /out/counted
heard=$(sed -n 's/.*reports=\([0-9]*\).*/\1/p' /out/counted)
expect "95 % of $((after - before)) reports arrive, not $heard" at_least "$heard" $(((after - before) * 95 / 100))
expect "there was something to hear" at_least "$heard" 70
