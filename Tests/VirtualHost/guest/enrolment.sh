# A gateway with bluetoothd on hci0 and a phone on hci1, whose controllers are linked (btvirt). Sourced after lib.sh.
#
# bluetoothd serves both adapters. The phone's owner agrees when the phone pairs by itself (phone_pairs), because bluetoothd takes
# that for an agreement, and declines when the gateway asks (phone_connects), because no agent answers
# for the phone until phone_agrees.

BONDS=/var/lib/bluetooth

# two_hosts_on private|public: the phone's kind of address
two_hosts_on() { hosts_on 2 "$1"; }
# hosts_on N private|public: with so many linked controllers; the third is of another gateway
hosts_on() {
    bus_on
    btvirt -L "-l$1" >/out/btvirt.log 2>&1 &
    within 10 "$1 controllers are there" test -e "/sys/class/bluetooth/hci$(($1 - 1))"
    bluetoothd_on -E
    for _adapter in $(seq 0 $(($1 - 1))); do within 10 "adapter $_adapter is on" adapter_is_on "hci$_adapter"; done
    phone_is "$2"
    GATEWAY_ADDRESS=$(address_of hci0) PHONE_ADDRESS=$(address_of hci1)
    mkdir -p /run/state
}
address_of() { busctl get-property org.bluez "/org/bluez/$1" org.bluez.Adapter1 Address | cut -d'"' -f2; }
phone_is() {
    python3 "$BENCH/phone.py" "$1" || fail "the phone cannot be set up"
    within 10 "the phone is on" adapter_is_on hci1
}

# The address that changes, as the phone's kernel has it.
phone_address() { tr -d '[:space:]' </sys/kernel/debug/bluetooth/hci1/random_address; }

# btvirt sends one report of an advertisement, too early for a discovery. So the phone connects without one (bluetoothd -E).
phone_connects() {
    busctl call org.bluez /org/bluez/hci1 org.bluez.Adapter1 ConnectDevice 'a{sv}' 2 \
        Address s "$GATEWAY_ADDRESS" AddressType s public ||
        busctl call org.bluez "$(gateway_on_phone)" org.bluez.Device1 Connect
} >>/out/phone 2>&1
phone_pairs() {
    phone_connects
    busctl call org.bluez "$(gateway_on_phone)" org.bluez.Device1 Pair >>/out/phone 2>&1
}
# The phone's owner says yes when the gateway asks.
phone_agrees() {
    (echo "agent off"; sleep 0.2; echo "agent NoInputNoOutput"; sleep 0.2; echo default-agent; sleep 3; echo yes; sleep 3; echo quit) |
        bluetoothctl >>/out/phone 2>&1
}
phone_forgets() { busctl call org.bluez /org/bluez/hci1 org.bluez.Adapter1 RemoveDevice o "$(gateway_on_phone)"; }
gateway_on_phone() { echo "/org/bluez/hci1/dev_$(echo "$GATEWAY_ADDRESS" | tr : _)"; }

# The service that runs meanwhile, and its broker.
service_on() {
    broker_on
    cat >/run/config.json <<J
{
    "_type": "configuration", "tid": "RM", "host": "127.0.0.1", "pubTopicBase": "owntracks/test/room", "scanner": "mgmt",
    "adapter": "hci0", "leaveAfter": 8
}
J
    chmod 600 /run/config.json
    "$GATEWAY" --config /run/config.json --state-dir /run/state run >>/out/gateway 2>&1 &
    GATEWAY_PID=$!
    within 10 "the gateway listens" grep -q "listening: hci0" /out/gateway
}

# enrol_on NAME [WORDS...]: begins an enrolment; what it says is in /out/enrolment, what it prints in /out/description
enrol_on() {
    ${ENROL_AS:-} "$GATEWAY" --config /run/enrolment.json --state-dir /run/state phones add "$@" \
        >/out/description 2>/out/enrolment &
    ENROL_PID=$!
    within 10 "it waits for a phone" says "waiting for three minutes"
}
says() { grep -q "$1" /out/enrolment; }
# For an enrolment that ends by itself.
enrol_ends() {
    wait "$ENROL_PID"
    ENROL_STATUS=$?
    cat /out/enrolment
}

# Nothing of the phone or of the enrolment is left on the gateway: in bluetoothd, on its disk, in the kernel, on the air.
nothing_is_left() {
    expect "bluetoothd has no device of the gateway" no_devices
    expect "no bond is on its disk" no_bond
    # bluetoothd 5.82 has answered before the connection has ended, and with it the kernel's key.
    within 5 "the kernel has no key" kernel_has_no_key
    expect "nothing is advertised" not_advertised
    expect "no record is left" test ! -e /run/state/enrolment
    expect "no key is outside its file" keys_are_hidden
}
# The phone's key in both orders, in hexadecimal, base64 and octets, in what was said and in all states. btmon decodes what the kernel
# tells, keys included.
keys_are_hidden() {
    ! {
        grep -rlisE '0F0E0D0C0B0A0908|0001020304050607|Dw4NDAsKCQgHBgUE|AAECAwQFBgcICQoL' /out /run/setup* /run/*state* \
            --exclude=phone-keys --exclude=btmon
        LC_ALL=C grep -rlasP '\x01\x02\x03\x04\x05\x06\x07\x08\x09|\x09\x08\x07\x06\x05\x04\x03\x02\x01' /out /run/setup* /run/*state* \
            --exclude=phone-keys --exclude=btmon
    } | grep .
}
no_bond() { ! grep -rqs IdentityResolvingKey "$BONDS/$GATEWAY_ADDRESS"; }
no_devices() { ! busctl tree --list org.bluez | grep -q /org/bluez/hci0/dev_.*; }
kernel_has_no_key() {
    [ -r /sys/kernel/debug/bluetooth/hci0/identity_resolving_keys ] &&
        ! grep -q . /sys/kernel/debug/bluetooth/hci0/identity_resolving_keys \
            /sys/kernel/debug/bluetooth/hci0/long_term_keys
}
not_advertised() {
    busctl get-property org.bluez /org/bluez/hci0 org.bluez.LEAdvertisingManager1 ActiveInstances | grep -q "y 0"
}
printf '{ "_type": "configuration", "host": "127.0.0.1", "adapter": "hci0" }\n' >/run/enrolment.json
