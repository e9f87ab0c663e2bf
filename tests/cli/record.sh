#!/bin/bash
# record.sh CYCLESCOPE: `record` as a user meets it, and what its profiles say: against `stat`, against the oracle, and on
# guests whose samples are known; and damaged profiles.
. "$(dirname "$0")/common.sh"
trap 'rm -rf "$work"' EXIT

record=("$cyclescope" record -o "$work/prof")
compile_work
compile abort -static <<<'#include <stdlib.h>
int main(void) { abort(); }'
compile silent -static <<<'int main(void) { volatile int sum = 0; for (int i = 0; i < 20000; i++) sum += i; return 0; }'

# One load, of a line that was never touched, and no other; forty instructions without events.
{
    echo '.globl _start, the_load'
    echo '_start: lla a0, lines; li a1, 4000'
    echo 'turn: mv a3, a4'
    echo 'the_load: ld a2, 0(a0)'
    for i in 1 2 3 4 5 6 7 8 9 10; do echo "addi t0, t0, 1; addi t1, t1, 1; addi t2, t2, 1; addi t3, t3, 1"; done
    echo 'addi a0, a0, 64; addi a1, a1, -1; bnez a1, turn; li a0, 0; li a7, 93; ecall'
    echo '.bss; .balign 64; .globl lines; .type lines, @object; .size lines, 4000 * 64; lines: .skip 4000 * 64'
} >"$work/one.s"
"${cross}gcc" -nostdlib -static -o "$work/one" "$work/one.s" || not_ok compile-one "the cross compiler failed"

# shows NAME [OPTIONS]: the profile as JSON in $work/json, what was there before in $work/before
shows() {
    local name=$1
    shift
    [ -e "$work/json" ] && mv "$work/json" "$work/before"
    "$cyclescope" report --json "$work/json" --quiet "$@" "$work/prof" 2>"$work/err" ||
        not_ok "$name" "$(head -c 300 "$work/err")"
}
names='rows = (r or {}).get("rows")
ev = (r or {}).get("events")
def at(d, i=0):
    return {x["address"]: x["samples"][i] for x in d["rows"] if x["samples"][i]}
def of(d, i=0):
    return {x["address"]: x["count"][i] for x in d["rows"] if x["count"][i]}
def apart(x, y):
    return sum(abs(x.get(a, 0) - y.get(a, 0)) for a in {**x, **y})
stat = json.load(open(work + "/stat")) if os.path.exists(work + "/stat") else None'

# ---- the command
gives status-and-output-pass-through 3 'done' "${record[@]}" "$work/work"
says says-what-was-recorded "prof: [0-9]+ samples of [0-9]+ instructions in [0-9]+ cycles$"
gives quiet 3 'done' "${record[@]}" --quiet "$work/work"
if [ -s "$work/err" ]; then not_ok quiet-says-nothing "$(cat "$work/err")"; else ok quiet-says-nothing; fi
gives abort 134 '' "${record[@]}" "$work/abort"
says death-has-a-sentence '^cyclescope: .*/abort was killed by SIGABRT$'
shows a-killed-guest
holds a-killed-guest-leaves-a-whole-profile 'r["complete"] and r["info"]["mode"] == "interrupt"'
gives cut 0 '' "${record[@]}" --max-insns 5000 "$work/work" 1000000
shows cut
holds cut-at-the-instruction 'r["complete"] and r["info"]["instructions"] == "5000"'
gives skip-past-the-end 3 'done' "${record[@]}" --skip 1000000000 "$work/work"
shows skip-past-the-end
holds nothing-is-recorded 'r["complete"] and r["samples"] == 0 and ev[0]["happened"] == 0 and r["info"]["instructions"] == "0"'
part=(--skip 40000 --warmup 3000 --max-insns 20000)
gives parts 0 '' "${record[@]}" "${part[@]}" --oracle "$work/work" 1000000
shows parts
gives parts-of-stat 0 '' "$cyclescope" stat --quiet "${part[@]}" --json "$work/stat" "$work/work" 1000000
holds only-the-part-that-is-measured 'ev[0]["count"] == ev[0]["happened"] == stat["cycles"] and
    r["info"]["instructions"] == "20000"'
for mode in --precise --profileme --oracle --truth; do
    gives "forks$mode" 5 'done' "${record[@]}" "$mode" "$work/work" 1000 3000
    shows "forks$mode"
    holds "forks$mode-leave-one-whole-profile" 'r["complete"] and r["samples"] > 0'
