#!/usr/bin/env python3
"""How accurate multiplexed counters and the stall breakdown are on suite programs, compared with the figures of Azimi,
Stumm and Wisniewski.

This script runs `cyclescope validate counters`, `validate stalls` and `validate overhead` on a window of each program
and writes one section of docs/RESULTS.md; reproduce.py writes the whole page.
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import folder    # noqa: E402  (these are in the folder of this file)
import guest     # noqa: E402
import programs  # noqa: E402
import results_page  # noqa: E402

HEADING = "## Multiplexed counters and stalls: tables 2, 3 and 4 of Azimi et al."
# Programs of the suite, and the paper's program that does the same kind of work, in the order of the paper's tables.
# bart-rof would be closer to mgrid than yorick-mesh.  But the runs of a `validate` share one working folder, and bart-rof
# does other work when it finds its output file there.
STANDS_FOR = {"gzip": "gzip", "cc1": "gcc", "perl-pod": "perlbmk", "hoichess": "crafty",
              "lapack": "applu", "yorick-mesh": "mgrid", "liblinear": "art", "raster3d": "mesa"}
# Events of table 2, and their names in the paper.
TABLE2 = {"instructions": "Instructions Retired", "loads": "L1 DCache Loads", "stores": "L1 DCache Stores",
          "l1d_misses": "L1 DCache Misses", "l1i_misses": "ICache Misses", "page_walks": "TLB Misses",
          "tlb_access_misses": "ERAT Misses", "l2d_misses": "L2 Cache Misses (Data)",
          "mispredictions": "Branch Mispredicts"}
PAPER_TABLE2 = {
    "instructions": "0.01 0.06 0 0 0 0.05 0 0.12", "loads": "0.09 0.04 0 0 0.02 0.07 0.03 0.22",
    "stores": "0.13 0.08 0 0 0 0.03 0 0.10", "l1d_misses": "1.21 0.05 0 0 0.02 0.07 0.07 0.05",
    "l1i_misses": "N/A 0.12 0.02 0.09 0.02 N/A 0.03 N/A", "page_walks": "N/A 0.11 N/A N/A 0.01 0.15 N/A N/A",
    "tlb_access_misses": "0.79 0.13 0.01 0.02 0.07 0.71 0.42 0.21",
    "l2d_misses": "0.24 0.01 0.07 0.02 0.02 0.06 N/A 0.17", "mispredictions": "0.36 0.05 0.01 0 0.02 0.18 0 0.13"}
# Sources of stalls, and their rows of table 3 in the paper: KL_S and KL_I of each program.
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
# Lists of ten and sixteen events, for four counters, one of which is the clock of the slices.
TEN = ("loads", "stores", "branches", "taken_branches", "mispredictions", "l1d_misses", "l1i_misses", "l2d_misses",
       "tlb_access_misses", "page_walks")
SIXTEEN = (*TEN, "calls", "integer_instructions", "rejects", "l1d_accesses", "completion_cycles", "rob_full_cycles")
SEEDS = 20  # replayed orders per run
UNLIMITED = 10 ** 18  # more instructions than any program has
SWEEP_PROGRAM = "gzip"
SWEEP_EVENTS = ("l1d_misses", "tlb_access_misses", "mispredictions")  # events of figures 5 and 6
PICTURE = Path("images") / "multiplexed.svg"  # figure 5, in the folder of the page
PICTURE_INSNS = 200000000
MOST_DISTANCE = 0.20
BARS = {"small distances, %": 90, "error of ten, %": 5, "error of sixteen, %": 10, "coverage, %": (93, 97),
        "overhead at 20 kHz, %": 2}


class Failed(Exception):
    """A run that failed or gave no result; the text says why."""


# ---- measuring


def validate(options, suite, case, what, insns, *arguments):
    """The JSON of `validate WHAT` on the window of a program."""
    runner = guest.on_core(suite.sysroot, options.cyclescope, "--jobs", 1, "--skip",
                           int(case.minsns * 1000000 * options.skip), "--warmup", options.sampling_warmup,
                           "--max-insns", insns, *arguments, command=f"validate {what}")
    result = guest.run(runner, case, suite.sysroot, options.timeout)
    if result.status != 0 or not result.report:
        raise Failed(f"validate {what}: status {result.status}: " +
                     result.outputs["stderr"].decode(errors="replace")[-300:])
    return json.loads(result.report)


def parts_of(options, case):
    """By name of a part: the validation, the number of instructions, and options."""
    four = ("--set", "pmu.counters=4", "--ratio", 0, "--seeds", SEEDS)
    sweep = ("--sweep",) if case.program == SWEEP_PROGRAM else ()

    def scaled(insns):
        return int(insns * options.sampling_scale)

    return {"table2": ("counters", options.rounds_insns or UNLIMITED, "--seeds", SEEDS, *sweep),
            "overhead": ("overhead", scaled(20000000)),
            "ten": ("counters", scaled(100000000), "-e", ",".join(TEN), *four),
            "sixteen": ("counters", scaled(100000000), "-e", ",".join(SIXTEEN), *four),
            "stalls": ("stalls", scaled(40000000))}


def measure(options, suite, case):
    """The results of all parts of a program.  Saved results are reused."""
    found = {}
    for name, arguments in parts_of(options, case).items():
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


def draw(options, suite, case):
    """Draws estimates and full counts over time.  A saved picture is reused."""
    to = (options.output.parent / PICTURE).resolve()
    if options.keep and to.exists():
        return
    to.parent.mkdir(parents=True, exist_ok=True)
    events = ",".join(("instructions", *SWEEP_EVENTS))
    validate(options, suite, case, "counters", PICTURE_INSNS, "-e", events, "--svg", to)


def run(options, suite):
    """Measures all programs, several at a time.  Results by program, and problems by program."""
    found, problems = {}, {}
    cases = {case.program: case for case in programs.load(options.size, STANDS_FOR)}

    def one(program):
        try:
            if program == SWEEP_PROGRAM:
                draw(options, suite, cases[program])
            return measure(options, suite, cases[program])
        except Failed as problem:
            return problem

    with ThreadPoolExecutor(options.jobs) as pool:
        for program, result in zip(STANDS_FOR, pool.map(one, STANDS_FOR)):
            (problems if isinstance(result, Failed) else found)[program] = result
            if isinstance(result, Failed):
                print(f"{program}: failed: {result}", flush=True)
    return found, problems | dict(bars_missed(found))


# ---- evaluation


def mean(numbers):
    numbers = list(numbers)
    return sum(numbers) / len(numbers) if numbers else float("nan")


def table2_entries(found, way):
    """(program, row, distance) of every entry of table 2 that is not N/A."""
    for program, parts in found.items():
        for row in parts["table2"]["counters"]:
            if row[way]["distance"] is not None:
                yield program, row, row[way]["distance"]


def totals(found, part, way, rare=False):
    """(estimate, replayed orders) of every event of all programs that occurred; rare events only if `rare`."""
    for parts in found.values():
        for row in parts[part]["counters"]:
            if row["true_value"] and (rare or not row["rare"]):
                yield row[way], parts[part]["multiplexing"]["replayed_orders"]


def error(found, part, way, rare=False):
    """Mean relative error of totals in percent: in the runs of the sampler, and in all replays."""
    rows = list(totals(found, part, way, rare))
    return mean(row["error_percent"] for row, _ in rows), mean(row["replayed"]["error_percent"] for row, _ in rows)


def coverage(found, way, rare=False):
    """Number of cases, and percentage whose interval contains the true total: for the sampler, for replays."""
    rows = [pair for part in ("ten", "sixteen") for pair in totals(found, part, way, rare)]
    real, replays = len(rows), sum(orders for _, orders in rows)
    return (real, 100 * sum(row["holds"] for row, _ in rows) / max(1, real),
            replays, 100 * sum(row["replayed"]["held"] for row, _ in rows) / max(1, replays))


def overheads(found):
    """By frequency: the overhead of each program in percent."""
    by = {}
    for parts in found.values():
        for row in parts["overhead"]["overhead"]:
            by.setdefault(row["khz"], []).append(row["percent"])
    return by


def paper_overheads(found):
    return {row["khz"]: row["paper_percent"] for parts in found.values() for row in parts["overhead"]["overhead"]}


def bars(found):
    """(name, result, target, whether it is met) of each bar; the last is None for a row that is only a comparison."""
    for way, judged in (("regression", True), ("linear", False)):
        entries = [distance for _, _, distance in table2_entries(found, way)]
        small = 100 * mean(distance < MOST_DISTANCE for distance in entries)
        yield (f"entries of table 2 under {MOST_DISTANCE:.2f}, {way}", f"{small:.1f} % of {len(entries)}",
               *(("at least 90 %", small >= BARS["small distances, %"]) if judged else
                 ("the paper's estimator, for comparison", None)))
    for part, label in (("ten", "ten events on four counters"), ("sixteen", "sixteen on four")):
        value, most = error(found, part, "regression")[0], BARS[f"error of {part}, %"]
        yield f"mean relative error of totals, {label}", f"{value:.2f} %", f"under {most} %", value < most
    low, high = BARS["coverage, %"]
    real, held, replays, replayed = coverage(found, "regression")
    all_held = (real * held + replays * replayed) / max(1, real + replays)
    yield (f"95 % intervals that contain the true total, of {real + replays} cases", f"{all_held:.1f} %",
           f"{low} to {high} %", low <= all_held <= high)
    by, paper = overheads(found), paper_overheads(found)
    yield ("largest overhead of a program at 20 kHz", f"{max(by[20]):.2f} %", "at most 2 %",
           max(by[20]) <= BARS["overhead at 20 kHz, %"])
    yield ("frequencies at which the average overhead is below the paper's",
           f"{sum(mean(by[k]) < paper[k] for k in by)} of {len(by)}", "all", all(mean(by[k]) < paper[k] for k in by))


def bars_missed(found):
    if len(found) == len(STANDS_FOR):
        for name, value, target, met in bars(found):
            if met is False:
                yield name, f"{value}; target: {target}"


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
    """The paper's numbers of the programs that were measured."""
    words = text.split()
    order = list(STANDS_FOR)
    return [" / ".join(words[width * order.index(p):width * order.index(p) + width]) for p in found]


