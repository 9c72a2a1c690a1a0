# The same as 80, with a controller that also becomes deaf, and three steady beacons near it, in the random orders 11 and 12. It is
# found deaf and reset, and no beacon leaves.
# kernels: uml
# long
# for a release
# not quick
. "$BENCH/guest/lib.sh"
. "$BENCH/guest/orders.sh"

bus_on
bluetoothd_on
broker_on
for seed in 11 12; do
    an_hour $seed "refuse mute stuck discovery deaf deaf" 3
    expect "the controller was found deaf" grep -q 'reset: the controller is deaf' /out/hour$seed.gateway
done
