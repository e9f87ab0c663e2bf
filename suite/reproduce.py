#!/usr/bin/env python3
"""Writes docs/RESULTS.md: how accurate Cyclescope's figures are on programs of the suite.

This script runs `cyclescope validate` on a window of each integer program and compares the CPI stacks of every method
with the simulation reference and with the figures of the paper.  Other scripts add sections: orders.py (the reference
in all orders), profiles.py (profiles), sampling.py (multiplexed counters), intervals.py (their intervals), phases.py
(sampled runs), graph.py (the dependence graph) and what_if.py (its what-ifs).  The page names every program that was measured and every run that
failed.
"""

import argparse
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import folder    # noqa: E402  (these ten are in the folder of this file)
import graph     # noqa: E402
import guest     # noqa: E402
import orders    # noqa: E402
import intervals  # noqa: E402
import phases    # noqa: E402
import profiles  # noqa: E402
import programs  # noqa: E402
import sampling  # noqa: E402
import what_if   # noqa: E402

HERE = Path(__file__).resolve().parent
# The suite's integer programs, and the program of SPECint2000 that does the same kind of work.  252.eon is missing: its
# counterparts in the suite are floating-point programs.
STANDS_FOR = {"gzip": "gzip", "nextpnr": "vpr", "cc1": "gcc", "lemon": "mcf", "hoichess": "crafty", "linkparser": "parser",
              "perl-pod": "perlbmk", "perl-tidy": "perlbmk", "gap": "gap", "sqlite": "vortex", "bzip2": "bzip2",
              "arachne": "twolf", "python": None, "gawk": None, "stockfish": "crafty"}
METHODS = ("naive", "naive_nonspec", "power5", "fmt", "sfmt", "fmt2")
COMPONENTS = ("base", "l1i", "l2i", "itlb", "l1d", "l2d", "dtlb", "branch")  # the reference counts fu as base
# Table 1 of the paper: percent of cycles in which front-end and long back-end penalties overlap.
PAPER_OVERLAP = {"bzip2": 0.12, "crafty": 1.03, "eon": 0.01, "gap": 5.40, "gcc": 0.93, "gzip": 0.04, "mcf": 0.02,
                 "parser": 0.43, "perlbmk": 1.00, "twolf": 4.97, "vortex": 3.10, "vpr": 0.89}
PAPER_ERROR = {"fmt": 2.5, "sfmt": 2.7}  # average of the largest errors, figure 12


class Failed(Exception):
    """A run that failed or gave no result; the text says why."""


def measure(options, suite, case):
    """The JSON of `validate --orders paper` on the window of a program."""
    runner = guest.on_core(suite.sysroot, options.cyclescope, "--orders", "paper", "--jobs", options.jobs, "--core", options.core, "--skip",
                           int(case.minsns * 1000000 * options.skip), "--warmup", options.warmup, "--max-insns",
                           options.insns, command="validate")
    result = guest.run(runner, case, suite.sysroot, options.timeout)
    if result.status != 0 or not result.report:
        raise Failed(f"status {result.status}: " + result.outputs["stderr"].decode(errors="replace")[-300:])
    validation = json.loads(result.report)
    failed = [run for run in validation["runs"] if run["failed"]]
    if failed:
        raise Failed("; ".join(f"run with {' '.join(run['real'])} real: {run['failed']}" for run in failed))
    return validation


# ---- the page


def folded(stack):
    """The stack with `fu` added to the base, as in the reference."""
    return {name: stack[name] + (stack.get("fu", 0) if name == "base" else 0) for name in COMPONENTS}


def mean(numbers):
    numbers = list(numbers)
    return sum(numbers) / len(numbers)