def table2(options, found):
    yield "### Distance of multiplexed counts from full ones (table 2)\n"
    rounds = [parts["table2"]["multiplexing"]["rounds"] for parts in found.values()]
    window = (f"up to {options.rounds_insns // 1000000} million instructions of each program"
              if options.rounds_insns else "the rest of each program")
    yield ("Nine events are counted in two groups on the eight counters of `ppc970`. A slice has 200,000 cycles, a "
           f"round 2 million cycles, and each group has one slice in ten. The window is {window}: {min(rounds)} to "
           f"{max(rounds)} rounds (the paper has 3000). The distance is the Kullback-Leibler distance of the estimated "
           "counts of all rounds from the true ones.\n")
    yield ("A cell has three distances: linear scaling, as in the paper / our estimator `regression` / the paper's "
           "value for its own program. 0 is less than 0.01; N/A is an event rarer than one in 10,000 cycles. TLB "
           "misses are `page_walks`; ERAT misses are `tlb_access_misses`, the misses of the first-level TLBs.\n")
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
        yield (f"The next table has the entries of {MOST_DISTANCE:.2f} and more. *Busiest* is the mean share of the "
               "events of a round that fall into the busiest of its ten slices, in percent; 10 would be an even "
               "distribution. The larger it is, the less one slice says about the other nine. Where most rounds are "
               "even, a few uneven rounds cause the distance: a round whose slice misses a burst adds its share of "
               "all events times the logarithm of the factor by which its estimate is off. *Replayed* is the mean of "
               f"{SEEDS} other orders of the same run.\n")
        yield from table(["", "cycles per event", "busiest, %", "linear", "linear, replayed", "regression",
                          "regression, replayed"], large)


