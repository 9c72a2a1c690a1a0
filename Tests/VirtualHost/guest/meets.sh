# The words of the scenarios in which something happens while the controller refuses to scan or does not answer. Sourced after lib.sh.

# heard_after WHAT: soon, and the beacon does not leave
heard_after() {
    wait_for 12 heard_more "$heard" || fail "$way, $trouble: not heard again after: $1"
    wait_for 5 listens || fail "$way, $trouble: does not listen after: $1"
    sleep 45
    [ "$(events leave)" = 0 ] || fail "$way, $trouble: the beacon left after: $1"
}
# told_during WHAT: that nothing listens, all the while, and the beacon does not leave
told_during() {
    wait_for "${PAUSE:-8}" listens_not || fail "$way, $trouble: not told: $1"
    sleep 45
    listens_not || fail "$way, $trouble: not told later: $1"
    [ "$(events leave)" = 0 ] || fail "$way, $trouble: the beacon left: $1"
    heard=$(metric ibeacon_gateway_advertising_reports_total)
}
# The order, and something that makes the kernel start its scan again.
trouble_begins() {
    tell first "$trouble"
    if [ $way = bluez ]; then hciconfig hci0 reset; else discovery 1; fi
}
trouble_ends() { tell first "${trouble% *} 0"; }

# trouble_meets WAY TROUBLE: bluetoothd that is killed, a block, a gateway that is killed, an adapter that is pulled out
trouble_meets() {
    way=$1 trouble=$2
    bluetoothd_beside_page
    slow_beacon first
    within 20 "the adapter is on" adapter_is_on
    gateway_on "$way" '"auto"'
    within 30 "the beacon enters" happened enter 1
    sleep 20

    say "$way: $trouble, and bluetoothd"
    trouble_begins
    told_during "before bluetoothd is killed"
    bluetoothd_killed
    sleep 10
    bluetoothd_on
    told_during "bluetoothd killed and started"
    trouble_ends
    heard_after "bluetoothd killed and started"

    say "$way: $trouble, and a block"
    trouble_begins
    told_during "before a block"
    rfkill block bluetooth
    told_during "a block"
    rfkill unblock bluetooth
    told_during "the end of the block"
    trouble_ends
    heard_after "the end of the block"

    say "$way: a block, and then $trouble"
    rfkill block bluetooth
    sleep 3
    tell first "$trouble"
    rfkill unblock bluetooth
    told_during "trouble that began in a block"
    trouble_ends
    heard_after "trouble that began in a block"

    say "$way: $trouble, and a gateway that is killed"
    trouble_begins
    told_during "before the gateway is killed"
    kill -9 "$GATEWAY_PID"
    wait "$GATEWAY_PID" 2>/dev/null
    gateway_on "$way" '"auto"'
    told_during "the gateway starts"
    trouble_ends
    heard_after "the gateway starts"

    say "$way: $trouble, and the adapter is pulled out"
    trouble_begins
    told_during "before the adapter is pulled out"
    controller_off first
    told_during "the adapter is pulled out"
    heard=0
    controller_on first
    slow_beacon first
    heard_after "another adapter"
    gateway_off
    expect "the beacon entered once and never left" [ "$(events enter) $(events leave)" = "1 0" ]
}
