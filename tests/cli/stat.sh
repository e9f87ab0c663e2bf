#!/bin/bash
# stat.sh CYCLESCOPE: `stat` and `list` as a user meets them: what is printed and written, and what each mistake says.
. "$(dirname "$0")/common.sh"
trap 'rm -rf "$work"' EXIT

compile_work
compile abort -static <<<'#include <stdlib.h>
int main(void) { abort(); }'
compile closes -static <<<'#include <unistd.h>
int main(void) { close(1); close(2); return 0; }'
stat=("$cyclescope" stat)

# ---- the page
gives status-and-output-pass-through 3 'done' "${stat[@]}" "$work/work"
says page-names-program-and-core '/work on the core eyerman2006:$'
says page-has-cycles '^ +[0-9]{1,3}(,[0-9]{3})+ +cycles$'
says page-has-instructions-both-ways '^ +[0-9,]+ +[0-9,]+  instructions +# +[0-9.]+ IPC, +[0-9.]+ CPI$'
says page-has-mispredictions 'mispredictions +# +[0-9.]+ % of branches, +[0-9.]+ MPKI$'
says page-has-l1d-misses 'L1D misses +# +[0-9.]+ MPKI, +[0-9.]+ % of accesses$'
says page-has-speed '^ [0-9.]+ seconds, [0-9.]+ MIPS$'
never_says page-leaves-out-what-is-not-there 'L3|prefetches|cycles of the bus'
never_says page-has-no-trailing-blanks ' $'
gives other-core 3 'done' "${stat[@]}" --core modern "$work/work"
says page-has-what-is-there 'L3D misses'
says page-has-prefetches 'L1D prefetches +# +[0-9.]+ % were used$'
gives a-core-of-its-own 3 'done' "${stat[@]}" --core modern --set l3.size=0 --set l1d.prefetch=none "$work/work"
never_says settings-change-the-page 'L3|L1D prefetches'
gives quiet 3 'done' "${stat[@]}" --quiet "$work/work"
if [ -s "$work/err" ]; then not_ok quiet-says-nothing "$(cat "$work/err")"; else ok quiet-says-nothing; fi
gives abort 134 '' "${stat[@]}" "$work/abort"
says death-has-a-sentence '^cyclescope: .*/abort was killed by SIGABRT$'
gives dashes-end-options 3 'done' "${stat[@]}" -- "$work/work" 10
if "${stat[@]}" --help | grep -q -- '--pipeview-from N'; then ok help; else not_ok help "does not list --pipeview-from"; fi

# ---- JSON
gives json 3 'done' "${stat[@]}" --quiet --json "$work/json" "$work/work"
holds json-has-the-shared-keys 'r["command"] == "stat" and r["version"] and r["core"] == "eyerman2006" and
    r["program"].endswith("/work") and r["exit_status"] == 3 and r["host"]["seconds"] > 0 and r["host"]["mips"] > 0'
holds json-cpi 'abs(r["cpi"] - r["cycles"] / r["instructions"]) < 1e-9 and r["cycles"] == e["cycles"] > 1000 and
    r["instructions"] == e["instructions"] > 1000'
holds retired-is-at-most-speculative 'all(e[n] <= e[n + "_spec"] for n in
    ("branches", "mispredictions", "l1i_accesses", "l1d_accesses", "l2d_accesses", "dtlb_walks", "loads", "stores", "l1i_misses",
     "l2i_misses", "itlb_misses", "l1d_misses", "l2d_misses", "dtlb_misses"))'
holds fetched-is-retired-or-squashed 'e["fetched"] == e["instructions"] + e["squashed"] and e["squashed"] > 0'
holds every-stage-sums-to-all-cycles 'set(r["cycles_by"]) == {"fetch", "dispatch", "issue", "commit", "head"} and
    all(sum(s.values()) == r["cycles"] for s in r["cycles_by"].values())'
holds parameters-are-echoed 'r["params"]["rob.size"] == "128" and r["params"]["l1d.size"] == "16K" and
    r["params"]["perfect.branch"] == "no"'
