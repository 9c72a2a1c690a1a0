# A controller that refuses to scan, does not answer, or does not stop its scan, at random times for an hour beside discoveries of
# another program, in the random orders 7 and 8. No beacon that stays leaves, and the gateway never claims for more than 2 s to listen
# while the controller does not scan.
# kernels: uml
# long
# for a release
# not quick
. "$BENCH/guest/lib.sh"
. "$BENCH/guest/orders.sh"

bus_on
bluetoothd_on
broker_on
for seed in 7 8; do an_hour $seed "refuse mute stuck discovery" 1; done
