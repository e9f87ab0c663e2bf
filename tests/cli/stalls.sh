#!/bin/bash
# stalls.sh CYCLESCOPE: `stalls` as a user meets it: what is printed, written and drawn, that every interval adds up on
# several programs and cores, what it says of workloads whose bottleneck is known, and what each mistake says.
. "$(dirname "$0")/common.sh"
trap 'rm -rf "$work"' EXIT

names='
import re
labels = {"completion": "completion", "instruction misses": "icache", "mispredictions": "branch", "data misses": "dcache",
          "address translation": "translation", "rejections": "reject", "floating-point latency": "fpu",
          "integer latency": "integer", "other stalls": "other"}
keys = list(labels.values())
label_of = {key: label for label, key in labels.items()}
marks = dict(zip(keys, ".ibdtrfuo"))

def text(name):
    return open(work + "/" + name, errors="replace").read()

def near(a, b, most=1e-9):
    return abs(a - b) <= most * max(1, abs(a), abs(b))

def adds_up(i):
    """Completion and stalls sum to the cycles, exactly."""
    return list(i["stall_cycles"]) == list(i["stalls"]) == keys and \
        all(type(c) is int and c >= 0 for c in i["stall_cycles"].values()) and \
        sum(i["stall_cycles"].values()) == i["cycles"] and \
        i["stall_cycles"]["completion"] <= i["instructions"] and (i["instructions"] == 0 or
        near(i["cpi"], i["cycles"] / i["instructions"]) and
        all(near(i["stalls"][k] * i["instructions"], i["stall_cycles"][k]) for k in keys))

def follow(parts):
    """Each part begins where the one before ends."""
    insn = cycle = 0
    for p in parts:
        if (p["first_instruction"], p["first_cycle"]) != (insn, cycle) or not adds_up(p):
            return False
        insn, cycle = insn + p["instructions"], cycle + p["cycles"]
    return (insn, cycle)

def sum_of(parts):
    return {k: sum(p["stall_cycles"][k] for p in parts) for k in keys}

