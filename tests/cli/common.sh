# What the command-line tests share; to be sourced with CYCLESCOPE as $1. Leaves the project's folder as the current one, and
# a folder of its own in $work, which the caller removes at its end.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
cyclescope=$(realpath "$1")
work=$(mktemp -d) || exit 1
cross=${CROSS:-riscv64-linux-gnu-}
failed=0

ok() { echo "ok $1"; }
not_ok() { echo "not ok $1: $2"; failed=1; }

# complains NAME PATTERN COMMAND...: status 125, one line on standard error that matches, nothing on standard output
complains() {
    local name=$1 pattern=$2 status
    shift 2
    timeout -k 5 60 "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    if [ $status != 125 ]; then
        not_ok "$name" "status $status: $(head -c 200 "$work/err")"
    elif [ "$(wc -l <"$work/err")" != 1 ] || ! grep -Eq -- "^cyclescope: .*$pattern" "$work/err"; then
        not_ok "$name" "says: $(head -c 300 "$work/err")"
    elif [ -s "$work/out" ]; then
        not_ok "$name" "prints to standard output"
    else
        ok "$name"
    fi
}

# gives NAME STATUS OUTPUT COMMAND...: exit status and standard output
gives() {
    local name=$1 want=$2 output=$3 status
    shift 3
    timeout -k 5 60 "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    if [ $status != "$want" ]; then
        not_ok "$name" "status $status instead of $want: $(head -c 200 "$work/err")"
    elif [ "$(cat "$work/out")" != "$output" ]; then
        not_ok "$name" "printed: $(head -c 200 "$work/out")"
    else
        ok "$name"
    fi
}

compile() { # NAME [FLAGS]: a guest program from the C on standard input
    local name=$1
    shift
    "${cross}gcc" -O1 -w -x c -o "$work/$name" - "$@" || not_ok "compile-$name" "the cross compiler failed"
}
