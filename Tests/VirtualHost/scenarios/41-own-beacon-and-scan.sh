# What sending costs the scan: of 500 reports a second, as many arrive while the gateway sends as while it does not, but for the
# pauses in which a controller without advertising sets takes the address of a burst.
# kernels: uml
# not quick: some minutes of the virtual host's time
. "$BENCH/guest/lib.sh"
. "$BENCH/guest/survey.sh"

bluetoothd_beside_page
gateway_on mgmt '"auto"'
within 20 "the gateway listens" listens
heard() { metric ibeacon_gateway_advertising_reports_total; }
# share NAME: per mille of the reports of two minutes that arrive
share() {
    before=$(heard)
    tell first "flood 500 120 100"
    sleep 122
    received=$(($(heard) - before))
    say "$1: $received of 60000 reports arrive"
    eval "$1=$received"
}
site_asks
share alone
site_asks '"room":3'
within 10 "the beacon is on the air" is_on_air first 1
share sending
expect "all of 60000 reports arrive without sending, not $alone" [ "$alone" = 60000 ]
# Two bursts in two minutes, of which each may pause the scan for a tenth of a second.
expect "at least 99.8 % arrive while sending, not $sending" at_least "$sending" 59880
expect "the gateway was told of no lost reports" [ "$(metric ibeacon_gateway_lost_reports_total)" = 0 ]
say "random addresses refused: $(grep -c 'random address disallowed' /out/first.log)"
gateway_off
