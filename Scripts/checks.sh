# Sourced by the scripts that check packages: one line for each point. Wants `work`, a folder for what a command says.
failed=0

# check WHAT COMMAND...: whether a command succeeds
check() {
    local what=$1
    shift
    if "$@" >"$work/said" 2>&1; then
        echo "ok: $what"
    else
        echo "not ok: $what"
        head -20 "$work/said"
        failed=1
    fi
}

# refuses TEXT COMMAND...: whether a command fails and says TEXT, which is a regular expression of grep -E
refuses() {
    local text=$1 code=0
    shift
    "$@" >"$work/refusal" 2>&1 || code=$?
    cat "$work/refusal"
    [ "$code" != 0 ] && grep -qE "$text" "$work/refusal"
}