done
"${record[@]}" --oracle --quiet "$work/work" 1000 0 >/dev/null
shows forks
mv "$work/json" "$work/kept"
"${record[@]}" --oracle --quiet "$work/work" 1000 3000 >/dev/null
shows forks
mv "$work/kept" "$work/before"
holds forked-processes-are-not-recorded 'int(r["info"]["instructions"]) < int(b["info"]["instructions"]) + 2000'
gives threads 0 '' "${record[@]}" --quiet --precise build/guest/thread_basic
shows threads
holds threads-are-recorded 'r["complete"] and r["samples"] > 0'

# ---- where it goes
complains disk-full 'profile cannot be written: No space left on device' \
    "$cyclescope" record --quiet -o /dev/full "$work/silent"
complains no-folder '--output .*/none/prof: No such file' "$cyclescope" record -o "$work/none/prof" "$work/silent"
"${record[@]}" --quiet "$work/silent"
cp "$work/prof" "$work/kept"
complains no-program 'no-such-program' "${record[@]}" "$work/no-such-program"
if cmp -s "$work/prof" "$work/kept"; then ok no-program-leaves-the-profile-before
else not_ok no-program-leaves-the-profile-before "it is gone"; fi
"$cyclescope" record --quiet -o - "$work/silent" | "$cyclescope" report --json "$work/json" --quiet - 2>"$work/err"
holds standard-output-and-input 'r["complete"] and r["samples"] > 0'
"$cyclescope" record --quiet -o - "$work/work" >"$work/mixed"
complains mixed-with-output '.' "$cyclescope" report "$work/mixed"
if script -qefc "'$cyclescope' record -o - '$work/silent'" "$work/err" >/dev/null 2>&1 </dev/null; then
    not_ok a-terminal-gets-no-profile "it does"
else
    says a-terminal-gets-no-profile 'a profile is nothing for a terminal'
fi

# A recording that is killed, with too few samples for a block.
"$cyclescope" record --quiet -c 100000 -o "$work/prof" "$work/work" 2000000000 >/dev/null 2>&1 &
victim=$!
sleep 6
kill -KILL $victim
wait $victim 2>/dev/null
shows killed
holds a-killed-recording-is-used 'r["complete"] is False and 3 <= r["samples"] and r["info"]["core"] == "eyerman2006"'
"$cyclescope" report "$work/prof" >"$work/err" 2>&1
says a-killed-recording-is-called-so 'The recording was cut off'

# ---- mistakes
mistake() { local name=$1 pattern=$2; shift 2; complains "$name" "$pattern" "${record[@]}" "$@" "$work/silent"; }
mistake two-modes 'give one' --precise --oracle
mistake profileme-with-events 'needs no -e' --profileme -e loads
mistake pairs-alone '--pairs needs --profileme' --pairs 4
mistake pairs-too-far 'at most 1000000' --profileme --pairs 1000001
mistake count-and-frequency 'give one' -c 10 -F 10
mistake oracle-with-count 'takes no -c' --oracle -c 10
mistake data-and-profileme 'leave --data out' --data --profileme
mistake truth-and-oracle '--truth is for samples by counters' --oracle --truth
mistake truth-and-profileme '--truth is for samples by counters' --profileme --truth
mistake frequency-of-events 'use -c with l1d-misses' -F 1000 -e l1d-misses
mistake frequency-of-profileme 'use -c with --profileme' -F 1000 --profileme
mistake frequency-too-high 'more than half of the core' -F 1000000000000
mistake no-data-address 'branch-misses has no data address' --data -e branch-misses
mistake count-too-large 'is too much' -c 18446744073709551615
mistake period-too-large 'is too much' -e cycles:period=0xffffffffffffffff

