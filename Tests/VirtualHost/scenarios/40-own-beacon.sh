# A gateway sends the beacon that the site's list asks it for: an iBeacon that nobody can connect to, under a number of its own, with
# less than one packet a second. Nothing is sent without a survey in the list. It comes back after the adapter was off, it is
# removed when it is no longer asked for and at the end, and what a killed gateway has left is removed by the next start. A refusal of
# the controller is named in card and status. The advertisement of another program is left alone.
# kernels: uml
# not quick: some minutes of the virtual host's time
. "$BENCH/guest/lib.sh"
. "$BENCH/guest/survey.sh"

bluetoothd_beside_page
slow_beacon first
gateway_on mgmt '"auto"'
within 20 "the gateway listens" listens
site_asks
within 10 "the card is there" card_says '"scanner"'
sleep 10
expect "without a survey nothing is advertised" sh -c '! grep -q advertising /out/first.log'
expect "the card says nothing of a beacon" card_says_nothing
expect "status says nothing of a beacon" sh -c "! '$GATEWAY' --config /run/config.json --state-dir /run/state status | grep -q 'own beacon'"

site_asks '"room":3,"hall":4'
within 10 "the beacon is on the air" is_on_air first 1
say "$(grep 'advertising on' /out/first.log)"
expect "nobody can connect to it or ask it for more" sh -c "! grep 'advertising on' /out/first.log | grep -v type=3"
within 5 "the card says that it is sent" card_says '"survey":{"interval":1[0-9]*,"minor":3}'
within 5 "status says so, too" status_says "own beacon *sent"
expect "the metric, too" [ "$(metric ibeacon_gateway_own_beacon_sent)" = 1 ]
before=$(stat_of first advertised)
sleep 120
sent=$(($(stat_of first advertised) - before))
say "packets in 120 s: $sent"
expect "at most one packet a second" at_most "$sent" 120
expect "and not many less" at_least "$sent" 85

busctl set-property org.bluez /org/bluez/hci0 org.bluez.Adapter1 Powered b false
within 10 "without power it is off" is_on_air first 0
within 70 "it comes back" is_on_air first 1

bluetoothd_off
within 70 "it comes back after the end of bluetoothd, which switches the adapter off" is_on_air first 1
bluetoothd_on
sleep 3
within 70 "and is there after its start, which may remove all advertisements" is_on_air first 1

site_asks '"hall":4'
within 10 "it is no longer asked for, and off the air" is_on_air first 0
within 5 "the card says nothing of it any longer" card_says_nothing
site_asks '"room":3,"hall":4'
within 70 "it is on the air again" is_on_air first 1

kill -9 "$GATEWAY_PID"
wait "$GATEWAY_PID"
sleep 2
say "after kill -9 on the air: $(on_air first)"
[ "$CONTROLLER" = legacy ] || expect "the kernel drops nothing of a killed program" is_on_air first 1
sleep 10
[ "$CONTROLLER" = bluetooth5 ] || expect "a burst ends by itself" is_on_air first 0
gateway_on mgmt '"auto"'
within 20 "the gateway listens again" listens
within 70 "the beacon is on the air" is_on_air first 1
sleep 5
expect "once, not twice" at_most "$(on_air first)" 1
[ "$CONTROLLER" = legacy ] || expect "under one number" [ "$(grep -c 'advertising on' /out/first.log)" = "$(($(grep -c 'advertising off' /out/first.log) + 1))" ]

# Another program advertises: bluetoothd.
site_asks
within 10 "it is off the air" is_on_air first 0
(sleep 1; echo "advertise on"; sleep 140; echo quit) | bluetoothctl >>/out/bluetoothctl 2>&1 &
other=$!
within 10 "bluetoothd advertises" grep -q "Advertising object registered" /out/bluetoothctl
lines=$(wc -l </out/first.log)
site_asks '"room":3'
if [ "$CONTROLLER" = bluetooth5 ]; then
    within 10 "the beacon is on the air beside it" is_on_air first 1
    site_asks
    within 10 "and off it" is_on_air first 0
    expect "that of bluetoothd was left alone" sh -c "! tail -n +$((lines + 1)) /out/first.log | grep 'advertising off' | grep -vq $(frame 3)"
else
    within 10 "a controller that has one advertisement only leaves it to bluetoothd, and status says so" \
        status_says "another program advertises"
    within 5 "and the card" card_says '"refused":"hci0 does not send it: another program advertises'
    site_asks
fi
wait $other

tell first "silent 0x0d"
site_asks '"room":3'
within 20 "a refusal of the controller is in the card" card_says '"refused":"hci0 does not send it: the kernel refuses add'
within 5 "and in status" status_says "own beacon *not sent .*the kernel refuses"
expect "the metric is 0" [ "$(metric ibeacon_gateway_own_beacon_sent)" = 0 ]
expect "it is logged once" [ "$(logged 'is not sent: hci0 does not send it: the kernel refuses')" = 1 ]
tell first "silent 0"
within 75 "a minute later it is sent" card_says '"survey":{"interval"'
gateway_off
sleep 1
expect "at the end nothing is on the air" is_on_air first 0
expect "the gateway never lost the beacon that it hears" [ "$(events leave)" = 0 ]
