#!/bin/sh
# jumps.sh OBJECTS: every op of the interpreter ends in a jump to the next one. A call instead would work, until the host's
# stack is used up. Looks at the machine code for indirect calls; only those to hooks may be there.
set -u
cd "$(dirname "$0")/../.." || exit 1
failed=0
for name in ops fused_alu fused_load fused_other counted watch; do
    object=$1/emulate/interpreter/$name.o
    calls=$(objdump -d --no-show-raw-insn "$object" |
        awk '/^[0-9a-f]+ <.*>:/ { at = $2 } /call +\*/ && at !~ /(_hook|_watch_insn)>/ { print at }' | sort -u | head -n 5 | tr '\n' ' ')
    if [ ! -s "$object" ] || [ -n "$calls" ]; then
        echo "not ok ops-end-in-jumps-$name: calls in $calls"
        failed=1
    else
        echo "ok ops-end-in-jumps-$name"
    fi
done
exit $failed
