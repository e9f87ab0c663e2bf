#!/bin/bash
# stack.sh CYCLESCOPE: `stack`, `validate` and `list methods` as a user meets them: what is printed and written, that the
# numbers agree with each other and with what the workloads are made of, and what each mistake says.
. "$(dirname "$0")/common.sh"
trap 'rm -rf "$work"' EXIT

names='
import re
labels = {"base": "base", "long-latency units": "fu", "L1 I-cache": "l1i", "L2 I-cache": "l2i", "I-TLB": "itlb",
          "branch prediction": "branch", "L1 D-cache": "l1d", "L2 D-cache": "l2d", "D-TLB": "dtlb"}
components = list(labels.values())
methods = ["naive", "naive_nonspec", "power5", "fmt", "sfmt", "fmt2"]
views = ["dispatch", "issue", "commit"]
marks = dict(zip(".uiItbdDT", components))

def document(name):
    return json.load(open(work + "/" + name))

def text(name):
    return open(work + "/" + name).read()

def near(a, b, most=1e-9):
    return abs(a - b) <= most * max(1, abs(a), abs(b))

# ---- stacks of a document or an interval

def add_up(s):
    """All stacks sum to the cycles, those that count whole ones exactly; nothing but naive bases is negative."""
    for kind, stack in s["stack_cycles"].items():
        if list(stack) != components or list(s["stacks"][kind]) != components:
            return False
        whole = kind in methods and kind != "fmt2"
        if whole and not (all(type(c) is int for c in stack.values()) and sum(stack.values()) == s["cycles"]):
            return False
        if not near(sum(stack.values()), s["cycles"]):
            return False
        if any(c < 0 for key, c in stack.items() if key != "base" or not kind.startswith("naive")):
            return False
        if any(not near(s["stacks"][kind][c] * max(1, s["instructions"]), stack[c]) for c in components):
            return False
    return 0 <= s["overlap_percent"] <= 100 and list(s["stacks"]) == list(s["stack_cycles"]) != []

def series_adds_up(insns, width=4):
    """Intervals add up each and to the whole, and end where they should."""
    end = 0
    for i in r["intervals"]:
        if not add_up(i) or end // insns == (end + i["instructions"]) // insns and i is not r["intervals"][-1]:
            return False
        end += i["instructions"]
        if end % insns >= width and i is not r["intervals"][-1]:
            return False
    whole = all(near(sum(i["stack_cycles"][k][c] for i in r["intervals"]), r["stack_cycles"][k][c],
                     0 if k in methods and k != "fmt2" else 1e-9) for k in r["stacks"] for c in components)
    return whole and end == r["instructions"] and sum(i["cycles"] for i in r["intervals"]) == r["cycles"] and add_up(r)

def largest(stack, but=("base",)):
    return max((c for c in components if c not in but), key=lambda c: stack[c])

def dominates(stack, component):
    first = largest(stack)
    return first == component and stack[first] >= 2 * stack[largest(stack, ("base", first))]

# ---- the page in `err`

def heading():
    return "{:,} instructions, {:,} cycles, CPI {:.3f}\n".format(r["instructions"], r["cycles"], r["cpi"])

def page_table():
    lines = text("err").split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith(" CPI "))
    rows = {line[1:21].strip(): [float(n) for n in line[21:].split()] for line in lines[at + 1:at + 11]}
    return lines[at].split()[1::2], rows

def table_is_of(kinds):
    heads, rows = page_table()
    return heads == kinds == list(r["stacks"]) and set(rows) == set(labels) | {"total"} and all(
        near(rows[label][2 * i], r["stacks"][k][c], 0.51e-4) and abs(rows[label][2 * i + 1] -
        100 * r["stacks"][k][c] / r["cpi"]) <= 0.051 for i, k in enumerate(kinds) for label, c in labels.items()) and all(
        near(n, want, 0.51e-4) for n, want in zip(rows["total"], [r["cpi"], 100] * len(kinds)))

def bars():
    """Of the page: (name, cells below zero, cells above it, total)."""
    plain = re.sub(r"\033\[[0-9;]*m", "", text("err"))
    return re.findall(r"^(\S+) +([.uiItbdDT]* *)\|([.uiItbdDT ]*) (-?[0-9.]+)$", plain, re.M)

def bars_are_of(kinds):
    """Each component has its share of the cells, give or take one for rounding."""
    found = bars()
    if [name for name, *_ in found] != kinds:
        return False
    cells, kind = max((len(a) + len(b.strip()), k) for k, (_, b, a, _) in zip(kinds, found))
    per_cell = sum(abs(c) for c in r["stacks"][kind].values()) / cells
    return all(near(float(total), r["cpi"], 0.51e-3) and all(
        abs((below + above).count(m) - abs(r["stacks"][k][c]) / per_cell) <= 1.6 for m, c in marks.items())
        for k, (_, below, above, total) in zip(kinds, found))

def sentence_is_of(kind):
    """The largest component besides the base, its CPI, and its share unless that is more than everything."""
    stack = r["stacks"][kind]
    said = re.search(r"^ (What would help most: .* \((.*), ([0-9.]+) of ([0-9.]+) CPI"
                     r"(?:\): at most ([0-9.]+) % fewer cycles\.|: misses that overlap count in full\)\.))$",
                     text("err"), re.M)
    first = largest(stack)
    share = 100 * stack[first] / r["cpi"]
    return said[1] == r["advice"] and labels[said[2]] == first and near(float(said[3]), stack[first], 0.51e-3) and \
        near(float(said[4]), r["cpi"], 0.51e-3) and \
        (share > 100 if said[5] is None else share <= 100 and abs(float(said[5]) - share) <= 0.051)

# ---- files

def table_of(name):
    import csv
    return list(csv.DictReader(open(work + "/" + name)))

def csv_is_of(kinds, parts):
    """A row for each of the kinds and each of the parts, in order."""
    rows, begin = table_of("csv"), 0
    columns = ["method", "from", "instructions", "cycles", "cpi"] + components
    if len(rows) != len(parts) * len(kinds) or list(rows[0]) != columns:
        return False
    for p in parts:
        for k in kinds:
            row = rows.pop(0)
            if row["method"] != k or int(row["from"]) != begin or int(row["instructions"]) != p["instructions"] or \
                    int(row["cycles"]) != p["cycles"] or not near(float(row["cpi"]), p["cpi"], 1e-6) or \
                    any(not near(float(row[c]), p["stacks"][k][c], 1e-6) for c in components):
                return False
        begin += p["instructions"]
    return True

def svg_says(name, *words):
    import xml.etree.ElementTree
    root = xml.etree.ElementTree.parse(work + "/" + name).getroot()
    said = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
    return root.tag == "{http://www.w3.org/2000/svg}svg" and all(any(w in (t or "") for t in said) for w in words)

