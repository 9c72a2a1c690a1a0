# doctor and scan, beside the service and without it, say that the controller refuses to scan, and why.
# kernels: uml
. "$BENCH/guest/lib.sh"

# says COMMAND...: with the reason
says() { "$GATEWAY" --config /run/config.json --state-dir /run/state "$@" >/out/said 2>&1; grep -q "refuses to scan: Command Disallowed (0x0c)" /out/said; }
bus_on
bluetoothd_on
broker_on
controller_on first
slow_beacon first
gateway_on mgmt '"auto"'
within 20 "the beacon enters" happened enter 1
sleep 30
tell first refuse 0x0c
discovery 2
sleep 20
expect "doctor names the reason beside the service" says doctor --listen 10
expect "and does not call all well" sh -c "! grep -q 'all is well' /out/said"
expect "status names it" says status
expect "the beacon does not leave" [ "$(events leave)" = 0 ]
gateway_off
expect "doctor names it alone" says doctor --listen 10
tell first refuse 0
"$GATEWAY" --config /run/config.json --state-dir /run/state doctor --listen 10 >/out/said 2>&1
expect "and no more when the controller accepts" sh -c "! grep -q 'refuses to' /out/said"
