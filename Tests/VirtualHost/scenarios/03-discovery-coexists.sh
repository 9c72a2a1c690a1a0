# Somebody else's discovery starts and stops meanwhile: no beacon is missed for longer than 1 s.
# kernels: uml
. "$BENCH/guest/lib.sh"

bus_on
bluetoothd_on
controller_on first
two_beacons first
probe_on mgmt
within 10 "reports come" hears
for round in 1 2; do
    (echo "scan on"; sleep 6; echo "scan off"; sleep 1; echo quit) | bluetoothctl >/out/bluetoothctl.$round 2>&1
    sleep 2
done
stop_beacons first
probe_off
expect "the discovery was real" grep -q 'scan on .* active' /out/first.log
expect "no beacon is missed for longer than 1 s, not $(total gap_ms) ms" at_most "$(total gap_ms)" 1000
expect "listening never paused" at_most "$(total pause_ms)" 0
expect_share_of first 95