# ---- validate

orders = {"simulation": "l1d branch l1i l2i itlb l2d dtlb".split(),
          "simulation_inverse": "l1d branch l2d dtlb l1i l2i itlb".split()}

def reference(order):
    """The stack of an order from the cycles of the runs; None is what cannot be known."""
    runs = {frozenset(x["real"]): None if x["failed"] else x["cycles"] for x in r["runs"]}
    real, before = set(), runs[frozenset()]
    stack = {"base": before}
    for c in orders[order]:
        real.add(c)
        with_it = runs[frozenset(real)]
        stack[c] = None if before is None or with_it is None else with_it - before
        before = with_it
    return stack

def references_hold():
    for order in orders:
        stack, said = reference(order), r["stacks"][order]
        if set(stack) != set(said) or any((stack[c] is None) != (said[c] is None) or stack[c] is not None and
                                          not near(stack[c] / r["instructions"], said[c]) for c in stack):
            return False
    return True

def error_of(method, order):
    """The largest error in percent of all cycles, and its component; units count for the base."""
    stack, want = dict(r["stacks"][method]), r["stacks"][order]
    stack["base"] += stack.pop("fu")
    return max((100 * abs(stack[c] - want[c]) / r["cpi"], c) for c in stack if want[c] is not None)

def errors_hold(order, key):
    found = {m: error_of(m, order) for m in methods}
    return list(r[key]) == list(r[key + "_component"]) == methods and all(
        near(r[key][m], found[m][0], 1e-6) and r[key + "_component"][m] == found[m][1] for m in methods)

def errors_are_printed(row, key):
    said = re.search("^ " + re.escape(row) + " +(.*)$", text("err"), re.M)[1].split()
    return said[1::2] == list(r[key + "_component"].values()) and all(
        near(float(n), want, 0.0051) for n, want in zip(said[::2], r[key].values()))

def all_orders():
    """Of every component its mean and what it is in all orders in which second caches come after first ones, in cycles."""
    from fractions import Fraction
    from itertools import permutations
    runs = {frozenset(x["real"]): None if x["failed"] else x["cycles"] for x in r["runs"]}
    found = {"base": [runs[frozenset()]]}
    valid = [o for o in permutations(orders["simulation"]) if
             o.index("l1i") < o.index("l2i") and o.index("l1d") < o.index("l2d")]
    for order in valid:
        sets = [runs[frozenset(order[:n])] for n in range(8)]
        for c, before, with_it in zip(order, sets, sets[1:]):
            found.setdefault(c, []).append(None if before is None or with_it is None else with_it - before)
    return {c: None if None in n else (Fraction(sum(n), len(n)), min(n), max(n)) for c, n in found.items()}

def all_orders_hold():
    mean, span, want = r["stacks"]["simulation_mean"], r["simulation_range"], all_orders()
    if not list(mean) == list(span) == [c for c in components if c != "fu"] or set(mean) != set(want):
        return False
    for c, w in want.items():
        if w is None:
            if mean[c] is not None or span[c] is not None:
                return False
        elif abs(round(mean[c] * r["instructions"]) - w[0]) >= 1 or \
                [round(n * r["instructions"]) for n in span[c]] != [w[1], w[2]] or not span[c][0] <= mean[c] <= span[c][1]:
            return False
    return True

def outside_of(method):
    """As error_of, to what all orders give."""
    stack, span = dict(r["stacks"][method]), r["simulation_range"]
    stack["base"] += stack.pop("fu")
    return max(((100 * max(0, span[c][0] - stack[c], stack[c] - span[c][1]) / r["cpi"], c) for c in stack if span[c]),
               key=lambda e: e[0])

def outside_holds():
    found = {m: outside_of(m) for m in methods}
    return list(r["max_error_outside"]) == list(r["max_error_outside_component"]) == methods and all(
        near(r["max_error_outside"][m], found[m][0], 1e-6) and r["max_error_outside_component"][m] == found[m][1]
        for m in methods)

def timeless(d):
    return {**d, "host": 0, "runs": [{**x, "seconds": 0} for x in d.get("runs", [])]}
'
stack=("$cyclescope" stack)
validate=("$cyclescope" validate)
mix=build/workloads/mix

# look OPTIONS... PROGRAM...: leaves the stacks in $work/json. Like what `gives` runs it comes from timeout: the guest's
# environment, in which the shell names the command, counts for its cycles. look_stat: the same of stat.
look() {
    rm -f "$work/json"
    timeout -k 5 60 "${stack[@]}" --quiet --json "$work/json" "$@" >"$work/out" 2>"$work/err" </dev/null
}
look_stat() {
    rm -f "$work/json"
    timeout -k 5 60 "$cyclescope" stat --quiet --json "$work/json" "$@" >"$work/out" 2>"$work/err" </dev/null
}
keep() { mv "$work/json" "$work/before"; }

compile_work
compile abort -static <<<'#include <stdlib.h>
int main(void) { abort(); }'
compile segv -static <<<'int main(void) { *(volatile int *)0 = 1; return 0; }'
compile silent -static <<<'int main(void) { return 7; }'
compile reads -static <<'C'
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char part[100];
    volatile unsigned sum = 0;
    long bytes = 0, n;
    while ((n = read(0, part, sizeof part)) > 0) {
        bytes += n;
        for (long i = 0; i < n; i++)
            sum = sum * 31 + part[i];
    }
    fprintf(stderr, "sum %u\n", sum);
    printf("%ld bytes\n", bytes);
    return 4;
}
C
# Each load from memory decides a branch that cannot be foreseen.
compile both -static <<'C'
#include <stdlib.h>
int main(void)
{
    enum { BYTES = 1 << 26 };
    volatile char *heap = calloc(BYTES, 1);
    volatile unsigned taken = 0;
    unsigned state = 1;
    for (int i = 0; i < 2000; i++) {
        state = state * 1103515245 + 12345;
        state += heap[state >> 4 & (BYTES - 1)];
        if (state >> 16 & 1)
            taken++;
    }
    return 0;
}
C
# Waits for a byte from the FIFO that it is given.
compile waits -static <<'C'
#include <fcntl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char c;
    return read(open(argv[1], O_RDONLY), &c, 1) == 1 ? 6 : 1;
}
C

