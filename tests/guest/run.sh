#!/bin/bash
# run.sh CYCLESCOPE: every self-checking guest program (build/guest/*) under Cyclescope, and under qemu-riscv64, which
# proves the test itself, unless its source says `not for qemu`. Under qemu a test sees the host's time and kernel, and may
# fail for what they do: it has three tries, and then is skipped.
set -u
cd "$(dirname "$0")/../.." || exit 1
cyclescope=$(realpath "$1")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

attempt() { # TRIES OTHERWISE NAME COMMAND...: passes if the command exits with 0 within a minute
    local tries=$1 otherwise=$2 name=$3 status=1
    shift 3
    while [ $status != 0 ] && [ "$tries" -gt 0 ]; do
        tries=$((tries - 1))
        mkdir -p "$work/$name"
        (cd "$work/$name" && timeout -k 5 60 "$@" </dev/null >../out 2>../err)
        status=$?
    done
    if [ $status = 0 ]; then
        echo "ok $name"
    else
        echo "$otherwise $name: status $status: $(head -c 300 "$work/err" | tr '\n' ' ')"
        [ "$otherwise" = skip ] || failed=1
    fi
}

for source in tests/guest/*.c; do
    name=$(basename "$source" .c)
    program=$PWD/build/guest/$name
    attempt 1 "not ok" "$name" "$cyclescope" run "$program"
    [ "$cyclescope" != "$PWD/build/cyclescope" ] || grep -q 'not for qemu' "$source" ||
        attempt 3 skip "$name-qemu" qemu-riscv64 "$program"
done
exit $failed
