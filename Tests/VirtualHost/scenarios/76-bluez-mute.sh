# bluez and a controller that does not answer the command to scan: not listening, with a reason, the beacon stays, and is heard soon after
# the controller answers.
# kernels: uml
# not quick: it tests the radio; what the rest of the program makes of a fault, 09, 65 and 67 test
. "$BENCH/guest/lib.sh"

bluetoothd_beside_page
slow_beacon first
within 20 "the adapter is on" adapter_is_on
gateway_on bluez 60
within 30 "the beacon enters" happened enter 1
within 5 "it listens" listens
sleep 30
tell first mute 1
within 40 "it does not listen when bluetoothd cannot go on" listens_not
within 15 "the reason is told" status_says 'no discovery: bluetoothd '
sleep 120
expect "it is told all the time" listens_not
expect "the beacon does not leave" [ "$(events leave)" = 0 ]
tell first mute 0
within 20 "it listens soon after the controller answers" listens
sleep 90
gateway_off
expect "the beacon entered once and never left" [ "$(events enter) $(events leave)" = "1 0" ]
