#!/bin/bash
# stat_series.sh CYCLESCOPE: `stat --interval`, counts over time, and the events of stride predictors: that intervals sum to
# the whole and change nothing, what programs of known loads count, what is printed and written, and what each mistake says.
. "$(dirname "$0")/common.sh"
trap 'rm -rf "$work"' EXIT
stat=("$cyclescope" stat)

names='
import csv, re, xml.dom.minidom
n = {c["event"]: c["value"] for c in (r or {}).get("counters", [])}
addr, value = n.get("load-address-mispredictions"), n.get("load-value-mispredictions")

def near(a, b):
    return abs(a - b) <= 1e-5 * max(1, abs(a), abs(b))

def sums_up():
    """Intervals have all that the run has."""
    parts = r["intervals"]
    return all(sum(p[k] for p in parts) == r[k] for k in ("instructions", "cycles")) and all(
        sum(p["counts"][k] for p in parts) == n[k] for k in n) and list(parts[0]["counts"]) == list(n)

def cut_well(insns, width):
    """Each begins where the one before ends, which is in the cycle of its last instruction."""
    end = 0
    for i, p in enumerate(r["intervals"]):
        last = i + 1 == len(r["intervals"])
        if p["from"] != end or (p["instructions"] <= 0 and not (last and i == 0)):
            return False
        end += p["instructions"]
        if not last and (end % insns >= width or end // insns == p["from"] // insns):
            return False
    return r["interval"] == insns

def same_as_before():
    return all(r[k] == b[k] for k in ("events", "counters", "cycles", "instructions", "cycles_by"))

rates = {"ipc": ("instructions", "cycles", 1), "rob_occupancy_mean": ("rob-occupancy", "cycles", 1),
         "branch_misprediction_percent": ("mispredictions", "branches", 100),
         "l1i_miss_percent": ("l1i-access-misses", "l1i-accesses", 100),
         "l1d_miss_percent": ("l1d-access-misses", "l1d-accesses", 100),
         "load_address_misprediction_percent": ("load-address-mispredictions", "loads", 100),
         "load_value_misprediction_percent": ("load-value-mispredictions", "loads", 100)}

def metrics_fit(p):
    counts = {**p["counts"], "instructions": p["instructions"], "cycles": p["cycles"]}
    return list(p["metrics"]) == list(rates) and all(
        p["metrics"][k] is None if counts[per] == 0 else near(p["metrics"][k], factor * counts[of] / counts[per])
        for k, (of, per, factor) in rates.items())

def rows(name):
    return list(csv.DictReader(open(work + "/" + name)))
'

# ---- loads of which everything is known: N of one instruction, and no others
loads() { # NAME BODY: a0 is an array of 1000 doublewords, element i is 7 * i; a1 a list of 1000 nodes in an order without order
    compile "$1" -static -nostdlib <<C
static unsigned long array[1000], node[1000], next[1000];
void _start(void)
{
    unsigned x = 1;
    for (int i = 0; i < 1000; i++)
        array[i] = 7 * i, node[i] = i;
    for (int i = 999; i > 0; i--) { /* shuffles, without a load that counts: see below */
        unsigned j = (x = x * 1103515245 + 12345) / 65536 % i;
        unsigned long swap = node[i];
        node[i] = node[j], node[j] = swap;
    }
    for (int i = 0; i < 1000; i++)
        next[node[i]] = (unsigned long)&next[node[(i + 1) % 1000]];
    asm volatile("mv a0,%0; mv a1,%1; li a2,1000; .globl from; from: $2; addi a2,a2,-1; bnez a2,from; .globl to; to:"
                 : : "r"(array), "r"(next) : "a0", "a1", "a2", "t0", "t1", "ft0", "memory");
    asm volatile("li a0,0; li a7,93; ecall");
}
C
    local from to
    from=$("${cross}nm" "$work/$1" | awk '$3 == "from" { print $1 }')
    to=$("${cross}nm" "$work/$1" | awk '$3 == "to" { print $1 }')
    where=ip=0x$from-0x$to
}
count() { # NAME OPTIONS...: the loads of the loop, and how many were off
    local name=$1
    shift
    gives "$name" 0 '' "${stat[@]}" --quiet --json "$work/json" -e "{loads,load-address-mispredictions,load-value-mispredictions}:$where" "$@" "$work/$name"
}
of_loop='
n = {c["name"]: c["value"] for c in r["counters"]}
addr, value = n["load-address-mispredictions"], n["load-value-mispredictions"]
'
before=$names
names=$names$of_loop
# Three are wrong until the stride was seen twice; of the same again only the first is.
loads walk 'ld t0,0(a0); addi a0,a0,8'
count walk
holds a-walk-is-predicted 'n["loads"] == 1000 and addr == 3 and value == 3'
loads counter 'ld t0,0(a0); addi t0,t0,1; sd t0,0(a0)'
count counter
holds a-counter-in-memory-is-predicted 'n["loads"] == 1000 and addr == 1 and value == 3'
loads list 'ld a1,0(a1)'
count list
holds a-list-without-order-is-not-predicted 'n["loads"] == 1000 and addr >= 990 and value >= 990'
loads floating 'fld ft0,0(a0); addi a0,a0,8'
count floating
holds floating-point-loads-have-values 'n["loads"] == 1000 and addr == 3 and value == 3'
loads nowhere 'ld x0,0(a0); addi a0,a0,8'
count nowhere
holds loads-without-a-register-have-values 'n["loads"] == 1000 and addr == 3 and value == 3'
loads atomic 'li t1,5; amoadd.d t0,t1,(a0)'
count atomic
holds atomics-have-values 'n["loads"] == 1000 and addr == 1 and value == 3'
loads narrow 'lbu t0,0(a0); addi a0,a0,8'
count narrow
holds narrow-loads-have-what-the-register-gets 'n["loads"] == 1000 and addr == 3 and 3 + 1000 * 7 // 256 - 1 <= value <= 3 + 1000 * 7 // 256 + 1'
names=$before

# ---- they are the program's: no core and no wrong path changes them
compile_work
strides=loads,load-address-mispredictions,load-value-mispredictions
gives strides-alone 3 'done' "${stat[@]}" --quiet --json "$work/before" -e "$strides" "$work/work"
gives strides-elsewhere 3 'done' "${stat[@]}" --quiet --json "$work/json" -e "$strides" --core pentium "$work/work"
holds the-core-does-not-matter 'r["counters"] == b["counters"] and 0 < addr < n["loads"] and 0 < value < n["loads"] and r["cycles"] != b["cycles"]'
gives strides-foreseen 3 'done' "${stat[@]}" --quiet --json "$work/json" -e "$strides" --set perfect.branch=true "$work/work"
holds the-wrong-path-does-not-matter 'r["counters"] == b["counters"] and e["mispredictions"] == 0 < b["events"]["mispredictions"]'
gives strides-stepped 3 'done' "${stat[@]}" --quiet --json "$work/json" -e "$strides" --step "$work/work"
holds stepping-does-not-matter 'r["counters"] == b["counters"] and r["cycles"] == b["cycles"]'
gives strides-beside-others 3 'done' "${stat[@]}" --quiet --json "$work/json" -e "$strides,fetched:op=alu,committed:op=branch,stores:edge" "$work/work"
holds others-do-not-matter 'r["counters"][:3] == b["counters"] and all(c["value"] > 0 for c in r["counters"])'
gives no-strides 3 'done' "${stat[@]}" --quiet --json "$work/json" "$work/work"
holds predictors-change-no-cycle 'r["events"] == b["events"] and r["cycles"] == b["cycles"]'

# ---- what comes before is learned as if it were measured: by warming, and on the core
names=$names'
def counted(name):
    return [c["value"] for c in json.load(open(work + "/" + name))["counters"]]
'
part() { # FILE OPTIONS...
    local file=$1
    shift
    "${stat[@]}" --quiet --json "$work/$file" -e "$strides" "$@" "$work/work" 20000 >"$work/out" 2>&1 || cat "$work/out"
}
part first --max-insns 30000
part both --max-insns 70000
part json --skip 30000 --warm --max-insns 40000
holds warming-trains-strides 'counted("json") == [x - y for x, y in zip(counted("both"), counted("first"))] and 0 < value < n["loads"]'
part json --skip 20000 --warm --warmup 10000 --max-insns 40000
holds warming-up-trains-strides 'counted("json") == [x - y for x, y in zip(counted("both"), counted("first"))]'
part json --skip 30000 --max-insns 40000
holds skipping-does-not 'counted("json")[0] == counted("both")[0] - counted("first")[0] and counted("json")[2] > counted("both")[2] - counted("first")[2]'

# ---- by turns: beside firmware they are the same, and what is not counted goes on training them
gives strides-all-the-time 3 'done' "${stat[@]}" --quiet --json "$work/before" --core pentium-pro -e "$strides" "$work/work" 20000
gives strides-by-turns 3 'done' "${stat[@]}" --quiet --json "$work/json" --multiplex --truth --slice 5000 --core pentium-pro \
    -e "$strides,branches,stores,calls,returns" "$work/work" 20000
holds firmware-does-not-matter '[c["true_value"] for c in r["counters"]][:3] == [c["value"] for c in b["counters"]]'
compile counting -static -nostdlib <<'C'
static long counter;
void _start(void)
{
    asm volatile("mv a0,%0; li a2,50000; 1: ld t0,0(a0); addi t0,t0,1; sd t0,0(a0); addi a2,a2,-1; bnez a2,1b; li a0,0; li a7,93; ecall"
                 : : "r"(&counter) : "memory");
}
C
gives counting 0 '' "${stat[@]}" --quiet --json "$work/json" -e "$strides" --core pentium-pro "$work/counting"
holds counting-is-off-three-times 'value == 3 and addr == 1 and n["loads"] == 50000'
gives counting-behind-warming 0 '' "${stat[@]}" --quiet --json "$work/json" -e "$strides" --skip 100000 --warm "$work/counting"
holds warming-knows-addresses-and-values 'value == 0 and addr == 0 and 29990 < n["loads"] < 30010'
gives counting-behind-skipping 0 '' "${stat[@]}" --quiet --json "$work/json" -e "$strides" --skip 100000 "$work/counting"
holds skipping-knows-neither 'value == 3 and addr == 1 and 29990 < n["loads"] < 30010'
gives counting-by-turns 0 '' "${stat[@]}" --quiet --json "$work/json" --multiplex --slice 2000 --core pentium-pro \
    -e load-value-mispredictions,load-address-mispredictions,stores,branches,returns "$work/counting"
holds training-goes-on '[c["counted"] <= 3 for c in r["counters"]][:2] == [True, True] and r["counters"][2]["counted"] > 3000'

# ---- a series: sums, cuts, and nothing changes
some=loads,stores:edge,committed:thresh=3,rob-occupancy,fetch-stalls,stall-breakdown,l1d-misses:spec,load-value-mispredictions,cycles:u
for core in eyerman2006 modern ppc970 pentium; do
    gives whole-$core 3 'done' "${stat[@]}" --quiet --core $core --json "$work/before" -e "$some" "$work/work"
    gives series-$core 3 'done' "${stat[@]}" --quiet --core $core --interval 1000 --json "$work/json" --csv "$work/csv" -e "$some" "$work/work"
    holds intervals-sum-to-the-whole-$core 'sums_up() and len(r["intervals"]) > 20'
    holds intervals-are-cut-well-$core 'cut_well(1000, 16)'
    holds intervals-change-nothing-$core 'same_as_before() and "intervals" not in b'
done
holds csv-has-the-counts '[[int(x[k]) for k in ("from", "instructions", "cycles", *n)] for x in rows("csv")] == [
    [p["from"], p["instructions"], p["cycles"], *p["counts"].values()] for p in r["intervals"]]'
