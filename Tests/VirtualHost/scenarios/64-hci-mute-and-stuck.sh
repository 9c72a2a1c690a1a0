# hci and a controller that does not answer the command to scan, or does not stop its scan and is silent: told within 2 s with the reason,
# the beacon that stays put does not leave, and is heard again soon after the controller answers, or is reset.
# kernels: uml
# not quick: it tests the radio; what the rest of the program makes of a fault, 09, 65 and 67 test
. "$BENCH/guest/lib.sh"

GATEWAY_HTTP='{"listen": "127.0.0.1:8080"}'
broker_on
controller_on first
slow_beacon first
off() {
    if [ "$CONTROLLER" = bluetooth5 ]; then
        hcitool -i hci0 cmd 0x08 0x0042 00 00 00 00 00 00 >/out/hcitool
    else
        hcitool -i hci0 cmd 0x08 0x000c 00 00 >/out/hcitool
    fi
}
was_reset() { [ "$(resets)" -ge "$1" ]; }
gateway_on hci '"auto"'
within 20 "the beacon enters" happened enter 1
sleep 30
tell first mute 1
off
within 10 "the controller does not answer" did first "does not answer"
within 2 "it is told that nothing listens" listens_not
within 2 "with the reason" status_says "the controller does not answer"
sleep 90
expect "it is told all the time" listens_not
expect "the beacon does not leave" [ "$(events leave)" = 0 ]
heard=$(metric ibeacon_gateway_advertising_reports_total)
tell first mute 0
within 6 "the beacon is heard again" heard_more "$heard"
within 2 "it listens" listens
sleep 70
resets=$(resets)
tell first stuck 0x0c
tell first deaf
off
within 3 "it is told that nothing listens" listens_not
within 2 "with the reason" status_says "the controller"
heard=$(metric ibeacon_gateway_advertising_reports_total)
within 600 "the controller was reset" was_reset $((resets + 1))
within 10 "the beacon is heard again" heard_more "$heard"
within 2 "it listens" listens
tell first stuck 0
sleep 60
gateway_off
expect "the beacon entered once and never left" [ "$(events enter) $(events leave)" = "1 0" ]
