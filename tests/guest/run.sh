#!/bin/bash
# run.sh CYCLESCOPE: every self-checking guest program (build/guest/*) under Cyclescope, and under qemu-riscv64, which
# proves the test itself, unless its source says `not for qemu`.
set -u
cd "$(dirname "$0")/../.." || exit 1
cyclescope=$(realpath "$1")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

attempt() { # NAME COMMAND...: passes if the command exits with 0 within a minute
    local name=$1 status
    shift
    mkdir -p "$work/$name"
    (cd "$work/$name" && timeout -k 5 60 "$@" </dev/null >../out 2>../err)
    status=$?
    if [ $status = 0 ]; then
        echo "ok $name"
    else
        echo "not ok $name: status $status: $(head -c 300 "$work/err" | tr '\n' ' ')"
        failed=1
    fi
}

for source in tests/guest/*.c; do
    name=$(basename "$source" .c)
    program=$PWD/build/guest/$name
    attempt "$name" "$cyclescope" run "$program"
    [ "$cyclescope" != "$PWD/build/cyclescope" ] || grep -q 'not for qemu' "$source" ||
        attempt "$name-qemu" qemu-riscv64 "$program"
done
exit $failed
