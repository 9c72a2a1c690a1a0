# A controller refuses to scan after another program's discovery, with one reason and then with another. That is told at once with the
# reason, wherever a person may look, and in one line of the log. The beacon that stays put does not leave, and it is heard again
# soon after the controller accepts.
# kernels: uml
. "$BENCH/guest/lib.sh"

slow_beacon_is_inside
sleep 30
round=0
for refusal in 0x0c 0x11; do
    round=$((round + 1))
    silences=$(logged '] not listening\|not listening:')
    tell first refuse $refusal
    discovery 4 &
    within 10 "the controller refuses" did first "refuses with $refusal"
    within 2 "it is told that nothing listens" listens_not
    within 2 "with the reason" status_says "refuses to scan: .*($refusal)"
    wait $!
    sleep 60
    expect "it is told all the time" listens_not
    expect "the log says so once" [ "$(logged 'not listening:')" = $((silences + 1)) ]
    expect "the controller was reset" at_least "$(resets)" $round
    expect "no command is repeated more than twice a second" at_most "$(stat_of first refused)" $((round * 130))
    expect "the beacon does not leave" [ "$(events leave)" = 0 ]
    heard=$(metric ibeacon_gateway_advertising_reports_total)
    tell first refuse 0
    within 6 "the beacon is heard again" heard_more "$heard"
    within 2 "it listens" listens
    expect "and the reason is gone" sh -c "! $GATEWAY --config /run/config.json --state-dir /run/state status | grep 'refuses'"
    sleep 60
done
gateway_off
expect "the beacon entered once and never left" [ "$(events enter) $(events leave)" = "1 0" ]
