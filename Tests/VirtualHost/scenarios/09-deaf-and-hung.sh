# A controller that goes deaf and one that hangs are found, told apart, reset and heard again.
# A quiet house is left alone.
# kernels: uml
. "$BENCH/guest/lib.sh"

controller_on first
two_beacons first
# controller_did TIMES WHAT
controller_did() { [ "$(grep -c "$2" /out/first.log)" -ge "$1" ]; }

time=0
for way in mgmt hci; do
    time=$((time + 1))
    probe_on $way
    within 10 "$way hears" hears
    sleep 4
    tell first deaf
    within 25 "$way finds the controller deaf" probe_says 'reset: the controller is deaf'
    within 10 "the reset reached the controller" controller_did $time 'reset ends the deafness'
    within 5 "$way hears again after the deafness" hears
    sleep 6
    tell first hang
    within 25 "$way finds the controller hung" probe_says 'reset: the controller hangs'
    within 15 "the reset reached the controller" controller_did $time 'reset ends the hang'
    within 5 "$way hears again after the hang" hears
    probe_off
done

# A single beacon, and then silence: is it gone, or is the controller? Absence must not be counted before that is known.
probe_on mgmt
within 10 "mgmt hears" hears
tell first "stop 2"
sleep 8
tell first hang
within 6 "with one beacon, too, a hang is suspected before the beacon could leave" is_listening hci0 off
within 15 "and mended" probe_says 'reset: the controller hangs'
within 8 "mgmt hears again" hears
probe_off

# Two beacons go, one soon after the other.
two_beacons first
sleep 1
resets=$(stat_of first resets)
probe_on mgmt
within 10 "mgmt hears" hears
sleep 8
tell first "stop 1"
sleep 2
tell first "stop 2"
sleep 90
expect "a house that has become quiet is not reset" sh -c "! grep -q 'reset:' /out/probe"
expect "nor doubted" sh -c "! grep -q 'may have failed' /out/probe"
probe_off
expect "and the controller saw none" [ "$(stat_of first resets)" = "$resets" ]
