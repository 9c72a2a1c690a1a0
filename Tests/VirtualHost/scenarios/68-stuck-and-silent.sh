# After another program's discovery a controller refuses to stop the scan, and is silent. That is told within 2 s, and mended by a
# reset, although the controller refuses to stop after that, too. The beacon that stays put does not leave.
# kernels: uml
# not quick: it tests the radio; what the rest of the program makes of a fault, 09, 65 and 67 test
. "$BENCH/guest/lib.sh"

# was_reset TIMES
was_reset() { [ "$(resets)" -ge "$1" ]; }
slow_beacon_is_inside
sleep 30
for round in 1 2 3; do
    tell first stuck 0x0c
    tell first deaf
    refusals=$(grep -c 'refuses with 0x0c: scan off' /out/first.log)
    discovery 4 &
    within 10 "the controller refuses" did first 'refuses with 0x0c: scan off' $((refusals + 1))
    within 2 "it is told that nothing listens" listens_not
    within 2 "with the reason" status_says "refuses to stop its scan: Command Disallowed"
    heard=$(metric ibeacon_gateway_advertising_reports_total)
    within 600 "the controller was reset" was_reset $round
    within 10 "the beacon is heard again" heard_more "$heard"
    within 2 "it listens" listens
    wait $!
    tell first stuck 0
    sleep 90
done
gateway_off
expect "the beacon entered once and never left" [ "$(events enter) $(events leave)" = "1 0" ]
