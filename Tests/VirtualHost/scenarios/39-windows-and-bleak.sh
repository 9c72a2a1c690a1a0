# What a window of active scan costs a program that is based on bleak, as Home Assistant's own scanner is: one that begins at three
# moments of a window, and one that begins when no window is open. While it discovers, windows are not opened, and after a minute of
# it they are no longer offered. Half a minute after it they are.
# kernels: uml
# for a release
# needs: bleak
. "$BENCH/guest/lib.sh"

mgmt_hears
within 5 "windows are offered" window_is available
# scanner NAME SECONDS
scanner() {
    "$BLEAK/bin/python" "$BENCH/bleak_window.py" "$@" >>/out/bleak 2>>/out/bleak.errors
    say "$(tail -n 1 /out/bleak)"
}
# of NAME FIELD
of() { sed -n "s/^bleak $1 .*\b$2=\([^ ]*\).*/\1/p" /out/bleak; }
open_window() {
    kill -USR1 "$PROBE_PID"
    within 5 "a window runs" window_is running
}

scanner alone 10
sleep 32
for number in 1 2 3; do
    open_window
    sleep $((number * 9 - 8))
    scanner window$number 20
    sleep 1
    within 5 "no window runs after it" window_is available
    expect "devices are found at once" at_most "$(of window$number first)" 2
    expect "its discovery begins at once" at_most "$(of window$number after)" 2
    sleep 32
done
scanner endless 120 &
other=$!
sleep 20
kill -USR1 "$PROBE_PID"
sleep 2
expect "no window begins meanwhile" window_is available
within 60 "windows are not offered where another program discovers all the time" window_is unavailable
wait $other
sleep 25
expect "nor are they a moment after it" window_is unavailable
within 10 "they are half a minute after it" window_is available
open_window
stop_beacons first
probe_off
expect "no beacon is missed for longer than 1 s, not $(total gap_ms) ms" at_most "$(total gap_ms)" 1000
expect "listening never paused" at_most "$(total pause_ms)" 0
