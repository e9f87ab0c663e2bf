#!/bin/bash
# multiplex.sh CYCLESCOPE: `stat --multiplex`: events that take turns, their intervals, logs, and programs that share the core.
. "$(dirname "$0")/common.sh"
trap 'rm -rf "$work"' EXIT

compile_work
compile floats -static <<'C'
#include <stdio.h>
int main(void)
{
    volatile double x = 3;
    for (int i = 0; i < 40000; i++)
        x = x / 1.0001 + 1;
    puts("floats");
    return 0;
}
C
compile forever -static <<<'int main(void) { volatile unsigned n = 1; for (;;) n = n * 3 + 1; }'
cd "$work" || exit 1
events=loads,stores,branches,mispredictions,l1d-misses,completion-cycles,empty-window,data-stalls,integer-stalls,rob-occupancy
few=(--core ppc970 --set pmu.counters=4 --slice 5K)
# The environment is on the guest's stack, and counts move with its length.
turns=(env -i "$cyclescope" stat --multiplex "${few[@]}")
names='
c = {x["event"]: x for x in (r or {}).get("counters", [])}
m = (r or {}).get("multiplexing")
inside = lambda x: x["low"] - 0.5 <= x["true_value"] and (x["high"] is None or x["true_value"] <= x["high"] + 0.5)
'

# ---- the page
gives page 3 'done' "${turns[@]}" --truth -e $events "$work/work" 60000
says page-has-the-interval '^ +[0-9,]+ +± [0-9.]+ %  loads +# counted +[0-9.]+ % of the time, true [0-9,]+ \([+-][0-9.]+ %\)'
says page-has-the-cost '^ +[0-9,]+  cycles of the sampling engine in machine mode: [0-9.]+ %$'
says page-has-the-plan '^ 10 events in 4 groups by turns: slices of 5,000 cycles, rounds of 20,000 in random order'
gives all-at-once 3 'done' "${turns[@]}" -e loads,stores,branches "$work/work" 20000
says all-at-once-is-exact '^ +[0-9,]+ +exact  loads'
says all-at-once-says-so 'fit the core.s counters at once'

# ---- counts. One interval in twenty may miss: of ten, hardly ever more than two do.
gives json 3 'done' "${turns[@]}" --truth --quiet --json "$work/json" -e $events,cycles,committed "$work/work" 60000
holds most-intervals-hold-the-truth 'sum(map(inside, c.values())) >= 10'
holds estimates-are-near 'all(abs(c[n]["value"] / c[n]["true_value"] - 1) < 0.1 for n in ("loads", "stores", "branches"))'
holds a-quarter-of-the-time-each 'all(0.2 < x["share"] < 0.3 for n, x in c.items() if n not in ("cycles", "committed"))'
holds clock-and-instructions-are-always-counted 'all(c[n]["value"] == c[n]["true_value"] == c[n]["low"] == c[n]["high"] and
    c[n]["share"] == 1 for n in ("cycles", "committed"))'
holds the-program-is-in-user-mode 'm["user_cycles"] == c["cycles"]["value"] < r["cycles"] and
    m["user_instructions"] == c["committed"]["value"] < r["instructions"]'
mv "$work/json" "$work/before"
gives json-again 3 'done' "${turns[@]}" --truth --quiet --json "$work/json" -e $events,cycles,committed "$work/work" 60000
holds runs-repeat 'r["counters"] == b["counters"] and r["cycles"] == b["cycles"]'
gives json-seed 3 'done' "${turns[@]}" --order-seed 7 --quiet --json "$work/json" -e $events "$work/work" 60000
holds another-order-counts-other-slices 'c["loads"]["counted"] != b["counters"][0]["counted"]'
gives json-exact 3 'done' env -i "$cyclescope" stat --core ppc970 --quiet --json "$work/json" -e loads,stores,branches,committed "$work/work" 60000
holds the-program-does-the-same 'all(c[n]["value"] == x["true_value"] for x in b["counters"] for n in [x["event"]] if n in c)'
gives json-shares 3 'done' "${turns[@]}" --quiet --json "$work/json" -e "{loads,stores}:share=3,branches,l1d-misses,data-stalls,integer-stalls" "$work/work" 60000
holds shares-are-of-time '0.55 < c["loads:share=3"]["share"] < 0.8 and c["data-stalls"]["share"] < 0.3'
gives json-insns 3 'done' "${turns[@]}" --by insns --truth --quiet --json "$work/json" -e $events "$work/work" 60000
holds slices-of-instructions 'm["clock"] == "instructions" and sum(map(inside, c.values())) >= 8'
gives json-linear 3 'done' "${turns[@]}" --estimator linear --truth --quiet --json "$work/json" -e $events "$work/work" 60000
holds the-estimator-is-named 'm["estimator"] == "linear"'
gives json-machine 3 'done' "${turns[@]}" --mode machine --quiet --json "$work/json" -e committed,loads,stores,branches "$work/work" 60000
holds machine-mode-is-the-engine 'c["committed"]["value"] > 1000 and c["committed"]["value"] < r["instructions"] - m["user_instructions"] + 1000'
gives json-both 3 'done' "${turns[@]}" --truth --mode both --quiet --json "$work/json" -e committed,loads,stores,branches "$work/work" 60000
holds both-modes-are-all 'c["committed"]["true_value"] == r["instructions"]'
gives json-window 0 '' "${turns[@]}" --skip 100K --warmup 50K --max-insns 200K --truth --quiet --json "$work/json" -e $events "$work/work" 60000
holds only-what-is-measured-counts 'm["user_instructions"] == 200000 and sum(map(inside, c.values())) >= 8'
gives forks 5 'done' "${turns[@]}" --quiet --json "$work/json" -e $events "$work/work" 20000 20000
holds forks-are-not-in-it 'm["user_instructions"] < r["instructions"]'
gives csv 3 'done' "${turns[@]}" --quiet --csv "$work/csv" -e $events "$work/work" 20000
if [ "$(head -1 "$work/csv")" = event,value,low,high,share,bursty ] && [ "$(wc -l <"$work/csv")" = 11 ]; then ok csv-lines; else not_ok csv-lines "$(cat "$work/csv")"; fi