# ---- the page
rm -f "$work/json"
gives page 3 'done' "${stack[@]}" --json "$work/json" "$work/work" 20000
says page-names-program-and-core '/work on the core eyerman2006: [0-9,]+ instructions, [0-9,]+ cycles, CPI [0-9.]+$'
holds page-has-the-totals 'heading() in text("err")'
holds page-has-every-component 'table_is_of(["fmt"])'
holds page-has-a-bar 'bars_are_of(["fmt"]) and len(text("err").split("|")[1].split("\n")[0]) > 80'
holds page-ends-with-the-largest-component 'sentence_is_of("fmt")'
says page-has-speed '^ [0-9.]+ seconds, [0-9.]+ MIPS$'
never_says page-in-a-pipe-is-plain $'\033'
never_says page-has-no-trailing-blanks ' $'
never_says page-has-only-what-was-asked-for 'over instructions|interval analysis'
gives page-of-all-methods 3 'done' "${stack[@]}" --method all --json "$work/json" "$work/work" 20000
holds page-has-all-methods 'table_is_of(methods) and bars_are_of(methods) and sentence_is_of("fmt") and add_up(r)'
keep
for method in naive naive_nonspec power5 fmt sfmt fmt2; do
    gives "method-$method" 3 'done' "${stack[@]}" --method $method --json "$work/json" "$work/work" 20000
    holds "method-$method-is-as-among-all" "table_is_of(['$method']) and sentence_is_of('$method') and
        r['cycles'] == b['cycles'] and r['stack_cycles'] == {'$method': b['stack_cycles']['$method']}"
done
gives methods-with-commas 3 'done' "${stack[@]}" --method sfmt,naive --json "$work/json" "$work/work" 20000
holds methods-with-commas-are-as-among-all 'table_is_of(["naive", "sfmt"]) and sentence_is_of("sfmt") and
    all(r["stack_cycles"][m] == b["stack_cycles"][m] for m in ("naive", "sfmt"))'
gives page-of-all-stages 3 'done' "${stack[@]}" --stage all --json "$work/json" "$work/work" 20000
holds page-has-all-stages 'table_is_of(views) and bars_are_of(views) and sentence_is_of("dispatch") and add_up(r) and
    r["cycles"] == b["cycles"]'
keep
for stage in dispatch issue commit; do
    gives "stage-$stage" 3 'done' "${stack[@]}" --stage $stage --json "$work/json" "$work/work" 20000
    holds "stage-$stage-is-as-among-all" "table_is_of(['$stage']) and sentence_is_of('$stage') and
        r['stack_cycles'] == {'$stage': b['stack_cycles']['$stage']}"
done
gives below-zero 0 '' "${stack[@]}" --method all --skip 4M --max-insns 50K --json "$work/json" "$mix"
holds bars-below-zero 'bars_are_of(methods) and r["stacks"]["naive"]["base"] < 0 and
    bars()[0][1].strip() and not bars()[3][1].strip()'
gives more-than-everything 0 '' "${stack[@]}" --method naive --skip 4M --max-insns 50K --json "$work/json" "$mix"
holds more-than-everything-has-no-percentage 'sentence_is_of("naive") and "fewer cycles" not in text("err")'
gives quiet 3 'done' "${stack[@]}" --quiet --interval 1000 --penalties "$work/work"
if [ -s "$work/err" ]; then not_ok quiet-says-nothing "$(cat "$work/err")"; else ok quiet-says-nothing; fi
gives quiet-death 134 '' "${stack[@]}" --quiet "$work/abort"
if [ -s "$work/err" ]; then not_ok quiet-death-says-nothing "$(cat "$work/err")"; else ok quiet-death-says-nothing; fi
for command in stack validate; do
    if "$cyclescope" $command --help | grep -q -- '--svg FILE'; then ok "$command-help"
    else not_ok "$command-help" "does not list --svg"; fi
done

# ---- on a terminal
cat >"$work/terminal.py" <<'P'
"""terminal.py COLUMNS COMMAND...: runs it with standard error on a terminal of that width, and prints what came there."""
import fcntl, os, pty, struct, subprocess, sys, termios
ours, its = pty.openpty()
fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
run = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=its)
os.close(its)
try:
    while part := os.read(ours, 65536):
        sys.stdout.buffer.write(part)
except OSError:
    pass
sys.exit(run.wait())
P
for columns in 40 80 200; do
    python3 "$work/terminal.py" $columns "${stack[@]}" --stage all --json "$work/json" "$work/work" >"$work/err" </dev/null
    holds "terminal-$columns-columns" "len(bars()) == 3 and
        max(len(n.ljust(8) + ' ' + b + '|' + a + ' ' + t) for n, b, a, t in bars()) == $columns"
    holds "terminal-$columns-columns-legend" "max(len(l) for l in
        re.search(r'^CPI:.*?\\n\\n', re.sub(r'\\033\\[[0-9;]*m', '', text('err')), re.M | re.S)[0].split('\\n')) <= $columns"
    holds "terminal-$columns-columns-colour" "all(line.count('\\033[') % 2 == 0 and line.count('\\033[') > 3
        for line in text('err').split('\\n') if re.match('(dispatch|issue|commit) ', line)) and
        text('err').count('\\033[') == 2 * text('err').count('\\033[0m')"
done

# ---- intervals
# series NAME INSNS WIDTH OPTIONS... PROGRAM: intervals of so many instructions add up
series() {
    local name=$1 insns=$2 width=$3
    shift 3
    look --interval "$insns" "$@"
    holds "$name-adds-up" "series_adds_up($insns, $width)"
}
for skip in 0 60000000 150000000; do
    series "intervals-of-1-at-$skip" 1 4 --method all --skip $skip --max-insns 1500 $mix
    series "intervals-of-7-at-$skip" 7 4 --method all --skip $skip --max-insns 10000 $mix
    series "intervals-of-1000-at-$skip" 1000 4 --method all --skip $skip --max-insns 100500 $mix
    holds "intervals-of-1000-at-$skip-are-101" 'len(r["intervals"]) == 101 and r["instructions"] == 100500'
    keep
    look --interval 1000 --step --method all --skip $skip --max-insns 100500 $mix
    holds "intervals-at-$skip-stepped" 'r["intervals"] == b["intervals"] and r["stack_cycles"] == b["stack_cycles"]'
    look --method all --skip $skip --max-insns 100500 $mix
    holds "intervals-at-$skip-change-nothing" 'r["stack_cycles"] == b["stack_cycles"] and
        r["overlap_percent"] == b["overlap_percent"]'
    look --interval 1000 --method sfmt --skip $skip --max-insns 100500 $mix
    holds "intervals-at-$skip-of-one-method" '[i["stack_cycles"]["sfmt"] for i in r["intervals"]] ==
        [i["stack_cycles"]["sfmt"] for i in b["intervals"]]'
