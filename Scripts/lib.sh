# Sourced by the scripts beside it.
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '%s\n' "== $*" >&2; }

# stop CODE TEXT: ends the script with a code of sysexits.h
stop() {
    local code=$1
    shift
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit "$code"
}

need_swift() {
    command -v swift >/dev/null ||
        stop 69 "there is no 'swift' on the PATH; install a Swift 6.2 or later toolchain (see https://www.swift.org/install/linux/) and try again"
}

# release_binary: builds the program as it is shipped and prints its path
release_binary() {
    swift build --package-path "$top" -c release --static-swift-stdlib --product ibeacon-gateway >&2
    printf '%s/ibeacon-gateway\n' "$(swift build --package-path "$top" -c release --static-swift-stdlib --show-bin-path)"
}

# free_port: prints a TCP port of the loopback interface that nobody listens on
free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
