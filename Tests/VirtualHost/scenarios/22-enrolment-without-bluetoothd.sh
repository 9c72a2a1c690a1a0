# Where no bluetoothd runs, a phone is enrolled over the kernel's management interface, beside a service that goes on. Nothing stays
# after that, nor after a refusal, an interruption, three minutes, or a killed program; a second enrolment is refused.
# kernels: uml
# not quick: 20 shows what the rest of the program makes of an enrolment
. "$BENCH/guest/lib.sh"
. "$BENCH/guest/enrolment.sh"
. "$BENCH/guest/enrolment-alone.sh"

btmon >/out/btmon 2>&1 &
two_hosts_on private
remember_adapter

# An adapter that was off is off again. There is no D-Bus yet.
enrol_on Kim
kill -INT "$ENROL_PID"
enrol_ends
expect "an interruption is told" says "interrupted; nothing is stored"
nothing_is_left

service_on
remember_adapter
said=$(grep -c listening /out/gateway)
begin=$(uptime_ms)
enrol_on Jane
phone_pairs & PHONE=$!
within 60 "the phone is enrolled" sh -c '! kill -0 '"$ENROL_PID"' 2>/dev/null'
enrol_ends
took=$(($(uptime_ms) - begin))
wait $PHONE
expect "the command succeeds" [ $ENROL_STATUS = 0 ]
expect "in $took ms, which is less than a minute" at_most $took 60000
expect "a heart-rate sensor was on the air" grep -q "Heart Rate (0x180d)" /out/btmon
expect "with the name that the command tells" grep -q "Name (complete): ibeacon-gateway" /out/btmon
expect "the key was tested" says "resolves the address"
expect "the description of a region is printed" grep -qE '^Jane:[0-9A-F-]{36}$' /out/description
expect "the key is in its file" grep -qiE '^0F0E0D0C0B0A09080706050403020100(,[^ ]*)? Jane$' /run/state/phone-keys
expect "and nowhere in what was said" sh -c '! grep -qiE "0F0E0D0C|00010203" /out/enrolment /out/description'
nothing_is_left
expect "the service has listened all the time" [ "$(grep -c listening /out/gateway)" = "$said" ]

phone_forgets
phone_is private
expect "a region is made of what was printed" "$GATEWAY" --config /run/config.json --state-dir /run/state \
    regions add "$(cat /out/description)"
kill -HUP "$GATEWAY_PID"
mkfifo /run/advertise
python3 "$BENCH/phone.py" advertise </run/advertise 2>/dev/null & ADVERTISER=$!
exec 3>/run/advertise
within 30 "the phone enters under a new address" happened enter 1
expect "which it did not have when it paired" sh -c "! grep -qi $(phone_address) /out/enrolment"
exec 3>&-
wait $ADVERTISER
phone_is private
within 30 "it leaves when it is silent" happened leave 1
gateway_off

# So does a service that scans by HCI.
sed -i 's/"mgmt"/"hci"/' /run/config.json
"$GATEWAY" --config /run/config.json --state-dir /run/state run >>/out/gateway-hci 2>&1 &
GATEWAY_PID=$!
within 10 "the gateway listens by HCI" grep -q ">listening: hci0" /out/gateway-hci
remember_adapter
enrol_on Jane
phone_pairs
enrol_ends
expect "the phone is enrolled beside it" [ $ENROL_STATUS = 0 ]
nothing_is_left
# The kernel ends a scan that is not its own when a phone connects, and the service begins it again after a second.
within 3 "the service listens" sh -c 'tail -n 1 /out/gateway-hci | grep -q ">listening: hci0"'
expect "after one pause at most" at_most "$(grep -c "not listening" /out/gateway-hci)" 1
exec 3<>/run/advertise
python3 "$BENCH/phone.py" advertise </run/advertise 2>/dev/null & ADVERTISER=$!
within 30 "it hears the phone" happened enter 2
kill $ADVERTISER
exec 3>&-
gateway_off
phone_forgets
phone_is private
remember_adapter

# A phone that only connects is asked to pair. Its owner declines, then agrees.
enrol_on Jane
phone_connects no & PHONE=$!
within 10 "a refusal is told" says "it did not pair\|disconnected without pairing"
wait $PHONE
enrol_ends
expect "a phone that declines is not enrolled" [ $ENROL_STATUS = 69 ]
expect "and the end says what was tried" says "attempts that failed or were refused"
nothing_is_left
enrol_on Jane
phone_connects yes & PHONE=$!
enrol_ends
wait $PHONE
expect "a phone that is asked is enrolled, too" [ $ENROL_STATUS = 0 ]
expect "the same phone has the same key" says "was enrolled with this key before"
nothing_is_left
phone_forgets
phone_is public

# Two at once, with a D-Bus where nobody is bluetoothd.
bus_on
enrol_on Kim
"$GATEWAY" --config /run/enrolment.json --state-dir /run/another phones add Eve >/out/second 2>&1
expect "a second enrolment is refused" [ $? = 75 ]
expect "and says why" grep -q "another 'phones add' enrols a phone" /out/second
# It waits for the key of a device that has none, so the bond is there for five seconds.
phone_pairs & PHONE=$!
within 30 "the phone has paired" says "^paired"
kill -9 "$ENROL_PID"
wait "$ENROL_PID" $PHONE
expect "a killed program leaves a bond" grep -q . /sys/kernel/debug/bluetooth/hci0/long_term_keys
expect "its advertisement" sh -c "python3 $BENCH/phone.py gateway 2>/dev/null | grep -q 'advertisements 1'"
expect "and a record of both" [ "$(grep -cE '^device /kernel/hci0/dev_|^changed 0 ' /run/state/enrolment)" = 2 ]
expect "but no key" sh -c "! grep -q Kim /run/state/phone-keys"
sleep 250
expect "the kernel ends the advertisement" sh -c "python3 $BENCH/phone.py gateway 2>/dev/null | grep -q 'advertisements 0'"
enrol_on Kim
expect "the next start removes the bond" says "an enrolment was interrupted before; its pairing with $PHONE_ADDRESS is removed"
expect "from the kernel" kernel_has_no_key
phone_forgets
phone_pairs & PHONE=$!
enrol_ends
wait $PHONE
expect "a fixed address has no key" [ $ENROL_STATUS = 65 ]
expect "and a region can name it" says "regions add 'Kim:mac:$PHONE_ADDRESS'"
nothing_is_left
phone_forgets

enrol_on Kim
enrol_ends
expect "without a phone it fails" [ $ENROL_STATUS = 69 ]
expect "after three minutes" says "no phone has connected within three minutes"
nothing_is_left

enrol_on Kim
bluetoothd_on -E
enrol_ends
expect "bluetoothd's start is told" says "bluetoothd has started"
expect "and no record is left" test ! -e /run/state/enrolment
expect "one key is stored" [ "$(wc -l </run/state/phone-keys)" = 1 ]
