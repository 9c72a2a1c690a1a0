# Windows of active scan, as a Home Assistant asks for them that has the Bluetooth proxy: no beacon is missed for longer than 1 s, and
# listening never pauses. What a window costs another program that discovers is measured. While it does, and for 30 s after it, no window
# begins. Nor does one where another program listens through bluetoothd.
# kernels: uml
# not quick
. "$BENCH/guest/lib.sh"

mgmt_hears -E
discoveries() { grep -c "Discovery started" /out/bluetoothctl; }
within 5 "windows are offered" window_is available

kill -USR1 "$PROBE_PID"
within 5 "a window runs" window_is running
within 5 "the controller scans actively" did first 'scan on .* active'
begin=$(uptime_ms)
# What it costs others: a discovery that begins meanwhile finds devices by ours. bluetoothd answers when it has one of its own.
discovery 50 &
other=$!
sleep 5
expect "another program finds devices in the window" grep -q "NEW.* Device" /out/bluetoothctl
say "discoveries of bluetoothd 5 s after the request: $(discoveries)"
within 40 "the window ends" window_is available
took=$(($(uptime_ms) - begin))
say "the window lasted $took ms; discoveries of bluetoothd: $(discoveries)"
expect "at most 35 s" at_most "$took" $((36500 * ${PATIENCE:-1}))
within 20 "the other program's discovery begins" sh -c 'grep -q "Discovery started" /out/bluetoothctl'
wait $other
discovery 6
expect "another program's discovery works after the window" at_least "$(discoveries)" 2
active=$(grep -c 'scan on .* active' /out/first.log)
kill -USR1 "$PROBE_PID"
sleep 3
expect "no window begins a moment after it" window_is available
expect "no active scan was begun" [ "$(grep -c 'scan on .* active' /out/first.log)" = "$active" ]
sleep 30
kill -USR1 "$PROBE_PID"
within 5 "it does half a minute later" window_is running
sleep 3
kill -USR2 "$PROBE_PID"
within 5 "it ends when it is no longer wanted" window_is available

# A program that listens passively through bluetoothd, as Home Assistant does where bluetoothd lets it.
(
    printf 'menu monitor\nadd-or-pattern 1 2 060102\nback\n'
    sleep 12
    echo quit
) | bluetoothctl >>/out/bluetoothctl 2>&1 &
sleep 4
kill -USR1 "$PROBE_PID"
if grep -q "Advertisement Monitor .* added" /out/bluetoothctl; then
    within 5 "no window is offered where another program has a monitor" window_is unavailable
else
    say "this bluetoothctl adds no monitor"
fi
wait $!
stop_beacons first
probe_off
expect "no beacon is missed for longer than 1 s, not $(total gap_ms) ms" at_most "$(total gap_ms)" 1000
expect "listening never paused" at_most "$(total pause_ms)" 0
expect_share_of first 95