holds not-cut 'r["cut"] is False and r["skipped"] == 0 and r["warmup"] == 0'
mv "$work/json" "$work/before"
gives json-stepped 3 'done' "${stat[@]}" --quiet --step --json "$work/json" "$work/work"
holds stepping-changes-no-count 'e == b["events"] and r["cycles_by"] == b["cycles_by"]'
gives json-set 3 'done' "${stat[@]}" --quiet --set rob.size=32 --set perfect.branch=yes --json "$work/json" "$work/work"
holds settings-take-effect 'r["params"]["rob.size"] == "32" and r["params"]["perfect.branch"] == "yes" and
    e["mispredictions"] == 0 and e["fetched"] == r["instructions"] == b["instructions"]'
printf '; A narrow core\nbase = small\n[fetch]\nwidth = 1\n' >"$work/narrow.ini"
"${stat[@]}" --quiet --core "$work/narrow.ini" --json "$work/json" "$work/work" >/dev/null
holds core-from-a-file 'r["core"] == "narrow" and r["params"]["fetch.width"] == "1" and r["cpi"] >= 1'
"${stat[@]}" --json - "$work/closes" >"$work/json" 2>"$work/err"
holds json-to-standard-output-though-the-guest-closes-it 'r["exit_status"] == 0'
says page-though-the-guest-closes-standard-error 'instructions'

# ---- parts of a run
gives cut 0 '' "${stat[@]}" --max-insns 5000 --json "$work/json" "$work/work" 1000000
holds cut-at-the-instruction 'r["instructions"] == 5000 and r["cut"] is True and r["exit_status"] == 0'
says cut-has-a-sentence 'stopped after 5,000 instructions'
gives thousands 0 '' "${stat[@]}" --quiet --skip 1k --max-insns 5K --json "$work/json" "$work/work" 1000000
holds thousands-are-1000 'r["instructions"] == 5000 and r["skipped"] == 1000'
gives parts 0 '' "${stat[@]}" --skip 40000 --warm --warmup 3000 --max-insns 2000 --json "$work/json" "$work/work" 1000000
holds parts-have-their-lengths 'r["skipped"] == 40000 and r["warmup"] == 3000 and r["instructions"] == 2000'
says skipped-has-a-sentence '40,000 instructions were skipped, with'
mv "$work/json" "$work/before"
"${stat[@]}" --quiet --skip 43000 --max-insns 2000 --json "$work/json" "$work/work" 1000000 >/dev/null
holds warming-helps 'r["cycles"] > b["cycles"]'
gives skip-past-the-end 3 'done' "${stat[@]}" --skip 1000000000 --json "$work/json" "$work/work"
holds nothing-measured 'r["instructions"] == 0 and r["cycles"] == 0 and r["cpi"] == 0'
says nothing-measured-has-a-sentence 'ended before the part that is measured'

# ---- processes
"${stat[@]}" --quiet --json "$work/before" "$work/work" 1000 >/dev/null
gives forked 5 'done' "${stat[@]}" --json "$work/json" "$work/work" 1000 50000
if [ "$(grep -c 'seconds,' "$work/err")" = 1 ]; then ok one-page-for-all-processes
else not_ok one-page-for-all-processes "$(cat "$work/err")"; fi
holds forked-processes-count 'r["instructions"] > b["instructions"] + 10 * 50000'

# ---- the pipeline view
cat >"$work/check.py" <<'P'
"""check.py LOG: reads a Kanata log as strictly as its format is described, and prints how many retired and were flushed."""
import sys
lines = open(sys.argv[1], newline="").read().split("\n")
assert lines.pop() == "", "does not end with a newline"
assert lines[0] == "Kanata\t0004", "header"
cycle, live, ids, ended, serial = None, {}, 0, {0: 0, 1: 0}, 0
order = {"F": {"Dp"}, "Dp": {"Is"}, "Is": {"Is", "Cp"}, "Cp": set()}
for line in lines[1:]:
    command, *a = line.split("\t")
    if command == "C=":
        assert cycle is None, "C= twice"
        cycle = int(a[0])
    elif command == "C":
        assert int(a[0]) > 0, line
        cycle += int(a[0])
    elif command == "I":
        assert int(a[0]) == ids and len(a) == 3 and cycle is not None, line
        live[a[0]] = [cycle, None, ""]
        ids += 1
    elif command == "L":
        assert a[0] in live and a[1] in ("0", "1") and len(a) == 3 and a[2], line
        live[a[0]][2] += a[2]
    elif command == "S":
        op = live[a[0]]
        assert len(a) == 3 and a[1] == "0" and (a[2] in order[op[1]] if op[1] else a[2] == "F"), line
        op[1] = a[2]
    elif command == "R":
        op = live.pop(a[0])
        assert len(a) == 3 and op[2], line
        if a[2] == "0":
            assert op[1] == "Cp" and int(a[1]) == serial, line
            serial += 1
        ended[int(a[2])] += 1
    else:
        sys.exit("unknown command: " + line)
