# auto: with the capability it scans by mgmt; without, by bluetoothd, and says why in one line.
# kernels: uml
. "$BENCH/guest/lib.sh"

bus_on
bluetoothd_on -E
controller_on first
two_beacons first
probe_on auto
within 10 "reports come" hears
expect "mgmt is chosen" probe_says 'notice info scanning by mgmt'
probe_off

PROBE_AS="setpriv --reuid=65534 --clear-groups --bounding-set=-all --inh-caps=-all"
probe_on auto
within 10 "reports come without capability" hears
expect "bluez is chosen, and why" probe_says 'notice warning scanning by bluez .*because mgmt: .*CAP_NET_ADMIN'
probe_off