done
series intervals-of-1M 1000000 4 --method all --skip 20000000 --max-insns 1200000 $mix
holds intervals-of-1M-are-2 'len(r["intervals"]) == 2'
series intervals-of-stages 7 4 --stage all --skip 60000000 --max-insns 10000 $mix
holds intervals-of-stages-are-of-stages 'list(r["intervals"][0]["stacks"]) == views'
keep
look --interval 7 --step --stage all --skip 60000000 --max-insns 10000 $mix
holds intervals-of-stages-stepped 'r["intervals"] == b["intervals"]'
for core in modern ppc970 pentium small; do
    width=$("$cyclescope" stat --quiet --core $core --max-insns 10 --json - $mix | python3 -c 'import json, sys
print(json.load(sys.stdin)["params"]["commit.width"])')
    series "intervals-on-$core" 100 "$width" --core $core --method all --skip 60000000 --max-insns 30000 $mix
    keep
    look --core $core --interval 100 --step --method all --skip 60000000 --max-insns 30000 $mix
    holds "intervals-on-$core-stepped" 'r["intervals"] == b["intervals"]'
done
series interval-longer-than-the-run 1000000000 4 --method all "$work/work"
holds interval-longer-than-the-run-is-one 'len(r["intervals"]) == 1 and r["intervals"][0]["stack_cycles"] == r["stack_cycles"]'

gives page-of-a-series 0 '' "${stack[@]}" --interval 5000 --json "$work/json" --csv "$work/csv" --skip 4M --max-insns 52K $mix
says page-of-a-series-names-it 'CPI over instructions, by fmt, 11 intervals:$'
holds page-of-a-series-has-a-bar-each 'len(bars()) == 1 + 11 and
    all(near(float(t), i["cpi"], 0.51e-3) for (*_, t), i in zip(bars()[1:], r["intervals"])) and
    [n for n, *_ in bars()[1:4]] == ["0", "5.0K", "10.0K"]'
holds csv-of-a-series 'csv_is_of(["fmt"], r["intervals"])'
gives page-of-a-long-series 0 '' "${stack[@]}" --interval 100 --method all --json "$work/json" --csv "$work/csv" --skip 4M \
    --max-insns 50K $mix
holds page-of-a-long-series-has-24-bars 'len(bars()) == len(methods) + 24 and len(r["intervals"]) == 500'
holds csv-of-a-series-of-all-methods 'csv_is_of(methods, r["intervals"])'

# ---- penalties
look_stat --skip 4M --max-insns 50K $mix
keep
gives penalties 0 '' "${stack[@]}" --penalties --method all --json "$work/json" --skip 4M --max-insns 50K $mix
holds penalties-are-cycles-per-event '(lambda p, e, c: list(p) == ["l1i", "branch", "l2d"] and
    [p[k]["events"] for k in p] == [e["l1i_misses"] - e["l2i_misses"], e["mispredictions"], e["l2d_misses"]] and
    all(p[k]["events"] > 0 and near(p[k]["interval_analysis"] * p[k]["events"], c["fmt"][k]) and
        near(p[k]["power5"] * p[k]["events"], c["power5"][k]) for k in p))(r["penalties"], b["events"], r["stack_cycles"])'
holds penalties-of-a-manual '[p["naive"] for p in r["penalties"].values()] ==
    [int(r["params"][k]) for k in ("l2.latency", "frontend.stages", "memory.latency")]'
holds penalties-are-printed 'all(re.search("^ {} +{:,} +{:.2f} +{:.2f} +{:.2f}$".format(n, p["events"], p["interval_analysis"],
    p["naive"], p["power5"]), text("err"), re.M) for n, p in
    zip(("L1 I-miss", "misprediction", "L2 D-miss"), r["penalties"].values()))'
holds overlap-is-printed '"overlap in {:.2f} % of cycles.".format(r["overlap_percent"]) in text("err") and
    r["overlap_percent"] > 0'
keep
look --penalties --method sfmt --skip 4M --max-insns 50K $mix
holds penalties-do-not-depend-on-the-method 'r["penalties"] == b["penalties"] and list(r["stacks"]) == ["sfmt"]'
look "$work/both"
holds overlap-of-long-misses-and-mispredictions '25 < r["overlap_percent"] < 90'
look --set perfect.branch=yes "$work/both"
holds no-overlap-without-mispredictions 'r["overlap_percent"] < 1'
look --set perfect.l2d=yes --set perfect.dtlb=yes "$work/both"
holds no-overlap-without-long-misses 'r["overlap_percent"] == 0'
look --penalties --set perfect.branch=yes --set perfect.l1i=yes "$work/silent"
holds penalties-without-events 'r["penalties"]["branch"]["events"] == 0 == r["penalties"]["branch"]["interval_analysis"]'

# ---- the same run
look --method all "$work/work" 20000
keep
look --method all --step "$work/work" 20000
holds stepping-changes-no-stack 'r["stack_cycles"] == b["stack_cycles"] and r["overlap_percent"] == b["overlap_percent"]'
look_stat "$work/work" 20000
holds stat-has-the-same-cycles 'r["command"] == "stat" and all(r[k] == b[k] for k in ("cycles", "instructions", "params"))'
holds json-has-the-shared-keys 'b["command"] == "stack" and b["version"] == r["version"] and b["core"] == "eyerman2006" and
    b["program"].endswith("/work") and b["exit_status"] == 3 and b["host"]["mips"] > 0 and b["cut"] is False and
    near(b["cpi"], b["cycles"] / b["instructions"]) and "intervals" not in b and "penalties" not in b'
look --method all --set rob.size=32 --set perfect.branch=yes "$work/work" 20000
holds settings-take-effect 'r["params"]["rob.size"] == "32" and add_up(r) and r["cycles"] != b["cycles"] and
    all(r["stack_cycles"][m]["branch"] < b["stack_cycles"][m]["branch"] / 20 for m in methods)'
look --method fmt --set fmt.rows=1 "$work/work" 20000
holds rows-take-effect 'add_up(r) and r["stack_cycles"]["fmt"]["branch"] < b["stack_cycles"]["fmt"]["branch"] and
    r["cycles"] == b["cycles"]'

# ---- processes, deaths, parts of a run
look --method all "$work/work" 1000
keep
gives forked 5 'done' "${stack[@]}" --method all --interval 1000 --json "$work/json" "$work/work" 1000 20000
if [ "$(grep -c 'seconds,' "$work/err")" = 1 ]; then ok one-page-for-all-processes
else not_ok one-page-for-all-processes "$(cat "$work/err")"; fi
holds forked-processes-count 'add_up(r) and
    all(r["stack_cycles"][m]["branch"] > 5 * b["stack_cycles"][m]["branch"] for m in methods)'
holds intervals-are-of-the-process-itself 'all(add_up(i) for i in r["intervals"]) and
    b["instructions"] <= sum(i["instructions"] for i in r["intervals"]) < r["instructions"] - 10 * 20000 / 2'