# ---- periods
"${record[@]}" --quiet -F 1M "$work/work" >/dev/null
shows frequency
"$cyclescope" stat --quiet --json "$work/stat" "$work/work" >/dev/null
holds frequency-is-of-the-clock 'ev[0]["period"] == int(stat["params"]["clock.mhz"]) > 1'
"${record[@]}" --quiet -c 100 --no-jitter "$work/work" >/dev/null
shows fixed --by insn
holds without-jitter-all-periods-are-whole 'ev[0]["samples"] == ev[0]["happened"] // 100'
"${record[@]}" --quiet -c 100 "$work/work" >/dev/null
shows jitter --by insn
holds jitter-changes-samples 'at(r) != at(b) and abs(ev[0]["count"] / ev[0]["happened"] - 1) < 0.05'
"${record[@]}" --quiet -c 100 "$work/work" >/dev/null
shows again --by insn
"${record[@]}" --quiet -c 100 "$work/work" >/dev/null
shows again --by insn
holds the-same-seed-repeats-them 'at(r) == at(b) and len(at(r)) > 20'
"${record[@]}" --quiet -c 100 --sample-seed 2 "$work/work" >/dev/null
shows again --by insn
holds another-seed-does-not 'at(r) != at(b)'
"${record[@]}" --quiet -c 1000000000000000000 "$work/work" >/dev/null
shows huge
holds a-huge-period-samples-nothing 'r["samples"] == 0 and ev[0]["happened"] > 0'
"${record[@]}" --quiet -e cycles,cycles -c 100 "$work/work" >/dev/null
shows twice --by insn
holds an-event-given-twice-is-sampled-twice 'ev[0]["happened"] == ev[1]["happened"] and at(r, 0) != at(r, 1) and
    ev[1]["samples"] > 0'
many=cycles,loads,stores,branches,l1d-misses,branch-misses,l1i-misses,taken-branches,calls,returns,fetched,issued
"${record[@]}" --quiet -e $many -c 50 "$work/work" >/dev/null
"$cyclescope" stat --quiet -e $many --json "$work/stat" "$work/work" >/dev/null
shows many
holds many-events-at-once 'len(ev) == 12 and [x["happened"] for x in ev] == [c["value"] for c in stat["counters"]] and
    all(abs(x["count"] - x["happened"]) <= 0.05 * x["happened"] + 200 for x in ev)'

# ---- precision: the same by watching counts as by being told of each event, and as the oracle; but of cycles there may be one
# that was announced and did not come
for event in cycles l1d-misses branch-misses stores; do
    for mode in '' --precise; do
        for truth in '' --truth; do
            "${record[@]}" --quiet $mode $truth -e $event -c 7 "$work/work" 3000 >/dev/null
            shows truth --by insn
        done
        holds "truth-changes-no-sample-$event$mode" 'ev[0]["truth"]["samples"] == ev[0]["samples"] > 50 and
            b["events"][0]["truth"] is None and
            (at(r) == at(b) or ev[0]["cycles"] and r["info"]["mode"] == "precise" and apart(at(r), at(b)) == 1)'
        [ -z "$mode" ] || holds "precise-samples-are-right-$event" 'ev[0]["truth"]["other_instruction"] == 0'
        [ -n "$mode" ] || holds "interrupts-skid-$event" '2 * ev[0]["truth"]["other_instruction"] > ev[0]["samples"]'
    done
done
for event in l1d-misses branch-misses loads taken-branches l1i-misses; do
    "${record[@]}" --quiet --precise -e $event -c 1 "$work/work" 3000 >/dev/null
    shows oracle --by insn
    "${record[@]}" --quiet --oracle -e $event "$work/work" 3000 >/dev/null
    shows oracle --by insn
    holds "a-precise-sample-of-each-is-the-oracle-$event" 'of(r) == of(b) and
        sum(of(r).values()) == ev[0]["happened"] > 50'
done
"${record[@]}" --quiet --precise -c 1 "$work/work" 3000 >/dev/null
shows oracle --by insn
"${record[@]}" --quiet --oracle "$work/work" 3000 >/dev/null
shows oracle --by insn
holds a-precise-sample-of-each-cycle-is-the-oracle 'apart(of(r), of(b)) <= 3 and sum(of(r).values()) > 50000'
"${record[@]}" --quiet --precise -e instructions,l2-accesses,head-stalls -c 11 "$work/work" 3000 >/dev/null
shows told
holds precise-events-that-cannot-be-watched 'all(abs(x["count"] - x["happened"]) <= 0.05 * x["happened"] + 50 for x in ev)'

# ---- one load that misses
"${record[@]}" --quiet --precise -e l1d-misses -c 10 "$work/one"
shows one-precise --by insn
holds precise-samples-lie-on-the-load 'len(rows) == 1 and rows[0]["function"] == "the_load" and
    rows[0]["address"] == rows[0]["start"] and rows[0]["samples"][0] > 300'
