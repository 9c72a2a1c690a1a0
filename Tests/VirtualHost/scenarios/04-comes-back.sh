# bluetoothd killed and restarted, rfkill blocked and unblocked, the adapter unplugged and another plugged in: scanning
# goes on by itself within 5 s, and what pauses is told. That no beacon leaves meanwhile: 14.
# kernels: uml
. "$BENCH/guest/lib.sh"

bus_on
bluetoothd_on
controller_on first
two_beacons first
probe_on mgmt
within 10 "reports come" hears

bluetoothd_killed
resumes 5 "$(uptime_ms)" "a dead bluetoothd changes nothing: reports come"
bluetoothd_on
resumes 5 "$(uptime_ms)" "reports come when bluetoothd starts again"
bluetoothd_off
resumes 5 "$(uptime_ms)" "reports come when bluetoothd has switched the adapter off at its end"
bluetoothd_on
resumes 5 "$(uptime_ms)" "and when it starts once more"

rfkill block bluetooth
within 3 "the block is told" is_listening hci0 off
within 3 "the cure is told" probe_says 'rfkill unblock'
sleep 3
expect "a blocked radio stays off" sh -c "! tail -n 2 /out/probe | grep -q 'reports=[1-9]'"
rfkill unblock bluetooth
resumes 5 "$(uptime_ms)" "reports come when the block has gone"

controller_off first
within 3 "the unplugging is told" is_listening hci0 off
sleep 3
controller_on second -a 00:AA:01:00:00:43
two_beacons second
resumes 5 "$(uptime_ms)" "reports come from the other adapter"

# The kernel gives a number again when it is free, so the next one is plugged in a moment earlier.
controller_on third -a 00:AA:01:00:00:44
controller_off second
two_beacons third
resumes 5 "$(uptime_ms)" "reports come from an adapter of another number"
within 3 "which is hci1" is_listening hci1 on
probe_off
