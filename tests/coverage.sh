#!/bin/bash
# coverage.sh: line coverage of src by unit tests, facts, guest programs and command-line tests. A table of files is left in
# build/coverage/table; the last line of the output is the total. What runs in copied processes is not counted.
# Threaded code needs tail calls, which -O1 does not make by itself.
set -eu
cd "$(dirname "$0")/.."
build=build/coverage
make -s -j2 all tests guest-tests BUILD=$build CC=gcc OPT='-O1 -foptimize-sibling-calls -g --coverage -fprofile-update=atomic'
find $build -name '*.gcda' -delete
: >$build/log
failed=
export GCOV_ERROR_FILE=/dev/null # some tests run the program as a user who cannot write counts
for group in "tests/unit/run.sh $build" "tests/facts/run.py $build/cyclescope" "tests/guest/run.sh $build/cyclescope" \
    "/usr/bin/python3 -m pytest -q -p no:cacheprovider tests/cli -m 'not slow' --cyclescope $build/cyclescope"; do
    bash -c "$group" >>$build/log 2>&1 || failed="$failed
    $group"
done
[ -z "$failed" ] || echo "failed, so that the figure may be too low:$failed"
gcovr --root . --filter src/ --object-directory $build --gcov-ignore-parse-errors $build/obj >$build/table
grep '^TOTAL' $build/table