keep
look_stat "$work/work" 1000 20000
holds forked-as-in-stat 'r["cycles"] == b["cycles"] and r["instructions"] == b["instructions"]'
gives abort 134 '' "${stack[@]}" --json "$work/json" "$work/abort"
says death-has-a-sentence '^cyclescope: .*/abort was killed by SIGABRT$'
holds death-has-stacks 'r["exit_status"] == 134 and add_up(r)'
gives segv 139 '' "${stack[@]}" --json "$work/json" --method all --interval 100 "$work/segv"
holds fault-has-stacks 'r["exit_status"] == 139 and series_adds_up(100)'
gives status 7 '' "${stack[@]}" "$work/silent"
gives cut 0 '' "${stack[@]}" --max-insns 5000 --json "$work/json" "$work/work" 1000000
holds cut-at-the-instruction 'r["instructions"] == 5000 and r["cut"] is True and add_up(r)'
says cut-has-a-sentence 'stopped after 5,000 instructions'
gives parts 0 '' "${stack[@]}" --method all --interval 500 --skip 40000 --warm --warmup 3000 --max-insns 2000 \
    --json "$work/json" "$work/work" 1000000
holds parts-have-their-lengths 'r["skipped"] == 40000 and r["warmup"] == 3000 and r["instructions"] == 2000 and
    series_adds_up(500)'
gives skip-past-the-end 3 'done' "${stack[@]}" --skip 1G --interval 10 --penalties --json "$work/json" --csv "$work/csv" \
    --svg "$work/svg" "$work/work"
holds nothing-measured 'r["instructions"] == r["cycles"] == r["cpi"] == 0 and set(r["stack_cycles"]["fmt"].values()) == {0} and
    svg_says("svg") and all(int(row["cycles"]) == 0 for row in table_of("csv"))'
says nothing-measured-has-a-sentence 'ended before the part that is measured'
gives warmup-past-the-end 3 'done' "${stack[@]}" --warmup 1G --method all --json "$work/json" "$work/work"
holds nothing-measured-after-warmup 'r["cycles"] == 0 and all(set(s.values()) == {0} for s in r["stack_cycles"].values())'

# ---- files
"${stack[@]}" --quiet --json - "$work/silent" >"$work/json"
holds json-to-standard-output 'r["exit_status"] == 7 and add_up(r)'
timeout 60 "${stack[@]}" --quiet --method all --csv - "$work/silent" >"$work/csv"
look --method all "$work/silent"
holds csv-to-standard-output 'csv_is_of(methods, [r])'
"${stack[@]}" --quiet --method all --svg - "$work/silent" >"$work/svg"
holds svg-to-standard-output 'svg_says("svg", "silent", "eyerman2006", *methods)'
"${stack[@]}" --quiet --csv - --svg - --json - "$work/silent" >"$work/out"
holds all-to-standard-output '(lambda t: t.startswith("method,") and t.count("</svg>") == 1 and
    json.loads(t[t.index("</svg>") + 6:])["command"] == "stack")(text("out"))'
cp "$work/silent" "$work/<&\">"
gives svg-of-a-hard-name 7 '' "${stack[@]}" --svg "$work/svg" "$work/<&\">"
holds svg-quotes-names 'svg_says("svg", "<&\">")'
cp "$work/silent" "$work/"$'\xff'
"${stack[@]}" --quiet --svg "$work/svg" "$work/"$'\xff'
holds svg-of-a-name-in-no-encoding 'svg_says("svg", "fmt")'
for option in json csv svg; do
    complains "$option-cannot-be-written" "--$option /no/where/x: No such file" \
        "${stack[@]}" --$option /no/where/x "$work/work"
    complains "validate-$option-cannot-be-written" "--$option /no/where/x: No such file" \
        "${validate[@]}" --$option /no/where/x "$work/work"
    if [ -w /dev/full ]; then
        complains "full-disk-for-$option" "--$option /dev/full: No space left" \
            "${stack[@]}" --quiet --$option /dev/full "$work/silent"
        complains "validate-full-disk-for-$option" "--$option /dev/full: No space left" \
            "${validate[@]}" --quiet --$option /dev/full "$work/silent"
        "${stack[@]}" --quiet --$option - "$work/silent" >/dev/full 2>"$work/err"
        [ $? = 125 ] && says "full-standard-output-for-$option" "--$option -: No space left" ||
            not_ok "full-standard-output-for-$option" "status is not 125"
    fi
done

# ---- mistakes
lists='.cyclescope list methods. has what there is'
complains unknown-method "--method ftm: there is no 'ftm'; $lists" "${stack[@]}" --method ftm "$work/work"
complains unknown-method-among-others "--method fmt,ftm: there is no 'ftm'; $lists" "${stack[@]}" --method fmt,ftm "$work/work"
complains empty-method "--method : there is no ''; $lists" "${stack[@]}" --method '' "$work/work"
complains empty-method-behind-a-comma "--method fmt,: there is no ''; $lists" "${stack[@]}" --method fmt, "$work/work"
complains all-among-others "--method fmt,all: there is no 'all'; $lists" "${stack[@]}" --method fmt,all "$work/work"
complains stage-as-method "--method commit: there is no 'commit'; $lists" "${stack[@]}" --method commit "$work/work"
complains unknown-stage "--stage fetch: there is no 'fetch'; $lists" "${stack[@]}" --stage fetch "$work/work"
complains method-as-stage "--stage fmt: there is no 'fmt'; $lists" "${stack[@]}" --stage fmt "$work/work"
complains method-and-stage '--method and --stage are .*: give one of them' "${stack[@]}" --stage all --method all "$work/work"
complains bad-interval "--interval needs a number such as 500 or 2M, not 'some'" "${stack[@]}" --interval some "$work/work"
complains method-without-name '--method needs a value' "${stack[@]}" --method
complains no-program 'no program given' "${stack[@]}"
complains no-such-file "there is no $work/missing" "${stack[@]}" "$work/missing"
complains unknown-core "no core 'pentuim'" "${stack[@]}" --core pentuim "$work/work"

