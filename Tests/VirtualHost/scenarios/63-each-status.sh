# Whatever status a controller refuses with, by mgmt: it is told with its number, the beacon that stays put does not leave, and it is heard
# again soon after the controller accepts.
# kernels: uml
# long
# for a release
# not quick
. "$BENCH/guest/lib.sh"

slow_beacon_is_inside
sleep 20
for number in $(seq 1 69); do
    status=$(printf '0x%02x' "$number")
    tell first refuse $status
    discovery 1 &
    wait_for 10 did first "refuses with $status" || fail "the controller does not refuse with $status"
    wait_for 2 listens_not || fail "not told within 2 s: $status"
    wait_for 2 status_says "refuses to scan: .*$status" || fail "the status is not told: $status"
    wait $!
    sleep $((number % 12))
    heard=$(metric ibeacon_gateway_advertising_reports_total)
    tell first refuse 0
    wait_for 6 heard_more "$heard" || fail "not heard again after $status"
    wait_for 2 listens || fail "does not listen after $status"
    sleep $((number * 7 % 15))
done
expect "each refusal was one line" at_most "$(logged 'not listening:')" $((69 * 2))
gateway_off
expect "the beacon entered once and never left" [ "$(events enter) $(events leave)" = "1 0" ]