gives series-stepped 3 'done' "${stat[@]}" --quiet --core pentium --interval 1000 --step --json "$work/before" -e "$some" "$work/work"
holds stepping-cuts-alike 'r["intervals"] == b["intervals"]'
gives tiny-intervals 0 '' "${stat[@]}" --quiet --interval 1 --max-insns 500 --json "$work/json" --csv "$work/csv" "$work/work"
holds tiny-intervals-sum 'sums_up() and cut_well(1, 16) and len(r["intervals"]) > 100'
holds without-loads-there-is-no-rate 'all(metrics_fit(p) for p in r["intervals"]) and
    0 < sum(p["metrics"]["load_value_misprediction_percent"] is None for p in r["intervals"]) < len(r["intervals"]) and
    [x["l1d_miss_percent"] == "" for x in rows("csv")] == [p["counts"]["l1d-accesses"] == 0 for p in r["intervals"]]'
gives one-interval 3 'done' "${stat[@]}" --interval 9T --json "$work/json" "$work/work"
holds one-interval-is-the-whole 'sums_up() and len(r["intervals"]) == 1'
never_says no-graph-of-one-interval '\|'
gives behind-a-skip 0 '' "${stat[@]}" --quiet --interval 1000 --skip 5000 --warmup 500 --max-insns 4000 --json "$work/json" -e "$some" "$work/work"
holds a-part-sums 'sums_up() and cut_well(1000, 16) and r["instructions"] == 4000'

