#!/usr/bin/env python3
"""Multiplexed counters and the stall breakdown on suite programs, beside the numbers of Azimi, Stumm and Wisniewski.

Runs `cyclescope validate counters`, `stalls` and `overhead` on a window of each program and writes sections of
docs/RESULTS.md; reproduce.py writes them with the rest of the page.
"""

import argparse
import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import folder    # noqa: E402  (these three lie beside this file)
import guest     # noqa: E402
import programs  # noqa: E402

HERE = Path(__file__).resolve().parent
HEADING = "## Counters by turns: the paper's tables 2, 3 and 4"
# The suite's programs, and the paper's that do the same kind of work, in the order of its tables.  Runs of a program
# that are compared share its working folder: bart-rof, which is more like mgrid, does other work when it finds its
# output file there.
STANDS_FOR = {"gzip": "gzip", "cc1": "gcc", "perl-pod": "perlbmk", "hoichess": "crafty",
              "lapack": "applu", "yorick-mesh": "mgrid", "liblinear": "art", "raster3d": "mesa"}
# Events of table 2, and what the paper calls them.
TABLE2 = {"instructions": "Instructions Retired", "loads": "L1 DCache Loads", "stores": "L1 DCache Stores",
          "l1d-misses": "L1 DCache Misses", "l1i-misses": "ICache Misses", "page-walks": "TLB Misses",
          "tlb-access-misses": "ERAT Misses", "l2d-misses": "L2 Cache Misses (Data)",
          "mispredictions": "Branch Mispredicts"}
PAPER_TABLE2 = {
    "instructions": "0.01 0.06 0 0 0 0.05 0 0.12", "loads": "0.09 0.04 0 0 0.02 0.07 0.03 0.22",
    "stores": "0.13 0.08 0 0 0 0.03 0 0.10", "l1d-misses": "1.21 0.05 0 0 0.02 0.07 0.07 0.05",
    "l1i-misses": "N/A 0.12 0.02 0.09 0.02 N/A 0.03 N/A", "page-walks": "N/A 0.11 N/A N/A 0.01 0.15 N/A N/A",
    "tlb-access-misses": "0.79 0.13 0.01 0.02 0.07 0.71 0.42 0.21",
    "l2d-misses": "0.24 0.01 0.07 0.02 0.02 0.06 N/A 0.17", "mispredictions": "0.36 0.05 0.01 0 0.02 0.18 0 0.13"}
# Sources of stalls, and the paper's rows of table 3: KL_S and KL_I of each program.
TABLE3 = {"icache": "ICache Miss", "dcache": "DCache Miss", "translation": "ERAT Miss", "fpu": "FPU Latency",
          "integer": "Int. Latency", "branch": "Misprediction", "reject": "Rejection"}
PAPER_TABLE3 = {
    "icache": "0.01 0.01 0.05 0.05 0 0 0.01 0.01 0.06 0.06 N/A N/A 0.28 0.19 0.15 0.15",
    "dcache": "0.02 0.02 0.05 0.06 0.03 0.05 0 0.01 0.08 0.08 0.12 0.42 0.03 0.03 0.03 0.05",
    "translation": "0.36 0.36 0.28 0.30 N/A N/A 0.03 0.13 0.13 0.13 N/A N/A N/A N/A N/A N/A",
    "fpu": "N/A N/A N/A N/A 0.01 0.02 0.13 0.13 0 0 0.25 0.25 0 0 0.01 0.02",
    "integer": "0.10 0.10 0.15 0.14 0 0 0 0 N/A N/A N/A N/A 0.05 0.05 0.06 0.06",
    "branch": "0.02 0.02 0.06 0.06 0 0.01 0.01 0.01 0.06 0.06 1.68 1.68 0.28 0.28 0.15 0.15",
    "reject": "0.47 0.22 0.17 0.21 0.13 0.14 0.03 0.03 0.15 0.15 0.40 1.47 0.02 0.02 0.50 0.50"}
# Ten events and sixteen, for four counters, one of which is the clock of slices.
TEN = ("loads", "stores", "branches", "taken-branches", "mispredictions", "l1d-misses", "l1i-misses", "l2d-misses",
       "tlb-access-misses", "page-walks")