assert not live, "no end: %s" % live
print("retired %d flushed %s" % (ended[0], "some" if ended[1] else "none"))
P
# view NAME WANTED OPTIONS...: what the checker says of the view
view() {
    local name=$1 wanted=$2 said
    shift 2
    "${stat[@]}" --quiet --pipeview "$work/log" "$@" >/dev/null 2>"$work/err"
    said=$(python3 "$work/check.py" "$work/log" 2>&1 | tail -n 1)
    if [ "$said" = "$wanted" ]; then ok "$name"; else not_ok "$name" "$said $(head -c 200 "$work/err")"; fi
}
view view 'retired 10000 flushed some' "$work/work"
view view-of-a-window 'retired 300 flushed some' --pipeview-from 15000 --pipeview-insns 300 "$work/work" 5000
grep -q 'mispredicted' "$work/log" && grep -q 'on the wrong path' "$work/log" && ok view-has-details || not_ok view-has-details "$(head -n 5 "$work/log")"
view view-of-bundles 'retired 400 flushed some' --core ppc970 --pipeview-from 15000 --pipeview-insns 400 "$work/work" 5000
view view-in-order 'retired 400 flushed some' --core pentium --pipeview-from 15000 --pipeview-insns 400 "$work/work" 5000
view view-without-wrong-path 'retired 400 flushed none' --set perfect.branch=yes --pipeview-insns 400 "$work/work"
view view-behind-the-end 'retired 0 flushed none' --pipeview-from 1000000000 "$work/work"
view view-of-what-is-measured 'retired 3000 flushed some' --skip 20000 --warmup 300 --max-insns 3000 "$work/work" 5000
view view-of-one-process 'retired 30000 flushed some' --pipeview-insns 30000 "$work/work" 5000 5000
"${stat[@]}" --quiet --step --pipeview "$work/stepped" --pipeview-insns 30000 "$work/work" 5000 5000 >/dev/null
if cmp -s "$work/log" "$work/stepped"; then ok view-is-the-same-stepped; else not_ok view-is-the-same-stepped "differs"; fi

# ---- events of -e
names='n = {c["event"]: c["value"] for c in (r or {}).get("counters", [])}'
gives events 3 'done' "${stat[@]}" -e loads,l1d-misses,cycles --event 'fetch-stalls, fetch-stalls:edge' -e rob-occupancy \
    -e 'committed:thresh=3,{branches,branch-misses:name=my own}' --json "$work/json" --csv "$work/csv" "$work/work"
says events-name-program-and-core '/work on the core eyerman2006:$'
says events-per-thousand-instructions '^ +[0-9,]+  loads +# +[0-9.]+ per 1000 instructions$'
says events-percent-of-cycles '^ +[0-9,]+  fetch-stalls +# +[0-9.]+ % of cycles$'
says events-average-length '^ +[0-9,]+  fetch-stalls:edge +# +[0-9.]+ cycles each$'
says events-average-value '^ +[0-9,]+  rob-occupancy +# +[0-9.]+ on average$'
says events-of-a-threshold-are-cycles '^ +[0-9,]+  committed:thresh=3 +# +[0-9.]+ % of cycles$'
says events-have-names '^ +[0-9,]+  my own +# +[0-9.]+ per 1000 instructions$'
says events-then-instructions '^ +[0-9,]+  instructions +# +[0-9.]+ IPC$'
says events-then-cycles '^ +[0-9,]+  cycles$'
says events-then-time '^ [0-9.]+ seconds, [0-9.]+ MIPS$'
never_says events-take-the-place-of-the-page 'L1D misses|what ended dispatch| $'
holds events-are-exact '[c["name"] for c in r["counters"]] == ["loads", "l1d-misses", "cycles", "fetch-stalls", "fetch-stalls",
    "rob-occupancy", "committed", "branches", "mispredictions"] and n["loads"] == e["loads"] > 0 and
    n["l1d-misses"] == e["l1d_misses"] > 0 and n["cycles"] == r["cycles"] and n["rob-occupancy"] == e["rob_occupancy"] and
    n["my own"] == e["mispredictions"] > 0 and 0 < n["fetch-stalls:edge"] < n["fetch-stalls"] < r["cycles"]'
