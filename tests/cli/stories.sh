#!/bin/bash
# stories.sh CYCLESCOPE: the figures of docs/stories/, each with the bounds in which the page's conclusion stands.
. "$(dirname "$0")/common.sh"
trap 'rm -rf "$work"' EXIT
sieve=build/workloads/sieve words=build/workloads/story_words skid=build/workloads/story_skid

# In the expressions below, c and d are the counters of the last `count` and of the one that was kept, `cycles` among
# them. profile() reads the last `sample`: p has counts by address, total is their sum; profile(OUTCOME) takes only
# those samples of ProfileMe that had it.
names='
def counters(j):
    return j and "counters" in j and {"cycles": j["cycles"], **{x["event"]: x["value"] for x in j["counters"]}}
c, d = counters(r), counters(b)
symbol = {f[2]: int(f[0], 16) for f in (l.split() for l in open(work + "/symbols")) if len(f) == 3}
def profile(outcome=None):
    global p, total, by_function
    p, by_function = {}, {}
    for row in r["rows"]:
        n = row["count"][0] if outcome is None else row["history"]["samples"] * row["history"]["outcomes"][outcome]
        if n:
            p[int(row["address"], 16)] = n
            by_function[row["function"]] = by_function.get(row["function"], 0) + n
    total = sum(p.values())
    return True
def top():
    return max(p, key=p.get)
def distances():
    """Share of samples by distance from the missing load, along the loop of 64 instructions."""
    begin, load = symbol["skid_loop"], symbol["skid_load"]
    return {(a - load) // 4 % 64: n / total for a, n in p.items() if begin <= a < begin + 256}
'

count() { # CORE EVENTS [OPTIONS] PROGRAM ARGUMENT
    local core=$1 events=$2
    shift 2
    timeout -k 5 300 "$cyclescope" stat --quiet --core "$core" -e "$events" --json "$work/json" "$@" \
        >"$work/out" 2>"$work/err" || not_ok "stat-$core-$*" "$(head -c 300 "$work/err")"
}
keep() { mv "$work/json" "$work/before"; }
sample() { # CORE PROGRAM ARGUMENT OPTIONS: profiles by instruction
    local core=$1 program=$2 argument=$3
    shift 3
    timeout -k 5 300 "$cyclescope" record --quiet --core "$core" "$@" -o "$work/prof" "$program" "$argument" \
        >"$work/out" 2>"$work/err" &&
        "$cyclescope" report --quiet --by insn --json "$work/json" "$work/prof" 2>>"$work/err" ||
        not_ok "record-$core-$program" "$(head -c 300 "$work/err")"
    "${cross}nm" "$program" >"$work/symbols"
}
: >"$work/symbols"

# ---- sieve.md: strides of a line or more, in which each mark is in a line that no cache has
blind=(--skip 26M --warm --max-insns 1M "$sieve" blind) test=(--skip 34M --warm --max-insns 1M "$sieve" test)
traffic=stores,loads,bus-transactions,bus-transactions:read,writebacks:l1d,writebacks:l2,bus-busy-cycles
count pentium $traffic "${blind[@]}"
holds sieve-one-transaction-per-store-without-allocation '0.99 < c["bus-transactions"] / c["stores"] < 1.01 and
    c["bus-transactions:read"] == c["writebacks:l1d"] == 0'
keep
count pentium-pro $traffic "${blind[@]}"
holds sieve-eight-transactions-per-store-with-allocation '7.95 < c["bus-transactions"] / c["stores"] < 8.05 and
    0.99 < c["writebacks:l2"] / c["stores"] < 1.01'
holds sieve-the-bus-is-the-limit 'c["bus-busy-cycles"] > 0.99 * c["cycles"] and 21.9 < c["cycles"] / c["stores"] < 22.1'
holds sieve-the-newer-core-is-slower-in-time 'c["cycles"] / 200 > 5 * d["cycles"] / 133'
keep
count pentium-pro $traffic "${test[@]}"
holds sieve-testing-removes-write-backs 'c["writebacks:l2"] < 0.05 * c["loads"] and
    4.0 <= c["bus-transactions"] / c["loads"] < 4.25'
holds sieve-testing-is-faster 'c["cycles"] / c["loads"] < 0.8 * d["cycles"] / d["stores"]'
holds sieve-misses-at-once-are-the-limit-then '16.75 <= c["cycles"] / c["loads"] < 17.1'
keep
count pentium $traffic "${test[@]}"
holds sieve-tested-the-newer-core-is-ahead 'abs(c["bus-transactions"] / d["bus-transactions"] - 1) < 0.02 and
    c["cycles"] / 133 > 2.5 * d["cycles"] / 200'
count pentium-pro $traffic --set l1d.allocate=no "${blind[@]}"
holds sieve-it-is-the-policy '0.99 < c["bus-transactions"] / c["stores"] < 1.01'
count pentium $traffic --set l1d.allocate=yes "${blind[@]}"
holds sieve-it-is-the-policy-on-both '7.95 < c["bus-transactions"] / c["stores"] < 8.05'

# ---- narrow-store.md: 12 rounds of 496 keys of 4 words
stalls=head-stalls:reject:edge,head-stalls:reject
for core in pentium-pro eyerman2006; do
    count "$core" $stalls "$words" copy
    holds "words-$core-a-stall-for-each-word" '0 <= c["head-stalls:reject:edge"] - 12 * 496 * 4 < 10'
    holds "words-$core-stalls-matter" 'c["head-stalls:reject"] > 0.03 * c["cycles"] and
        3 < c["head-stalls:reject"] / c["head-stalls:reject:edge"] < 10'
    keep
    count "$core" $stalls "$words" shift
    holds "words-$core-none-after-the-fix" 'c["head-stalls:reject"] < 0.001 * c["cycles"]'
    holds "words-$core-the-fix-saves-more-than-the-stalls" 'd["cycles"] - c["cycles"] > d["head-stalls:reject"]'
done
sample pentium-pro "$words" copy -e head-stalls:reject --oracle
holds words-the-oracle-names-one-load 'profile() and p[top()] > 0.99 * total and
    by_function["hash_copy"] >= p[top()]'
keep
names+='
def load():
    return max(b["rows"], key=lambda row: row["count"][0])["address"]
'
sample pentium-pro "$words" copy -e head-stalls:reject -c 100
holds words-interrupts-miss-the-load 'profile() and int(load(), 16) not in p and total > 80000'
holds words-interrupts-name-two-functions 'profile() and set(by_function) == {"hash_copy", "count_letters"} and
    0.2 < by_function["hash_copy"] / total < 0.6'
sample pentium-pro "$words" copy -e head-stalls:reject -c 100 --precise
holds words-precise-samples-name-it 'profile() and p.get(int(load(), 16), 0) > 0.98 * total'
sample pentium-pro "$words" copy --profileme -c 250
holds words-profileme-names-it 'profile("rejected") and top() == int(load(), 16) and p[top()] > 0.9 * total and
    total > 50'
holds words-profileme-has-its-latency '[row["history"]["cycles"]["issue_to_complete"] > 10 for row in r["rows"]
    if row["address"] == load()] == [True]'