def series_adds_up(width=8):
    """Intervals and phases cover the run, end where they should, and sum to the whole."""
    parts, length = r["intervals"], r["interval"]
    if not adds_up(r) or follow(parts) != (r["instructions"], r["cycles"]) or follow(r["phases"]) != follow(parts):
        return False
    for p in parts[:-1]:
        end = p["first_instruction"] + p["instructions"]
        if r["interval_by"] == "cycles" and p["cycles"] != length:
            return False
        if r["interval_by"] == "insns" and not (p["first_instruction"] // length < end // length and end % length < width):
            return False
    return sum_of(parts) == sum_of(r["phases"]) == r["stall_cycles"] and r["exact"] is True and \
        sum(p["intervals"] for p in r["phases"]) == len(parts)

def largest(i):
    return max(keys[1:], key=lambda k: i["stall_cycles"][k])

def phases_are_named():
    """As the page has them."""
    found = re.findall(r"^ phase (\d+): (\S+) to (\S+) instructions, CPI ([0-9.]+), (.*) ([0-9.]+) %$", text("err"), re.M)
    return len(found) == len(r["phases"]) > 0 and all(
        int(n) == i + 1 and near(float(cpi), p["cpi"], 0.51e-3) and labels[label] == p["largest"] == largest(p) and
        abs(float(share) - p["largest_percent"]) < 0.051 and
        near(p["largest_percent"], 100 * p["stall_cycles"][p["largest"]] / p["cycles"])
        for i, ((n, _, _, cpi, label, share), p) in enumerate(zip(found, r["phases"])))

def table():
    rows = re.findall(r"^ (\S.*?) +([0-9,]+) +([0-9.]+) +([0-9.]+)$", text("err"), re.M)
    return {label: (int(cycles.replace(",", "")), float(cpi), float(share)) for label, cycles, cpi, share in rows}

def table_is_right():
    rows = table()
    want = {**{label: r["stall_cycles"][k] for label, k in labels.items()}, "total": r["cycles"]}
    return {label: row[0] for label, row in rows.items()} == want and all(
        near(cpi, cycles / r["instructions"], 0.51e-4) and abs(share - 100 * cycles / r["cycles"]) < 0.051
        for cycles, cpi, share in rows.values())

def picture():
    """Rows of the picture, from the top."""
    return [line[8:] for line in re.findall(r"^ *[0-9.]* \|.*$", re.sub(r"\033\[[0-9;]*m", "", text("err")), re.M)]

def columns_of(count):
    """CPI by source, of equal parts of the instructions."""
    width, at = r["instructions"] / count, 0
    columns = [dict.fromkeys(keys, 0) for _ in range(count)]
    for p in r["intervals"]:
        begin, end = at / width, (at + p["instructions"]) / width
        at += p["instructions"]
        for c in range(int(begin), min(count, int(end) + 1)):
            share = max(0, min(end, c + 1) - max(begin, c)) / (end - begin)
            for k in keys:
                columns[c][k] += share * p["stall_cycles"][k] / width
    return columns

def picture_is_right(rows=12, count=92):
    """Columns are as high as their CPI, and each cell has the mark of the source that has most of it."""
    columns, lines = columns_of(count), [line.ljust(count) for line in picture()]
    heights = sorted(sum(c.values()) for c in columns)
    usual = heights[count - 1 - count // 20]
    cell = (1.25 * usual if heights[-1] > 2 * usual else heights[-1]) / rows
    if len(lines) != rows or r["intervals"][-1]["instructions"] == 0:
        return False
    for c, column in enumerate(columns):
        height = sum(column.values()) / cell
        drawn = sum(line[c] != " " for line in lines)
        if abs(drawn - min(rows, height)) > 0.5 + 1e-6 or any(lines[rows - 1 - i][c] == " " for i in range(drawn)):
            return False
        for i in range(drawn):
            covered, at = {}, 0
            for k in keys:
                covered[marks[k]] = min(cell * (i + 1), at + column[k]) - max(cell * i, at)
                at += column[k]
            mark = lines[rows - 1 - i][c]
            if not (mark == "^" and i == rows - 1 and height > rows) and \
                    covered[mark] < max(covered.values()) - 1e-6 * cell:
                return False
    return True

def sentence_is_right():
    said = re.search(r"^ (What would help most: .* \((.*), ([0-9.]+) of ([0-9.]+) CPI\): at most ([0-9.]+) % fewer cycles\.)$",
                     text("err"), re.M)
    first = largest(r)
    return said[1] == r["advice"] and labels[said[2]] == first and near(float(said[3]), r["stalls"][first], 0.51e-3) and \
        near(float(said[4]), r["cpi"], 0.51e-3) and abs(float(said[5]) - 100 * r["stalls"][first] / r["cpi"]) < 0.051

def csv_is_right():
    import csv
    rows = list(csv.DictReader(open(work + "/csv")))
    return len(rows) == len(r["intervals"]) and all(
        list(row) == ["first_instruction", "first_cycle", "instructions", "cycles", "cpi"] + keys and
        all(int(row[k]) == p[k] for k in ("first_instruction", "first_cycle", "instructions", "cycles")) and
        all(int(row[k]) == p["stall_cycles"][k] for k in keys) and near(float(row["cpi"]), p["cpi"], 1e-6)
        for row, p in zip(rows, r["intervals"]))

def svg_is_right(areas=True):
    import xml.etree.ElementTree
    space = "{http://www.w3.org/2000/svg}"
    root = xml.etree.ElementTree.parse(work + "/svg").getroot()
    said = [t.text for t in root.iter(space + "text")]
    drawn = [p.find(space + "title").text.split(":")[0] for p in root.iter(space + "path") if p.get("class") == "area"]
    return root.tag == space + "svg" and all(label in said for label in labels) and \
        (not areas or drawn == [label_of[k] for k in keys if r["stall_cycles"][k]]) and \
        len([t for t in root.iter(space + "text") if t.get("class") == "phase"]) in (0, len(r["phases"]))

def timeless(d):
    return {**d, "host": 0}

# ---- on a screen

def frames():
    return [f for f in text("frames").split("\f") if "instructions," in f]

def guest_lines(shown):
    return [int(n) for n in re.findall(r"^line (\d+) of the guest$", shown, re.M)]
'
stalls=("$cyclescope" stalls --exact)
mix=build/workloads/mix

# look OPTIONS... PROGRAM...: leaves the breakdown in $work/json. look_stat: the same of stat.
look() {
    rm -f "$work/json"
    timeout -k 5 60 "${stalls[@]}" --quiet --json "$work/json" "$@" >"$work/out" 2>"$work/err" </dev/null
}
look_stat() {
    rm -f "$work/json"
    timeout -k 5 60 "$cyclescope" stat --quiet --json "$work/json" "$@" >"$work/out" 2>"$work/err" </dev/null
}
keep() { mv "$work/json" "$work/before"; }

compile_work
compile abort -static <<<'#include <stdlib.h>
int main(void) { abort(); }'
compile silent -static <<<'int main(void) { return 7; }'
# Talks while it works, and ends, or aborts, or goes on for ever.
compile talks -static <<'C'
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    static int heap[1 << 16];
    unsigned state = 1;
    for (int i = 0; i < 40 || argc > 2; i++) {
        if (i < 40)
            printf("line %d of the guest\n", i);
        fflush(stdout);
        for (int k = 0; k < atoi(argv[1]); k++) {
            state = state * 1103515245 + 12345;
            heap[state >> 16] += state >> 8 & 1 ? 1 : heap[state >> 15 & 0xffff];
        }
        if (i == 39 && argc == 2 && argv[1][0] == '0')
            abort();
    }
    return 9;
}
C

# ---- the page
gives page 3 'done' "${stalls[@]}" --interval 5K --json "$work/json" --csv "$work/csv" --svg "$work/svg" "$work/work" 20000
says page-names-program-and-core '/work on the core eyerman2006: [0-9,]+ instructions, [0-9,]+ cycles, CPI [0-9.]+$'
holds page-has-every-source 'table_is_right()'
holds page-has-a-picture 'picture_is_right()'
says page-counts-the-intervals '^ CPI over instructions, [0-9,]+ intervals of 5.0K cycles:$'
holds page-names-the-largest-of-each-phase 'phases_are_named()'
holds page-ends-with-the-largest-source 'sentence_is_right()'
says page-has-speed '^ [0-9.]+ seconds, [0-9.]+ MIPS$'
never_says page-in-a-pipe-is-plain $'\033'
never_says page-has-no-trailing-blanks ' $'
holds json-has-its-keys '[r[k] for k in ("command", "core", "exit_status", "interval", "interval_by", "cut")] ==
    ["stalls", "eyerman2006", 3, 5000, "cycles", False] and r["program"].endswith("/work") and r["host"]["seconds"] >= 0'
holds page-adds-up 'series_adds_up() and len(r["intervals"]) > 10'
holds csv-is-the-same 'csv_is_right()'
holds svg-is-whole 'svg_is_right()'
keep
gives again 3 'done' "${stalls[@]}" --interval 5K --json "$work/json" "$work/work" 20000
holds runs-repeat 'timeless(r) == timeless(b)'
gives stepped 3 'done' "${stalls[@]}" --interval 5K --step --json "$work/json" "$work/work" 20000
holds stepping-is-the-same 'r["intervals"] == b["intervals"] and r["phases"] == b["phases"]'
gives picture 3 'done' "${stalls[@]}" --skip 100K --interval 5K --json "$work/json" "$work/work" 20000
holds picture-shows-the-largest 'picture_is_right()'
gives one-interval 3 'done' "${stalls[@]}" --json "$work/json" "$work/work" 20000
holds interval-of-two-million-cycles 'r["interval"] == 2000000 and len(r["intervals"]) == 1 and series_adds_up() and
    r["stall_cycles"] == b["stall_cycles"]'
never_says one-interval-has-no-picture 'over instructions'
gives quiet 3 'done' "${stalls[@]}" --quiet "$work/work"
if [ -s "$work/err" ]; then not_ok quiet-says-nothing "$(cat "$work/err")"; else ok quiet-says-nothing; fi
gives everything-on-standard-output 7 "$(printf 'first_instruction,first_cycle,instructions,cycles,cpi,completion,icache,branch,dcache,translation,reject,fpu,integer,other')" \
    bash -c '"$@" | head -n 1; exit ${PIPESTATUS[0]}' - "${stalls[@]}" --quiet --csv - "$work/silent"
if "${stalls[@]}" --help | grep -q -- '--interval N'; then ok help; else not_ok help "does not list --interval"; fi
if "$cyclescope" --help | grep -q '^  stalls '; then ok listed; else not_ok listed "is not in cyclescope --help"; fi

# ---- every interval adds up: programs, cores, lengths
for core in eyerman2006 modern pentium-pro ppc970 ppc970-single ppc970-inorder; do
    for options in "--interval 1 --max-insns 2000" "--interval 97 --max-insns 30000" "--interval 10K --max-insns 200K" \
        "--interval 1 --by insns --max-insns 2000" "--interval 1000 --by insns --max-insns 200K"; do
        look --core $core $options $mix
        holds "mix-on-$core:${options// /}" 'series_adds_up()'
    done
    for program in memory_bound branch_bound divide_bound icache_bound balanced; do
        look --core $core --skip 100K --interval 1000 --max-insns 100K build/workloads/$program
        holds "$program-on-$core" 'series_adds_up() and len(r["intervals"]) > 10'
    done
done
list='completion-cycles,cycles,stall-breakdown'
for bit in icache branch dcache translation reject fpu integer 'hit|stores|other'; do list+=",stall-breakdown:$bit"; done
for core in eyerman2006 ppc970 modern; do
    look --core $core --skip 4M --max-insns 200K --interval 777 $mix
    keep
    look_stat --core $core --skip 4M --max-insns 200K -e "$list" $mix
    holds "as-stat-counts-on-$core" '[c["value"] for c in r["counters"]] == [b["stall_cycles"]["completion"], b["cycles"],
        b["cycles"] - b["stall_cycles"]["completion"]] + [b["stall_cycles"][k] for k in keys[1:]]'