mv "$work/json" "$work/kept"
"${record[@]}" --quiet -e l1d-misses -c 10 --truth "$work/one"
shows one-interrupt --by insn
mv "$work/kept" "$work/before"
holds interrupts-lie-elsewhere 'ev[0]["truth"]["other_instruction"] > 0.9 * ev[0]["samples"] and
    at(r).get(b["rows"][0]["address"], 0) < 0.1 * ev[0]["samples"]'
"${record[@]}" --quiet --profileme -c 401 "$work/one"
shows one-profileme --by insn
holds profileme-names-the-load '[x["address"] == x["start"] and x["function"] for x in rows
    if x["history"]["retired_samples"]["l1d_miss"]] == ["the_load"]'
holds profileme-counts-what-was-fetched 'abs(ev[0]["count"] / ev[0]["happened"] - 1) < 0.02'

# ---- data
"${record[@]}" --quiet --data -c 10 "$work/one"
shows data --by data
holds data-is-that-of-the-load 'ev[0]["name"] == "l1d-misses" and len(rows) > 300 and all(x["object"] == "lines" and
    x["stores"] == 0 and x["l1d_misses"] == x["samples"][0] and
    [i["function"] for i in x["instructions"]] == ["the_load"] for x in rows)'
"${record[@]}" --quiet --data -e stores -c 10 "$work/work" >/dev/null
shows stores --by data
holds stores-have-addresses 'len(rows) > 10 and all(x["stores"] == sum(x["samples"]) for x in rows) and
    sum(sum(x["samples"]) for x in rows) == ev[0]["samples"]'
"${record[@]}" --quiet --data --oracle -e loads "$work/one"
shows data-oracle --by data
holds the-oracle-tells-data-too 'len(rows) == 4000 and all(x["count"] == [1] for x in rows)'

# ---- pairs
"${record[@]}" --quiet --profileme --pairs 8 -c 100 "$work/work" 3000 >/dev/null
shows pairs --by insn
holds pairs-waste-slots 'sum(x["history"]["pairs"] for x in rows) == r["samples"] > 100 and
    any((x["history"]["wasted_issue_slots"] or 0) > 0 for x in rows)'
"${record[@]}" --quiet --profileme --pairs 8 -c 1 "$work/silent"
shows pairs
holds pairs-one-after-the-other 'r["complete"] and r["samples"] > 100'

# ---- the oracle and `stat`
events=$("$cyclescope" list events | sed -n 's/^  \([a-z][a-z0-9-]*\) .*/\1/p' | paste -sd,)
events+=,l1d-misses:spec,loads:edge,committed:thresh=2
for guest in "$work/work" "$work/one" build/guest/{thread_basic,code_changes} build/workloads/{memory,branch}_bound; do
    name=$(basename "$guest")
    "${record[@]}" --quiet --oracle --max-insns 60000 -e "$events" "$guest" >/dev/null 2>&1
    "$cyclescope" stat --quiet --max-insns 60000 -e "$events" --json "$work/stat" "$guest" >/dev/null 2>&1
    shows "oracle-of-$name"
    holds "the-oracle-is-stat-$name" 'len(ev) > 90 and
        [x["count"] for x in ev] == [c["value"] for c in stat["counters"]] == [x["happened"] for x in ev]'
    for by in function line insn module; do
        shows "oracle-of-$name" --by $by
        holds "rows-sum-to-the-total-$name-$by" 'all(sum(x["count"][i] for x in rows) == ev[i]["count"]
            for i in range(len(ev)))'
    done
    shows "oracle-of-$name" --by tree
    holds "the-tree-sums-to-the-total-$name" 'sum(x["count"] for x in rows) == ev[0]["count"] ==
        sum(x["total"] for x in rows if x["parent"] == 0)'
done

