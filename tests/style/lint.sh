#!/bin/bash
# lint.sh: cppcheck's errors and warnings over src/. Prints `ok` or `not ok` lines.
#
# What is suppressed is wrong, for the reason beside it. A single place can be suppressed in the source instead:
# /* cppcheck-suppress ID ; reason */ above the line.
set -u
cd "$(dirname "$0")/../.." || exit 1
suppressions=(
    missingInclude                              # system headers are not read: it knows their functions
    ctuuninitvar                                # does not see that the callee writes before it reads
    ctuPointerArith:src/report/run_report.c     # takes a pointer to the last byte of an array for one behind it
    incorrectLogicOperator:src/riscv/fp.h       # does not read hexadecimal floating-point constants
    memleak:src/phases/bbv_maps.c               # the compound literal that is stored holds the pointer
    memleak:src/phases/kept.c                   # the same
    comparePointers:src/sampler/core_sampler.c  # both labels belong to one image
    uninitvar:src/emulate/interpreter/fuse.c    # elements between ops are neither written nor read
    uninitvar:src/report/export_pprof.c         # deflate() writes through the pointer in the stream
)
mkdir -p build/cppcheck # results of files that have not changed
found=$(cppcheck -j2 --quiet --enable=warning --inline-suppr --std=c11 --language=c -D_GNU_SOURCE -D__x86_64__ -D__GNUC__=12 \
    -Isrc -Iinclude "${suppressions[@]/#/--suppress=}" --template='not ok lint: {file}:{line}: {severity}: {message} ({id})' \
    --cppcheck-build-dir=build/cppcheck src 2>&1)
if [ $? != 0 ] || [ -n "$found" ]; then
    echo "${found:-not ok lint: cppcheck fails}"
    exit 1
fi
echo "ok lint"
