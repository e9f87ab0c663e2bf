#!/bin/sh
# run.sh BUILD: every unit test of a build.
cd "$(dirname "$0")/../.." || exit 1
status=0
for test in "$1"/tests/test_*; do
    case $test in *.d) ;; *) "$test" || status=1 ;; esac
done
exit $status