done

# ---- firmware finds the counters to add up whenever it looks
number() { "$cyclescope" list events | sed -nE "s/^  $1 .* ([0-9]+)  .*/\1/p"; }
for period in 1000 1237; do
    "${cross}gcc" -x assembler-with-cpp -march=rv64gc -mno-relax -fno-pie -no-pie -static -nostdlib -Itests/machine \
        -Wl,--no-relax -Wl,--build-id=none -Wl,-Ttext-segment=0x4000000000 -DPERIOD=$period -DCYCLES="$(number cycles)" \
        -DCOMPLETION="$(number completion-cycles)" -DSTALLS="$(number stall-breakdown)" -o "$work/firmware" \
        tests/machine/breakdown.S || not_ok "compile-firmware" "the cross compiler failed"
    for core in eyerman2006 ppc970 modern; do
        look_stat --core $core --set pmu.counters=4 --firmware "$work/firmware" --skip 4M --max-insns 300K -e cycles:u \
            -e instructions:m $mix
        holds "firmware-$core-every-$period" \
            "r['counters'][1]['value'] > 20 * r['counters'][0]['value'] // $period * 0.9 > 1000"
    done
done
look --firmware "$work/firmware" --set pmu.counters=4 --interval 10K --skip 4M --max-insns 100K $mix
holds firmware-is-part-of-the-run 'series_adds_up() and r["instructions"] > 100000'