# ---- list methods
if [ "$("$cyclescope" list methods | tr -s ' ' | cut -d' ' -f1,2)" = "naive --method
naive_nonspec --method
power5 --method
fmt --method
sfmt --method
fmt2 --method
dispatch --stage
issue --stage
commit --stage" ]; then ok list-methods; else not_ok list-methods "$("$cyclescope" list methods)"; fi
if "$cyclescope" list methods | grep -Evq '^[a-z0-9_]+ +--(method|stage) +[a-z].{20}'; then
    not_ok list-methods-has-help "$("$cyclescope" list methods)"
else ok list-methods-has-help; fi
while read -r name option _; do
    gives "listed-$name" 7 '' "${stack[@]}" --quiet "$option" "$name" "$work/silent"
done < <("$cyclescope" list methods)

# ---- the workloads: what each is made of is what the methods find (workloads/README.md)
window=(--skip 2500000 --warm --warmup 50000 --max-insns 150000)
simulated() { # NAME COMMAND OPTIONS... PROGRAM: a line for what is to be simulated, with JSON to $work/NAME
    local name=$1 command=$2
    shift 2
    echo "$command --quiet --json $work/$name ${window[*]} ${*:1:$#-1} build/workloads/${*: -1}"
}
{
    for program in memory_bound branch_bound icache_bound divide_bound balanced; do
        simulated $program stack --method all $program
    done
    for core in modern ppc970; do
        for program in memory_bound branch_bound divide_bound; do
            simulated $program-$core stack --method fmt2 --core $core $program
        done
    done
    simulated memory_bound-perfect stat --set perfect.l2d=yes memory_bound
    simulated branch_bound-perfect stat --set perfect.branch=yes branch_bound
    simulated icache_bound-perfect stat --set perfect.l1i=yes icache_bound
    simulated divide_bound-perfect stat --set perfect.units=yes divide_bound
} | xargs -P 2 -L 1 "$cyclescope"
for bound in memory_bound:l2d branch_bound:branch icache_bound:l1i divide_bound:fu; do
    program=${bound%:*} component=${bound#*:}
    for method in fmt sfmt fmt2; do
        holds "$program-is-$component-for-$method" \
            "dominates(document('$program')['stacks']['$method'], '$component') and add_up(document('$program'))"
        holds "$program-$component-is-what-perfection-saves-for-$method" "(lambda d, p:
            abs(d['cycles'] - p['cycles'] - d['stack_cycles']['$method']['$component']) <= 0.08 * d['cycles'] and
            p['instructions'] == d['instructions'] == 150000)(document('$program'), document('$program-perfect'))"
    done
done
for method in fmt sfmt fmt2; do
    holds "balanced-is-base-for-$method" "(lambda d: add_up(d) and
        d['stack_cycles']['$method']['base'] > 0.9 * d['cycles'])(document('balanced'))"
done
for core in modern ppc970; do
    for bound in memory_bound:l2d branch_bound:branch divide_bound:fu; do
        program=${bound%:*} component=${bound#*:}
        holds "$program-is-$component-on-$core" \
            "(lambda d: dominates(d['stacks']['fmt2'], '$component') and d['core'] == '$core')(document('$program-$core'))"
    done
done

# ---- validate
gives validate 3 'done' "${validate[@]}" --jobs 2 --json "$work/json" --csv "$work/csv" --svg "$work/svg" "$work/work" 5000
holds validate-runs-12-times 'len(r["runs"]) == len(set(frozenset(x["real"]) for x in r["runs"])) == 12 and
    set(r["runs"][0]["real"]) == set(components) - {"base", "fu"} and r["runs"][0]["cycles"] == r["cycles"] and
    all(x["failed"] is None and 4 * x["cycles"] >= r["instructions"] > 10000 for x in r["runs"])'
holds validate-json-has-the-shared-keys 'r["command"] == "validate" and r["core"] == "eyerman2006" and r["exit_status"] == 3 and
    r["program"].endswith("/work") and r["cut"] is False and all(r["host"][k] > 0 for k in ("seconds", "cpu_seconds", "mips"))'
holds validate-references-are-differences-of-runs 'references_hold()'
holds validate-references-sum-to-the-cycles 'all(near(sum(r["stacks"][o].values()), r["cpi"]) and
    sum(reference(o).values()) == r["cycles"] for o in orders)'
holds validate-orders-differ 'r["stacks"]["simulation"] != r["stacks"]["simulation_inverse"] and
    list(r["stacks"]) == list(orders) + methods'
holds validate-errors 'errors_hold("simulation", "max_error") and errors_hold("simulation_inverse", "max_error_inverse")'
holds validate-errors-are-printed 'errors_are_printed("largest error, %", "max_error") and
    errors_are_printed("... to the inverse", "max_error_inverse")'
holds validate-page 'heading() in text("err") and all(re.search("^ " + label + "".join(" +{:.4f}".format(stack[c])
    for stack in r["stacks"].values()) + "$", text("err"), re.M) for label, c in labels.items() if c != "fu") and
    re.search("^ long-latency units +in base +in base" + "".join(" +{:.4f}".format(r["stacks"][m]["fu"]) for m in methods) + "$",
              text("err"), re.M) and re.search("^ 12 runs, [0-9.]+ seconds$", text("err"), re.M)'
holds validate-csv '(lambda rows: [x["method"] for x in rows] == list(r["stacks"]) and all(
    near(float(x[c]), r["stacks"][x["method"]].get(c, 0), 1e-6) for x in rows for c in components) and all(
    near(float(x["max_error_percent"]), r["max_error"][x["method"]], 1e-4) and
    x["max_error_component"] == r["max_error_component"][x["method"]] and
    near(float(x["max_error_inverse_percent"]), r["max_error_inverse"][x["method"]], 1e-4) and
    x["max_error_inverse_component"] == r["max_error_inverse_component"][x["method"]] for x in rows[2:]) and
    rows[0]["max_error_percent"] == "")(table_of("csv"))'
never_says validate-page-has-no-trailing-blanks ' $'
holds validate-svg 'svg_says("svg", "work", "eyerman2006", *r["stacks"])'
keep
look --method all "$work/work" 5000
holds validate-has-the-stacks-of-stack 'all(r["stacks"][m] == b["stacks"][m] for m in methods if m != "fmt2") and
    all(near(b["stacks"]["fmt2"][c], r["stacks"]["fmt2"][c], (4.01 if c == "base" else 0.501) / r["instructions"])
        for c in components) and
    r["overlap_percent"] == b["overlap_percent"] and r["cycles"] == b["cycles"]'
for jobs in 1 3 4294967296; do
    gives "validate-$jobs-jobs" 3 'done' "${validate[@]}" --quiet --jobs $jobs --json "$work/json" "$work/work" 5000
    holds "validate-$jobs-jobs-give-the-same" 'timeless(r) == timeless(b)'
done
gives validate-two-orders 3 'done' "${validate[@]}" --quiet --json "$work/json" "$work/work" 1000
keep
gives validate-all-orders 3 'done' "${validate[@]}" --all-orders --json "$work/json" --csv "$work/csv" --svg "$work/svg" \
    "$work/work" 1000
holds validate-all-orders-runs-72-times 'len(r["runs"]) == len(set(frozenset(x["real"]) for x in r["runs"])) == 72 and
    all(set(x["real"]) >= {first} or second not in x["real"] for x in r["runs"] for first, second in
        (("l1i", "l2i"), ("l1d", "l2d"))) and re.search("^ 72 runs, [0-9.]+ seconds$", text("err"), re.M)'