# ---- the metrics of the paper
gives whole-of-metrics 3 'done' "${stat[@]}" --quiet --json "$work/before" "$work/work" 20000
gives metrics 3 'done' "${stat[@]}" --interval 10K --json "$work/json" --csv "$work/csv" --svg "$work/svg" "$work/work" 20000
holds metrics-are-of-their-counts 'all(metrics_fit(p) for p in r["intervals"]) and len(r["intervals"]) > 10'
holds metrics-of-all 'metrics_fit({**r, "counts": n}) and near(r["metrics"]["ipc"], r["instructions"] / r["cycles"])'
holds metrics-change-nothing 'r["events"] == b["events"] and r["cycles"] == b["cycles"]'
holds metrics-sum-up 'sums_up() and cut_well(10000, 16)'
holds metrics-in-csv 'all(x[k] == "" if p["metrics"][k] is None else near(float(x[k]), p["metrics"][k])
    for x, p in zip(rows("csv"), r["intervals"]) for k in rates) and len(rows("csv")) == len(r["intervals"])'
holds svg-has-a-graph-of-each 'len([g for g in xml.dom.minidom.parse(work + "/svg").getElementsByTagName("path")
    if g.getAttribute("class") == "line"]) == 7'
says page-counts-intervals '^ [0-9]+ intervals of 10,000 instructions:$'
says page-has-ipc '^ IPC +[0-9.]+ +[0-9.]+ +[0-9.]+$'
says page-has-rates '^ load values off stride +[0-9.]+ +[0-9.]+ +[0-9.]+  %$'
says page-has-graphs '^ +[0-9.e-]+ \|[.:#^]+'
holds page-has-a-graph-of-each 'len(re.findall(r"\n +[0-9.e-]+ \|.*\n +\|.*\n +\|.*\n +[0-9.e-]+ \|", open(work + "/err").read())) == 7'
gives metrics-quietly 3 'done' "${stat[@]}" --quiet --interval 10K "$work/work"
[ -s "$work/err" ] && not_ok quiet "says: $(head -c 200 "$work/err")" || ok quiet

