# Without capabilities the gateway scans by bluetoothd and may not send: card and status say which right is missing, and it hears all the
# same.
# kernels: uml
. "$BENCH/guest/lib.sh"
. "$BENCH/guest/survey.sh"

GATEWAY_HTTP='{"listen": "127.0.0.1:8080"}'
PROBE_AS="setpriv --reuid=65534 --clear-groups --bounding-set=-all --inh-caps=-all"
bus_on
bluetoothd_on
broker_on
controller_on first
slow_beacon first
within 20 "the adapter is on" adapter_is_on
gateway_on auto 60
within 30 "the beacon enters" happened enter 1
site_asks '"room":3'
within 20 "the card names the refusal" card_says '"refused":"hci0 does not send it: the kernel refuses readAdvertisingFeatures: Permission Denied"'
within 5 "status names the right that is missing" status_says "own beacon *not sent .*CAP_NET_ADMIN"
expect "nothing was advertised" sh -c '! grep -q advertising /out/first.log'
gateway_off