holds validate-all-orders-has-the-two 'timeless(r)["runs"][:12] == timeless(b)["runs"] and
    {k: v for k, v in r["stacks"].items() if k != "simulation_mean"} == b["stacks"] and
    list(r["stacks"]) == list(orders) + ["simulation_mean"] + methods and
    all(r[k] == b[k] for k in b if k.startswith("max_error")) and [k for k in r if k not in b] == ["simulation_range",
    "max_error_mean", "max_error_mean_component", "max_error_outside", "max_error_outside_component"]'
holds validate-all-orders-mean-and-range 'all_orders_hold()'
holds validate-all-orders-mean-sums-to-the-cycles 'near(sum(r["stacks"]["simulation_mean"].values()), r["cpi"]) and
    sum(round(n * r["instructions"]) for n in r["stacks"]["simulation_mean"].values()) == r["cycles"]'
holds validate-all-orders-hold-both 'all(low <= r["stacks"][o][c] <= high for o in orders
    for c, (low, high) in r["simulation_range"].items()) and any(low < high for low, high in r["simulation_range"].values())'
holds validate-all-orders-errors 'errors_hold("simulation_mean", "max_error_mean") and outside_holds() and
    all(r["max_error_outside"][m] <= r[k][m] for m in methods for k in ("max_error", "max_error_inverse", "max_error_mean"))'
holds validate-all-orders-page 're.search("^ CPI +simulation +inverse order +mean order +naive ", text("err"), re.M) and
    all(re.search("^ " + label + "".join(" +{:.4f}".format(stack[c]) for stack in r["stacks"].values()) + "$",
                  text("err"), re.M) for label, c in labels.items() if c != "fu") and
    errors_are_printed("... to the mean", "max_error_mean") and errors_are_printed("... outside all", "max_error_outside")'
never_says validate-all-orders-page-has-no-trailing-blanks ' $'
holds validate-all-orders-csv '(lambda rows, span: [x["method"] for x in rows] ==
    list(orders) + ["simulation_mean", "simulation_lowest", "simulation_highest"] + methods and
    list(rows[0])[-4:] == ["max_error_mean_percent", "max_error_mean_component", "max_error_outside_percent",
                           "max_error_outside_component"] and
    all(near(float(rows[2][c]), r["stacks"]["simulation_mean"].get(c, 0), 1e-6) for c in components) and
    all(near(float(rows[3 + end][c]), span.get(c, (0, 0))[end], 1e-6) for c in components for end in (0, 1)) and
    all(near(float(x[k + "_percent"]), r[k][x["method"]], 1e-4) and x[k + "_component"] == r[k + "_component"][x["method"]]
        for x in rows[5:] for k in ("max_error", "max_error_mean", "max_error_outside")) and
    all(x["max_error_percent"] == x["max_error_outside_component"] == "" for x in rows[:5]))(table_of("csv"), r["simulation_range"])'
holds validate-all-orders-svg 'svg_says("svg", *r["stacks"])'
complains validate-all-orders-is-of-stacks "all-orders" "${validate[@]}" stalls --all-orders "$work/work"
gives validate-perfect 3 'done' "${validate[@]}" --set perfect.branch=yes --set perfect.l1i=yes --json "$work/json" \
    "$work/work" 1000
holds validate-keeps-what-is-perfect 'references_hold() and
    all(r["stacks"][o]["branch"] == r["stacks"][o]["l1i"] == 0 < r["stacks"][o]["l2d"] for o in orders)'
gives validate-forked 5 'done' "${validate[@]}" --json "$work/json" "$work/work" 1000 3000
holds validate-forked-adds-up 'references_hold() and all(near(sum(s.values()), r["cpi"]) for s in r["stacks"].values())'
gives validate-abort 134 '' "${validate[@]}" "$work/abort"
if [ "$(grep -c 'abort was killed by SIGABRT$' "$work/err")" = 1 ]; then ok validate-death-has-one-sentence
else not_ok validate-death-has-one-sentence "$(cat "$work/err")"; fi
gives validate-quiet 134 '' "${validate[@]}" --quiet "$work/abort"
if [ -s "$work/err" ]; then not_ok validate-quiet-says-nothing "$(cat "$work/err")"; else ok validate-quiet-says-nothing; fi
gives validate-cut 0 '' "${validate[@]}" --skip 10000 --warmup 2000 --max-insns 3000 --json "$work/json" "$work/work" 100000
holds validate-parts 'r["instructions"] == 3000 and r["skipped"] == 10000 and r["warmup"] == 2000 and
    r["cut"] is True and references_hold()'
gives validate-skip-past-the-end 3 'done' "${validate[@]}" --skip 1G --json "$work/json" --csv "$work/csv" \
    --svg "$work/svg" "$work/work" 10
says validate-nothing-measured-has-a-sentence 'ended before the part that is measured'
holds validate-nothing-measured 'r["cycles"] == 0 and r["max_error"] == {} and svg_says("svg")'
complains validate-bad-core "no core 'pentuim'" "${validate[@]}" --core pentuim "$work/work"
complains validate-bad-setting 'rob.size' "${validate[@]}" --set rob.size=0 "$work/work"
complains validate-no-program 'no program given' "${validate[@]}"
complains validate-no-such-file "there is no $work/missing" "${validate[@]}" "$work/missing"
complains validate-no-program-file 'terminal.py' "${validate[@]}" "$work/terminal.py"
complains validate-program-of-the-host 'RISC-V' "${validate[@]}" "$cyclescope"
complains validate-bad-jobs "--jobs needs a number" "${validate[@]}" --jobs few "$work/work"

# ---- validate: input reaches every run, output comes from one
head -c 5000 "$cyclescope" >"$work/input"
# fed NAME BYTES: standard input has so many
fed() {
    local status
    "${validate[@]}" --json "$work/json" "$work/reads" >"$work/out" 2>"$work/err"
    status=$?
    if [ $status != 4 ] || [ "$(cat "$work/out")" != "$2 bytes" ] || [ "$(grep -c '^sum ' "$work/err")" != 1 ]; then
        not_ok "$1" "status $status, output: $(head -c 200 "$work/out") $(head -c 200 "$work/err")"
    else
        ok "$1"
    fi
}
fed validate-input-from-a-file 5000 <"$work/input"
holds validate-input-from-a-file-reaches-every-run 'all(4 * x["cycles"] >= r["instructions"] > 5 * 5000 for x in r["runs"])'
keep
cat "$work/input" | fed validate-input-from-a-pipe 5000
holds validate-input-from-a-pipe-is-the-same 'timeless(r) == timeless(b)'
{ head -c 1 >/dev/null; fed validate-input-from-the-rest-of-a-pipe 3000; } < <(tail -c 3001 "$work/input")
tail -c +2001 "$work/input" >"$work/rest"
fed validate-input-of-the-rest 3000 <"$work/rest"
keep
{ dd of=/dev/null bs=2000 count=1 status=none; fed validate-input-from-an-offset 3000; } <"$work/input"
holds validate-input-from-an-offset-is-the-rest 'timeless(r) == timeless(b)'
fed validate-input-from-null 0 </dev/null
holds validate-input-from-null-is-none '2 * r["instructions"] < b["instructions"]'

