# The discoveries of two other programs start and stop meanwhile: no beacon is missed for longer than 1 s.
# kernels: uml
. "$BENCH/guest/lib.sh"

mgmt_hears
discovery 6
sleep 2
discovery 8 &
one=$!
sleep 4
discovery 8
wait $one
sleep 2
stop_beacons first
probe_off
expect "the discoveries were real" at_least "$(grep -c 'scan on .* active' /out/first.log)" 2
expect "no beacon is missed for longer than 1 s, not $(total gap_ms) ms" at_most "$(total gap_ms)" 1000
expect "listening never paused" at_most "$(total pause_ms)" 0
expect_share_of first 95