holds events-fit-if-asked-for 'not any("fits" in c for c in r["counters"])'
holds events-change-nothing-else 'set(r) - {"counters"} == set(b) and e["instructions"] == r["instructions"]'
holds events-as-csv '[l.strip().split(",") for l in open(work + "/csv")] == [["event", "value", "unit"]] + [[c["event"],
    str(c["value"]), u] for c, u in zip(r["counters"], ["occurrences"] * 2 + ["cycles"] * 2 + ["occurrences", "value", "cycles"]
    + ["occurrences"] * 2)]'
gives edges-alone 3 'done' "${stat[@]}" -e fetch-stalls:edge -e loads:m,committed:edge,committed "$work/work"
says edges-alone-have-no-length '^ +[0-9,]+  fetch-stalls:edge$'
says edges-of-occurrences '^ +[0-9,]+  committed:edge +# +[0-9.]+ events each$'
gives csv-to-standard-output 3 $'done\nevent,value,unit\nloads:m,0,occurrences' "${stat[@]}" --quiet -e loads:m --csv - "$work/work"
gives csv-quotes 3 $'done\nevent,value,unit\n"a ""b""",0,occurrences' "${stat[@]}" --quiet -e 'loads:m:name=a "b"' --csv - "$work/work"
gives preload-may-be-anything 3 'done' "${stat[@]}" --quiet -e loads:m:preload=0xffffffffffffffff --json "$work/json" "$work/work"
holds preload-of-all-bits-is-text 'r["counters"][0]["value"] == "18446744073709551615"'
gives nothing-measured-of-events 3 'done' "${stat[@]}" --skip 1000000000 -e loads,cycles:u,loads:edge,rob-occupancy "$work/work"
says nothing-measured-is-0 '^ +0  rob-occupancy$'
gives events-of-forks 5 'done' "${stat[@]}" --quiet -e instructions,instructions:marked,loads --json "$work/json" "$work/work" 1000 50000
holds events-of-all-processes 'n["instructions"] == r["instructions"] and n["loads"] == e["loads"] and
    n["instructions:marked"] + 10 * 50000 < n["instructions"]'
gives events-of-forks-in-what-is-skipped 5 'done' "${stat[@]}" --quiet --skip 200000 -e instructions,loads,cycles:edge --json "$work/json" \
    "$work/work" 10 50000
holds events-of-processes-forked-in-what-is-skipped 'n["instructions"] == r["instructions"] > 0 and n["loads"] == e["loads"] > 0'

# ---- the counters of a core
gives fits 3 'done' "${stat[@]}" --core pentium --counters -e cycles,instructions,loads,stores --json "$work/json" "$work/work"
says all-fit '^ 4 of 4 events fit the 2 counters of pentium\.$'
holds fits-in-json 'all(c["fits"] is True for c in r["counters"]) and
    [c.get("counter") for c in r["counters"]] == [None, None, 0, 1] and n["loads"] == e["loads"] > 0'
gives does-not-fit 3 'done' "${stat[@]}" --core pentium-pro --set events.calls=7 --counters --csv "$work/csv" --json "$work/json" \
    -e 'cycles,loads,fp-instructions,stores,calls,{branches,branch-misses}' "$work/work"
says some-fit '^ 3 of 7 events fit the 2 counters of pentium-pro; not counted:$'
says unfit-are-not-counted '^ +<not counted>  stores$'
says unfit-have-a-reason '^   stores: all counters are taken$'
says unfit-of-a-group '^   branch-misses: its group does not fit$'
says unfit-for-want-of-a-counter '^   calls: it needs counter 7, which the core does not have$'
holds unfit-in-json '[c["fits"] for c in r["counters"]] == [True] * 3 + [False] * 4 and
    [c["value"] for c in r["counters"]][3:] == [None] * 4 and [c.get("counter") for c in r["counters"]][1:3] == [1, 0]'
