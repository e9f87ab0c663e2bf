#!/bin/bash
# sampling.sh CYCLESCOPE: counts by turns as they are validated: `validate counters`, `stalls` and `overhead`, what they
# say, write and refuse; and a workload that beats with the round, on which a fixed order of turns fails.
. "$(dirname "$0")/common.sh"
trap 'rm -rf "$work"' EXIT
workloads=$(realpath build/workloads)
cd "$work" || exit 1

names='
import csv, math
def rows(name):
    return list(csv.DictReader(open(work + "/" + name)))
def by_event(counters):
    return {c["event"]: c for c in counters}
'

# validated NAME STATUS ARGUMENTS...: `validate`, with its JSON and CSV for `holds`, its page for `says`
validated() {
    local name=$1 want=$2 what=$3
    shift 3
    timeout -k 5 120 "$cyclescope" validate "$what" --json "$work/json" --csv "$work/csv" "$@" >"$work/out" 2>"$work/err" </dev/null
    local status=$?
    if [ $status = "$want" ]; then ok "$name"; else not_ok "$name" "status $status: $(tail -c 300 "$work/err")"; fi
}

# ---- counters

validated counters 0 counters --slice 20K --seeds 4 --max-insns 3M "$workloads/mix"
says counters-page '^ l1d-misses +[0-9,]+ +[0-9.]+ \|'
says counters-replay 'Replayed in 4 other orders'
says counters-plan '9 events in 2 groups; slices of 20,000 cycles, rounds of 200,000'
holds counters-events 'r["command"] == "validate counters" and r["core"] == "ppc970" and len(r["counters"]) == 9'
holds counters-rounds 'r["multiplexing"]["rounds"] == r["multiplexing"]["user_cycles"] // 200000'
holds counters-instructions-take-turns 'by_event(r["counters"])["instructions"]["linear"]["error_percent"] > 0'
holds counters-truth 'by_event(r["counters"])["instructions"]["true_value"] == 3000000 <= r["instructions"]'
holds counters-rare 'all(c["rare"] == (c["true_value"] * 10000 < r["multiplexing"]["user_cycles"] or not c["true_value"])
    and all((c[w]["distance"] is None) == c["rare"] for w in ("linear", "regression")) for c in r["counters"])'
holds counters-intervals 'all(c[w]["holds"] == (c[w]["low"] - 0.5 <= c["true_value"] <= (c[w]["high"] or math.inf) + 0.5)
    for c in r["counters"] for w in ("linear", "regression"))'
holds counters-replayed 'all(0 <= c[w]["replayed"]["held"] <= 4 for c in r["counters"] for w in ("linear", "regression"))'
holds counters-csv 'len(rows("csv")) == 18 and all(int(a["true_value"]) == by_event(r["counters"])[a["event"]]["true_value"]
    for a in rows("csv"))'

cp "$work/json" "$work/before"
validated counters-again 0 counters --slice 20K --seeds 4 --max-insns 3M "$workloads/mix"
holds counters-repeat '[r["counters"], r["cycles"]] == [b["counters"], b["cycles"]]'
validated counters-other-order 0 counters --slice 20K --order-seed 7 --max-insns 3M --quiet "$workloads/mix"
holds counters-order-matters 'r["counters"] != b["counters"] and "replayed" not in r["counters"][0]["linear"] and
    by_event(r["counters"])["loads"]["true_value"] == by_event(b["counters"])["loads"]["true_value"]'
if [ -s "$work/err" ]; then not_ok counters-quiet "prints"; else ok counters-quiet; fi

# All events fit the counters, and each group has every slice: what is estimated is what is true.
validated counters-all 0 counters -e loads,stores --ratio 0 --slice 20K --max-insns 1M "$workloads/mix"
holds counters-all-exact 'all(c[w]["distance"] < 1e-9 and c[w]["error_percent"] < 1e-9 and c[w]["holds"]
    for c in r["counters"] for w in ("linear", "regression"))'

validated sweep 0 counters -e loads,stores --ratio 2 --sweep --max-insns 3M "$workloads/mix"
says sweep-page 'Distances, linear, at other granularities and ratios'
holds sweep-points '[(p["slice"], p["ratio"]) for p in r["sweep"]] == [(n, 2) for n in (20000, 40000, 100000, 200000, 500000)] +
    [(500000, n) for n in (5, 10, 20, 40)]'
holds sweep-rounds 'all(abs(p["rounds"] - r["multiplexing"]["user_cycles"] / (p["slice"] * p["ratio"])) < 1.5 for p in r["sweep"])'
holds sweep-short 'all((d["linear"] is None) == (p["rounds"] < 2) for p in r["sweep"] for d in p["distance"])'

