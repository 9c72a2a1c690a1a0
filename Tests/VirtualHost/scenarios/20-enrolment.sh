# A phone is enrolled by bluetoothd beside the running service: it pairs, its key is stored within a minute, nothing of the
# pairing stays, and the phone enters under an address that it did not have before.
# kernels: uml
. "$BENCH/guest/lib.sh"
. "$BENCH/guest/enrolment.sh"

btmon >/out/btmon 2>&1 &
two_hosts_on private
service_on
begin=$(uptime_ms)
enrol_on Jane
phone_pairs & PHONE=$!
within 60 "the phone is enrolled" sh -c '! kill -0 '"$ENROL_PID"' 2>/dev/null'
enrol_ends
took=$(($(uptime_ms) - begin))
expect "the command succeeds" [ $ENROL_STATUS = 0 ]
expect "in $took ms, which is less than a minute" at_most $took 60000
expect "a heart-rate sensor was on the air" grep -q "Heart Rate (0x180d)" /out/btmon
expect "with the name that the command tells" grep -q "Name (complete): ibeacon-gateway" /out/btmon
expect "the key was tested" says "resolves the address"
expect "the description of a region is printed" grep -qE '^Jane:[0-9A-F-]{36}$' /out/description
expect "the key is in its file" grep -qiE '^(0F0E0D0C0B0A09080706050403020100|000102030405060708090A0B0C0D0E0F)(,[^ ]*)? Jane$' /run/state/phone-keys
expect "which only the service reads" [ "$(stat -c %a /run/state/phone-keys)" = 600 ]
expect "and nowhere in what was said" sh -c '! grep -qiE "0F0E0D0C|00010203" /out/enrolment /out/description'
wait $PHONE
nothing_is_left

phone_forgets
phone_is private
expect "a region is made of what was printed" "$GATEWAY" --config /run/config.json --state-dir /run/state \
    regions add "$(cat /out/description)"
kill -HUP "$GATEWAY_PID"
mkfifo /run/advertise
python3 "$BENCH/phone.py" advertise </run/advertise & ADVERTISER=$!
exec 3>/run/advertise
within 30 "the phone enters under a new address" happened enter 1
first=$(phone_address)
expect "which it did not have when it paired" sh -c "! grep -qi $first /out/enrolment"
exec 3>&-
wait $ADVERTISER
phone_is private
within 30 "it leaves when it is silent" happened leave 1
python3 "$BENCH/phone.py" advertise </run/advertise & ADVERTISER=$!
exec 3>/run/advertise
within 30 "it enters again under another address" happened enter 2
expect "which is another one" [ "$(phone_address)" != "$first" ]
exec 3>&-
gateway_off

# The first setup of a machine enrols, too, and makes the region.
phone_forgets
phone_is private
"$GATEWAY" --config /run/setup/config.json --state-dir /run/setup-state setup --yes --no-test --no-service --host 127.0.0.1 \
    --room Hall --phone Kim >/out/setup 2>&1 &
SETUP_PID=$!
within 10 "setup waits for a phone" grep -q "waiting for three minutes" /out/setup
phone_pairs & PHONE=$!
wait $SETUP_PID
expect "setup succeeds" [ $? = 0 ]
wait $PHONE
expect "and has made a region" grep -q "Made the region Kim." /out/setup
expect "of the phone" sh -c "'$GATEWAY' --config /run/setup/config.json --state-dir /run/setup-state regions list | grep -q Kim"
expect "no key is in what it said" keys_are_hidden
phone_forgets
phone_is private

# A phone that only connects, as from its list of devices, is asked to pair; its owner agrees.
enrol_on Jane
phone_agrees & PHONE=$!
sleep 1
phone_connects
enrol_ends
wait $PHONE
expect "a phone that is asked is enrolled, too" [ $ENROL_STATUS = 0 ]
nothing_is_left
