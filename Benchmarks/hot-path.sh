# Sourced, behind lib.sh, by the scripts that count instructions of the hot path: builds it, and sets data, the capture that it reads, and
# work, a folder that is removed at the end.
need_swift
need_program valgrind benchmark
cd "$top"
data=.build/benchmark/small
[ -e "$data/mixed.btsnoop" ] || Benchmarks/make-capture "$data" --reports 30000
swift_build -c release --static-swift-stdlib --product HotPath
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# valgrind cannot read the debugging information of the Swift library.
strip --strip-debug -o "$work/HotPath" "$(swift build -c release --static-swift-stdlib --show-bin-path)/HotPath"

# instructions STAGE PASSES [GATEWAYS]: all that the program takes, reading the capture included
instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$work/HotPath" once "$1" "$data" "${@:2}" 2>&1 >/dev/null |
        sed -n 's/.*Collected : //p'
}
# count STAGE [GATEWAYS]: instructions for each report or reading, once the beacons are known
count() {
    local few=6 many=16 reports
    reports=$("$work/HotPath" once "$1" "$data" 1 "${@:2}")
    echo $((($(instructions "$1" $many "${@:2}") - $(instructions "$1" $few "${@:2}")) / (many - few) / reports))
}
