#!/bin/bash
# core.sh [--long] CYCLESCOPE: every self-checking guest program (build/guest/*) on simulated cores: the default one, a wide
# one, one with bundles, one in order. Only the default one gets all of a program, the others its last 1 million
# instructions, or 20 million with --long.
set -u
tail_insns=1000000
[ "$1" != --long ] || { tail_insns=20000000 && shift; }
cd "$(dirname "$0")/../.." || exit 1
cyclescope=$(realpath "$1")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
hang=3600 # seconds: more is a hang, on the slowest machine
failed=0

attempt() { # NAME OPTIONS PROGRAM: passes if the program exits with 0
    local name=$1 status
    shift
    mkdir -p "$work/$name"
    (cd "$work/$name" && timeout -k 60 $hang "$cyclescope" stat --quiet "$@" </dev/null >../out 2>../err)
    status=$?
    if [ $status = 0 ]; then
        echo "ok $name"
    else
        echo "not ok $name: status $status: $(head -c 300 "$work/err" | tr '\n' ' ')"
        failed=1
    fi
    rm -rf "${work:?}/$name"
}

skipped() { # PROGRAM: how many instructions of it are not for the core
    local count
    mkdir -p "$work/count"
    (cd "$work/count" && timeout -k 60 $hang "$cyclescope" run --quiet --summary=../insns "$1" </dev/null >../out 2>../err)
    count=$(sed -En 's/^cyclescope: ([0-9]+) instructions.*/\1/p' "$work/insns")
    rm -rf "$work/count" "$work/insns"
    echo $((${count:-0} > tail_insns ? count - tail_insns : 0))
}

for source in tests/guest/*.c; do
    name=$(basename "$source" .c)
    program=$PWD/build/guest/$name
    attempt "$name" "$program"
    skip=$(skipped "$program")
    for core in modern ppc970 small; do
        attempt "$name-$core" --core $core --skip "$skip" "$program"
    done
done
exit $failed
