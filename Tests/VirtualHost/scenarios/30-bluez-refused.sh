# bluez: a discovery that bluetoothd grants or answers with InProgress, and that is not on, is no listening: from the start, and
# while it runs. It is said once, asked for again, and heard again soon after the controller accepts.
# kernels: uml
# not quick: it tests the radio; what the rest of the program makes of a fault, 09, 65 and 67 test
# long
. "$BENCH/guest/lib.sh"

GATEWAY_HTTP='{ "listen": "127.0.0.1:8080" }'
state() { grep -o '[a-z ]*listening: hci0: .*' /out/gateway | tail -n 1; }
listens_now() { [ "$(metric ibeacon_gateway_adapter_listening)" = 1 ]; }
deaf_now() { [ "$(metric ibeacon_gateway_adapter_listening)" = 0 ]; }
status_text() { "$GATEWAY" --config /run/config.json --state-dir /run/state status; }

bus_on
bluetoothd_on
broker_on
controller_on first
tell first "beacon 1 C0:00:00:00:00:0A 500 20 -65 5 $UUID 10053 4097 -59"
within 20 "the adapter is on" adapter_is_on
gateway_on bluez 60
within 30 "the beacon enters" happened enter 1
within 5 "it listens" listens_now
sleep 40
expect "and has not ceased to" sh -c '! grep -q "not listening" /out/gateway'

tell first refuse 0x0c
say "the controller refuses"
within 40 "it does not listen when bluetoothd cannot go on" deaf_now
say "$(state)"
within 15 "the reason is said" grep -q 'hci0: no discovery: bluetoothd ' /out/gateway
status_text >/out/status
expect "status has it, too" grep -q 'no discovery: bluetoothd .* sudo systemctl restart bluetooth' /out/status
sleep 60
expect "it is said once" [ "$(grep -c 'no discovery: bluetoothd ' /out/gateway)" = 1 ]
expect "nothing leaves meanwhile" [ "$(events leave)" = 0 ]
tell first refuse 0
within 15 "it listens soon after the controller accepts" listens_now
gateway_off
expect "nothing has left" [ "$(events leave)" = 0 ]

tell first refuse 0x0c
: >/out/gateway
rm -rf /run/state
gateway_on bluez 60
within 5 "a gateway that is refused from its start does not listen" grep -q 'not listening: hci0: no discovery' /out/gateway
within 5 "and says so in its metric" deaf_now
"$GATEWAY" --config /run/config.json --state-dir /run/state2 doctor --listen 6 >/out/doctor
expect "doctor says so" grep -q 'BAD  radio.*hci0: no discovery: bluetoothd ' /out/doctor
refused=$(grep -c 'refuses with' /out/first.log)
sleep 60
expect "the controller is asked every two seconds at most" at_most $(($(grep -c 'refuses with' /out/first.log) - refused)) 30
expect "and that is said once" [ "$(grep -c 'no discovery: bluetoothd ' /out/gateway)" = 1 ]
tell first refuse 0
within 15 "it listens soon after the controller accepts" listens_now
within 30 "the beacon enters" happened enter 2
gateway_off