def table(head, rows):
    yield "| " + " | ".join(head) + " |"
    yield "|---" + "|--:" * (len(head) - 1) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def errors(found):
    head = ["program", "CPI", *METHODS, "fmt, worst component"]
    rows = [[name, f"{r['cpi']:.3f}", *(f"{r['max_error'][m]:.2f}" for m in METHODS), r["max_error_component"]["fmt"]]
            for name, r in found.items()]
    for label, pick in (("average", mean), ("largest", max)):
        rows.append([f"**{label}**", "", *(f"**{pick(r['max_error'][m] for r in found.values()):.2f}**" for m in METHODS), ""])
    rows.append(["the paper's average", "", "over 30 on several", "", "over 30 on several",
                 str(PAPER_ERROR["fmt"]), str(PAPER_ERROR["sfmt"]), "", ""])
    return table(head, rows)


def stacks(found):
    for name, r in found.items():
        yield f"### {name}: CPI {r['cpi']:.4f}\n"
        rows = []
        for kind in ("simulation", *METHODS):
            stack = folded(r["stacks"][kind])
            units = r["stacks"][kind].get("fu")
            rows.append([kind, *(f"{stack[c]:.4f}" for c in COMPONENTS), "" if units is None else f"{units:.4f}",
                         f"{sum(stack.values()):.4f}"])
        yield from table(["", *COMPONENTS, "fu (in base)", "sum"], rows)


def penalties(found):
    head = ["program", *(f"{event}: {way}" for event in ("L1 I-miss", "misprediction", "L2 D-miss")
                         for way in ("interval analysis", "naive", "power5"))]
    rows = []
    for name, r in found.items():
        cells = []
        for event in ("l1i", "branch", "l2d"):
            p = r["penalties"][event]
            cells += [f"{p[way]:.1f}" if p["events"] >= 1000 else "rare" for way in ("interval_analysis", "naive", "power5")]
        rows.append([name, *cells])
    return table(head, rows)


def overlaps(found):
    rows = []
    for name, r in found.items():
        stands = STANDS_FOR.get(name)
        paper = f"{PAPER_OVERLAP[stands]:.2f} ({stands})" if stands else ""
        rows.append([name, f"{r['overlap_percent']:.2f}", paper])
    return table(["program", "% of cycles", "the paper's program"], rows)


def page(options, found, in_all_orders, problems, remarks):
    yield "# Results\n"
    yield ("`make reproduce` (`suite/reproduce.py`) writes this page. The sections up to *Stacks, in CPI* compare the "
           f"CPI stacks of all methods with the simulation reference, on {len(found)} integer programs of the suite "
           f"and the core `{options.core}`. The first {100 * options.skip:.0f} % of each program run functionally, the "
           f"next {options.warmup // 1000000} million instructions run on the core uncounted, and the following "
           f"{options.insns // 1000000} million are measured. `cyclescope validate --orders paper` simulates each program "
           "eight times.\n")
    yield ("[MODEL.md](MODEL.md) explains the methods and the reference. *The paper* is S. Eyerman, L. Eeckhout, T. "
           "Karkhanis and J. E. Smith, *A performance counter architecture for computing accurate CPI components* "
           "(ASPLOS 2006), unless a section names another one.\n")
    for name, problem in problems.items():
        yield f"**{name} failed:** {problem}\n"
    yield "## Largest error of a component, in percent of the CPI\n"
    yield ("The reference is the simulation in the paper's order; the next section has all orders. Stalls of functional units count as base, as in the reference. *fmt, worst component* is the component in "
           "which fmt has its largest error.\n")
    yield from errors(found)
    yield remarks
    if in_all_orders:
        yield from orders.section(in_all_orders)
    yield "## Penalties per event, in cycles\n"
    yield ("Figures 4, 6 and 9 of the paper. Events are those of the right path; misses that share a line are one event. "
           "*rare*: fewer than 1000 events, too few for an average.\n")
    yield from penalties(found)
    yield "## Cycles in which front-end and long back-end penalties overlap\n"
    yield ("Table 1 of the paper. The last column is the paper's value for the program in parentheses, which does the "
           "same kind of work; it is not the same program.\n")
    yield from overlaps(found)
    yield "## Stacks, in CPI\n"
    yield ("The components add up to *sum*. *fu (in base)* is the part of the base that the method charges to "
           "functional units.\n")
    yield from stacks(found)