# ---- what is known of workloads
bound() { # WORKLOAD SOURCE: most of its stalls are of this source
    look --skip 3M --max-insns 300K build/workloads/$1
    holds "$1-is-$2" "largest(r) == '$2' and r['stalls']['$2'] > 0.5 * sum(list(r['stalls'].values())[1:])"
}
bound memory_bound dcache
bound branch_bound branch
bound divide_bound integer
bound icache_bound icache

# ---- parts, processes and ends
look --skip 10000 --warmup 2000 --max-insns 3000 --interval 100 "$work/work" 100000
holds parts 'r["instructions"] == 3000 and r["skipped"] == 10000 and r["warmup"] == 2000 and r["cut"] is True and
    r["intervals"][0]["first_instruction"] == 0 and series_adds_up()'
gives forked 5 'done' "${stalls[@]}" --quiet --interval 1000 --json "$work/json" "$work/work" 2000 20000
holds forked-adds-up 'adds_up(r) and follow(r["intervals"])[1] < r["cycles"] / 2 and
    all(sum_of(r["intervals"])[k] <= r["stall_cycles"][k] for k in keys)'
gives nothing-measured 3 'done' "${stalls[@]}" --skip 1G --json "$work/json" --csv "$work/csv" --svg "$work/svg" "$work/work" 10
says nothing-measured-has-a-sentence 'ended before the part that is measured'
holds nothing-measured-is-empty 'r["cycles"] == 0 and r["intervals"] == r["phases"] == [] and csv_is_right() and
    svg_is_right(False)'
