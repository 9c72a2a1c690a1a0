# bluetoothd killed and restarted, the adapter unplugged and another plugged in, rfkill blocked and unblocked:
# scanning goes on by itself within 5 s.
# kernels: uml
. "$BENCH/guest/lib.sh"

bus_on
bluetoothd_on
controller_on first
two_beacons first
probe_on mgmt
within 10 "reports come" hears

bluetoothd_killed
sleep 2
expect "a dead bluetoothd changes nothing" hears
bluetoothd_on
sleep 1
within 5 "reports come after bluetoothd's start" hears
kill "$BLUETOOTHD"
sleep 1
within 5 "reports come after bluetoothd switched the adapter off at its end" hears
bluetoothd_on

rfkill block bluetooth
within 3 "the block is told" is_listening hci0 off
within 3 "the cure is told" probe_says 'rfkill unblock'
sleep 3
expect "a blocked radio stays off" sh -c "! tail -n 2 /out/probe | grep -q 'reports=[1-9]'"
rfkill unblock bluetooth
sleep 1
within 5 "reports come after the unblocking" hears

controller_off first
within 3 "the unplugging is told" is_listening hci0 off
controller_on second -a 00:AA:01:00:00:43
two_beacons second
within 5 "reports come from the other adapter" hears
probe_off
