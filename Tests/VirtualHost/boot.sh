# Prepares and boots the virtual host. Sourced by `run` and `measure`, which set here, package and kernel.

# Builds or finds all that is needed; sets PROBE, GATEWAY, boot (the kernel) and work (a folder that is removed at the
# end, unless KEEP names one or something failed).
prepare() {
    build=${BUILD:-debug}
    bin=$(realpath "$package/.build/$build" 2>/dev/null || echo "$package/.build/$build")
    PROBE=${PROBE:-$bin/scanner-probe} GATEWAY=${GATEWAY:-$bin/ibeacon-gateway}
    [ -x "$PROBE" ] || { echo "not built: $PROBE (swift build --product scanner-probe)" >&2; exit 69; }
    boot=$("$here/kernel/$kernel") || exit 69
    work=${KEEP:-$(mktemp -d "${TMPDIR:-/tmp}/virtual-host.XXXXXX")}
    mkdir -p "$work/tools"
    work=$(realpath "$work")
    trap '[ "${KEEP:-}" ] || [ "${failed:-1}" -gt 0 ] || rm -rf "$work"' EXIT
    # Copies, so that the next build may begin while this runs.
    cp "$PROBE" "$work/tools/probe" && PROBE=$work/tools/probe
    [ -x "$GATEWAY" ] && cp "$GATEWAY" "$work/tools/gateway" && GATEWAY=$work/tools/gateway
    cc -O2 -Wall -Wextra -static -o "$work/tools/controller" "$here/controller.c" -lm || exit 69
    cc -O2 -Wall -Wextra -o "$work/tools/count" "$here/count.c" -lbluetooth || exit 69
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

# boot_once OUT [real]: boots the virtual host, which finds its orders in OUT/environment.
#
# User Mode Linux skips the time in which it has nothing to do, and what it computes takes no time ("time travel"): a
# scenario is over as soon as the processor is done with it, and a busy machine changes no verdict. With `real` its
# time is the machine's, for scenarios in which it matters whether something is done fast enough.
boot_once() {
    case $kernel in
    uml)
        ${exec:-} timeout -k 5 "${LIMIT:-600}" "$boot" $([ "${2:-}" = real ] || echo time-travel=inf-cpu) mem=512M root=/dev/root rootfstype=hostfs rootflags=/ ro \
            con=null con0=fd:0,fd:1 ssl=null panic=-1 quiet loglevel=3 init="$here/guest/init" out="$1" </dev/null ;;
    qemu)
        ${exec:-} timeout -k 5 "${LIMIT:-600}" qemu-system-x86_64 -M q35 -accel tcg,thread=multi -cpu max -smp 2 -m 1024 \
            -nodefaults -no-user-config -display none -no-reboot -serial stdio \
            -kernel "$boot/vmlinuz" -initrd "$boot/initrd.gz" \
            -fsdev local,id=root,path=/,readonly=on,security_model=none,multidevs=remap \
            -device virtio-9p-pci,fsdev=root,mount_tag=hostroot \
            -fsdev local,id=out,path="$1",security_model=none -device virtio-9p-pci,fsdev=out,mount_tag=out \
            -append "console=ttyS0 quiet panic=-1 mitigations=off tsc=unstable no_timer_check vminit=$here/guest/init" \
            </dev/null ;;
    esac >"$1/console" 2>&1
}
