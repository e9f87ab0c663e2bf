#!/bin/bash
# phases.sh CYCLESCOPE: `phases` as a user meets it: known programs have their known structure, files of other tools are
# analysed, ours have the documented format, vectors are exact, and what each mistake says.
. "$(dirname "$0")/common.sh"
trap 'rm -rf "$work"' EXIT
shapes=$PWD/build/workloads/phase_shapes
cd "$work" || exit 1

names='
def lines(name):
    return open(work + "/" + name).read().splitlines()

def vectors(name):
    """The .bb file by its documented format, read strictly."""
    import re
    for line in lines(name):
        assert re.fullmatch(r"T(:[1-9][0-9]*:[1-9][0-9]* )+", line), line[:80]
    return [{int(b): int(n) for b, n in (e.split(":")[1:] for e in line[1:].split())} for line in lines(name)]

def found():
    p = r["phases"]
    u = p["interval"]
    return (p["init_end"] / u, [x / u for x in p["periods"]], p["correlated_period"] / u)
'

# shape NAME INTERVAL EXPECTED: what is found, in intervals
shape() {
    timeout -k 5 120 "$cyclescope" phases --quiet --interval "$2" --json json "$shapes" "$1" >out 2>err </dev/null
    holds "shape-$1-$2" "found() == $3"
}
shape cyclic 100K '(20, [10], 10)'
shape late 100K '(3, [10], 10)'
shape nested 100K '(15, [5, 30], 30)'
shape endless 100K '(0, [10], 10)'
shape ramp 100K '(30, [], 0)'
shape cyclic 50K '(40, [20], 20)'
shape nested 50K '(30, [10, 60], 60)'
timeout -k 5 120 "$cyclescope" phases --quiet --interval 500K --json json "$shapes" flat 500000 >out 2>err </dev/null
holds shape-flat 'found() == (0, [], 0)'

gives page 0 'cyclic: done' "$cyclescope" phases --interval 100K --budget 2M --write-bb bb --simpoints points --weights weights \
    --json json --csv csv "$shapes" cyclic
says page-initialization '^initialization +2.0M$'
says page-period '^period +1.0M +\(autocorrelation: 1.0M\)$'
says page-best '^  best single period '
says page-budget '^  best for the budget +[0-9.]+M +2.0M '
says page-picture '^difference to the whole run$'
holds every-interval-is-exact 'all(sum(v.values()) == 100000 for v in vectors("bb")[:-1])'
holds the-file-has-all-intervals 'len(vectors("bb")) == r["phases"]["count"] == len(lines("csv")) - 1'
holds blocks-are-numbered-without-gaps 'set().union(*vectors("bb")) == set(range(1, r["phases"]["blocks"] + 1))'
holds instructions-are-those-of-the-run 'r["phases"]["count"] * 100000 - 50000 <= r["instructions"] + 50000'
holds weights-sum-to-one 'abs(sum(float(l.split()[0]) for l in lines("weights")) - 1) < 1e-6'
holds points-are-those-of-the-document \
    '[int(l.split()[0]) * 100000 for l in lines("points")] == [p["start"] for p in r["points"]] and
     [l.split()[1] for l in lines("points")] == [l.split()[1] for l in lines("weights")]'
holds the-naive-point 'r["naive"]["start"] == 3000000 and r["naive"]["length"] == 1000000'
holds difference-is-between-0-and-2 'all(0 <= d <= 2 for d in r["phases"]["difference"])'
cp json before
gives the-file-gives-the-same 0 '' "$cyclescope" phases --quiet --budget 2M --bb bb --json json
holds the-same 'r["phases"] == b["phases"] and r["points"] == b["points"] and r["best_period"] == b["best_period"]'
gzip -c bb >bb.gz
gives compressed 0 '' "$cyclescope" phases --quiet --budget 2M --bb bb.gz --json json
holds compressed-is-the-same 'r["phases"] == b["phases"] and r["points"] == b["points"]'
gives early 0 '' "$cyclescope" phases --quiet --early --bb bb --json json
holds early-points-are-no-later 'len(r["points"]) == len(b["points"]) and
    max(p["start"] for p in r["points"]) <= max(p["start"] for p in b["points"])'
gives one-cluster 0 '' "$cyclescope" phases --quiet --max-k 1 --bb bb --json json
holds one-cluster-is-all 'len(r["points"]) == 1 and abs(r["points"][0]["weight"] - 1) < 1e-9'

# The native program has three phases of known order; valgrind's intervals end with a block.
if command -v valgrind >/dev/null; then
    cat >native.c <<'C'
int main(void)
{
    volatile long s = 0;
    for (int r = 0; r < 6; r++) {
        for (long i = 0; i < 300000; i++)
            s += i;
        for (long i = 0; i < 200000; i++)
            s ^= i * 3;
    }
    return s == 1;
}
C
    gcc -O1 -o native native.c && timeout -k 5 100 valgrind --tool=exp-bbv --interval-size=100000 --bb-out-file=v.bb ./native 2>/dev/null
    gives valgrind 0 '' "$cyclescope" phases --quiet --bb v.bb --json json
    holds valgrind-intervals 'r["phases"]["interval"] == 100000 and r["phases"]["count"] == len([l for l in lines("v.bb") if l[:1] == "T"])'
    holds valgrind-period 'r["phases"]["period"] in (2900000, 3000000, 3100000) and len(r["phases"]["periods"]) == 1'
else
    echo "skip valgrind: it is not installed"
fi

# Threads count together, forked processes do not.
compile_work
gives a-fork-runs-on 5 done "$cyclescope" phases --quiet --interval 10K --json json --write-bb bb "$work/work" 20000 40000
holds a-fork-is-not-counted 'sum(sum(v.values()) for v in vectors("bb")) <= r["instructions"] < 400000'
gives short 3 done "$cyclescope" phases --interval 1G --json json "$work/work" 10
holds a-short-run-is-one-interval 'r["phases"]["count"] == 1 and len(r["points"]) == 1'

complains no-program 'program' "$cyclescope" phases
complains no-interval '--interval' "$cyclescope" phases --interval 0 "$work/work"
complains no-clusters '--max-k' "$cyclescope" phases --max-k 0 "$work/work"
complains bb-and-program '--bb reads a file' "$cyclescope" phases --bb bb "$work/work"
complains no-such-bb 'nothing.bb: No such file' "$cyclescope" phases --bb nothing.bb
echo hello >foreign
complains foreign-file 'foreign:1: neither a vector nor a remark' "$cyclescope" phases --bb foreign
exit $failed
