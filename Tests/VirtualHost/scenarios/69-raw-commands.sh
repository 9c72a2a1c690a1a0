# Another program sends raw HCI commands: it switches the scan off, starts one that reports each advertiser once or only those of a
# list, and resets the controller. The beacon that stays put does not leave, and is heard again soon. A connection that is only
# being attempted is a pause, and is told after 5 s.
# kernels: uml
# not quick: it tests the radio; what the rest of the program makes of a fault, 09, 65 and 67 test
. "$BENCH/guest/lib.sh"

GATEWAY_HTTP='{"listen": "127.0.0.1:8080"}'
# sends GROUP COMMAND OCTETS...: a raw command
sends() { hcitool -i hci0 cmd "$@" >>/out/hcitool 2>&1; }
# The commands of the set that the controller uses.
off() { if [ "$CONTROLLER" = bluetooth5 ]; then sends 0x08 0x0042 00 00 00 00 00 00; else sends 0x08 0x000c 00 00; fi; }
# on FILTER POLICY
on() {
    if [ "$CONTROLLER" = bluetooth5 ]; then
        sends 0x08 0x0041 00 "$2" 01 00 60 00 60 00
        sends 0x08 0x0042 01 "$1" 00 00 00 00
    else
        sends 0x08 0x000b 00 60 00 60 00 00 "$2"
        sends 0x08 0x000c 01 "$1"
    fi
}
broker_on
controller_on first
slow_beacon first
gateway_on mgmt '"auto"'
within 20 "the beacon enters" happened enter 1
sleep 30
restarts() { metric ibeacon_gateway_scan_restarts_total; }
# On an emulated processor the scan may be on again before the metrics are asked.
noticed() { listens_not || [ "$(restarts)" -gt "$before" ]; }
before=$(restarts)
# disturbs WHAT: and is heard again
disturbs() {
    heard=$(metric ibeacon_gateway_advertising_reports_total)
    wait_for 2 noticed || fail "not told within 2 s: $1"
    within 6 "after that is heard again: $1" heard_more "$heard"
    within 6 "and it listens" listens
    sleep 70
    expect "the beacon did not leave" [ "$(events leave)" = 0 ]
    before=$(restarts)
}
off
disturbs "the scan is switched off"
off
on 01 00
disturbs "another scan filters duplicates"
off
on 00 01
disturbs "another scan is limited to a list"
sends 0x03 0x0003
disturbs "HCI Reset"
off
on 00 00
sleep 10
expect "a scan of another program that reports everything is listened through" listens
for round in 1 2 3 4 5 6 7 8 9 10; do
    off
    sleep 8
done
expect "the beacon does not leave" [ "$(events leave)" = 0 ]
gateway_off
expect "the beacon entered once and never left" [ "$(events enter) $(events leave)" = "1 0" ]