# ---- call chains
compile chains -static -fno-inline -fno-optimize-sibling-calls <<'C'
#include <setjmp.h>
static jmp_buf there;
volatile int sum;
__attribute__((noinline, noclone, noipa)) void leaf(void) { for (int i = 0; i < 50; i++) sum += i; }
__attribute__((noinline, noclone, noipa)) void down(int n) { if (n > 1) down(n - 1); else leaf(); sum++; }
__attribute__((noinline, noclone, noipa)) void inner(void) { sum++; longjmp(there, 1); }
__attribute__((noinline, noclone, noipa)) void outer(void) { inner(); sum++; }
__attribute__((noinline, noclone, noipa)) void after(void) { for (int i = 0; i < 50; i++) sum += i; }
int main(void)
{
    down(7);
    if (setjmp(there) == 0)
        outer();
    else
        after();
    return 0;
}
C
"${record[@]}" --quiet --oracle -e instructions "$work/chains"
"$cyclescope" report --quiet --folded "$work/folded" "$work/prof"
chain() { if grep -Eq "$2" "$work/folded"; then ok "$1"; else not_ok "$1" "$(grep -E 'main;' "$work/folded" | head -n 20)"; fi; }
no_chain() { if grep -Eq "$2" "$work/folded"; then not_ok "$1" "$(grep -E "$2" "$work/folded" | head -n 5)"; else ok "$1"; fi; }
chain recursion-is-as-deep-as-it-is 'main;down;down;down;down;down;down;down;leaf [0-9]+$'
no_chain recursion-is-not-deeper '(down;){8}'
chain longjmp-is-called '[;]?main;outer;inner;.*longjmp'
chain after-longjmp-callers-are-left 'main;after [0-9]+$'
no_chain after-longjmp-nothing-is-left 'outer;(.*;)?after|inner;(.*;)?after'
shows chains --by tree
holds the-tree-has-the-recursion '(lambda d: len(d) == 7 and d == list(range(d[0], d[0] + 7)))(
    sorted(x["depth"] for x in rows if x["function"] == "down"))'

# ---- damaged profiles: one sentence, whatever it is
"${record[@]}" --quiet --profileme --pairs 4 -c 40 "$work/work" 60000 >/dev/null
cp "$work/prof" "$work/good"
if python3 - "$cyclescope" "$work" <<'P'; then ok damaged-profiles; else not_ok damaged-profiles "see above"; fi
import random, subprocess, sys
cyclescope, work = sys.argv[1:]
good = open(work + "/good", "rb").read()
chance = random.Random(7)

def cut(data):
    return data[:chance.randrange(len(data))]

def flip(data):
    i = chance.randrange(len(data))
    return data[:i] + bytes([data[i] ^ 1 << chance.randrange(8)]) + data[i + 1:]

def remove(data):
    i = chance.randrange(len(data))
    return data[:i] + data[i + 1 + chance.randrange(200):]

def insert(data):
    i = chance.randrange(len(data))
    return data[:i] + chance.randbytes(1 + chance.randrange(200)) + data[i:]

def wipe(data):
    i, n = chance.randrange(len(data)), 1 + chance.randrange(64)
    return data[:i] + bytes(255 - x for x in data[i:i + n]) + data[i + n:]

def swap(data):
    i, j = sorted(chance.sample(range(16, len(data)), 2))
    return data[:16] + data[j:] + data[i:j] + data[16:i]

def foreign(data):
    return chance.choice([b"", b"\0", b"\x7fELF" + chance.randbytes(500), b"PERFILE2" + chance.randbytes(500),
                          chance.randbytes(3000), data[:16], data[:7], data[:8] + b"\2\0\0\0" + data[12:]])

bad, told = 0, {0: 0, 125: 0}
for i in range(300):
    kind = (cut, flip, remove, insert, wipe, swap, foreign)[i % 7]
    open(work + "/bad", "wb").write(kind(good))
    command = [["report", "--by", ("function", "insn", "tree", "data", "line")[i % 5]], ["annotate"]][i % 2]
    done = subprocess.run([cyclescope, *command, work + "/bad"], capture_output=True, timeout=60)
    told[done.returncode] = told.get(done.returncode, 0) + 1
    sentence = done.stderr.decode(errors="replace")
    was_cut = kind in (cut, remove) and b"was cut off" in done.stdout
    fine = (done.returncode == 125 and sentence.startswith("cyclescope: ") and sentence.count("\n") == 1 and
            (not done.stdout or was_cut) or done.returncode == 0 and was_cut and not sentence)
    if not fine:
        bad += 1
        print(f"# {kind.__name__}, copy {i}, {command}: status {done.returncode}: {sentence[:300]!r}")
print(f"# {told[0]} were used as far as they go, {told[125]} refused")
sys.exit(bad > 0 or told[0] == 0 or told[125] < 200)
P
exit $failed
