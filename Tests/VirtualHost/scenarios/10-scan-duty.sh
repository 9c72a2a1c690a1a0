# The scan's duty reaches the controller: all the time, by mgmt and by hci.
# kernels: uml
. "$BENCH/guest/lib.sh"

controller_on first
two_beacons first
for way in mgmt hci; do
    probe_on $way
    within 10 "$way hears" hears
    expect "$way lets the controller listen all the time, passively, without duplicate filter" \
        sh -c "grep 'scan on' /out/first.log | tail -n 1 | grep -q 'filter=0 passive interval=96 window=96 duty=100%'"
    probe_off
    expect "$way knows the duty" [ "$(total_of hci0 duty)" = 1.0 ]
    within 5 "nothing is left scanning by $way" is_idle first
done
