#!/bin/bash
# coverage.sh: line coverage of src by unit tests, facts, guest programs and command-line tests. A table of files is left in
# build/coverage/table; the last line of the output is the total. What runs in copied processes is not counted.
# Counters of clang, since those of gcc turn tail calls of threaded code into calls, and its stack overflows.
set -eu
cd "$(dirname "$0")/.."
build=build/coverage
profiles=$PWD/$build/profiles
pytest='/usr/bin/python3 -m pytest -q -p no:cacheprovider' # Debian's python, which has Debian's pytest
make -s -j2 all tests guest-tests BUILD=$build CC=clang \
    OPT="-O1 -g -fprofile-instr-generate=$profiles/%4m.profraw -fcoverage-mapping"
rm -rf "$profiles"
mkdir -p "$profiles"
: >$build/log
failed=
# Tests in which the program cannot write its counts, and says so among its messages.
cannot_write='disk_that_is_too_small or an_unreadable_program or without_room or any_environment_mask_limits'
for group in "tests/unit/run.sh $build" "tests/facts/run.py $build/cyclescope" "tests/guest/run.sh $build/cyclescope" \
    "ls tests/cli/test_*.py | xargs -P $(nproc) -n 1 $pytest -m 'not slow' -k 'not ($cannot_write)' --cyclescope $build/cyclescope"; do
    bash -c "$group" >>$build/log 2>&1 || failed="$failed
    $group"
done
[ -z "$failed" ] || echo "failed, so that the figure may be too low:$failed"
llvm-profdata-14 merge "$profiles"/*.profraw -o $build/profile
find $build/tests -type f -perm -u+x -printf '-object %p\n' | xargs llvm-cov-14 report $build/cyclescope \
    -instr-profile $build/profile -show-region-summary=false -show-branch-summary=false src >$build/table
grep '^TOTAL' $build/table
