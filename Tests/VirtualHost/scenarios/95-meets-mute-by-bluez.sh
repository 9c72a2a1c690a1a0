# By bluez, while the controller does not answer: bluetoothd is killed and started again, the radio is blocked and unblocked, the gateway is
# killed, and the adapter is pulled out. The beacon that stays put does not leave, that nothing listens is told all the while, and the
# beacon is heard again soon after the controller accepts.
# kernels: uml
# for a release
# long
. "$BENCH/guest/lib.sh"
. "$BENCH/guest/meets.sh"

trouble_meets bluez "mute 1"