# ---- stalls and overhead

validated stalls 0 stalls --interval 50K --max-insns 1M "$workloads/mix"
says stalls-page '^ mispredictions +\| +[0-9.]+ +[0-9.]+ +[0-9.]+ \|'
holds stalls-modes 'r["cpi_by_run"]["real"] < r["cpi_by_run"]["single"] < r["cpi_by_run"]["inorder"] and r["intervals"] == 20'
holds stalls-cores 'r["cpi_by_run"]["single"] > 1 and r["cpi_by_run"]["inorder"] > 2'
holds stalls-sources 'len(r["stalls"]) == 8 and r["stalls"]["fpu"]["kl_single"] is None and
    0 <= r["stalls"]["branch"]["kl_single"] < 0.2'
holds stalls-csv '[a["source"] for a in rows("csv")] == list(r["stalls"])'
timeout 60 "$cyclescope" stat --core ppc970-single --max-insns 1M --json "$work/before" --quiet "$workloads/mix" >/dev/null
holds stalls-single-core 'abs(b["cpi"] - r["cpi_by_run"]["single"]) < 1e-3'
timeout 60 "$cyclescope" stat --core ppc970-inorder --max-insns 1M --json "$work/before" --quiet "$workloads/mix" >/dev/null
holds stalls-inorder-core 'abs(b["cpi"] - r["cpi_by_run"]["inorder"]) < 1e-3'

validated overhead 0 overhead --skip 20M --max-insns 1M "$workloads/mix"
says overhead-page '^ +1000 +1,800 '
holds overhead-grows '[o["khz"] for o in r["overhead"]] == [1, 2, 5, 20, 100, 200, 1000] and
    [o["slice"] for o in r["overhead"]] == [1800000, 900000, 360000, 90000, 18000, 9000, 1800] and
    all(a["percent"] < b["percent"] for a, b in zip(r["overhead"][3:], r["overhead"][4:]))'
holds overhead-below-paper 'all(o["percent"] < o["paper_percent"] for o in r["overhead"] if o["khz"] >= 20)'
holds overhead-samples 'all(abs(o["samples"] - r["cycles"] / o["slice"]) < 2 + 0.02 * o["samples"] for o in r["overhead"])'
holds overhead-csv 'len(rows("csv")) == 7'

# ---- mistakes, and what stays as it was

complains counters-short-round 'a round of 200000 cycles has 1 slices' "$cyclescope" validate counters --ratio 1 "$workloads/mix"
complains counters-ratio '--ratio must be at most' "$cyclescope" validate counters --ratio 1000 "$workloads/mix"
complains stalls-interval '--interval must be at least 1' "$cyclescope" validate stalls --interval 0 "$workloads/mix"
complains overhead-firmware 'machine mode has room for one' "$cyclescope" validate overhead --firmware x "$workloads/mix"
complains counters-program 'nowhere' "$cyclescope" validate counters ./nowhere
compile_work
cp "$work/work" "$work/stalls"
gives a-program-of-such-a-name 3 done "$cyclescope" validate --quiet --jobs 2 ./stalls
gives output-is-that-of-one-run 3 done "$cyclescope" validate stalls --interval 1K --quiet --jobs 2 ./stalls
gives status-of-the-program 3 done "$cyclescope" validate counters --slice 2K --quiet ./stalls

# ---- the beat

# beat ORDER SEED: a round of four slices is a period of the workload
beat() {
    timeout 60 env -i "$cyclescope" stat --core ppc970 --set pmu.counters=2 --multiplex --truth --slice 50K --order "$1" --order-seed "$2" \
        -e loads,stores,integer-instructions:div,integer-instructions:mul --json "$work/json" --quiet "$workloads/beat" 200000 60 >/dev/null
}
names+='
def missed(c):
    return not c["low"] - 0.5 <= c["true_value"] <= c["high"] + 0.5
def error(c):
    return abs(c["value"] / c["true_value"] - 1)
'
beat fixed 0
holds fixed-order-fails-on-the-beat 'all(map(missed, r["counters"])) and max(map(error, r["counters"])) > 0.9'
holds fixed-order-says-it-is-sure 'any(missed(c) and error(c) > 10 * (c["high"] - c["low"]) / c["true_value"] for c in r["counters"])'
for seed in 0 1 2; do
    beat random $seed
    holds random-order-holds-$seed 'sum(map(missed, r["counters"])) <= 1 and sorted(map(error, r["counters"]))[1] < 0.1'
done

exit $failed
