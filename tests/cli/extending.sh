#!/bin/bash
# extending.sh CYCLESCOPE: what docs/EXTENDING.md shows works: its predictor and its method compile, its core file is read.
set -u
cd "$(dirname "$0")/../.." || exit 1
cyclescope=$(realpath "$1")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

block() { # LANGUAGE N: the N-th block of it
    awk -v open='```'"$1" -v n="$2" '$0 == open { inside = ++seen == n; next } $0 == "```" { inside = 0 } inside' docs/EXTENDING.md
}

check() { # NAME COMMAND...
    local name=$1
    shift
    if "$@" >"$work/log" 2>&1; then echo "ok $name"; else echo "not ok $name: $(head -n 3 "$work/log" | tr '\n' ' ')"; failed=1; fi
}

block c 1 >"$work/last.c"
block c 2 >"$work/oldest.c"
block ini 1 >"$work/my.ini"
check example-predictor-compiles gcc -std=gnu11 -Wall -Wextra -Wshadow -Werror -Isrc -c -o "$work/last.o" "$work/last.c"
check example-predictor-has-its-struct grep -q 'direction_last' "$work/last.o"
check example-method-compiles gcc -std=gnu11 -Wall -Wextra -Wshadow -Werror -Isrc -c -o "$work/oldest.o" "$work/oldest.c"
check example-method-has-its-struct grep -q 'stack_method_oldest' "$work/oldest.o"
check example-core-is-read "$cyclescope" stat --quiet --max-insns 1 --core "$work/my.ini" build/guest/zicond
exit $failed