SIXTEEN = (*TEN, "calls", "integer-instructions", "rejects", "l1d-accesses", "completion-cycles", "rob-full-cycles")
SEEDS = 20  # orders that are replayed
SWEEP_PROGRAM = "gzip"
SWEEP_EVENTS = ("l1d-misses", "tlb-access-misses", "mispredictions")  # those of figure 6
MOST_DISTANCE = 0.20
BARS = {"small distances, %": 90, "error of ten, %": 5, "error of sixteen, %": 10, "coverage, %": (93, 97),
        "overhead at 20 kHz, %": 2}


class Failed(Exception):
    """A run that did not give what it should; the text says what."""


# ---- measuring


def validate(options, suite, case, what, insns, *arguments):
    """The JSON of `validate` WHAT of a window of a program."""
    runner = guest.on_core(suite.sysroot, options.cyclescope, "--jobs", 1, "--skip",
                           int(case.minsns * 1000000 * options.skip), "--warmup", options.sampling_warmup,
                           "--max-insns", int(insns * options.sampling_scale), *arguments,
                           command=f"validate {what}")
    result = guest.run(runner, case, suite.sysroot, options.timeout)
    if result.status != 0 or not result.report:
        raise Failed(f"validate {what}: status {result.status}: " +
                     result.outputs["stderr"].decode(errors="replace")[-300:])
    return json.loads(result.report)


def parts_of(case):
    """By name: what to validate, instructions, options."""
    four = ("--set", "pmu.counters=4", "--ratio", 0, "--seeds", SEEDS)
    sweep = ("--sweep",) if case.program == SWEEP_PROGRAM else ()
    return {"table2": ("counters", 200000000, "--seeds", SEEDS, *sweep),
            "overhead": ("overhead", 20000000),
            "ten": ("counters", 100000000, "-e", ",".join(TEN), *four),
            "sixteen": ("counters", 100000000, "-e", ",".join(SIXTEEN), *four),
            "stalls": ("stalls", 40000000)}


def measure(options, suite, case):
    """All parts of a program; those that are kept are not run again."""
    found = {}
    for name, arguments in parts_of(case).items():
        kept = Path(options.keep) / f"{case.program}.{name}.json" if options.keep else None
        if kept and kept.exists():
            found[name] = json.loads(kept.read_text())
            continue
        found[name] = validate(options, suite, case, *arguments)
        if kept:
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(found[name]))
        print(f"{case.program}: {name}, {found[name]['host']['seconds']:.0f} s", flush=True)
    return found


def run(options, suite):
    """Measures all programs, several at once; what was found, and problems by program."""
    found, problems = {}, {}
    cases = {case.program: case for case in programs.load(options.size, STANDS_FOR)}

    def one(program):
        try:
            return measure(options, suite, cases[program])
        except Failed as problem:
            return problem

    with ThreadPoolExecutor(options.jobs) as pool:
        for program, result in zip(STANDS_FOR, pool.map(one, STANDS_FOR)):
            (problems if isinstance(result, Failed) else found)[program] = result
            if isinstance(result, Failed):
                print(f"{program}: failed: {result}", flush=True)
    return found, problems | dict(bars_missed(found))


# ---- what it comes to


def mean(numbers):
    numbers = list(numbers)
    return sum(numbers) / len(numbers) if numbers else float("nan")


def table2_entries(found, way):
    """(program, event, distance) of all that are not N/A."""
    for program, parts in found.items():
        for row in parts["table2"]["counters"]:
            if row[way]["distance"] is not None:
                yield program, row, row[way]["distance"]


def totals(found, part, way, rare=False):
    """Rows of all programs, without rare events unless asked for, and without those that never happened."""
    for parts in found.values():
        for row in parts[part]["counters"]:
            if row["true_value"] and (rare or not row["rare"]):
                yield row[way], parts[part]["multiplexing"]["replayed_orders"]


def error(found, part, way, rare=False):
    """Mean relative error of totals in percent: of the engine's runs, and of all replays."""
    rows = list(totals(found, part, way, rare))
    return mean(row["error_percent"] for row, _ in rows), mean(row["replayed"]["error_percent"] for row, _ in rows)