# ---- logs
gives log 3 'done' "${turns[@]}" --truth --quiet --log "$work/log" --csv "$work/csv" --json "$work/before" -e $events "$work/work" 60000
gives from 0 '' "$cyclescope" stat --from "$work/log" --csv "$work/csv2" --json "$work/json"
says from-names-the-program '/work on the core ppc970:$'
if cmp -s "$work/csv" "$work/csv2"; then ok from-tells-the-same; else not_ok from-tells-the-same "$(diff "$work/csv" "$work/csv2")"; fi
holds from-json 'r["counters"] == b["counters"] and r["multiplexing"]["user_cycles"] == b["multiplexing"]["user_cycles"]'
(timeout -s KILL 4 "${turns[@]}" --quiet --log "$work/killed" -e $events "$work/forever") 2>/dev/null
gives killed 0 '' "$cyclescope" stat --from "$work/killed" --json "$work/json"
says killed-says-so 'was cut off: this is as far as it goes'
holds killed-has-what-was-written 'm["user_instructions"] > 10000 and c["stores"]["value"] > 1000'
head -c 300 "$work/log" >"$work/short"
"$cyclescope" stat --from "$work/short" >/dev/null 2>"$work/err"
[ $? = 125 ] || says a-shorter-log-goes-less-far 'cut off'
head -c 60000 /dev/urandom >"$work/noise"
complains from-noise 'noise' "$cyclescope" stat --from "$work/noise"
complains from-nothing 'nothing: No such file' "$cyclescope" stat --from "$work/nothing"

# ---- programs that share the core: what only one of them does is in none of the other's counts
shared=("${turns[@]}" --quantum 20K --with "$work/work 30000" --with "$work/work 10000")
gives shared 0 "$(printf 'floats\ndone\ndone' | sort)" bash -c '"$@" | sort' - "${shared[@]}" --truth --quiet --json "$work/json" \
    -e fp-instructions,stall-breakdown:fpu,loads,stores,branches,mispredictions "$work/floats"
names+='
w = [{x["event"]: x for x in p["counters"]} for p in (r or {}).get("with", [])]
'
holds every-program-has-its-page 'len(w) == 2'
holds the-one-that-does-it-has-it 'c["fp-instructions"]["value"] > 50000 and c["fp-instructions"]["true_value"] >= 80000 and
    c["stall-breakdown:fpu"]["value"] > 100000 and inside(c["fp-instructions"])'
holds nothing-leaks 'all(p[n]["counted"] == p[n]["value"] == p[n]["true_value"] == 0 for p in w
    for n in ("fp-instructions", "stall-breakdown:fpu"))'
holds counts-are-of-their-program 'all(abs(p[n]["value"] / p[n]["true_value"] - 1) < 0.2 for p in w for n in ("loads", "branches"))'
mv "$work/json" "$work/before"
gives alone 0 'done' bash -c '"$@" | cat' - "${turns[@]}" --truth --quiet --json "$work/json" -e loads,stores,branches,mispredictions "$work/work" 30000
holds as-many-as-alone 'all(c[n]["true_value"] == next(x["true_value"] for x in b["with"][0]["counters"] if x["event"] == n)
    for n in ("loads", "stores", "branches"))'
holds as-alone-within-the-interval 'sum(x["low"] <= c[x["event"]]["true_value"] <= x["high"] for x in b["with"][0]["counters"]
    if x["event"] in ("loads", "stores", "branches")) >= 2'

# ---- mistakes
complains no-events 'needs -e' "$cyclescope" stat --multiplex "$work/work"
complains without-multiplex 'need --multiplex' "$cyclescope" stat --slice 5K -e loads "$work/work"
complains share-without 'needs --multiplex' "$cyclescope" stat -e loads:share=2 "$work/work"
complains with-counters 'exclude each other' "$cyclescope" stat --multiplex --counters -e loads "$work/work"
complains bad-order '--order sideways' "${turns[@]}" --order sideways -e loads "$work/work"
complains bad-mode '--mode kernel' "${turns[@]}" --mode kernel -e loads "$work/work"
complains bad-unit '--by hours' "${turns[@]}" --by hours -e loads "$work/work"
complains bad-estimator '--estimator magic' "${turns[@]}" --estimator magic -e loads "$work/work"
complains no-place 'op=|address, class or mark' "${turns[@]}" -e loads:ip=0x1000-0x2000,stores "$work/work"
complains short-slice '2,?000' "$cyclescope" stat --multiplex --slice 100 -e loads "$work/work"
complains short-round 'round' "${turns[@]}" --round 10K -e $events "$work/work"
complains log-to-nowhere 'No such file' "${turns[@]}" --log "$work/no/log" -e loads "$work/work"
complains firmware-and-turns 'firmware' "${turns[@]}" --firmware "$work/work" -e loads "$work/work"

exit $failed