holds unfit-in-csv '"stores,,occurrences\n" in open(work + "/csv").readlines()'
printf 'base = pentium-pro\n[events]\nstores = 1\nfp-instructions = 0,1\n' >"$work/bound.ini"
gives core-file-binds-events 3 'done' "${stat[@]}" --quiet --core "$work/bound.ini" --counters -e fp-instructions,loads,stores --json "$work/json" "$work/work"
holds bound-by-a-core-file '[c["fits"] for c in r["counters"]] == [True, True, False]'
gives settings-bind-events 3 'done' "${stat[@]}" --quiet --core "$work/bound.ini" --set events.stores=0,1 --set pmu.counters=3 --counters \
    -e fp-instructions,loads,stores --json "$work/json" "$work/work"
holds bound-by-settings 'all(c["fits"] for c in r["counters"]) and r["params"]["pmu.counters"] == "3"'

# ---- a guest reads its own counters
gives guest-reads-its-counters 0 '' "${stat[@]}" --quiet -e loads build/guest/counters loads
gives guest-reads-the-first-counter 1 '' "${stat[@]}" --quiet -e stores,loads build/guest/counters loads
gives guest-reads-filtered-counters 0 '' "${stat[@]}" --quiet -e loads:op=load,loads:edge,cycles build/guest/counters loads
gives guest-reads-counters-on-another-core 0 '' "${stat[@]}" --quiet --core modern -e loads build/guest/counters loads
gives guest-reads-counters-of-bundles 0 '' "${stat[@]}" --quiet --core ppc970 -e loads,stores build/guest/counters loads
names=''

# ---- mistakes
# points NAME SENTENCE EVENTS COLUMN: the sentence, the events, and a caret under that column
points() {
    "${stat[@]}" -e "$3" "$work/work" >"$work/out" 2>"$work/err"
    if [ $? = 125 ] && [ "$(cat "$work/err")" = "cyclescope: $2"$'\n'"$3"$'\n'"$(printf "%$(($4 - 1))s^")" ]; then ok "$1"
    else not_ok "$1" "$(cat "$work/err")"; fi
}
points unknown-event "there is no event 'lods': did you mean 'loads'?" cycles,lods:u 8
points bad-threshold 'thresh needs a number of at least 1' loads:thresh=x 14
points group-not-closed 'a brace is not closed' 'cycles,{loads,stores' 8
complains events-and-view '-e and --pipeview exclude each other' "${stat[@]}" -e loads --pipeview "$work/log" "$work/work"
complains counters-without-events '--counters needs -e EVENTS' "${stat[@]}" --counters "$work/work"
complains csv-without-events '--csv needs -e EVENTS' "${stat[@]}" --csv - "$work/work"
complains events-without-value '--event needs a value' "${stat[@]}" -e
complains samples-of-events "'loads:period=5': a period is for samples" "${stat[@]}" -e loads:period=5 "$work/work"
complains filter-of-no-instructions "'l1i-misses:spec:ip=0-4' does not belong to instructions" "${stat[@]}" -e l1i-misses:spec:ip=0-4 "$work/work"
complains csv-cannot-be-written '--csv /no/where/csv: No such file' "${stat[@]}" -e loads --csv /no/where/csv "$work/work"
complains bound-unknown-event "--set events.lods=1: there is no event 'lods': did you mean 'loads'" "${stat[@]}" --set events.lods=1 "$work/work"
complains bound-to-no-number "--set events.loads=x: events.loads must be numbers of counters" "${stat[@]}" --set events.loads=x "$work/work"
printf '[events]\n\nloads = 0\nloafs = 1\n' >"$work/bad.ini"
complains bound-unknown-event-in-a-file "bad.ini:4: there is no event 'loafs'" "${stat[@]}" --core "$work/bad.ini" "$work/work"
complains number-too-big "--skip needs a number" "${stat[@]}" --skip 99999999T "$work/work"
complains no-program 'no program given' "${stat[@]}"
complains unknown-core "'?pentuim'?.*" "${stat[@]}" --core pentuim "$work/work"
complains unknown-parameter 'rob.sise' "${stat[@]}" --set rob.sise=3 "$work/work"
complains value-out-of-range 'rob.size' "${stat[@]}" --set rob.size=0 "$work/work"
complains values-that-do-not-fit 'l1d' "${stat[@]}" --set l1d.ways=3 "$work/work"
complains bad-number "--max-insns needs a number such as 500 or 2M, not 'many'" "${stat[@]}" --max-insns many "$work/work"
complains warm-without-skip '--warm needs --skip' "${stat[@]}" --warm "$work/work"
complains view-from-without-view '--pipeview-from needs --pipeview' "${stat[@]}" --pipeview-from 3 "$work/work"
complains view-insns-without-view '--pipeview-insns needs --pipeview' "${stat[@]}" --pipeview-insns 3 "$work/work"
complains view-of-nothing '--pipeview-insns must be at least 1' "${stat[@]}" --pipeview "$work/log" --pipeview-insns 0 "$work/work"
complains json-cannot-be-written '--json /no/where/json: No such file' "${stat[@]}" --json /no/where/json "$work/work"
complains view-cannot-be-written '--pipeview /no/where/log: No such file' "${stat[@]}" --pipeview /no/where/log "$work/work"
complains no-such-file "there is no $work/missing" "${stat[@]}" "$work/missing"
if [ -w /dev/full ]; then
    "${stat[@]}" --quiet --json /dev/full "$work/work" >/dev/null 2>"$work/err"
    [ $? = 125 ] && says full-disk '--json /dev/full: No space left' || not_ok full-disk "status is not 125"
    "${stat[@]}" --quiet --pipeview /dev/full "$work/work" >/dev/null 2>"$work/err"
    [ $? = 125 ] && says full-disk-for-the-view '--pipeview /dev/full: ' || not_ok full-disk-for-the-view "status is not 125"
    "${stat[@]}" --quiet -e loads --csv /dev/full "$work/work" >/dev/null 2>"$work/err"
    [ $? = 125 ] && says full-disk-for-csv '--csv /dev/full: ' || not_ok full-disk-for-csv "status is not 125"