def figure5(found):
    if SWEEP_PROGRAM not in found:
        return
    yield f"### Estimates and full counts over time (figure 5), {SWEEP_PROGRAM}\n"
    events = ",".join(("instructions", *SWEEP_EVENTS))
    yield (f"`validate counters -e {events} --svg FILE` draws the counts of all rounds, here of {PICTURE_INSNS // 1000000} "
           "million instructions. Linear scaling sees one slice of a round and takes it for the whole; `regression` "
           "looks at the slices of other rounds, and at the instructions that each slice retired.\n")
    yield f"![Estimates and full counts of {SWEEP_PROGRAM} over time]({PICTURE})\n"


def figure6(found):
    program = found.get(SWEEP_PROGRAM)
    if not program:
        return
    yield f"### Granularity and ratio (figure 6), {SWEEP_PROGRAM}\n"
    yield ("An additional run with slices of 20,000 cycles has full counts in every slice, and is replayed: longer "
           "slices are sums of its slices, and other orders and ratios select other slices. The distances are those "
           "of linear scaling, as the mean of 20 orders. Intervals are rounds, so they are fewer and longer in the "
           "columns to the right.\n")
    points = program["table2"]["sweep"]
    for title, key, part in (("ratio 10, by granularity in cycles", "slice", points[:5]),
                             ("granularity 500,000, by ratio", "ratio", points[5:])):
        rows = [[event, *(distance_text(next(d["linear"] for d in p["distance"] if d["event"] == event)) for p in part)]
                for event in SWEEP_EVENTS]
        yield from table([title, *(f"{p[key]:,} ({p['rounds']} rounds)" for p in part)], rows)


