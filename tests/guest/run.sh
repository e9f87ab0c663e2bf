#!/bin/bash
# run.sh [--qemu] CYCLESCOPE: every self-checking guest program (build/guest/*) under Cyclescope. With --qemu also under
# qemu-riscv64, which proves the test itself, unless its source says `not for qemu`. There a test sees the host's time and
# kernel, and may fail for what they do: it has three tries, and then is skipped.
set -u
qemu=
[ "$1" != --qemu ] || { qemu=yes && shift; }
cd "$(dirname "$0")/../.." || exit 1
cyclescope=$(realpath "$1")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

attempt() { # SECONDS TRIES OTHERWISE NAME COMMAND...: passes if the command exits with 0; more than these seconds are a hang
    local hang=$1 tries=$2 otherwise=$3 name=$4 status=1
    shift 4
    while [ $status != 0 ] && [ "$tries" -gt 0 ]; do
        tries=$((tries - 1))
        rm -rf "${work:?}/$name"
        mkdir -p "$work/$name"
        (cd "$work/$name" && timeout -k 60 "$hang" "$@" </dev/null >../out 2>../err)
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
    case $cyclescope in # sanitizers need room for mappings of their own
    */sanitize/*) grep -q 'not with sanitizers' "$source" && echo "skip $name: not with sanitizers" && continue ;;
    esac
    attempt 3600 1 "not ok" "$name" "$cyclescope" run "$program"
    [ ! $qemu ] || grep -q 'not for qemu' "$source" || attempt 300 3 skip "$name-qemu" qemu-riscv64 "$program"
done
exit $failed