# What a program does for a terminal it would not do for another file: in each run its output is of the same kind.
compile lines -static <<<'#include <stdio.h>
int main(void) { for (int i = 0; i < 200; i++) puts("a line"); return 0; }'
timeout 60 "${validate[@]}" --json "$work/before" "$work/lines" >"$work/out" 2>"$work/err" </dev/null
if [ "$(sort "$work/out" | uniq -c | tr -s ' ')" = " 200 a line" ]; then ok validate-output-to-a-file
else not_ok validate-output-to-a-file "$(head -c 200 "$work/out")"; fi
script -qec "timeout 60 $(printf '%q ' "${validate[@]}" --quiet --json "$work/json" "$work/lines")" /dev/null >"$work/out" </dev/null
if [ "$(tr -d '\r' <"$work/out" | sort | uniq -c | tr -s ' ')" = " 200 a line" ]; then ok validate-output-to-a-terminal
else not_ok validate-output-to-a-terminal "$(head -c 200 "$work/out")"; fi
holds validate-output-to-a-terminal-is-the-same-work 'abs(r["instructions"] - b["instructions"]) < 2000 and
    all(abs(x["cycles"] - y["cycles"]) < 0.1 * y["cycles"] for x, y in zip(r["runs"], b["runs"]))'
timeout 60 "${validate[@]}" --json "$work/json" "$work/reads" >"$work/out" 2>&1 <"$work/input"
if [ "$(head -n 2 "$work/out" | sed 's/ [0-9]*$//')" = "sum
5000 bytes" ]; then ok validate-output-in-order; else not_ok validate-output-in-order "$(head -n 3 "$work/out")"; fi
if [ -w /dev/full ]; then
    "${validate[@]}" --quiet "$work/lines" >/dev/full 2>"$work/err" </dev/null
    [ $? = 125 ] && says validate-output-to-a-full-disk "^cyclescope: the program's output cannot be written: No space left" ||
        not_ok validate-output-to-a-full-disk "status is not 125"
fi
gives validate-output-closed 0 '' bash -c 'exec "$@" >&- 2>&-' - "${validate[@]}" "$work/lines"
if [ "$("${validate[@]}" --quiet "$work/lines" </dev/null | head -n 1)" = "a line" ]; then ok validate-output-that-nobody-reads
else not_ok validate-output-that-nobody-reads "says something else"; fi

# ---- validate: a run that is killed
mkfifo "$work/fifo"
exec 9<>"$work/fifo"
# begin_waiting [OPTION]: a validation in the background, $waiting, whose first twelve runs, ${runs[@]}, are under way; each
# waits for a byte
begin_waiting() {
    rm -f "$work/json"
    "${validate[@]}" "$@" --jobs 12 --json "$work/json" --csv "$work/csv" "$work/waits" "$work/fifo" >"$work/out" 2>"$work/err" </dev/null 9>&- &
    waiting=$!
    for _ in $(seq 200); do
        read -ra runs <"/proc/$waiting/task/$waiting/children"
        [ ${#runs[@]} = 12 ] && return
        sleep 0.05
    done
    not_ok twelve-runs-at-once "there are ${#runs[@]}"
}
end_waiting() { # STATUS NAME
    printf '%72s' '' >&9
    wait $waiting
    local status=$?
    timeout 0.2 cat <&9 >/dev/null # what nobody has read
    if [ $status = "$1" ]; then ok "$2"; else not_ok "$2" "status $status: $(cat "$work/err")"; fi
}
begin_waiting
end_waiting 6 no-run-killed
keep
begin_waiting
kill -KILL "${runs[3]}"
end_waiting 6 a-run-killed
says killed-run-is-named '^ The run with real: branch l1d failed: killed by signal 9 \(Killed\)$'
says killed-run-leaves-question-marks '^ branch prediction +\? +\? +[0-9.]+'
holds killed-run-is-unknown '[i for i, x in enumerate(r["runs"]) if x["failed"]] == [3] and r["runs"][3]["cycles"] == 0 and
    references_hold()'
holds killed-run-leaves-the-rest 'all(r["stacks"][m] == b["stacks"][m] for m in methods) and
    [c for c, n in r["stacks"]["simulation"].items() if n is None] == ["l1i", "branch"] and
    [c for c, n in r["stacks"]["simulation_inverse"].items() if n is None] == ["branch", "l2d"] and
    all(n is None or n == b["stacks"][o][c] for o in orders for c, n in r["stacks"][o].items())'
holds errors-against-what-is-known 'errors_hold("simulation", "max_error") and
    errors_hold("simulation_inverse", "max_error_inverse")'
begin_waiting --all-orders
kill -KILL "${runs[3]}"
end_waiting 6 a-run-of-all-orders-killed
says killed-run-leaves-the-mean-unknown '^ branch prediction +\? +\? +\? +[0-9.]+'
holds killed-run-leaves-some-of-the-mean 'all_orders_hold() and
    [c for c, n in r["stacks"]["simulation_mean"].items() if n is not None] == ["base", "l2i"]'
holds killed-run-leaves-blanks 'all((x["branch"] == "") != (x["l2i"] == "") for x in table_of("csv")[2:5])'
holds errors-against-what-is-known-of-all-orders 'errors_hold("simulation_mean", "max_error_mean") and outside_holds()'
begin_waiting
kill -KILL "${runs[0]}"
end_waiting 125 the-first-run-killed
if [ "$(cat "$work/err")" = "cyclescope: the run that the methods account for failed: killed by signal 9 (Killed)" ]; then
    ok the-first-run-killed-has-a-sentence
else not_ok the-first-run-killed-has-a-sentence "$(cat "$work/err")"; fi
begin_waiting
kill -KILL $waiting
wait $waiting 2>/dev/null
for _ in $(seq 100); do
    left=0
    for run in "${runs[@]}"; do kill -0 "$run" 2>/dev/null && left=$((left + 1)); done
    [ $left = 0 ] && break
    sleep 0.05
done
if [ $left = 0 ]; then ok runs-die-with-their-parent; else not_ok runs-die-with-their-parent "$left are left"; fi
exit $failed
