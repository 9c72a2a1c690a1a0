# The beacons that the gateways of a site send, for scenarios 40 to 42. Sourced after lib.sh.

SURVEY=00112233-4455-6677-8899-aabbccddeeff
# The frame of a minor below 256, behind whatever Flags the kernel puts before it.
frame() { printf '1aff4c000215%s0000%04xc5' "$(echo $SURVEY | tr -d -)" "$1"; }
# site_asks '"GATEWAY":MINOR,…': the list of tags asks these gateways to send; without an argument, none
site_asks() {
    _survey=${1:+,\"survey\":\{\"uuid\":\"$SURVEY\",\"gateways\":\{$1\}\}}
    mosquitto_pub -r -t ibeacon-rooms/home/tags -m "{\"v\":1,\"tags\":[{\"uuid\":\"$UUID\",\"major\":1,\"minor\":7}]$_survey}"
}
# card_says TEXT [GATEWAY]: the last card of a gateway
card_says() { grep "^ibeacon-rooms/home/gateway/${2:-room} " /out/messages | tail -n 1 | grep -q "$1"; }
card_says_nothing() { ! card_says '"survey"'; }
# on_air NAME: how many of its advertisements with our frame the controller has on
on_air() {
    awk -v frame="$(frame "${2:-3}")" '$2 == "advertising" && index($0, frame) { if ($3 == "on") on[$4] = 1; if ($3 == "off") on[$4] = 0 }
        END { for (each in on) sum += on[each]; print sum + 0 }' "/out/$1.log"
}
is_on_air() { [ "$(on_air "$1")" = "$2" ]; }
# The gateway's name, where its configuration gives it none.
echo room >/proc/sys/kernel/hostname
