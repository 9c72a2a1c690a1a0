# Malformed events, cut reports, several kinds of reports in one event, no RSSI: counted, and nothing stops.
# kernels: uml
. "$BENCH/guest/lib.sh"

controller_on first
two_beacons first
if [ "$CONTROLLER" = legacy ]; then subevent=02; else subevent=0d; fi
for way in hci mgmt; do
    probe_on $way
    within 10 "$way hears" hears
    tell first "hex 043e00"                       # an LE event without a subevent
    tell first "hex 043e02${subevent}00"          # no reports
    tell first "hex 043e04${subevent}050000"      # five reports announced, none there
    tell first "hex 043e0c${subevent}01000001020304050630ff"
    tell first "hex 043e"                         # cut within the header
    tell first "hex 04ff05aabb"                   # vendor event, cut
    tell first "pack 4"
    tell first "adv 11:22:33:44:55:66 -80 02011a0bff4c0010065f1e2c9d8f 0 0"
    tell first "adv 11:22:33:44:55:66 -80 0409414243 4 0"
    tell first "adv 11:22:33:44:55:67 -80 1aff4c000215aa 3 1"
    tell first "ibeacon C0:00:00:00:00:0C 127 $UUID 10053 4099 -59"
    sleep 3
    expect "$way still hears" hears 15
    probe_off
    expect "the beacon without RSSI was heard by $way" [ "$(total beacons)" = 3 ]
    expect "and the other advertisements, however badly made" [ "$(total others)" = 3 ]
    # The kernel keeps bad events from the management socket, and cuts bad data.
    [ $way = mgmt ] || expect "five bad reports and two with bad data are counted, not $(total_of hci0 malformed) and $(total malformed)" \
        [ "$(total_of hci0 malformed) $(total malformed)" = "5 2" ]
    expect "$way never paused" at_most "$(total pause_ms)" 0
    expect "no beacon is missed for longer than 1 s" at_most "$(total gap_ms)" 1000
    wait_for 5 is_idle first
done