def totals_section(found):
    yield "### Totals and their 95 % intervals\n"
    yield ("The core has four counters here. One of them is the clock of the slices, so a group has three events: ten "
           "events make four groups, sixteen events six. Slices have 200,000 cycles. *Sampler* is one run for each "
           f"program and list of events; *replayed* is the same run in {SEEDS} other orders. The table has the "
           "relative errors of totals in percent, as means over programs and events: first without events rarer than "
           "one in 10,000 cycles, then with them.\n")
    rows = []
    for part, label in (("ten", "ten events"), ("sixteen", "sixteen events")):
        for way in ("linear", "regression"):
            cells = [f"{value:.2f}" for rare in (False, True) for value in error(found, part, way, rare)]
            rows.append([f"{label}, {way}", *cells])
    yield from table(["", "sampler", "replayed", "sampler, with rare events", "replayed, with rare events"], rows)
    yield "Cases (event, program, order) whose 95 % interval contains the true total:\n"
    rows = []
    for rare, label in ((False, "without rare events"), (True, "with rare events")):
        for way in ("linear", "regression"):
            real, held, replays, replayed = coverage(found, way, rare)
            rows.append([f"{way}, {label}", str(real), f"{held:.1f}", str(replays), f"{replayed:.1f}"])
    yield from table(["", "sampler: cases", "sampler: contained, %", "replayed: cases", "replayed: contained, %"], rows)


def table3(found):
    yield "### Distance of stalls between cores with less and less overlap (table 3)\n"
    intervals = [parts["stalls"]["intervals"] for parts in found.values()]
    yield (f"{min(intervals)} to {max(intervals)} intervals of 200,000 user-mode instructions, with full counts. Each "
           "cell has the distance between the stalls of `ppc970` and those of a core with one instruction per bundle "
           "/ and those of a core that executes one instruction after the other in order; then the paper's two "
           "values. N/A is less than one cycle of these stalls in 10,000 instructions.\n")
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
    yield ("The cycles that the program takes longer with the sampler, in percent of the cycles without it. A sample "
           "is the end of a slice: machine-mode firmware reads the counters, writes a record and programs the next "
           "group. Nine events are counted in two groups. Frequencies are samples per second of the program's own "
           "time at 1.8 GHz. The tool computes the estimates from the records, outside the simulated core; the "
           "paper's sampler computes them in the kernel.\n")
    by, paper = overheads(found), paper_overheads(found)
    rows = [[program, *(f"{row['percent']:.2f}" for row in parts["overhead"]["overhead"])]
            for program, parts in found.items()]
    rows.append(["**average**", *(f"**{mean(values):.2f}**" for values in by.values())])
    rows.append(["the paper's", *(f"{paper[khz]:g}" for khz in by)])
    costs = [[row["cycles_per_sample"] for row in parts["overhead"]["overhead"]] for parts in found.values()]
    rows.append(["cycles per sample, average", *(f"{mean(cost):.0f}" for cost in zip(*costs))])
    yield from table(["kHz", *(f"{khz}" for khz in by)], rows)


def section(options, found, problems):
    """The section as lines of Markdown."""
    yield HEADING + "\n"
    yield ("*The paper* in this section is R. Azimi, M. Stumm and R. W. Wisniewski, *Online performance analysis by "
           "statistical sampling of microprocessor performance counters* (ICS 2005). Four integer and four "
           "floating-point programs of the suite run on the core `ppc970`, each in place of the program of SPEC2000 "
           "in parentheses. Windows are from the middle of the program as above, after "
           f"{options.sampling_warmup // 1000000} million instructions of warm-up. The order of groups is random in "
           "every round. Programs and instruction set are not the paper's: compare the kind of result, not the "
           "values.\n")
    for name, problem in problems.items():
        yield f"**{name}:** {problem}\n"
    if not found:
        return
    yield from table(["", "measured", "target", "met"],
                     [[name, value, target, {True: "yes", False: "**no**", None: ""}[met]]
                      for name, value, target, met in bars(found)])
    yield from table2(options, found)
    yield from figure5(found)
    yield from figure6(found)
    yield from totals_section(found)
    yield from table3(found)
    yield from table4(found)


def add_options(parser):
    parser.add_argument("--rounds-insns", type=int, default=400000000,
                        help="most instructions of the windows of table 2 and figure 6 (400 million; 0: to the end of "
                        "the program)")
    parser.add_argument("--sampling-scale", type=float, default=0.4,
                        help="factor for the lengths of the other windows of multiplexed counters and stalls")
    parser.add_argument("--sampling-warmup", type=int, default=5000000,
                        help="uncounted instructions on the core before these windows")


def main():
    parser = results_page.parser(__doc__)
    add_options(parser)
    results_page.add_window_options(parser)
    options = parser.parse_args()
    suite = folder.Suite(options.suite)
    suite.prepare()
    found, problems = run(options, suite)
    results_page.write(options.output, "\n".join(section(options, found, problems)), HEADING)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
