# A gateway that cannot read for ten seconds loses reports, and knows how many.
# kernels: uml
# not quick: it tests the radio; what the rest of the program makes of a fault, 09, 65 and 67 test
. "$BENCH/guest/lib.sh"

controller_on first
for way in hci mgmt; do
    probe_on $way
    within 10 "$way listens" probe_says 'listening hci0 on'
    before=$(stat_of first sent)
    tell first "flood 2500 12 200"
    kill -STOP "$PROBE_PID"
    sleep 14
    kill -CONT "$PROBE_PID"
    sleep 4
    sent=$(($(stat_of first sent) - before))
    probe_off
    missing=$((sent - $(total reports)))
    say "$way: sent $sent, received $(total reports), told lost $(total lost)"
    expect "$way loses reports while they are not read" at_least "$missing" 1000
    expect "$way accounts for the $missing lost reports, not $(total lost)" [ "$missing" = "$(total lost)" ]
    expect "the loss is told" probe_says 'were lost'
    within 5 "nothing is left scanning" is_idle first
done