fi

# ---- warming trains predictors: a branch that alternates is learnt before it is measured
compile alternates -static <<'C'
int main(void)
{
    volatile int taken = 0;
    for (int i = 0; i < 20000; i++)
        if (i % 2)
            taken++;
    return 0;
}
C
gives skipped-cold 0 '' "${stat[@]}" --quiet --skip 60000 --max-insns 2000 --json "$work/before" "$work/alternates"
gives skipped-warm 0 '' "${stat[@]}" --quiet --skip 60000 --warm --max-insns 2000 --json "$work/json" "$work/alternates"
holds warming-trains-predictors '2 * e["mispredictions"] < b["events"]["mispredictions"]'

# ---- a guest that dies does so at the same instruction
for case in "abort 134 abort();" "bad-jump 139 ((void (*)(void))0x1234567000)();" "null-store 139 *(volatile int *)0 = 1;" \
    "stack-overflow 139 return f(n + 1) + n;" "illegal 132 __asm__ volatile(\".4byte 0\");" \
    "breakpoint 133 __asm__ volatile(\"ebreak\");" "misaligned 135 __asm__ volatile(\"lr.w a0, (%0)\" :: \"r\"(\"abc\" + 1));"; do
    read -r name status code <<<"$case"
    compile "$name" -static <<<"#include <stdlib.h>
        __attribute__((noinline)) int f(volatile int n) { $code }
        int main(void) { return f(1); }"
    gives "run-$name" "$status" "" "$cyclescope" run --quiet --json "$work/before" "$work/$name"
    gives "dies-by-$name" "$status" '' "${stat[@]}" --quiet --json "$work/json" "$work/$name"
    holds "dies-by-$name-at-the-same-instruction" 'r["instructions"] == b["instructions"] > 0'
done

# ---- the workloads: jumping over idle cycles is as stepping through them
for part in mix 'mix --skip 60000000' 'mix --skip 150000000' memory_bound branch_bound icache_bound divide_bound balanced; do
    read -r program skip <<<"$part"
    "${stat[@]}" --quiet --json "$work/before" $skip --max-insns 1000000 "build/workloads/$program" >/dev/null
    "${stat[@]}" --quiet --json "$work/json" --step $skip --max-insns 1000000 "build/workloads/$program" >/dev/null
    holds "stepping-$program${skip#--skip}" \
        'r["instructions"] == 1000000 and e == b["events"] and r["cycles_by"] == b["cycles_by"]'
