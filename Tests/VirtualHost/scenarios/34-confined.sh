# What stands in the way from outside is named with the way out: a network namespace of its own, as a container without the host's network
# has; a bus that refuses; no bus at all. The log, scan and doctor say the same.
# kernels: qemu
. "$BENCH/guest/lib.sh"

# confined COMMAND...: without the host's network
confined() { unshare --net "$@"; }
# asks SCANNER
asks() { printf '{ "_type": "configuration", "host": "127.0.0.1", "scanner": "%s", "tid": "RM", "pubTopicBase": "owntracks/test/room" }\n' "$1" >/run/config.json; chmod 600 /run/config.json; }

controller_on first
two_beacons first
expect "the kernel has Bluetooth" test -d /sys/class/bluetooth/hci0
for scanner in mgmt hci; do
    asks $scanner
    confined "$GATEWAY" --config /run/config.json scan --duration 2 >/out/scan 2>&1
    expect "scan names the host's network ($scanner)" grep -q 'although the kernel has Bluetooth.*--network host' /out/scan
    confined "$GATEWAY" --config /run/config.json --state-dir /run/state doctor --listen 2 >/out/doctor 2>&1
    expect "doctor does" grep -A1 'BAD  radio.*although the kernel has Bluetooth' /out/doctor
    expect "with the way out" grep -q -- '-> .*--network host' /out/doctor
    expect "and does not advise to load a module" sh -c '! grep -q modprobe /out/doctor /out/scan'
    rm -rf /run/state && mkdir /run/state
    confined timeout 10 "$GATEWAY" --config /run/config.json --state-dir /run/state run >/out/gateway 2>&1
    expect "the log does, once" [ "$(grep -c 'although the kernel has Bluetooth.*--network host' /out/gateway)" = 1 ]
done

asks bluez
"$GATEWAY" --config /run/config.json scan --duration 2 >/out/scan 2>&1
expect "without a bus that is said" grep -q 'no D-Bus system bus.*install and start dbus' /out/scan
# As AppArmor or a policy refuses it.
cat >/etc/dbus-1/system.d/refusal.conf <<Y
<busconfig>
  <policy context="mandatory">
    <deny send_destination="org.bluez"/>
  </policy>
</busconfig>
Y
bus_on
/usr/libexec/bluetooth/bluetoothd -n >/out/bluetoothd.log 2>&1 &
sleep 5
"$GATEWAY" --config /run/config.json scan --duration 4 >/out/scan 2>&1
expect "a bus that refuses is no missing bus" sh -c '! grep -q "install and start dbus" /out/scan'
expect "and no missing bluetoothd" sh -c '! grep -q "bluetoothd is not running" /out/scan'
expect "the refusal is named with the way out" grep -q 'AccessDenied.*/etc/dbus-1/system.d' /out/scan
