# Without the capability the message names it and the command that grants it.
# kernels: uml
. "$BENCH/guest/lib.sh"

controller_on first
PROBE_AS="setpriv --reuid=65534 --clear-groups --bounding-set=-all --inh-caps=-all"
for way in mgmt hci; do
    probe_on $way
    probe_ends
    expect "$way ends with the status for missing permission" [ $PROBE_STATUS = 77 ]
    expect "$way names the command" probe_says 'setcap cap_net_admin,cap_net_raw+ep'
    expect "$way names the unit's line" probe_says 'AmbientCapabilities='
done
probe_on mgmt
probe_ends
expect "the capability is named" probe_says 'CAP_NET_ADMIN'
