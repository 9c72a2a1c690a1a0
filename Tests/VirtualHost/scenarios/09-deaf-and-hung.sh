# A controller that goes deaf and one that hangs are found, told apart, reset and heard again.
# A quiet house is left alone.
# kernels: uml
. "$BENCH/guest/lib.sh"

controller_on first
two_beacons first
for way in mgmt hci; do
    probe_on $way
    within 10 "$way hears" hears
    sleep 4
    tell first deaf
    within 25 "$way finds the controller deaf" probe_says 'reset: the controller is deaf'
    within 10 "the reset reached the controller" grep -q 'reset ends the deafness' /out/first.log
    within 5 "$way hears again after the deafness" hears
    sleep 6
    tell first hang
    within 25 "$way finds the controller hung" probe_says 'reset: the controller hangs'
    within 15 "the reset reached the controller" grep -q 'reset ends the hang' /out/first.log
    within 5 "$way hears again after the hang" hears
    probe_off
    say "$way done"
    sed -i 's/reset ends/earlier reset ended/' /out/first.log
done

stop_beacons first
resets=$(stat_of first resets)
probe_on mgmt
within 10 "mgmt listens in a quiet house" probe_says 'listening hci0 on'
sleep 45
expect "a quiet house is not reset" sh -c "! grep -q 'reset:' /out/probe"
probe_off
