# Sourced by all scripts in bash. Scripts in Python have options.py.
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# The script's own file, and its name, as it is typed in the folder of the project.
script_file=$(realpath "$0")
script=${script_file#"$top/"}
script=${script/#Scripts\/release-tests\//Scripts/test-release }

say() { printf '%s\n' "== $*" >&2; }

# stop CODE TEXT: ends the script with a code of sysexits.h
stop() {
    local code=$1
    shift
    printf '%s: %s\n' "${script##*/}" "$*" >&2
    exit "$code"
}

# wrong_use TEXT: ends the script because of the words that it was called with
wrong_use() { stop 64 "$*; see $script --help"; }

# one_of WHAT VALUE "one|two": ends the script if the value is none of these
one_of() { [[ "|$3|" = *"|$2|"* ]] || wrong_use "there is no $1 '$2'; there are: ${3//|/, }"; }

# read_options SPECIFICATION WORD...: reads what a script was called with. To be called before the script does anything.
# `--help` prints the comment at the head of the script, which is its only description. What the specification does not name ends
# the script with 64. The specification has a word for each thing that is taken, as in the usage line:
#   --name             the variable `name` is `yes`, or empty if the option is not given; `-` becomes `_` in its name
#   --name=VALUE       `name` is the value, which is given as `--name VALUE` or `--name=VALUE`
#   --name=one|two     the same, and the value is one of these
#   --name=VALUE...    the option may be repeated: `name` is an array
#   WORD               a word that is no option; [WORD] need not be given, WORD... and [WORD...] may be repeated
# The words that are no options go into the array `words`, in their order. After `--` no word is an option.
read_options() {
    local -A takes=()
    local specification word name value least=0 most=0
    read -ra specification <<<"$1"
    shift
    for word in "${specification[@]}"; do
        name=${word%%=*}
        case $word in
        --*) takes[$name]=${word#"$name"} && set_option "$name" && continue ;;
        [!\[]*) least=$((least + 1)) ;;
        esac
        case $word in *...*) most=1000000 ;; *) most=$((most + 1)) ;; esac
    done
    words=()
    while [ $# != 0 ]; do
        word=$1 name=${1%%=*} value=yes
        shift
        case $word in
        --help | -h) print_help && exit 0 ;;
        --) words+=("$@") && break ;;
        -?*) [ -n "${takes[$name]+known}" ] || wrong_use "there is no option '$name'" ;;
        *) words+=("$word") && continue ;;
        esac
        if [ -z "${takes[$name]}" ]; then
            [ "$word" = "$name" ] || wrong_use "$name takes no value"
        elif [ "$word" != "$name" ]; then
            value=${word#*=}
        else
            [ $# != 0 ] && [[ $1 != --* ]] || wrong_use "$name wants a value: ${takes[$name]#=}"
            value=$1
            shift
        fi
        case ${takes[$name]} in
        *'|'*) one_of "$name" "$value" "${takes[$name]#=}" ;;
        esac
        set_option "$name" "$value"
    done
    [ ${#words[@]} -ge $least ] || wrong_use "something is missing; it takes: ${specification[*]}"
    [ ${#words[@]} -le $most ] || wrong_use "'${words[most]}' is one word too many"
}

# set_option --NAME [VALUE]: a part of read_options, whose `takes` it reads; without VALUE the option is not given so far
set_option() {
    local variable=${1#--}
    variable=${variable//-/_}
    case ${takes[$1]} in
    *...) [ $# = 1 ] && declare -ga "$variable=()" || declare -ga "$variable+=(${2@Q})" ;;
    *) declare -g "$variable=${2:-}" ;;
    esac
}

# print_help: the comment at the head of the script
print_help() { awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$script_file"; }

# need_root WHY: ends the script, before it does anything, where it is not run as root
need_root() { [ "$(id -u)" = 0 ] || stop 77 "run this as root: $*"; }

# need_program NAME GROUP: GROUP is that of Scripts/install-dependencies which has the program
need_program() {
    command -v "$1" >/dev/null || stop 69 "there is no '$1' on the PATH; install it with: Scripts/install-dependencies $2"
}

need_swift() {
    command -v swift >/dev/null ||
        stop 69 "there is no 'swift' on the PATH; install a Swift 6.2 or later toolchain (see https://www.swift.org/install/linux/) and try again"
}

# swift_build ARGUMENTS...: `swift build`, its output on standard error. On a terminal SwiftPM shows its progress in one line.
# Elsewhere it prints a line for each step, and finds most of its steps on the way: of these lines one is left every ten seconds.
swift_build() {
    if [ -t 2 ]; then
        swift build "$@" >&2
        return
    fi
    (
        set -o pipefail
        next=0
        swift build "$@" 2>&1 | while IFS= read -r line; do
            if [[ $line =~ ^\[[0-9]+/[0-9]+\]\  ]]; then
                [ $SECONDS -ge $next ] || continue
                next=$((SECONDS + 10))
            fi
            printf '%s\n' "$line"
        done >&2
    )
}

# release_binary: builds the program as it is shipped and prints its path
release_binary() {
    swift_build --package-path "$top" -c release --static-swift-stdlib --product ibeacon-gateway
    printf '%s/ibeacon-gateway\n' "$(swift build --package-path "$top" -c release --static-swift-stdlib --show-bin-path)"
}

# unpacked FILE FOLDER: prints the path of a file, and of a compressed one that of its content, which is put into the folder
unpacked() {
    local plain=$1
    [ -f "$1" ] || stop 66 "there is no file '$1'"
    if [[ $1 = *.gz ]]; then
        plain=$2/$(basename "$1" .gz)
        gzip -dc "$1" >"$plain"
    fi
    printf '%s\n' "$plain"
}

# free_port: prints a TCP port of the loopback interface that nobody listens on
free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
