#!/bin/bash
# run.sh: every test; ends with one line `N passed, N failed` and fails if anything failed. `make check` builds what it
# needs first. Each group prints `ok NAME`, `not ok NAME: why` or `skip NAME: why` lines; of the first kind only the
# number is shown, the others at the end.
set -u
cd "$(dirname "$0")/.." || exit 1
passed=0 failed=0 skipped=0
mkdir -p build/log
: >build/log/failures
export CMOCKA_MESSAGE_OUTPUT=TAP

# group NAME COMMAND...: runs it and counts its lines; a command that fails without saying what is a failure itself.
group() {
    local name=$1
    shift
    "$@" >"build/log/$name" 2>&1
    count "$name" $?
}

# pair NAME COMMAND ARGUMENT NAME COMMAND ARGUMENT: two groups that use one processor each, at the same time.
pair() {
    "$5" "$6" >"build/log/$4" 2>&1 &
    group "$1" "$2" "$3"
    wait $!
    count "$4" $?
}

count() { # NAME STATUS
    local name=$1 log=build/log/$1 status=$2 oks bads skips
    oks=$(grep -c '^ok ' "$log") bads=$(grep -c '^not ok ' "$log") skips=$(grep -c '^skip ' "$log")
    if [ $((oks + bads + skips)) = 0 ] || { [ "$status" != 0 ] && [ "$bads" = 0 ]; }; then
        bads=$((bads + 1))
        { echo "$name: not ok: status $status"; tail -n 20 "$log" | sed 's/^/    /'; } >>build/log/failures
    fi
    grep '^not ok \|^skip ' "$log" | sed "s/^/$name: /" >>build/log/failures
    printf '%-28s %d passed, %d failed%s\n' "$name" "$oks" "$bads" "$([ "$skips" = 0 ] || echo ", $skips skipped")"
    passed=$((passed + oks)) failed=$((failed + bads)) skipped=$((skipped + skips))
}

unit_tests() { # BUILD: every test program of a build
    local test status=0
    for test in "$1"/tests/test_*; do
        case $test in *.d) ;; *) "$test" || status=1 ;; esac
    done
    return $status
}

group unit unit_tests build
group unit-clang unit_tests build/clang
group unit-sanitized unit_tests build/sanitize
group threaded tests/threaded/jumps.sh build/obj
group threaded-shared tests/threaded/jumps.sh build/pic
group threaded-clang tests/threaded/jumps.sh build/clang/obj
group threaded-clang-shared tests/threaded/jumps.sh build/clang/pic
group roundtrip tests/roundtrip/roundtrip.sh build/roundtrip
group guest tests/guest/run.sh build/cyclescope
group guest-clang tests/guest/run.sh build/clang/cyclescope
group guest-sanitized tests/guest/run.sh build/sanitize/cyclescope
group guest-core tests/guest/core.sh build/cyclescope
group isolation tests/guest/isolate.sh
pair cli tests/cli/run.sh build/cyclescope cli-sanitized tests/cli/run.sh build/sanitize/cyclescope
pair cli-stat tests/cli/stat.sh build/cyclescope cli-stat-sanitized tests/cli/stat.sh build/sanitize/cyclescope
pair cli-series tests/cli/stat_series.sh build/cyclescope cli-series-sanitized tests/cli/stat_series.sh build/sanitize/cyclescope
pair cli-stack tests/cli/stack.sh build/cyclescope cli-stack-sanitized tests/cli/stack.sh build/sanitize/cyclescope
pair cli-stalls tests/cli/stalls.sh build/cyclescope cli-stalls-sanitized tests/cli/stalls.sh build/sanitize/cyclescope
pair cli-phases tests/cli/phases.sh build/cyclescope cli-phases-sanitized tests/cli/phases.sh build/sanitize/cyclescope
pair cli-sampled tests/cli/sampled.sh build/cyclescope cli-sampled-sanitized tests/cli/sampled.sh build/sanitize/cyclescope
pair cli-sampling tests/cli/sampling.sh build/cyclescope cli-sampling-sanitized tests/cli/sampling.sh build/sanitize/cyclescope
pair cli-multiplex tests/cli/multiplex.sh build/cyclescope cli-multiplex-sanitized tests/cli/multiplex.sh build/sanitize/cyclescope
pair cli-record tests/cli/record.sh build/cyclescope cli-record-sanitized tests/cli/record.sh build/sanitize/cyclescope
pair cli-checkpoint tests/cli/checkpoint.sh build/cyclescope cli-checkpoint-sanitized tests/cli/checkpoint.sh build/sanitize/cyclescope
pair stories tests/cli/stories.sh build/cyclescope cli-events tests/cli/events.py build/clang/cyclescope
pair machine tests/machine/run.py build/cyclescope machine-sanitized tests/machine/run.py build/sanitize/cyclescope
pair switch tests/machine/switch.py build/cyclescope switch-sanitized tests/machine/switch.py build/sanitize/cyclescope
group lib tests/lib/run.sh build
group lib-clang tests/lib/run.sh build/clang
group lib-sanitized tests/lib/run.sh build/sanitize
group extending tests/cli/extending.sh build/cyclescope
group facts tests/facts/run.py build/cyclescope
group facts-coverage tests/facts/coverage.py build/cyclescope
group facts-clang tests/facts/run.py build/clang/cyclescope
group facts-sanitized tests/facts/run.py build/sanitize/cyclescope
group stacks tests/stacks/random.py --seed 1 --draws 1000 --compare build/stacks/compare
group stacks-sanitized tests/stacks/random.py --seed 2 --draws 200 --compare build/sanitize/stacks/compare
group fuzz tests/fuzz/differential.py --seed 1 --sequences 4000
group fuzz-clang tests/fuzz/differential.py --seed 2 --sequences 4000 --cyclescope build/clang/cyclescope
group fuzz-sanitized tests/fuzz/differential.py --seed 3 --sequences 1000 --cyclescope build/sanitize/cyclescope
group fuzz-cores tests/fuzz/cores.py --seed 1 --draws 1500
group suite-machinery tests/suite/test_suite.py
group suite-core-machinery tests/suite/test_core.py
group suite-sampling-machinery tests/suite/test_sampling.py
group suite-phases-machinery tests/suite/test_phases.py
group suite suite/run.py check
group suite-core suite/run.py core
group suite-checkpoints suite/run.py checkpoints gzip lemon hoichess tachyon python gawk stockfish raster3d
group suite-idealized suite/idealize.py --insns 1000000 --warmup 1000000 hoichess linkparser tachyon perl-pod

cat build/log/failures
[ $skipped = 0 ] || echo "$skipped skipped"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
