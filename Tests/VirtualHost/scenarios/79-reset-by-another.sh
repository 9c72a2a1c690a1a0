# Another program resets the controller, switches it off, and puts it to sleep, and the controller refuses or does not stop its scan
# after that. The beacon that stays put does not leave, and is heard again soon.
# kernels: uml
# for a release
. "$BENCH/guest/lib.sh"

slow_beacon_is_inside
sleep 30
# again WHAT SECONDS: is heard
again() {
    heard=$(metric ibeacon_gateway_advertising_reports_total)
    within "$2" "after that is heard again: $1" heard_more "$heard"
    within 5 "and it listens" listens
    sleep 70
    expect "the beacon does not leave" [ "$(events leave)" = 0 ]
}
hciconfig hci0 reset
again "a reset by the kernel" 6
hciconfig hci0 down
again "the adapter is switched off" 10
btmgmt --index 0 power off >/out/btmgmt 2>&1 </dev/null
again "bluetoothd's interface switches it off" 10
sleepy=$(find /sys/kernel/debug/bluetooth/hci0/ -name force_suspend)
say "suspend: $sleepy"
for trouble in "" "refuse 0x0c" "stuck 0x0c" "mute 1"; do
    echo Y >"$sleepy"
    sleep 10
    expect "asleep it does not listen" listens_not
    [ -z "$trouble" ] || tell first "$trouble"
    echo N >"$sleepy"
    sleep 30
    expect "the beacon does not leave" [ "$(events leave)" = 0 ]
    [ -z "$trouble" ] || tell first "${trouble% *} 0"
    again "the sleep ends, with $trouble" 6
done
tell first refuse 0x0c
hciconfig hci0 reset
within 4 "a refusal after a reset is told" status_says "refuses to scan"
tell first refuse 0
again "the refusal after a reset" 6
gateway_off
expect "the beacon entered once and never left" [ "$(events enter) $(events leave)" = "1 0" ]
