# Prepares and boots the virtual host. Sourced by `run`, `measure` and `energy`, after lib.sh, which set here, package and kernel, and
# may set release and arch (default: this machine's).

own_release=$(. /etc/os-release && echo "$VERSION_CODENAME") own_arch=$(dpkg --print-architecture)
release=${release:-$own_release} arch=${arch:-$own_arch}

# Builds or finds all that is needed; sets PROBE, GATEWAY, boot (the kernel), root (the system that the virtual host sees)
# and work (a folder that is removed at the end, unless KEEP names one or something failed).
prepare() {
    build=${BUILD:-debug} compiler=cc
    bin=$(realpath "$package/.build/$build" 2>/dev/null || echo "$package/.build/$build")
    PROBE=${PROBE:-$bin/scanner-probe} GATEWAY=${GATEWAY:-$bin/ibeacon-gateway}
    [ -x "$PROBE" ] || stop 69 "not built: $PROBE (swift build --product scanner-probe)"
    [ "$arch" = "$own_arch" ] || "$package/Scripts/install-dependencies" qemu foreign || exit
    root=/
    if [ "$kernel" = qemu ]; then
        boot=$("$here/kernel/qemu" "$release" "$arch") || exit
        [ "$release $arch" = "$own_release $own_arch" ] || root=$("$here/kernel/root" "$release" "$arch") || exit
    else
        boot=$("$here/kernel/$kernel") || exit
    fi
    [ "$arch" = "$own_arch" ] || compiler=aarch64-linux-gnu-gcc
    work=${KEEP:-$(mktemp -d "${TMPDIR:-/tmp}/virtual-host.XXXXXX")}
    mkdir -p "$work/tools"
    work=$(realpath "$work")
    trap '[ "${KEEP:-}" ] || [ "${failed:-1}" -gt 0 ] || rm -rf "$work"' EXIT
    # Copies, so that the next build may begin while this runs.
    cp "$PROBE" "$work/tools/probe" && PROBE=$work/tools/probe
    [ -x "$GATEWAY" ] && cp "$GATEWAY" "$work/tools/gateway" && GATEWAY=$work/tools/gateway
    $compiler -O2 -Wall -Wextra -static -o "$work/tools/controller" "$here/controller.c" -lm || exit 69
    bluetooth=(-lbluetooth)
    if [ "$arch" != "$own_arch" ]; then
        # The library of the other architecture is in its root; the headers are the same for all.
        mkdir -p "$work/include"
        cp -r /usr/include/bluetooth "$work/include/"
        bluetooth=(-I "$work/include" "$root"/usr/lib/*/libbluetooth.so.3)
    fi
    $compiler -O2 -Wall -Wextra -o "$work/tools/count" "$here/count.c" "${bluetooth[@]}" || exit 69
    [ "$kernel" != uml ] || registers "$work/tools"
}

virtual_host=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
# registers FOLDER: sets preload, with which User Mode Linux runs on this machine's processor
registers() {
    preload=()
    grep -qw amx_tile /proc/cpuinfo || return 0
    cc -O2 -Wall -Wextra -shared -fPIC -o "$1/registers.so" "$virtual_host/registers.c" || exit 69
    preload=(env LD_PRELOAD="$1/registers.so")
}

# make_bleak: sets BLEAK, unless it is set, to a Python environment with bleak, which is made once for all clones.
make_bleak() {
    local version=3.1.0
    [ -z "${BLEAK:-}" ] || return 0
    BLEAK=${XDG_CACHE_HOME:-$HOME/.cache}/ibeacon-gateway/bleak-$version
    [ ! -e "$BLEAK/ready" ] || return 0
    "$package/Scripts/install-dependencies" clients || exit
    python3 -m venv --clear "$BLEAK" && "$BLEAK/bin/python" -m pip install -q "bleak==$version" && touch "$BLEAK/ready" ||
        stop 69 "bleak $version cannot be installed, see above"
}

# environment SCENARIO CONTROLLER: the orders that the virtual host finds
environment() {
    modules=
    [ "$kernel" = qemu ] && modules=$boot/lib/modules
    cat <<X
export BENCH=$here SCENARIO=$1 CONTROLLER=$2 KERNEL=$kernel TOOLS=$work/tools
export PROBE=$PROBE GATEWAY=$GATEWAY MODULES=$modules BLEAK=${BLEAK:-} RATES="${RATES:-}"
X
}

# has_kvm: whether this machine's processor can run the kernel of the virtual host. That there is /dev/kvm does not say so: a machine
# that is itself virtual can have one for kernels of its own kind alone (PVM). Debian's kernel hangs there in its first instructions.
has_kvm() { [ "$arch $own_arch" = "amd64 amd64" ] && [ -w /dev/kvm ] && grep -qwE 'vmx|svm' /proc/cpuinfo; }

# machine: sets emulator, the command that emulates a machine of this architecture, console, and limit, the seconds after which
# it hangs
machine() {
    case $arch in
    amd64) emulator=(qemu-system-x86_64 -M q35 -cpu max) console="ttyS0 mitigations=off tsc=unstable no_timer_check" ;;
    arm64) emulator=(qemu-system-aarch64 -M virt -cpu cortex-a72) console=ttyAMA0 ;;
    *) stop 69 "there is no virtual host for $arch" ;;
    esac
    # With `steady` an instruction takes 2 ns of the virtual host's time, however long it takes here: a busy machine then
    # changes no verdict. Only where the virtual host waits does its time pass as the machine's does.
    local time=(-accel "tcg,thread=multi")
    # Not where a scenario counts instructions, below.
    if has_kvm; then time=(-accel kvm "${time[@]}"); fi
    limit=600
    [ -z "${steady:-}" ] || { time=(-accel "tcg,thread=single" -icount shift=1,sleep=on) && limit=3600; }
    emulator+=("${time[@]}" -smp 2 -m 1024 -nodefaults -no-user-config -display none -no-reboot -serial stdio)
}

# boot_once OUT [real]: boots the virtual host, which finds its orders in OUT/environment.
#
# User Mode Linux skips the time in which it has nothing to do, and what it computes takes no time ("time travel"): a
# scenario is over as soon as the processor is done with it, and a busy machine changes no verdict. With `real` its
# time is the machine's, for scenarios in which it matters whether something is done fast enough.
#
# Bluetooth's elliptic curves need the kernel's jitter entropy, which measures how long its own steps take. Where they take no time,
# it measures for ever: Linux 6.12 does not get through its start. (6.1 notices, and does without.) So it is not started.
boot_once() {
    case $kernel in
    uml)
        ${exec:-} timeout -k 5 "${LIMIT:-600}" "${preload[@]}" "$boot" $([ "${2:-}" = real ] || echo time-travel=inf-cpu) \
            initcall_blacklist=jent_mod_init mem=512M root=/dev/root rootfstype=hostfs rootflags=/ ro \
            con=null con0=fd:0,fd:1 ssl=null panic=-1 quiet loglevel=3 init="$here/guest/init" out="$1" </dev/null ;;
    qemu)
        machine
        folders=()
        if [ "$root" != / ]; then folders=("$here" "$work" "$boot"); fi
        id=folder0
        for folder in "${folders[@]}"; do
            emulator+=(-fsdev "local,id=$id,path=$folder,readonly=on,security_model=none,multidevs=remap"
                -device "virtio-9p-pci,fsdev=$id,mount_tag=$id")
            id=folder$((${id#folder} + 1))
        done
        ${exec:-} timeout -k 5 "${LIMIT:-$limit}" "${emulator[@]}" -kernel "$boot/vmlinuz" -initrd "$boot/initrd.gz" \
            -fsdev "local,id=root,path=$root,readonly=on,security_model=none,multidevs=remap" \
            -device virtio-9p-pci,fsdev=root,mount_tag=hostroot \
            -fsdev local,id=out,path="$1",security_model=none -device virtio-9p-pci,fsdev=out,mount_tag=out \
            -append "console=$console quiet panic=-1 vminit=$here/guest/init folders=$(IFS=,; echo "${folders[*]}")" \
            </dev/null ;;
    esac >"$1/console" 2>&1
}

# usual_machine: what boots a disk image of deployment/image where nothing else is asked for
usual_machine() { if [ "$arch $own_arch $(uname -m)" = "amd64 amd64 x86_64" ]; then echo uml; else echo qemu; fi; }

# prepare_machine uml|qemu FOLDER: for boot_image. What is built is in FOLDER.
prepare_machine() {
    kind=$1
    machine
    [ "$kind" = uml ] || return 0
    [ "$arch" = amd64 ] || stop 69 "User Mode Linux exists for amd64 alone"
    boot=$("$virtual_host/kernel/uml") || exit
    registers "$2"
    # Its memory is a file: in memory, where there is room.
    memory=${TMPDIR:-/tmp}
    local room
    room=$(df --output=avail -k /dev/shm 2>/dev/null | tail -1) || true
    if [ "${room:-0}" -gt 1500000 ]; then memory=/dev/shm; fi
}

# boot_image IMAGE DISK OUT [lan]: boots DISK, a copy of the disk of IMAGE, until the machine switches itself off. qemu ends also where it
# asks for a reboot (resetting the emulated machine in place does not bring Debian's kernel up again), and User Mode Linux boots again by
# itself. OUT is the folder that the machine has as /out. With `lan` it has a network: qemu's own, or the interface `lan1` of this machine.
# A boot lasts longer than a scenario. What is written is not brought to the disk any earlier than this machine does it by itself.
boot_image() {
    local image=$1 disk=$2 out=$3 seconds=${LIMIT:-$((limit * 5 / 2))} network=()
    case $kind in
    uml)
        [ -z "${4:-}" ] || network=(vec0:transport=raw,ifname=lan1,depth=64,gro=1)
        TMPDIR=$memory timeout -k 5 "$seconds" "${preload[@]}" "$boot" initcall_blacklist=jent_mod_init mem=1024M \
            ubd0="$disk" root=/dev/ubda rootfstype=ext4 rootflags=nobarrier rw hostfs="$out" "${network[@]}" \
            con=null con0=fd:0,fd:1 ssl=null panic=-1 quiet loglevel=3 ;;
    qemu)
        [ -z "${4:-}" ] || network=(-nic user,model=virtio-net-pci)
        timeout -k 5 "$seconds" "${emulator[@]}" "${network[@]}" -kernel "$image/vmlinuz" -initrd "$image/initrd.gz" \
            -drive if=none,id=disk,file="$disk",format=raw,cache=unsafe -device virtio-blk-pci,drive=disk -device virtio-rng-pci \
            -fsdev local,id=out,path="$out",security_model=none -device virtio-9p-pci,fsdev=out,mount_tag=out \
            -append "console=$console quiet panic=-1" ;;
    esac </dev/null
}