def coverage(found, way, rare=False):
    """Cases, and percent of them that the interval holds: of the engine's runs, of replays."""
    rows = [pair for part in ("ten", "sixteen") for pair in totals(found, part, way, rare)]
    real, replays = len(rows), sum(orders for _, orders in rows)
    return (real, 100 * sum(row["holds"] for row, _ in rows) / max(1, real),
            replays, 100 * sum(row["replayed"]["held"] for row, _ in rows) / max(1, replays))


def overheads(found):
    """By frequency: percent of each program."""
    by = {}
    for parts in found.values():
        for row in parts["overhead"]["overhead"]:
            by.setdefault(row["khz"], []).append(row["percent"])
    return by


def paper_overheads(found):
    return {row["khz"]: row["paper_percent"] for parts in found.values() for row in parts["overhead"]["overhead"]}


def bars(found):
    """Name, what came out, what is asked for, whether it is met; None for what is there to compare with."""
    for way, judged in (("regression", True), ("linear", False)):
        entries = [distance for _, _, distance in table2_entries(found, way)]
        small = 100 * mean(distance < MOST_DISTANCE for distance in entries)
        yield (f"entries of table 2 under {MOST_DISTANCE:.2f}, {way}", f"{small:.1f} % of {len(entries)}",
               *(("at least 90 %", small >= BARS["small distances, %"]) if judged else ("the paper's way", None)))
    for part, label in (("ten", "ten events on four counters"), ("sixteen", "sixteen on four")):
        value, most = error(found, part, "regression")[0], BARS[f"error of {part}, %"]
        yield f"mean relative error of totals, {label}", f"{value:.2f} %", f"under {most} %", value < most
    low, high = BARS["coverage, %"]
    real, held, replays, replayed = coverage(found, "regression")
    all_held = (real * held + replays * replayed) / max(1, real + replays)
    yield (f"95 % intervals that hold the truth, of {real + replays} cases", f"{all_held:.1f} %", f"{low} to {high} %",
           low <= all_held <= high)
    by, paper = overheads(found), paper_overheads(found)
    yield ("overhead at 20 kHz, the largest of all programs", f"{max(by[20]):.2f} %", "at most 2 %",
           max(by[20]) <= BARS["overhead at 20 kHz, %"])
    yield ("overhead, average, lower than the paper's at", f"{sum(mean(by[k]) < paper[k] for k in by)} of {len(by)}",
           "all frequencies", all(mean(by[k]) < paper[k] for k in by))


def bars_missed(found):
    if len(found) == len(STANDS_FOR):
        for name, value, asked, met in bars(found):
            if met is False:
                yield name, f"{value}, where {asked} is asked for"


# ---- the sections


def table(head, rows):
    yield "| " + " | ".join(head) + " |"
    yield "|---" + "|--:" * (len(head) - 1) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def distance_text(value):
    return "N/A" if value is None else "0" if value < 0.01 else f"{value:.2f}"


def columns(found):
    return [f"{program} ({STANDS_FOR[program]})" for program in found]


def of_paper(text, found, width=1):
    """The paper's numbers of the programs that were found."""
    words = text.split()
    order = list(STANDS_FOR)
    return [" / ".join(words[width * order.index(p):width * order.index(p) + width]) for p in found]