# `stack` cuts by the records of cycles.
gives series-of-stacks 3 'done' "$cyclescope" stack --quiet --interval 10K --json "$work/before" "$work/work" 20000
holds stacks-are-cut-alike '[(p["instructions"], p["cycles"]) for p in r["intervals"]][:-1] == [
    (p["instructions"], p["cycles"]) for p in b["intervals"]][:len(r["intervals"]) - 1]'

# ---- processes that fork are in the counts, not in the intervals
gives forked 5 'done' "${stat[@]}" --interval 1000 --json "$work/json" -e loads "$work/work" 500 2000
holds intervals-are-of-the-first-process 'sum(p["counts"]["loads"] for p in r["intervals"]) < n["loads"] and
    sum(p["instructions"] for p in r["intervals"]) < r["instructions"] and cut_well(1000, 16)'
says forks-are-told '^ [0-9,]+ instructions of processes that the program forked are not in the intervals\.$'

# ---- phases under the graphs
printf 'start,instructions,difference,cluster\n0,20000,1.5,1\n20000,10000,0.5,0\n30000,90000,0.5,2\n' >"$work/phases"
gives with-phases 3 'done' "${stat[@]}" --interval 10K --phases "$work/phases" --svg "$work/svg" --csv "$work/csv" --json "$work/json" "$work/work" 20000
says a-strip-of-phases '^   phase  BBACCC'
holds phases-in-files '[p.get("phase") for p in r["intervals"]][:5] == [1, 1, 0, 2, 2] and
    [x["phase"] for x in rows("csv")][:5] == ["1", "1", "0", "2", "2"] and "phase" not in r["intervals"][-1]'
