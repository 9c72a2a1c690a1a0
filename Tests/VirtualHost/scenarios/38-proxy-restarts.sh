# The Bluetooth proxy with a client as Home Assistant is one: packets come again after the adapter was switched off, after it was
# unplugged, and after bluetoothd was killed; the client stays connected. A window of active scan that the client asks for is opened, and
# brings it what devices answer.
# kernels: uml
# for a release
. "$BENCH/guest/lib.sh"

client=/root/.cache/ibeacon-gateway/aioesphomeapi-46.23.0/bin/python
[ -x "$client" ] || fail "there is no $client; Tests/BluetoothProxy/test installs it"
ip link set lo up 2>/dev/null
bus_on
bluetoothd_on
broker_on
controller_on first
two_beacons first
mkdir -p /run/state
openssl rand -base64 32 >/run/key
cat >/run/config.json <<X
{
    "_type": "configuration", "tid": "RM", "host": "127.0.0.1", "pubTopicBase": "owntracks/test/room", "scanner": "mgmt",
    "http": { "listen": "127.0.0.1:8080" }, "waypoints": [],
    "bluetoothProxy": { "keyFile": "/run/key", "allow": ["127.0.0.1"] }
}
X
chmod 600 /run/config.json /run/key
"$GATEWAY" --config /run/config.json --state-dir /run/state --verbose run >>/out/gateway 2>&1 &
GATEWAY_PID=$!
within 20 "the adapter is on" adapter_is_on
within 20 "it listens" listens
sent() { metric ibeacon_gateway_proxy_packets_total; }
# sent_more N
sent_more() { [ "$(sent)" -gt "$1" ]; }
# comes_again SECONDS WHAT
comes_again() { _sent=$(sent); within "$1" "packets again: $2" sent_more $((_sent + 20)); }
within 20 "the port is open" sh -c "busybox nc -z 127.0.0.1 6053 || grep -q :17A5 /proc/net/tcp /proc/net/tcp6"
"$client" "$BENCH/../BluetoothProxy/client.py" window 6053 "$(cat /run/key)" 150 >/out/client 2>&1 &
CLIENT=$!
within 60 "the client has packets" sent_more 50
within 10 "its window is opened" did first 'scan on .* active'
tell first "adv C0:00:00:00:00:0C -60 020a00 4"
is_passive() { grep 'scan on' /out/first.log | tail -1 | grep -q passive; }
sleep 36
within 5 "and ended" is_passive
bluetoothctl power off >>/out/bluetoothctl 2>&1
sleep 1
comes_again 15 "after the adapter was switched off"
bluetoothd_killed
bluetoothd_on
comes_again 15 "after bluetoothd was killed"
controller_off first
sleep 3
controller_on first
two_beacons first
comes_again 20 "after the adapter was unplugged"
expect "one client, all the time" [ "$(logged 'the Bluetooth proxy serves')" = 1 ]
wait $CLIENT
cat /out/client
expect "the client had what a device answered, too" grep -q '"answers": 1,' /out/client
expect "it was told of the window" grep -q '"modes": \[.*1' /out/client
gateway_off
