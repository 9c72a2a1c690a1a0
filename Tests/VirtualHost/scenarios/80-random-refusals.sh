# A controller that refuses to scan, does not answer, or does not stop its scan, at random times for an hour beside discoveries of
# another program. No beacon that stays leaves, and the gateway never claims for more than 2 s to listen while the controller does not scan.
# 80 to 84 have two orders each.
# kernels: uml
# long
# not quick
. "$BENCH/guest/lib.sh"
. "$BENCH/guest/orders.sh"

bus_on
bluetoothd_on
broker_on
an_hour 1 "refuse mute stuck discovery" 3