gives abort 134 '' "${stalls[@]}" --json "$work/json" "$work/abort"
says death-has-a-sentence '^cyclescope: .*abort was killed by SIGABRT$'
holds death-has-a-breakdown 'series_adds_up() and r["cycles"] > 0'
gives '<&">' 7 '' bash -c 'cp "$2" "$1/<&\">"; shift 2; exec "$@"' - "$work" "$work/silent" "${stalls[@]}" --quiet \
    --interval 500 --json "$work/json" --svg "$work/svg" "$work/<&\">"
holds strange-names-are-drawn 'svg_is_right()'

# ---- counters that take turns, which is how it is done unless --exact is asked for
turns=(env -i "$cyclescope" stalls --core ppc970 --set pmu.counters=4 --interval 20K)
gives turns 3 'done' "${turns[@]}" --json "$work/json" --csv "$work/csv" "$work/work" 60000
says turns-have-intervals '^ mispredictions +[0-9,]+ +[0-9.]+ ± [0-9.]+ +[0-9.]+$'
says turns-have-their-cost 'The sampling engine took [0-9,]+ cycles more: [0-9.]+ %\.$'
holds turns-add-up 'not r["exact"] and len(r["intervals"]) > 20 and r["engine_cycles"] > 0 and
    all(sum(i["stall_cycles"].values()) == i["cycles"] for i in r["intervals"] + r["phases"] + [r]) and
    sum(i["cycles"] for i in r["intervals"]) == r["cycles"] and sum(i["instructions"] for i in r["intervals"]) == r["instructions"]'
holds turns-have-errors 'all(0 < i["stalls_error"]["branch"] < i["stalls"]["branch"] for i in [r])'
keep
gives full 3 'done' "${turns[@]}" --exact --json "$work/json" "$work/work" 60000
holds turns-are-near-full-counts 'all(abs(r["stalls"][k] - b["stalls"][k]) < 0.03 * r["cpi"] for k in r["stalls"])'
holds turns-cost-the-program-nothing-else 'abs(b["instructions"] - r["instructions"]) == 0 and 0.98 < b["cycles"] / r["cycles"] < 1.05'
compile self -static -I"$PWD/include" <<'C'
#include <cyclescope/cyclescope.h>
#include <stdio.h>
int main(void)
{
    struct cyclescope_breakdown b = {0};
    volatile unsigned n = 0;
    for (int i = 0; i < 300000; i++)
        n += i;
    int code = cyclescope_self_read(&b);
    printf("%d %d %d\n", code > 0, b.cycles >= 15000 && b.cycles <= 25000, b.number > 3);
    return 0;
}
C
gives a-program-reads-its-own 0 '1 1 1' "${turns[@]}" --quiet "$work/self"
gives a-program-reads-its-own-exactly 0 '1 1 1' "${turns[@]}" --exact --quiet "$work/self"
gives nobody-watches 0 '0 0 0' "$cyclescope" stat --quiet "$work/self"
complains slices-of-nothing '--exact has no turns' "${turns[@]}" --exact --slice 5K "$work/work"
complains too-short-an-interval 'slice|round' "${turns[@]}" --interval 1000 "$work/work"

