# Where bluetoothd refuses the advertisement, the kernel advertises and bluetoothd pairs. Nothing stays, also after an interruption
# and a killed program.
# kernels: uml
# not quick: 20 shows what the rest of the program makes of an enrolment
. "$BENCH/guest/lib.sh"
. "$BENCH/guest/enrolment.sh"

# The bus refuses it, as bluetoothd does on some kernels.
cat >/etc/dbus-1/system.d/refusal.conf <<X
<busconfig>
  <policy context="mandatory">
    <deny send_destination="org.bluez" send_interface="org.bluez.LEAdvertisingManager1" send_member="RegisterAdvertisement"/>
  </policy>
</busconfig>
X
advertisements() { python3 "$BENCH/phone.py" gateway 2>/dev/null | sed 's/.*advertisements //'; }
advertises() { _found=$(advertisements); say "advertisements: $_found"; [ "$_found" = "$1" ]; }

btmon >/out/btmon 2>&1 &
two_hosts_on private
service_on
expect "nothing is advertised before" advertises 0
enrol_on Jane
expect "the refusal is told, and who advertises" says "refuses RegisterAdvertisement: .*AccessDenied.*; so the kernel advertises"
expect "the kernel has one advertisement" advertises 1
expect "which the record has" grep -q '^advertised 0 ' /run/state/enrolment
phone_pairs & PHONE=$!
within 60 "the phone is enrolled" sh -c '! kill -0 '"$ENROL_PID"' 2>/dev/null'
enrol_ends
wait $PHONE
expect "the command succeeds" [ $ENROL_STATUS = 0 ]
expect "a heart-rate sensor was on the air" grep -q "Heart Rate (0x180d)" /out/btmon
expect "with the name that the command tells" grep -q "Name (complete): ibeacon-gateway" /out/btmon
expect "the key was tested" says "resolves the address"
expect "the kernel advertises no more" advertises 0
nothing_is_left
phone_forgets
phone_is private

# A phone that only connects is asked to pair.
enrol_on Jane
phone_agrees & PHONE=$!
sleep 1
phone_connects
enrol_ends
wait $PHONE
expect "a phone that is asked is enrolled, too" [ $ENROL_STATUS = 0 ]
expect "the kernel advertises no more" advertises 0
nothing_is_left
phone_forgets
phone_is private

enrol_on Kim
kill -INT "$ENROL_PID"
enrol_ends
expect "an interruption is told" says "interrupted; nothing is stored"
expect "the kernel advertises no more" advertises 0
nothing_is_left

enrol_on Kim
kill -9 "$ENROL_PID"
wait "$ENROL_PID"
expect "a killed program leaves its advertisement" advertises 1
enrol_on Kim
expect "the next start removes it" advertises 1
bluetoothd_killed
enrol_ends
expect "bluetoothd's end is told" says "bluetoothd has ended"
expect "the kernel advertises no more" advertises 0
expect "no record is left" test ! -e /run/state/enrolment
gateway_off
