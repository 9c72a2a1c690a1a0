# A controller does not answer the command to scan after another program's discovery. That is told within 2 s; the beacon that stays
# put does not leave, and is heard again soon after the controller answers.
# kernels: uml
. "$BENCH/guest/lib.sh"

slow_beacon_is_inside
sleep 30
tell first mute 1
discovery 4 &
within 10 "the controller does not answer" did first "does not answer"
within 2 "it is told that nothing listens" listens_not
within 2 "with the reason" status_says "does not answer the command to scan"
wait $!
sleep 100
expect "it is told all the time" listens_not
expect "the controller was reset" at_least "$(resets)" 1
expect "the beacon does not leave" [ "$(events leave)" = 0 ]
heard=$(metric ibeacon_gateway_advertising_reports_total)
tell first mute 0
within 6 "the beacon is heard again" heard_more "$heard"
within 2 "it listens" listens
sleep 30
gateway_off
expect "the beacon entered once and never left" [ "$(events enter) $(events leave)" = "1 0" ]
