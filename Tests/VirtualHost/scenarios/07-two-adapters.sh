# Two adapters at once, one dies: the other goes on without a pause.
# kernels: uml
. "$BENCH/guest/lib.sh"

controller_on first
controller_on second -a 00:AA:01:00:00:43
two_beacons first
two_beacons second
probe_on mgmt
within 10 "the first is heard" probe_says 'listening hci0 on'
within 10 "the second is heard" probe_says 'listening hci1 on'
sleep 3
controller_off first
within 3 "the loss is told" is_listening hci0 off
sleep 4
expect "the other goes on" hears 15
probe_off
expect "listening never paused" at_most "$(total pause_ms)" 0
expect "no beacon is missed for longer than 1 s" at_most "$(total gap_ms)" 1000
