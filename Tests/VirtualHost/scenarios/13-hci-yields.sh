# hci keeps off an adapter on which bluetoothd scans, says so, and takes it up again when that scan has ended.
# kernels: uml
# not quick: it tests the radio; what the rest of the program makes of a fault, 09, 65 and 67 test
. "$BENCH/guest/lib.sh"

bus_on
bluetoothd_on
controller_on first
two_beacons first
within 20 "the adapter is on" adapter_is_on
discovery 12 &
within 10 "bluetoothd scans" is_scanning first
probe_on hci
within 5 "hci refuses" probe_says 'notice warning hci0: another program scans on this adapter'
expect "bluetoothd's scan is left alone" is_scanning first
within 20 "hci scans when the other scan has ended" is_listening hci0 on
within 3 "reports come" hears 15
probe_off
within 5 "nothing is left scanning" is_idle first