holds phases-in-svg 'open(work + "/svg").read().count("class=\"phase\"") == 3'
gives own-phases 3 'done' "$cyclescope" phases --quiet --interval 10K --csv "$work/phases" "$work/work" 20000
gives with-own-phases 3 'done' "${stat[@]}" --quiet --interval 10K --phases "$work/phases" --json "$work/json" "$work/work" 20000
holds own-phases-are-read 'all("phase" in p for p in r["intervals"][:-1])'

# ---- mistakes
complains no-interval '--interval must be at least 1' "${stat[@]}" --interval 0 "$work/work"
complains interval-is-no-number "--interval needs a number such as 500 or 2M, not 'often'" "${stat[@]}" --interval often "$work/work"
complains svg-without-interval '--svg needs --interval N' "${stat[@]}" --svg "$work/svg" "$work/work"
complains phases-without-interval '--phases needs --interval N' "${stat[@]}" --phases "$work/phases" "$work/work"
complains interval-by-turns '--interval and --multiplex exclude each other' "${stat[@]}" --interval 1K --multiplex -e loads "$work/work"
complains interval-and-counters '--interval and --counters exclude each other' "${stat[@]}" --interval 1K --counters -e loads "$work/work"
complains interval-and-view '--interval and --pipeview exclude each other' "${stat[@]}" --interval 1K --pipeview "$work/log" "$work/work"
complains interval-and-with '--interval and --with exclude each other' "${stat[@]}" --interval 1K --with "$work/work" "$work/work"
complains interval-and-from '--interval and --from exclude each other' "${stat[@]}" --interval 1K --from "$work/log"
complains svg-cannot-be-written '--svg /no/where/svg: No such file' "${stat[@]}" --interval 1K --svg /no/where/svg "$work/work"
complains no-phases '--phases /no/where: No such file' "${stat[@]}" --interval 1K --phases /no/where "$work/work"
phases_say() { # NAME PATTERN TEXT
    printf "$3" >"$work/phases"
    complains "$1" "--phases $work/phases: $2" "${stat[@]}" --interval 1K --phases "$work/phases" "$work/work"
}
phases_say phases-of-another-kind "there is no column 'start'" '0 1\n5 0\n'
phases_say phases-without-clusters "there is no column 'cluster'" 'start,instructions\n0,5\n'
phases_say phases-without-rows 'there are no phases in it' 'start,instructions,cluster\n'
phases_say phases-without-numbers 'line 3 has no start, instructions and cluster' 'start,instructions,cluster\n0,5,1\n5,x,1\n'
phases_say phases-without-order 'line 3 does not begin behind the one before it' 'start,instructions,cluster\n0,5,1\n4,5,1\n'
if [ -w /dev/full ]; then
    "${stat[@]}" --quiet --interval 1K --svg /dev/full "$work/work" >/dev/null 2>"$work/err"
    [ $? = 125 ] && says full-disk-for-svg '--svg /dev/full: ' || not_ok full-disk-for-svg "status is not 125"
fi
exit $failed
