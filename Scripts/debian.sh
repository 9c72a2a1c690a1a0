# Sourced by the scripts that work with Debian systems of other releases and architectures.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

releases="bookworm trixie"
architectures="amd64 arm64"
# For read_options.
target_options="--arch=${architectures// /|} --release=${releases// /|}"

# release_number RELEASE: the number of a supported Debian release
release_number() {
    case $1 in
    bookworm) echo 12 ;;
    trixie) echo 13 ;;
    *) stop 64 "there is no release '$1'; there are: $releases" ;;
    esac
}

# multiarch ARCH: the GNU name of a supported architecture, as in the paths of its libraries
multiarch() {
    case $1 in
    amd64) echo x86_64-linux-gnu ;;
    arm64) echo aarch64-linux-gnu ;;
    *) stop 64 "there is no architecture '$1'; there are: $architectures" ;;
    esac
}

# triple ARCH: what Debian's Swift calls it
triple() {
    case $1 in
    amd64) echo x86_64-pc-linux-gnu ;;
    arm64) echo aarch64-unknown-linux-gnu ;;
    esac
}

# read_target SPECIFICATION WORD...: as read_options, with --arch and --release, which are this machine's if they are not given
read_target() {
    local specification=$1
    shift
    read_options "$target_options $specification" "$@"
    set_target
}

# set_target: this machine's `arch` and `release` where they are empty
set_target() {
    arch=${arch:-$(dpkg --print-architecture)}
    release=${release:-$(. /etc/os-release && echo "${VERSION_CODENAME:-}")}
    # A machine with another system builds for the newest release.
    case " $releases " in *" $release "*) ;; *) release=trixie ;; esac
    multiarch "$arch" >/dev/null
}

# debian_mirror: the address of Debian's archive that apt uses on this machine
debian_mirror() {
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' | grep . -m1 ||
        stop 69 "apt has no source with the label Debian; see sources.list(5)"
}

# in_root ROOT [HOST:INSIDE]... -- COMMAND...: runs a command in a Debian system, with folders of this machine bound into it.
# The mounts are this command's own and vanish with it. What it writes into /tmp also.
in_root() {
    local root=$1
    shift
    # shellcheck disable=SC2016 # the inner shell expands it
    unshare --mount --propagation private bash -ec '
        root=$1
        shift
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        mount -t tmpfs tmp "$root/tmp"
        while [ "$1" != -- ]; do
            mkdir -p "$root${1#*:}"
            mount --bind "${1%%:*}" "$root${1#*:}"
            shift
        done
        shift
        exec chroot "$root" /usr/bin/env -i PATH=/usr/libexec/swift/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
            LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"' - "$root" "$@"
}

# hold ROOT: keeps `debian-root` from replacing a system as long as this script runs
hold() {
    local lock
    lock=$(dirname "$1")/$(basename "$1" | sed 's/-[0-9a-f]\{12\}$//').lock
    exec {held}<"$lock"
    flock --shared "$held"
}

# need_emulation ARCH: lets this machine run programs of another architecture
need_emulation() {
    local interpreter
    [ "$1" = arm64 ] || stop 69 "there is no emulation of $1 here; run this on a machine of that architecture"
    ! emulates_arm64 || return 0
    "$top/Scripts/install-dependencies" emulation
    ! emulates_arm64 || return 0
    [ -e /proc/sys/fs/binfmt_misc/register ] || mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc ||
        stop 69 "the kernel has no binfmt_misc, which runs programs of arm64 through qemu"
    for interpreter in /usr/bin/qemu-aarch64-static /usr/bin/qemu-aarch64; do [ ! -x "$interpreter" ] || break; done
    # The header of an ELF file for arm64. F: the kernel opens the emulator now, so that it need not be in a chroot.
    # A script that runs beside this one may have registered it meanwhile ("File exists"): the check after this decides.
    printf '%s' ":qemu-aarch64:M::\\x7fELF\\x02\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\xb7\\x00:\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xfe\\xff\\xff\\xff:$interpreter:OCPF" \
        >/proc/sys/fs/binfmt_misc/register 2>/dev/null || true
    emulates_arm64 || stop 69 "the kernel does not take $interpreter for programs of arm64"
}

# emulates_arm64: whether an emulator is registered that works in a chroot also
emulates_arm64() {
    { cat /proc/sys/fs/binfmt_misc/* 2>/dev/null || true; } | awk '
        /^enabled/ { on = 1 } /^disabled/ { on = 0 } /^flags:/ { fixed = /F/ }
        /^magic 7f454c460201010000000000000000000200b7/ && on && fixed { found = 1 } END { exit !found }'
}
