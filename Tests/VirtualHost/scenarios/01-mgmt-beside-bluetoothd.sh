# mgmt with bluetoothd running: at least 95 % of two beacons at 10 Hz reach the gateway, enter and leave come out on a
# real broker, and nothing is left scanning.
# kernels: uml qemu
. "$BENCH/guest/lib.sh"

bus_on
bluetoothd_on
broker_on
controller_on first
two_beacons first
GATEWAY_HTTP='{ "listen": "127.0.0.1:8080" }'
gateway_on mgmt 6
within 20 "the beacon enters" happened enter 1
sleep 20
stop_beacons first
sent=$(stat_of first sent)
heard=$(metric ibeacon_gateway_advertising_reports_total)
expect "95 % of $sent reports reach the gateway, not $heard" at_least "$heard" $((sent * 95 / 100))
expect "there was something to hear" at_least "$heard" 300
within 25 "the beacon leaves" happened leave 1
expect "the gateway knows what duty it has" [ "$(metric ibeacon_gateway_scan_duty_ratio)" = 1 ]
expect "and that nothing was lost" [ "$(metric ibeacon_gateway_lost_reports_total)" = 0 ]
gateway_off
expect "one enter and one leave, no more" [ "$(events enter) $(events leave)" = "1 1" ]
within 5 "nothing is left scanning" is_idle first
