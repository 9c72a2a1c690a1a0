# A controller that goes deaf and one that hangs are found, told apart, reset and heard again.
# A quiet house is left alone.
# kernels: uml
. "$BENCH/guest/lib.sh"

controller_on first
two_beacons first
# happened TIMES WHAT: in the controller's log
happened() { [ "$(grep -c "$2" /out/first.log)" -ge "$1" ]; }

time=0
for way in mgmt hci; do
    time=$((time + 1))
    probe_on $way
    within 10 "$way hears" hears
    sleep 4
    tell first deaf
    within 25 "$way finds the controller deaf" probe_says 'reset: the controller is deaf'
    within 10 "the reset reached the controller" happened $time 'reset ends the deafness'
    within 5 "$way hears again after the deafness" hears
    sleep 6
    tell first hang
    within 25 "$way finds the controller hung" probe_says 'reset: the controller hangs'
    within 15 "the reset reached the controller" happened $time 'reset ends the hang'
    within 5 "$way hears again after the hang" hears
    probe_off
done

stop_beacons first
resets=$(stat_of first resets)
probe_on mgmt
within 10 "mgmt listens in a quiet house" probe_says 'listening hci0 on'
sleep 45
expect "a quiet house is not reset" sh -c "! grep -q 'reset:' /out/probe"
probe_off