sample pentium-pro "$words" shift --profileme -c 250
holds words-profileme-finds-none-after-the-fix 'profile("rejected") and by_function.get("hash_shift", 0) == 0'

# ---- skid.md. In the steady loop, the distance is the window, the front end, the fetch buffer and what retires with
# the load: on eyerman2006 128 + 4 * 5 + 16 + 4, on pentium-pro 40 + 3 * 8 + 16 + 3, on modern 257 (which have 249
# results) + 8 * 10 + 64 + 8, modulo 64.
for case in 'eyerman2006 40' 'pentium-pro 19' 'modern 25'; do
    read -r core distance <<<"$case"
    sample "$core" "$skid" steady -e l1d-misses -c 64
    holds "skid-$core-steady-is-one-wrong-place" "profile() and distances().get($distance, 0) > 0.95"
done
for core in eyerman2006 modern; do
    sample "$core" "$skid" tossed -e l1d-misses -c 64
    holds "skid-$core-interrupts-scatter" 'profile() and 0 not in distances() and len(distances()) > 10 and
        max(distances()) - min(distances()) > 25 and max(distances().values()) < 0.5'
    sample "$core" "$skid" tossed -e l1d-misses -c 64 --precise
    holds "skid-$core-precise-samples-do-not" 'profile() and distances().keys() == {0} and distances()[0] > 0.95'
    sample "$core" "$skid" tossed --profileme -c 1000
    holds "skid-$core-profileme-does-not" 'profile("l1d_miss") and distances().keys() == {0} and
        distances()[0] > 0.95 and total > 50'
    sample "$core" "$skid" tossed -e l1d-misses --oracle
    holds "skid-$core-the-oracle" 'profile() and distances().keys() == {0} and distances()[0] > 0.95'
done
exit $failed
