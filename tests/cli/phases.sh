#!/bin/bash
# phases.sh CYCLESCOPE: `phases` as a user meets it: known programs have their known structure, files of other tools are
# analysed, ours have the documented format, vectors are exact, and what each mistake says.
. "$(dirname "$0")/common.sh"
trap 'rm -rf "$work"' EXIT
shapes=$PWD/build/workloads/phase_shapes
guests=$PWD/build/guest
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

def rows(name):
    import csv
    return list(csv.DictReader(open(work + "/" + name)))

def nameless(document):
    """Points as a file has them, without functions."""
    return [{k: v for k, v in p.items() if k != "functions"} for p in document["points"]]

def found_are(init_units, periods, unit, start):
    """Known to the interval: what is found is less than one away. Nothing ends before main begins."""
    p = r["phases"]
    u = p["interval"]
    wanted = [x * unit for x in periods] + [periods[-1] * unit if periods else 0]
    slack = 0.03 if r["uneven"] else 0
    return (abs(p["init_end"] - max(init_units * unit, start)) < u and len(p["periods"]) == len(periods) and
            all(abs(a - b) < u + slack * b for a, b in zip(p["periods"] + [p["correlated_period"]], wanted)))
'

gives before-main 0 'flat: done' "$cyclescope" phases --quiet --interval 1G --json json "$shapes" flat 1
start=$(python3 -c 'import json; print(json.load(open("json"))["instructions"])')

# shape NAME INITIALIZATION PERIODS: what is known of it, in units, is found with every unit and interval
shape() {
    local unit interval
    while read -r unit interval; do
        rm -f json
        timeout -k 5 120 "$cyclescope" phases --quiet --interval "$interval" --json json "$shapes" "$1" "$unit" >out 2>err </dev/null
        holds "shape-$1-$unit-$interval" "[r.update(uneven='$1' == 'uneven')] and found_are($2, $3, $unit, $start)"
    done <<'E'
100000 100000
100000 50000
100000 70000
20000 9000
10000 5000
E
}
shape cyclic 20 '[10]'
shape brief 3 '[10]'
shape lengthy 100 '[10]'
shape endless 0 '[10]'
shape even 20 '[10]'
shape alike 20 '[10]'
shape uneven 20 '[10]'
shape nested 15 '[5, 30]'
shape ramp 30 '[]'
shape flat 0 '[]'

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
holds the-same 'r["phases"] == b["phases"] and nameless(r) == nameless(b) and r["best_period"] == b["best_period"]'
gzip -c bb >bb.gz
gives compressed 0 '' "$cyclescope" phases --quiet --budget 2M --bb bb.gz --json json
holds compressed-is-the-same 'r["phases"] == b["phases"] and nameless(r) == nameless(b)'
gives early 0 '' "$cyclescope" phases --quiet --early --bb bb --json json
holds early-points-are-no-later 'len(r["points"]) == len(b["points"]) and
    max(p["start"] for p in r["points"]) <= max(p["start"] for p in b["points"])'
gives one-cluster 0 '' "$cyclescope" phases --quiet --max-k 1 --bb bb --json json
holds one-cluster-is-all 'len(r["points"]) == 1 and abs(r["points"][0]["weight"] - 1) < 1e-9'

gives pictures 0 'nested: done' "$cyclescope" phases --interval 100K --svg svg --dot dot --functions functions \
    --similarity similarity --json json "$shapes" nested
says page-functions '^  [0-9]+ +9[0-9]\.[0-9] %  multiply'
says page-similarity '^similarity: '
holds svg-is-xml-with-all-parts '(lambda t: [t.count("class=\"%s\"" % c) for c in ("graph", "point", "similarity")] == [3, len(r["points"]), 1])(
    __import__("xml.dom.minidom").dom.minidom.parse(work + "/svg").toxml())'
holds svg-is-bounded 'os.path.getsize(work + "/svg") < 2000000'
holds each-kind-of-work-is-a-phase '{p["functions"][0]["name"] for p in r["points"]} == {"fill", "add", "multiply", "shift"}'
holds functions-sum-to-their-phase 'all(abs(sum(float(f["share"]) for f in rows("functions") if int(f["phase"]) == k) - 1) < 1e-6
    for k in range(len(r["points"])))'
holds functions-sum-to-all-vectors 'sum(int(f["instructions"]) for f in rows("functions")) == r["phases"]["count"] * 100000 or
    abs(sum(int(f["instructions"]) for f in rows("functions")) - r["instructions"]) < 100000'
holds similarity-is-symmetric-and-0-with-itself '(lambda m: len(m) == len(m[0]) <= 128 and all(m[i][i] == 0 for i in range(len(m))) and
    all(m[i][j] == m[j][i] and 0 <= m[i][j] <= 2 for i in range(len(m)) for j in range(i)) and max(map(max, m)) > 1.5)(r["phases"]["similarity"])'
