# The gateway itself: enter and leave come out on a real broker, and no discovery, no bluetoothd or adapter that comes
# and goes, and no controller that fails makes a beacon leave that stays put.
# kernels: uml
. "$BENCH/guest/lib.sh"

bus_on
bluetoothd_on
broker_on
controller_on first
two_beacons first
gateway_on mgmt 6
within 20 "the beacon enters" happened enter 1

discovery 8
bluetoothd_killed
sleep 8
bluetoothd_on
sleep 2
rfkill block bluetooth
sleep 10
rfkill unblock bluetooth
sleep 5
controller_off first
sleep 10
controller_on first -a 00:AA:01:00:00:43
two_beacons first
sleep 8
tell first deaf
sleep 25
tell first hang
sleep 25
expect "the deafness and the hang were found" [ "$(grep -c 'reset: the controller' /out/gateway)" = 2 ]
expect "a beacon that stayed put never left" [ "$(events leave)" = 0 ]
expect "and did not enter again" [ "$(events enter)" = 1 ]
stop_beacons first
within 25 "the beacon leaves" happened leave 1
gateway_off
expect "one enter and one leave, no more" [ "$(events enter) $(events leave)" = "1 1" ]