def table2(found):
    yield "### Distance of multiplexed counts from full ones (table 2)\n"
    rounds = [parts["table2"]["multiplexing"]["rounds"] for parts in found.values()]
    yield ("Nine events on the eight counters of `ppc970`, in two groups; slices of 200,000 cycles, of which each "
           f"group has one in ten, rounds of 2 million cycles; {min(rounds)} to {max(rounds)} rounds of each program "
           "(the paper has 3000, which would take hours here). Each cell: linear scaling, as in the paper / our "
           "estimator / the paper's program. 0 is less than 0.01; N/A is rarer than once in 10,000 cycles. TLB "
           "misses are `page-walks`, ERAT misses `tlb-access-misses`, those of the first-level TLBs.\n")
    rows = []
    for event, label in TABLE2.items():
        cells = []
        for program, paper in zip(found, of_paper(PAPER_TABLE2[event], found)):
            row = next(r for r in found[program]["table2"]["counters"] if r["event"] == event)
            cells.append(" / ".join([distance_text(row["linear"]["distance"]),
                                     distance_text(row["regression"]["distance"]), paper]))
        rows.append([label, *cells])
    yield from table(["event", *columns(found)], rows)
    large = [[f"{program} `{row['event']}`",
              f"{found[program]['table2']['multiplexing']['user_cycles'] / row['true_value']:.0f}",
              f"{row['busiest_percent']:.0f}",
              *(distance_text(d) for way in ("linear", "regression")
                for d in (row[way]["distance"], row[way]["replayed"]["distance"]))]
             for program, parts in found.items() for row in parts["table2"]["counters"]
             if max(row[way]["distance"] or 0 for way in ("linear", "regression")) >= MOST_DISTANCE]
    if large:
        yield (f"Entries of {MOST_DISTANCE:.2f} and more. *Busiest* is how much of a round's events the busiest of "
               "its ten slices has, on average, in percent; 10 would be even. The farther from that, the less one "
               "slice says of the other nine. Where rounds are even but for a few, it is these: a round whose slice "
               "falls beside a burst costs its share of all events times the logarithm of the factor that it is off "
               f"by, so few such rounds make a distance. *Replayed* is the mean of "
               f"{SEEDS} other orders of the same run:\n")
        yield from table(["", "cycles per event", "busiest, %", "linear", "replayed", "ours", "replayed"], large)


def figure6(found):
    program = found.get(SWEEP_PROGRAM)
    if not program:
        return
    yield f"### Granularity and ratio (figure 6), {SWEEP_PROGRAM}\n"
    yield ("One more run with slices of 20,000 cycles, in which every slice has full counts, replayed: longer slices "
           "are sums of its slices, other orders and ratios a choice among them. Linear scaling, mean of 20 orders. "
           "Intervals are rounds, so they get fewer and longer to the right.\n")
    points = program["table2"]["sweep"]
    for title, key, part in (("ratio 10, by granularity in cycles", "slice", points[:5]),
                             ("granularity 500,000, by ratio", "ratio", points[5:])):
        rows = [[event, *(distance_text(next(d["linear"] for d in p["distance"] if d["event"] == event)) for p in part)]
                for event in SWEEP_EVENTS]
        yield from table([title, *(f"{p[key]:,} ({p['rounds']} rounds)" for p in part)], rows)


def totals_section(found):
    yield "### Totals and their 95 % intervals\n"
    yield ("On four counters, one of which is the clock of slices, so with groups of three: ten events in four "
           "groups, sixteen in six, slices of 200,000 cycles. The engine's runs, one of each program and list, and "
           f"the same runs replayed in {SEEDS} other orders. Relative errors of totals, means over programs and "
           "events, in percent; without those rarer than once in 10,000 cycles, and with them:\n")
    rows = []
    for part, label in (("ten", "ten events"), ("sixteen", "sixteen events")):
        for way in ("linear", "regression"):
            cells = [f"{value:.2f}" for rare in (False, True) for value in error(found, part, way, rare)]
            rows.append([f"{label}, {way}", *cells])
    yield from table(["", "engine", "replayed", "engine, rare ones too", "replayed, rare ones too"], rows)
    yield "Cases (event, program, order) whose 95 % interval holds the true total:\n"
    rows = []
    for rare, label in ((False, "without rare events"), (True, "with them")):
        for way in ("linear", "regression"):
            real, held, replays, replayed = coverage(found, way, rare)
            rows.append([f"{way}, {label}", str(real), f"{held:.1f}", str(replays), f"{replayed:.1f}"])
    yield from table(["", "engine's cases", "held, %", "replayed cases", "held, %"], rows)


