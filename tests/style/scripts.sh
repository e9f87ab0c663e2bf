#!/bin/bash
# scripts.sh: Python files have no mistakes that pyflakes knows (names that do not exist or are not used), shell scripts
# can be parsed. Prints `ok` or `not ok` lines.
set -u
cd "$(dirname "$0")/../.." || exit 1
failed=0
list() { git ls-files "*.$1" 2>/dev/null || find . -name build -prune -o -name "*.$1" -print; }
found=$(list py | xargs /usr/bin/python3 -m pyflakes 2>&1)
if [ -n "$found" ]; then
    while IFS= read -r line; do echo "not ok python: $line"; done <<<"$found"
    failed=1
else
    echo "ok python"
fi
for script in $(list sh); do
    if ! found=$(bash -n "$script" 2>&1); then
        echo "not ok shell: $found"
        failed=1
    fi
done
[ $failed = 1 ] || echo "ok shell"
exit $failed
