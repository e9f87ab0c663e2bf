#!/bin/sh
# decode -> disassemble -> assemble gives the same bits back, for every row of insn.def.
# Usage: roundtrip.sh [HELPER], where HELPER is roundtrip.c built with the instruction table; without it, it is built.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
as=${CROSS_COMPILE-riscv64-linux-gnu-}as
objcopy=${CROSS_COMPILE-riscv64-linux-gnu-}objcopy
march=rv64gc_zicsr_zifencei_zihintpause_zicbop_zicboz_zfh_zba_zbb_zbc_zbkb_zbkx_zbs
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

helper=${1-}
if [ -z "$helper" ]; then
    helper=$work/roundtrip
    ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O2 -I"$root/src" -o "$helper" "$here/roundtrip.c" "$root/src/base/random.c" \
        "$root/src/riscv/decode.c" "$root/src/riscv/disasm.c" "$root"/src/riscv/softfp_*.c -lpthread || exit 1
fi

status=0
for width in wide narrow; do
    name=roundtrip-$width
    file=$work/$width
    if ! "$helper" write $width "$file.s" "$file.bits"; then
        why="the helper failed"
    elif ! "$as" -march=$march -o "$file.o" "$file.s" 2>"$file.err"; then
        head -n 10 "$file.err" | sed 's/^/# /'
        why="the assembler refuses $(grep -c Error: "$file.err") lines"
    elif ! "$objcopy" -O binary -j .text "$file.o" "$file.out"; then
        why="objcopy failed"
    elif ! "$helper" compare "$file.s" "$file.bits" "$file.out"; then
        why="the assembler gives other bits"
    else
        echo "ok $name"
        continue
    fi
    echo "not ok $name: $why"
    status=1
done
exit $status