def report(options, found, in_all_orders, problems, more=()):
    remarks = (HERE / "results_remarks.md").read_text() if options.core == "eyerman2006" else ""
    Path(options.output).write_text("\n".join([*page(options, found, in_all_orders, problems, remarks), *more]).rstrip() + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=list(STANDS_FOR), metavar="PROGRAM", help="default: " + " ".join(STANDS_FOR))
    parser.add_argument("--core", default="eyerman2006")
    parser.add_argument("--insns", type=int, default=100000000, help="instructions that are measured")
    parser.add_argument("--warmup", type=int, default=20000000,
                        help="uncounted instructions on the core before the measured ones")
    parser.add_argument("--skip", type=float, default=0.5,
                        help="share of the program that runs functionally before the warm-up")
    parser.add_argument("--size", choices=("small", "big"), default="big")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="simulations at a time")
    parser.add_argument("--timeout", type=float, default=7200, help="time limit of a run in seconds")
    parser.add_argument("--output", default=HERE.parent / "docs" / "RESULTS.md", help="file to write")
    parser.add_argument("--keep", metavar="FOLDER", help="save results in FOLDER, and reuse the results that are there")
    parser.add_argument("--cyclescope", type=lambda p: Path(p).resolve(), default=HERE.parent / "build" / "cyclescope")
    parser.add_argument("--suite", help="folder of the suite, as for run.py")
    parser.set_defaults(strides=True)  # of phases.py
    sampling.add_options(parser)
    intervals.add_options(parser)
    graph.add_options(parser)
    what_if.add_options(parser)
    options = parser.parse_args()
    suite = folder.Suite(options.suite)
    suite.prepare()
    found, in_all_orders, problems = {}, {}, {}
    for case in programs.load(options.size, options.programs):
        kept = Path(options.keep) / f"{case.program}.json" if options.keep else None
        try:
            if kept and kept.exists():
                found[case.program] = json.loads(kept.read_text())
            else:
                found[case.program] = measure(options, suite, case)
                if kept:
                    kept.parent.mkdir(parents=True, exist_ok=True)
                    kept.write_text(json.dumps(found[case.program]))
            in_all_orders[case.program] = orders.measure(options, suite, case)
        except (Failed, orders.Failed) as problem:
            problems[case.program] = problem
        r = found.get(case.program)
        print(f"{case.program}: " + (f"CPI {r['cpi']:.3f}, fmt {r['max_error']['fmt']:.2f} %, fmt2 {r['max_error']['fmt2']:.2f} %"
                                     if r else f"failed: {problems[case.program]}"), flush=True)
        if found:
            report(options, found, in_all_orders, problems)
    sampled, profile_problems = profiles.run(options, suite)
    more = [*profiles.section(options, sampled, profile_problems)]
    report(options, found, in_all_orders, problems, more)
    counted, sampling_problems = sampling.run(options, suite)
    more += sampling.section(options, counted, sampling_problems)
    intervals_found, interval_problems = intervals.run(options, suite)
    more += intervals.section(options, intervals_found, interval_problems)
    report(options, found, in_all_orders, problems, more)
    parts, phase_problems = phases.run(options, suite)
    more += phases.section(options, parts, phase_problems)
    report(options, found, in_all_orders, problems, more)
    graph_found, graph_problems = graph.run(options, suite)
    more += graph.section(options, graph_found, graph_problems)
    report(options, found, in_all_orders, problems, more)
    what_ifs, what_if_problems = what_if.run(options, suite)
    more += what_if.section(options, what_ifs, what_if_problems)
    report(options, found, in_all_orders, problems, more)
    sys.exit(bool(problems or profile_problems or sampling_problems or interval_problems or phase_problems or
                  graph_problems or what_if_problems))


if __name__ == "__main__":
    main()
