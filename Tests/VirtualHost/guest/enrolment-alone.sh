# The words of enrolment.sh where no bluetoothd runs: kernels pair, and phone.py is the phone's owner. Sourced after enrolment.sh.

# two_hosts_on private|public: the phone's kind of address
two_hosts_on() {
    btvirt -L -l2 >/out/btvirt.log 2>&1 &
    within 10 "two controllers are there" test -e /sys/class/bluetooth/hci1
    within 10 "the kernel knows them" phone_is "$1"
    GATEWAY_ADDRESS=$(address_of hci0) PHONE_ADDRESS=$(address_of hci1)
    mkdir -p /run/state
}
address_of() { hciconfig "$1" | sed -n 's/.*BD Address: \([0-9A-F:]*\).*/\1/p'; }
phone_is() { owner alone "$1"; }
phone_pairs() { owner pair "$GATEWAY_ADDRESS"; }
# phone_connects yes|no: what its owner answers when the gateway asks
phone_connects() { owner connect "$GATEWAY_ADDRESS" "$1"; }
phone_forgets() { owner forget "$GATEWAY_ADDRESS"; }
owner() { python3 "$BENCH/phone.py" "$@" 2>>/out/phone; }
gateway_adapter() { owner gateway; }

# What the adapter must be again when an enrolment has ended.
remember_adapter() { ADAPTER_BEFORE=$(gateway_adapter) && say "the adapter: $ADAPTER_BEFORE"; }
nothing_is_left() {
    expect "the kernel has no key" kernel_has_no_key
    expect "the adapter is as before: $(gateway_adapter)" [ "$(gateway_adapter)" = "$ADAPTER_BEFORE" ]
    expect "nobody is connected" sh -c '! hcitool con | grep -q "handle"'
    expect "no record is left" test ! -e /run/state/enrolment
}
