# An enrolment that comes to nothing ends in a clear message, and nothing of it stays: nobody comes, the phone's owner declines,
# the program is killed while it holds a bond, the phone pairs twice, its address is fixed, it is interrupted, bluetoothd ends.
# kernels: uml
# not quick: 20 shows what the rest of the program makes of an enrolment
# long
. "$BENCH/guest/lib.sh"
. "$BENCH/guest/enrolment.sh"

two_hosts_on private

begin=$(uptime_ms)
enrol_on Jane
enrol_ends
expect "without a phone it fails" [ $ENROL_STATUS = 69 ]
expect "after three minutes" at_most 179000 $(($(uptime_ms) - begin))
expect "and says so" says "no phone has connected within three minutes"
nothing_is_left

enrol_on Jane
phone_connects
within 10 "a refusal is told" says "it did not pair\|disconnected without pairing"
enrol_ends
expect "a phone that declines is not enrolled" [ $ENROL_STATUS = 69 ]
expect "and the end says what was tried" says "attempts that failed or were refused"
nothing_is_left

# It sees no bond on the disk, so it waits for the key.
printf '#!/bin/sh\nmount -t tmpfs none %s\nexec "$@"\n' $BONDS >/run/blind
chmod +x /run/blind
ENROL_AS="unshare -m /run/blind"
enrol_on Jane
phone_pairs & PHONE=$!
within 30 "the phone has paired" says "^paired"
kill -9 "$ENROL_PID"
wait $PHONE
ENROL_AS=
expect "a killed program leaves a bond" sh -c "grep -rq IdentityResolvingKey $BONDS/$GATEWAY_ADDRESS"
expect "and a record of it" grep -q '^device /org/bluez/hci0/dev_' /run/state/enrolment
expect "but no key" test ! -e /run/state/phone-keys
bluetoothd_killed
bluetoothd_on -E
within 10 "the adapter is on" adapter_is_on hci0
phone_is private
enrol_on Jane
expect "the next start removes it" says "an enrolment was interrupted before"
expect "from the disk" no_bond

phone_forgets
phone_pairs & PHONE=$!
enrol_ends
wait $PHONE
expect "then the phone is enrolled" [ $ENROL_STATUS = 0 ]
nothing_is_left

# (A phone that connects with its half of that bond cannot be shown: Linux 6.1 as the phone panics when its key is refused.)
phone_forgets
enrol_on Jane
phone_pairs & PHONE=$!
enrol_ends
wait $PHONE
expect "the same phone is enrolled twice under one name" [ $ENROL_STATUS = 0 ]
expect "and nothing changes" says "was enrolled with this key before"
phone_forgets
enrol_on Bob
phone_pairs & PHONE=$!
enrol_ends
wait $PHONE
expect "under another name it is refused" [ $ENROL_STATUS = 65 ]
expect "with the name that has the key" says "'Jane' has this key"
expect "one key is stored" [ "$(wc -l </run/state/phone-keys)" = 1 ]
nothing_is_left
phone_forgets

enrol_on Kim
kill -INT "$ENROL_PID"
enrol_ends
expect "an interruption is told" says "interrupted; nothing is stored"
nothing_is_left

phone_is public
enrol_on Kim --keyboard
phone_pairs & PHONE=$!
enrol_ends
wait $PHONE
expect "a fixed address has no key" [ $ENROL_STATUS = 65 ]
expect "and a region can name it" says "regions add 'Kim:mac:$PHONE_ADDRESS'"
nothing_is_left
phone_forgets

enrol_on Kim
bluetoothd_killed
enrol_ends
expect "bluetoothd's end is told" says "bluetoothd has ended"
expect "one key is stored" [ "$(wc -l </run/state/phone-keys)" = 1 ]
