# hci and a controller that refuses to scan although no other program does, from the start and later: few commands, few lines, the reason
# is told, and the beacon is heard soon after the controller accepts.
# kernels: uml
# not quick: it tests the radio; what the rest of the program makes of a fault, 09, 65 and 67 test
. "$BENCH/guest/lib.sh"

GATEWAY_HTTP='{"listen": "127.0.0.1:8080"}'
broker_on
controller_on first
slow_beacon first
sleep 1
tell first refuse 0x0c
gateway_on hci '"auto"'
within 5 "it is told that nothing listens" status_says "refuses to scan: Command Disallowed (0x0c)"
before=$(stat_of first refused)
sleep 30
expect "at most one refused command a second" at_most "$(stat_of first refused)" $((before + 30))
expect "and few lines" at_most "$(wc -l </out/gateway)" 30
expect "no scan is taken over" [ "$(logged 'taking over')" = 0 ]
tell first refuse 0
within 6 "the beacon enters when the controller accepts" happened enter 1
within 2 "it listens" listens
sleep 30
tell first refuse 0x1f
if [ "$CONTROLLER" = bluetooth5 ]; then
    hcitool -i hci0 cmd 0x08 0x0042 00 00 00 00 00 00 >/out/hcitool
else
    hcitool -i hci0 cmd 0x08 0x000c 00 00 >/out/hcitool
fi
within 2 "it is told that nothing listens" listens_not
sleep 60
expect "with the reason" status_says "refuses to scan: Unspecified Error (0x1f)"
expect "the beacon does not leave" [ "$(events leave)" = 0 ]
heard=$(metric ibeacon_gateway_advertising_reports_total)
tell first refuse 0
within 6 "the beacon is heard again" heard_more "$heard"
gateway_off
expect "the beacon entered once and never left" [ "$(events enter) $(events leave)" = "1 0" ]
