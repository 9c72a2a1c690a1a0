# What stands in the way of hearing is found, each with its cure.
# kernels: uml
. "$BENCH/guest/lib.sh"

finds() { "$PROBE" diagnose | tee /out/diagnosis | grep -q "$1"; }

expect "a missing adapter is found" finds 'there is no Bluetooth adapter -> plug one in'
controller_on first
sleep 3
expect "an adapter that is off is found" finds 'hci0 (00:AA:01:00:00:42) is off -> '
rfkill block bluetooth
expect "a blocked adapter is found" finds 'is blocked by rfkill -> rfkill unblock bluetooth'
rfkill unblock bluetooth
hciconfig hci0 up
expect "an adapter that is on is fine" finds 'hci0 (00:AA:01:00:00:42) is on *$'
expect "rights are fine for root" finds 'CAP_NET_ADMIN is held'
two_beacons first
"$GATEWAY" scan --duration 4 --json --write /run/heard.btsnoop >/out/scanned 2>/out/scan.errors
expect "scan shows both beacons" [ "$(grep -c '"minor":409[78]' /out/scanned)" -ge 2 ]
"$GATEWAY" replay /run/heard.btsnoop 2>/out/replayed
expect "the recording of scan can be replayed" grep -q ' iBeacons' /out/replayed
expect "with what was heard in it" at_least "$(sed -n 's/^\([0-9]*\) reports.*/\1/p' /out/replayed)" 40
