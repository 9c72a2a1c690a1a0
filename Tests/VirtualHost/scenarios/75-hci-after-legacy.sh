# hci after a tool that was killed and left a scan with the legacy commands on: it is taken over once; a Bluetooth 5 controller refuses
# that, and is reset.
# kernels: uml
# not quick: it tests the radio; what the rest of the program makes of a fault, 09, 65 and 67 test
. "$BENCH/guest/lib.sh"

GATEWAY_HTTP='{"listen": "127.0.0.1:8080"}'
broker_on
controller_on first
slow_beacon first
sleep 1
hciconfig hci0 up
hcitool -i hci0 cmd 0x08 0x000b 00 10 00 10 00 00 00 >/out/hcitool
hcitool -i hci0 cmd 0x08 0x000c 01 01 >>/out/hcitool
gateway_on hci '"auto"'
within 40 "the beacon enters" happened enter 1
within 2 "it listens" listens
expect "one scan was taken over" [ "$(logged 'taking over')" = 1 ]
expect "few commands were refused" at_most "$(stat_of first refused)" 20
expect "and few lines were written" at_most "$(wc -l </out/gateway)" 20
[ "$CONTROLLER" = legacy ] || expect "the controller was reset" at_least "$(resets)" 1
sleep 60
expect "the beacon does not leave" [ "$(events leave)" = 0 ]
gateway_off
