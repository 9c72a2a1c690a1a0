# What the three have in common. Sourced by them.
. /out/steps.sh
say "$(uname -r)"
# The home, before the first box: a network, a name for its broker, and a user who may use sudo. The broker of this machine is the
# package's suggestion, and no part of a new Pi.
systemctl disable --now mosquitto >/dev/null 2>&1
printf '[Match]\nName=e*\n[Network]\nDHCP=yes\n' >/etc/systemd/network/lan.network
# User Mode Linux has a cable to the home alone, and nobody who gives addresses.
printf '[Match]\nName=vec*\n[Network]\nAddress=10.0.2.15/24\n' >/etc/systemd/network/cable.network
systemctl restart systemd-networkd
echo '10.0.2.2 homeassistant.local broker.lan' >>/etc/hosts
echo 'u pi - - /home/pi /bin/bash' | systemd-sysusers -
mkdir -p /home/pi && chown pi: /home/pi
echo 'pi ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/pi
chmod 711 /out
cd /home/pi || exit 1
reaches() { python3 -c 'import socket, sys; socket.create_connection(("10.0.2.2", int(sys.argv[1])), 2)' "$1"; }
# A box may take as long as the boot: whether the time that the guide promises is kept is judged at the end of the day.
BOX_PATIENCE=$(cat /out/limit)
export BOX_PATIENCE
boxes=0 commands=0 questions=0 waited=0
# does PAGE#HEADING...: runs the boxes below these headings, as the user of the Pi, and counts
does() {
    for heading; do
        python3 /out/replay.py --as pi "/out/pages/$heading" >/out/said 2>&1
        _failed=$?
        cat /out/said
        cat /out/said >>/out/all-said
        [ $_failed = 0 ] || fail "Docs/$heading shows what does not work; see the log"
        set -- $(sed -n 's/^typed: //p' /out/said)
        boxes=$((boxes + $1)) commands=$((commands + $2)) questions=$((questions + $3)) waited=$((waited + $4))
    done
}
hexadecimal=$(echo $UUID | tr -d - | tr A-F a-f)
# day MINUTES [CONDITION]: a person reads a box in 10 s, types a command in 10 s and answers a question in 5 s. With what the machine needs,
# that must be within the time that the guide promises. Where the condition does not hold, nothing is said of that.
day() {
    _seconds=$((boxes * 10 + commands * 10 + questions * 5 + waited))
    echo "$boxes boxes, $commands commands, $questions questions, ${waited} s of the machine; $_seconds s in all, $1 minutes promised" >/out/day
    cat /out/day
    [ $PATIENCE -gt 2 ] || ! eval "${2:-true}" || expect "that is within $1 minutes" [ $_seconds -le $(($1 * 60)) ]
}
