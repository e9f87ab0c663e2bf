#!/bin/bash
# format.sh: all C is formatted as clang-format does it, by .clang-format. Prints `ok` or `not ok` lines.
set -u
cd "$(dirname "$0")/../.." || exit 1
files() { git ls-files '*.c' '*.h' 2>/dev/null || find . -name build -prune -o -name '*.[ch]' -print; }
said=$(files | xargs clang-format --dry-run 2>&1)
status=$?
offending=$(echo "$said" | sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: warning: .*/\1/p' | sort -u)
for file in $offending; do
    echo "not ok format: $file is not formatted: clang-format -i $file"
done
if [ -z "$offending" ]; then
    if [ $status = 0 ]; then echo "ok format"; else echo "not ok format: $said"; fi
fi
[ -z "$offending" ] && [ $status = 0 ]
