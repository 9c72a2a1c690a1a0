# Sourced, behind lib.sh, by the scripts that say how long each of their steps took.

# duration SECONDS: as minutes and seconds
duration() { printf '%2d:%02d' $(($1 / 60)) $(($1 % 60)); }
# computed: the seconds of a processor that the children of this shell and theirs took, of those that have ended
computed() {
    local fields ticks
    ticks=$(getconf CLK_TCK)
    read -r fields </proc/$$/stat
    # Behind the name, which is in brackets: state, parent, …; the 14th and 15th are of the children.
    read -ra fields <<<"${fields##*) }"
    echo $(((fields[13] + fields[14]) / ticks))
}
# note SECONDS COMPUTED WHAT: a line of the table
note() { printf '%s  %s  %s\n' "$(duration "$1")" "$(duration "$2")" "$3" >>"$times"; }

times='' current='' since=0 computed_before=0
# begin_steps FILE: where the table goes
begin_steps() {
    times=$1
    mkdir -p "$(dirname "$times")"
    : >"$times"
    computed_before=$(computed)
}
# step WHAT: what begins now; how long the step before it took is noted
step() {
    local now
    now=$(computed)
    [ -z "$current" ] || note $((SECONDS - since)) $((now - computed_before)) "$current"
    current=$1 since=$SECONDS computed_before=$now
    [ -z "$1" ] || printf '== %s min: %s\n' "$(duration $SECONDS)" "$1" >&2
}
# end_steps: the table, also on standard error
end_steps() {
    step ''
    note $SECONDS "$(computed)" all
    { echo "the steps, in minutes and seconds; beside it, of all processors together:" && cat "$times"; } >&2
}