done

# ---- list
if [ "$("$cyclescope" list cores | cut -d' ' -f1)" = "$(basename -s .ini -a cores/*.ini | LC_ALL=C sort)" ]; then ok list-cores
else not_ok list-cores "$("$cyclescope" list cores)"; fi
if "$cyclescope" list params | grep -Eq '^rob\.size +[0-9]+\.\.[0-9]+ +128 '; then ok list-params
else not_ok list-params "$("$cyclescope" list params | head -n 3)"; fi
if [ "$("$cyclescope" list counts | cut -d' ' -f1 | LC_ALL=C sort)" = "$(python3 -c 'import json, sys
print(*sorted(json.load(open(sys.argv[1]))["events"]), sep="\n")' "$work/json" | LC_ALL=C sort)" ]; then ok list-counts
else not_ok list-counts "differs from what stat writes"; fi
# lists NAME EXPRESSION [PATTERN]: Python over what `list events` prints: heads, the categories; rows, name to columns; bits,
# name to sub-events
lists() {
    local name=$1 expression=$2
    shift 2
    "$cyclescope" list events "$@" >"$work/out" 2>"$work/err" || { not_ok "$name" "$(cat "$work/err")"; return; }
    python3 - "$work/out" "$expression" <<'P' && ok "$name" || not_ok "$name" "$(head -n 5 "$work/out")"
import re, sys
heads, rows, bits = [], {}, {}
for line in open(sys.argv[1]).read().splitlines():
    if line.startswith("    :"):
        bit, meaning = re.fullmatch(r"    :([a-z0-9-]+) +(\S.*)", line).groups()
        bits.setdefault(name, []).append(bit)
    elif line.startswith("  "):
        name, *columns = re.fullmatch(r"  ([a-z0-9-]+) +([A-Za-z0-9-]+) +(times|cycles|value) +"
                                      r"(-|retired|spec|retired, spec|spec, retired) +(\S.*)", line).groups()
        rows[name] = columns
    elif line:
        heads.append(line)
sys.exit(not eval("(" + sys.argv[2] + ")"))
P
}
lists list-events 'len(rows) >= 90 and not bits and heads == ["program characterization", "memory accesses",
    "pipeline stalls", "branch prediction", "resource utilization"]'
lists list-events-tells-all 'rows["l1d-misses"][:3] == ["L1-dcache-load-misses", "times", "retired, spec"] and
    rows["forwards"][2] == "spec, retired" and rows["rob-occupancy"][1] == "value" and rows["cycles"][2] == "-"'
lists list-one-event 'list(rows) == ["useful-prefetches"] and bits["useful-prefetches"][:2] == ["l1i", "l1d"]' useful-prefetches
lists list-event-by-alias 'list(rows) == ["l1d-misses"]' L1-DCACHE-load-misses
lists list-event-as-json-has-it '"l1d-misses" in rows' l1d_misses
lists list-named-event-with-its-bits 'len(rows) > 5 and list(bits) == ["branches"] and "return" in bits["branches"]' branches
lists list-events-like 'set(rows) == {"l2-accesses", "l3-accesses"} == set(bits) and
    bits["l2-accesses"] == ["fetch", "load", "store", "prefetch"]' 'l[23]*ccesses'
lists list-events-of-a-category '"mispredictions" in rows and heads == ["branch prediction"] and not bits' 'branch PREDICTION'
lists list-events-by-meaning '"rejects" in rows' 'sent back'
complains list-unknown-event "no event is like 'mispredicshuns': did you mean 'mispredictions'" "$cyclescope" list events mispredicshuns
complains list-strange-event "no event is like 'xyzzyxyzzy': .cyclescope list events. names all" "$cyclescope" list events xyzzyxyzzy
complains list-two-patterns 'list events takes one pattern' "$cyclescope" list events a b
complains list-cores-like 'list cores takes no pattern' "$cyclescope" list cores small
for core in $("$cyclescope" list cores | cut -d' ' -f1); do
    gives "core-$core" 3 'done' "${stat[@]}" --quiet --core "$core" "$work/work" 100
done
complains list-of-nothing 'list needs what to list: cores, counts, estimators, events, methods, params' "$cyclescope" list
complains list-of-something-else "no list of 'colours'" "$cyclescope" list colours
exit $failed
