# A tool used the legacy commands before the kernel scans, so a Bluetooth 5 controller refuses the kernel's (Core Specification, Vol 4,
# Part E, 3.1.1). The controller is reset, and then scans. Once the tool has switched its scan off, once it has left it on.
# kernels: uml
# not quick: it tests the radio; what the rest of the program makes of a fault, 09, 65 and 67 test
. "$BENCH/guest/lib.sh"

GATEWAY_HTTP='{"listen": "127.0.0.1:8080"}'
broker_on
controller_on first
slow_beacon first
entered=0
for scan in off on; do
    hciconfig hci0 down
    hciconfig hci0 reset
    hciconfig hci0 up
    hcitool -i hci0 cmd 0x08 0x000b 00 10 00 10 00 00 00 >/out/hcitool
    hcitool -i hci0 cmd 0x08 0x000c 01 01 >>/out/hcitool
    [ $scan = on ] || hcitool -i hci0 cmd 0x08 0x000c 00 00 >>/out/hcitool
    gateway_on mgmt '"auto"'
    if [ "$CONTROLLER" = bluetooth5 ]; then
        within 10 "the controller refuses" did first 'mixes legacy and extended'
        within 20 "the controller is reset" sh -c "grep -q 'reset: the controller refuses to' /out/gateway"
    fi
    entered=$((entered + 1))
    within 20 "the beacon enters" happened enter $entered
    within 5 "it listens" listens
    sleep 60
    expect "the beacon does not leave" [ "$(events leave)" = 0 ]
    gateway_off
    rm -rf /run/state
    : >/out/gateway
done
