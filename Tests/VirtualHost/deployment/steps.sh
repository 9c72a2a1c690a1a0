# What the steps share. Sourced by them.
# An idle machine of the usual kind has come up to here in 20 s under qemu, and in 3 s in User Mode Linux. One that needed 150 s takes as
# much longer for anything else.
PATIENCE=20
[ ! -e /sys/block/ubda ] || PATIENCE=3
PATIENCE=$(($(cut -d. -f1 /proc/uptime) / PATIENCE))
[ $PATIENCE -ge 1 ] || PATIENCE=1
[ $PATIENCE -le 10 ] || PATIENCE=10
UUID=FDA50693-A4E2-4FB1-AFCF-C6EB07647825
base=owntracks/user/pi
service=ibeacon-gateway.service

events() { cat /out/messages-* 2>/dev/null | grep -c "^$base/event .*\"event\":\"$1\""; }
happened() { [ "$(events "$1")" -ge "$2" ]; }
so_far() { echo "$(events enter) $(events leave)"; }
is_active() { systemctl is-active -q "$service"; }
is_connected() { mosquitto_sub -t ibeacon-gateway/pi/availability -C 1 -W 2 | grep -q '^online'; }
# says TEXT: in the journal of this boot
says() { journalctl -b -u "$service" -o cat --no-pager | grep -q -- "$1"; }
lacks() { ! says "$1"; }
count_says() { journalctl -b -u "$service" -o cat --no-pager | grep -c -- "$1"; }
# mosquitto_sub reconnects by itself after a restart of the broker.
listen_to_broker() {
    mosquitto_sub -v -q 1 -t '#' >>"/out/messages-$1" 2>&1 &
    sleep 1
}
# load_driver: of the emulated controller. User Mode Linux has it built in. Debian's kernels for arm64 have no hci_vhci; there it is a UART.
load_driver() { grep -qw vhci /proc/misc || modprobe hci_vhci 2>/dev/null || modprobe hci_uart; }
beacon_on() { tell "$1" "beacon 1 C0:00:00:00:00:0A 100 10 -60 3 $(echo $UUID | tr -d - | tr A-F a-f) 1 7 -59"; }
beacon_off() { tell "$1" "stop 1"; }
# open_to_others: the sockets of this machine at which other machines can ask, as the kernel lists them
open_to_others() {
    for _kind in tcp udp; do
        cat /proc/net/$_kind /proc/net/${_kind}6 2>/dev/null | awk -v kind=$_kind '
            $1 == "sl" || (kind == "tcp" && $4 != "0A") { next }
            substr($2, 1, 8) == "0100007F" || substr($2, 1, 32) == "00000000000000000000000001000000" { next }
            { print kind, $2 }'
    done | sort -u
}
main_pid() { systemctl show -p MainPID --value "$service"; }
# files: all files that are not temporary state
files() {
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /out -o -path /var/log \
        -o -path /var/lib/dpkg -o -path /var/lib/apt -o -path /var/cache -o -path /var/tmp -o -path /var/lib/systemd -o -path /var/lib/bluetooth -o -path /var/lib/mosquitto \
        -o -path /var/lib/private \) -prune -o -print | sort
}