# ---- mistakes
complains bad-interval '--interval must be at least 1' "${stalls[@]}" --interval 0 "$work/silent"
complains bad-number '--interval needs a number' "${stalls[@]}" --interval many "$work/silent"
complains bad-unit '--by weeks: it is cycles or insns' "${stalls[@]}" --by weeks "$work/silent"
complains bad-live '--live=maybe' "${stalls[@]}" --live=maybe "$work/silent"
complains bad-core "no core 'pentuim'" "${stalls[@]}" --core pentuim "$work/silent"
complains no-program 'no program given' "${stalls[@]}"
complains no-such-file "there is no $work/missing" "${stalls[@]}" "$work/missing"
complains bad-json '--json /nowhere/x: No such file' "${stalls[@]}" --json /nowhere/x "$work/silent"
if [ -w /dev/full ]; then
    complains csv-to-a-full-disk '--csv /dev/full: No space left' "${stalls[@]}" --quiet --csv /dev/full "$work/silent"
fi

# ---- the live picture
# shown STATUS NAME ROWS COLUMNS OPTIONS... COMMAND...: on a screen of that size
shown() {
    local want=$1 name=$2 status
    shift 2
    timeout -k 5 120 python3 tests/cli/screen.py "$@" </dev/null
    status=$?
    if [ $status = "$want" ]; then ok "$name"; else not_ok "$name" "status $status"; fi
    mv "$work/raw" "$work/err"
}
shown 9 live 24 80 "$work" "${stalls[@]}" --interval 20K --json "$work/json" "$work/talks" 10000
holds live-draws-several 'len(frames()) >= 3'
holds live-fits 'all(len(l) <= 80 for f in frames() for l in f.split("\n"))'
holds live-is-below-the-program 'all("instructions," not in f.split("\n")[i] for f in frames() for i in range(12)) and
    all(f.split("\n")[12].split(" instructions,")[0][-1] in "KM" for f in frames())'
holds live-picture-grows 'len({f.split("\n")[12] for f in frames()}) >= 3 and
    any(" |" in f and "completion" in f for f in frames())'
holds live-leaves-the-output-alone 'guest_lines(text("screen")) == list(range(40)) and
    all(guest_lines(f) == sorted(guest_lines(f)) for f in frames())'
holds live-is-gone-at-the-end 'text("state") == "1 24 plain\n" and "MIPS, CPI" not in text("screen")'
holds live-page-follows 'table_is_right() and phases_are_named() and series_adds_up()'
says live-uses-colours $'\033\\[[0-9;]*48;2;[0-9;]*m'
shown 9 live-small 6 30 "$work" "${stalls[@]}" --interval 20K "$work/talks" 5000
holds live-small-is-a-line 'frames() and all(" |" not in f for f in frames()[:-1]) and text("state") == "1 6 plain\n"'
shown 9 live-tiny 2 10 "$work" "${stalls[@]}" --interval 20K "$work/talks" 2000
holds live-tiny-is-none 'text("state") == "1 2 plain\n"'
shown 9 live-resized 40 120 --resize 20 60 1 "$work" "${stalls[@]}" --interval 20K "$work/talks" 20000
holds live-follows-the-size 'max(len(l) for l in frames()[0].split("\n")) > 60 and
    all(len(l) <= 60 for l in frames()[-1].split("\n")) and text("state") == "1 20 plain\n"'
shown 134 live-guest-dies 24 80 "$work" "${stalls[@]}" --interval 1000 "$work/talks" 0000
holds live-guest-dies-in-order 'text("state") == "1 24 plain\n" and guest_lines(text("screen")) == list(range(40)) and
    "SIGABRT" in text("screen")'
for signal in SIGINT SIGTERM; do
    shown $((128 + $(kill -l $signal))) "live-$signal" 24 80 --signal $signal 1.5 "$work" "${stalls[@]}" \
        --interval 20K "$work/talks" 10000 on
    holds "live-$signal-restores" 'text("state") == "1 24 plain\n" and len(frames()) >= 2 and "What would help" in text("screen")'
done
shown 9 live-not-wanted 24 80 "$work" "${stalls[@]}" --live=no --interval 20K "$work/talks" 2000
holds live-not-wanted-is-none '"\0337" not in text("err")'
shown 9 live-quiet 24 80 "$work" "${stalls[@]}" --quiet --interval 20K "$work/talks" 2000
holds live-quiet-is-none '"\033" not in text("err")'
shown 9 live-dumb 24 80 "$work" env TERM=dumb "${stalls[@]}" --interval 20K "$work/talks" 2000
holds live-dumb-is-none '"\0337" not in text("err")'
exit $failed
