# A controller refuses to scan while a connection uses it: it is not reset, which is told, until the connection ends.
# kernels: uml
# not quick: it tests the radio; what the rest of the program makes of a fault, 09, 65 and 67 test
. "$BENCH/guest/lib.sh"

slow_beacon_is_inside
sleep 20
# LE Connection Complete: handle 0x0040, central, a random address.
tell first "hex 04 3e 13 01 00 40 00 00 01 0d 00 00 00 00 c0 18 00 00 00 c8 00 00"
within 5 "there is a connection" sh -c "hcitool -i hci0 con | grep -qi 'C0:00:00:00:00:0D'"
tell first refuse 0x0c
discovery 2
within 10 "that is told" status_says "not reset while a connection uses it"
sleep 60
expect "the controller is not reset" [ "$(resets)" = 0 ]
expect "the log says so once" [ "$(logged 'not reset while a connection uses it')" = 1 ]
# Disconnection Complete.
tell first "hex 04 05 04 00 40 00 13"
within 10 "the controller is reset when the connection has ended" sh -c "grep -q 'reset: the controller refuses to scan' /out/gateway"
tell first refuse 0
within 7 "it listens" listens
gateway_off
expect "the beacon entered once and never left" [ "$(events enter) $(events leave)" = "1 0" ]