holds similarity-rows 'all(abs(float(x) - y) < 1e-5 for x, y in zip(lines("similarity")[5].split(",")[1:], r["phases"]["similarity"][4]))'
holds dot-has-a-graph-for-each-phase 'len([l for l in lines("dot") if "subgraph cluster_" in l]) == len(r["points"])'
compile calls -static -g <<'C'
__attribute__((noinline)) long leaf(long x) { return x * 3 + 1; }
__attribute__((noinline)) long twice(long x) { return leaf(leaf(x)) + 1; }
int main(void) { volatile long s = 0; for (int i = 0; i < 1000; i++) s = twice(s); return 0; }
C
gives call-graph 0 '' "$cyclescope" phases --quiet --interval 1G --dot dot --json json "$work/calls"
holds calls-are-counted '(lambda ids, text: "p0_%s -> p0_%s [label=\"2000\"]" % (ids["twice"], ids["leaf"]) in text and
     "p0_%s -> p0_%s [label=\"1000\"]" % (ids["main"], ids["twice"]) in text)(
        {n: i for i, n in __import__("re").findall(r"p0_(\d+) \[label=\"(\w+)", "".join(lines("dot")))}, "".join(lines("dot")))'
holds lines-are-known 'any(f["name"] == "leaf" and f.get("line") == 1 for f in r["points"][0]["functions"])'
if command -v dot >/dev/null; then gives graphviz-reads-it 0 '' dot -Tsvg -o dot.svg dot; fi

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

# Threads are counted exactly: all instructions, and the same as without counting.
env -i "$cyclescope" run --count "$guests/thread_basic" >out 2>err </dev/null
counted=$(sed -nE 's/^cyclescope: ([0-9]+) instructions.*/\1/p' err)
for interval in 1G 1K; do
    timeout -k 5 60 env -i "$cyclescope" phases --quiet --interval $interval --json json --write-bb bb "$guests/thread_basic" >out 2>err </dev/null
    holds threads-are-exact-$interval "r['instructions'] == $counted and
        0 <= $counted - sum(sum(v.values()) for v in vectors('bb')) < (1 if '$interval' == '1G' else 500)"
done

# What users try first.
gives interval-longer-than-the-run 3 done "$cyclescope" phases --interval 1G "$work/work" 10
says short-run-says-so 'not longer than one interval: --interval [0-9]+ '
gives interval-of-one 3 done "$cyclescope" phases --quiet --interval 1 --json json "$work/work" 10
holds interval-of-one-is-one 'r["phases"]["count"] == r["instructions"]'
gives to-standard-output 3 "$(printf 'done\nstart,instructions,difference,cluster')" \
    bash -c '"$0" phases --quiet --interval 1G --csv - "$1" 10 | head -2; exit "${PIPESTATUS[0]}"' "$cyclescope" "$work/work"
compile dies -static <<'C'
int main(void) { for (volatile int i = 0; i < 100000; i++); *(volatile int *)0 = 1; }
C
gives a-signal-ends-it 139 '' "$cyclescope" phases --interval 10K --json json "$work/dies"
says page-in-spite-of-the-signal '^initialization'
holds status-of-the-signal 'r["exit_status"] == 139 and r["phases"]["count"] > 10'
compile echo -static <<'C'
#include <stdio.h>
int main(void) { int c, n = 0; while ((c = getchar()) >= 0) n++; printf("%d\n", n); return 0; }
C
gives standard-input 0 5000 bash -c 'head -c 5000 /dev/zero | "$0" phases --quiet --interval 1K "$1"' "$cyclescope" "$work/echo"
complains too-many-intervals 'more than 131072 intervals of 1 instructions: choose longer ones' \
    "$cyclescope" phases --interval 1 "$work/work" 100000
complains no-such-program 'nothing' "$cyclescope" phases "$work/nothing"
complains dot-of-a-file '--dot needs a program' "$cyclescope" phases --bb bb --dot dot
complains functions-of-a-file '--functions needs a program' "$cyclescope" phases --bb bb --functions f
complains no-folder-for-svg '--svg' "$cyclescope" phases --bb bb --svg no/svg
gives page-of-a-file 0 '' "$cyclescope" phases --bb bb
says a-file-has-no-names 'has no addresses'
complains no-program 'program' "$cyclescope" phases
complains no-interval '--interval' "$cyclescope" phases --interval 0 "$work/work"
complains no-clusters '--max-k' "$cyclescope" phases --max-k 0 "$work/work"
complains bb-and-program '--bb reads a file' "$cyclescope" phases --bb bb "$work/work"
complains no-such-bb 'nothing.bb: No such file' "$cyclescope" phases --bb nothing.bb
echo hello >foreign
complains foreign-file 'foreign:1: neither a vector nor a remark' "$cyclescope" phases --bb foreign
exit $failed