def table3(found):
    yield "### Distance of stalls between cores that overlap less and less (table 3)\n"
    intervals = [parts["stalls"]["intervals"] for parts in found.values()]
    yield (f"{min(intervals)} to {max(intervals)} intervals of 200,000 instructions of user mode, full counts. Each "
           "cell: `ppc970` against one instruction per bundle / against serial in-order; then the paper's. N/A is "
           "less than a cycle of such stalls in 10,000 instructions.\n")
    rows = []
    for source, label in TABLE3.items():
        cells = []
        for program, paper in zip(found, of_paper(PAPER_TABLE3[source], found, 2)):
            row = found[program]["stalls"]["stalls"][source]
            cells.append(f"{distance_text(row['kl_single'])} / {distance_text(row['kl_inorder'])}; {paper}")
        rows.append([label, *cells])
    rows.append(["CPI: real, single, in order", *(", ".join(f"{parts['stalls']['cpi_by_run'][k]:.2f}" for k in
                                                           ("real", "single", "inorder")) for parts in found.values())])
    yield from table(["source", *columns(found)], rows)


def table4(found):
    yield "### Overhead of the stall breakdown, in percent (table 4)\n"
    yield ("Cycles of the program with the engine over cycles without it. A sample is a slice's end: machine-mode "
           "firmware reads the counters, writes a record and programs the next group. What is counted is nine events "
           "in two groups. Frequencies are per second of the program's own time at 1.8 GHz. Estimates are made of "
           "the records by the tool, outside of the simulated core; the paper's engine makes them in the kernel.\n")
    by, paper = overheads(found), paper_overheads(found)
    rows = [[program, *(f"{row['percent']:.2f}" for row in parts["overhead"]["overhead"])]
            for program, parts in found.items()]
    rows.append(["**average**", *(f"**{mean(values):.2f}**" for values in by.values())])
    rows.append(["the paper's", *(f"{paper[khz]:g}" for khz in by)])
    costs = [[row["cycles_per_sample"] for row in parts["overhead"]["overhead"]] for parts in found.values()]
    rows.append(["cycles per sample, average", *(f"{mean(cost):.0f}" for cost in zip(*costs))])
    yield from table(["kHz", *(f"{khz}" for khz in by)], rows)


def section(options, found, problems):
    """Markdown."""
    yield HEADING + "\n"
    yield ("Four integer and four floating-point programs of the suite on the core `ppc970`, each in place of the "
           "program of SPEC2000 in parentheses; windows from the middle as above, after "
           f"{options.sampling_warmup // 1000000} million instructions of warm-up. The order of groups is random in "
           "every round. Not the same programs, not the same instruction set: rows are to be compared in kind.\n")
    for name, problem in problems.items():
        yield f"**{name}:** {problem}\n"
    if not found:
        return
    yield from table(["", "measured", "asked for", "met"],
                     [[name, value, asked, {True: "yes", False: "**no**", None: ""}[met]]
                      for name, value, asked, met in bars(found)])
    yield from table2(found)
    yield from figure6(found)
    yield from totals_section(found)
    yield from table3(found)
    yield from table4(found)


def add_options(parser):
    parser.add_argument("--sampling-scale", type=float, default=0.4, help="of the windows of sampled counters")
    parser.add_argument("--sampling-warmup", type=int, default=5000000, help="instructions on the core before these")


def replaced(page, text, heading=HEADING):
    """A page with the sections under a heading replaced, or added at its end."""
    rest = re.sub(rf"^{re.escape(heading)}\n.*?(?=^## |\Z)", "", page, flags=re.MULTILINE | re.DOTALL)
    return rest.rstrip() + "\n\n" + text.rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    parser.add_argument("--skip", type=float, default=0.5, help="share of the program that is skipped before")
    parser.add_argument("--size", choices=programs.SIZES, default="big")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="programs at once")
    parser.add_argument("--timeout", type=float, default=7200, help="seconds for a run")
    parser.add_argument("--output", type=Path, default=HERE.parent / "docs" / "RESULTS.md",
                        help="the page whose section it writes")
    parser.add_argument("--keep", metavar="FOLDER", help="keep what was found there, and take what is there already")
    parser.add_argument("--cyclescope", type=os.path.abspath, default=guest.CYCLESCOPE)
    parser.add_argument("--suite", help="the suite's folder")
    options = parser.parse_args()
    suite = folder.Suite(options.suite)
    suite.prepare()
    found, problems = run(options, suite)
    page = options.output.read_text() if options.output.exists() else ""
    options.output.write_text(replaced(page, "\n".join(section(options, found, problems))))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
