#!/usr/bin/env python3
"""CPI stacks of the suite's integer programs by every method, beside the simulation reference and the paper's figures;
the reference in all orders, by orders.py; how good profiles are, by profiles.py; how good counts by turns are, by sampling.py; and how well parts of a run stand for
all of it, by phases.py.

Runs `cyclescope validate` on a window of each program and writes a page of Markdown.  Programs that took part are
named, and so is everything that failed.
"""

import argparse
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import folder    # noqa: E402  (these seven lie beside this file)
import guest     # noqa: E402
import orders    # noqa: E402
import phases    # noqa: E402
import profiles  # noqa: E402
import programs  # noqa: E402
import sampling  # noqa: E402

HERE = Path(__file__).resolve().parent
# The suite's integer programs, and whose work of SPECint2000 they do (eon's are floating-point programs here).
STANDS_FOR = {"gzip": "gzip", "nextpnr": "vpr", "cc1": "gcc", "lemon": "mcf", "hoichess": "crafty", "linkparser": "parser",
              "perl-pod": "perlbmk", "perl-tidy": "perlbmk", "gap": "gap", "sqlite": "vortex", "bzip2": "bzip2",
              "arachne": "twolf", "python": None, "gawk": None, "stockfish": "crafty"}
METHODS = ("naive", "naive_nonspec", "power5", "fmt", "sfmt", "fmt2")
REFERENCES = ("simulation", "simulation_inverse")
COMPONENTS = ("base", "l1i", "l2i", "itlb", "l1d", "l2d", "dtlb", "branch")  # fu is part of the reference's base
# Table 1 of the paper: percent of cycles in which front-end and long back-end penalties overlap.
PAPER_OVERLAP = {"bzip2": 0.12, "crafty": 1.03, "eon": 0.01, "gap": 5.40, "gcc": 0.93, "gzip": 0.04, "mcf": 0.02,
                 "parser": 0.43, "perlbmk": 1.00, "twolf": 4.97, "vortex": 3.10, "vpr": 0.89}
PAPER_ERROR = {"fmt": 2.5, "sfmt": 2.7}  # average maximum error, figure 12


class Failed(Exception):
    """A run that did not give what it should; the text says what."""


def measure(options, suite, case):
    """What `validate` says about a program."""
    runner = guest.on_core(suite.sysroot, options.cyclescope, "--jobs", options.jobs, "--core", options.core, "--skip",
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
    """Without units, which are part of the base."""
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
    head = ["program", "CPI", *METHODS, "fmt, from", "fmt, inverse order", "fmt2, inverse order"]
    rows = [[name, f"{r['cpi']:.3f}", *(f"{r['max_error'][m]:.2f}" for m in METHODS), r["max_error_component"]["fmt"],
             f"{r['max_error_inverse']['fmt']:.2f}", f"{r['max_error_inverse']['fmt2']:.2f}"] for name, r in found.items()]
    for label, pick in (("average", mean), ("largest", max)):
        rows.append([f"**{label}**", "", *(f"**{pick(r['max_error'][m] for r in found.values()):.2f}**" for m in METHODS), "",
                     *(f"**{pick(r['max_error_inverse'][m] for r in found.values()):.2f}**" for m in ("fmt", "fmt2"))])
    rows.append(["the paper's average", "", "over 30 on several", "", "over 30 on several",
                 str(PAPER_ERROR["fmt"]), str(PAPER_ERROR["sfmt"]), "", "", "", ""])
    return table(head, rows)


def stacks(found):
    for name, r in found.items():
        yield f"### {name}: CPI {r['cpi']:.4f}\n"
        rows = []
        for kind in (*REFERENCES, *METHODS):
            stack = folded(r["stacks"][kind])
            units = r["stacks"][kind].get("fu")
            rows.append([kind, *(f"{stack[c]:.4f}" for c in COMPONENTS), "" if units is None else f"{units:.4f}",
                         f"{sum(stack.values()):.4f}"])
        yield from table(["", *COMPONENTS, "of base, fu", "sum"], rows)


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
    yield (f"Written by `make reproduce` (`suite/reproduce.py`): {len(found)} integer programs of the suite, "
           f"{options.insns // 1000000} million instructions each on the core `{options.core}`, after {100 * options.skip:.0f} % of "
           f"the program, functionally, and {options.warmup // 1000000} million on the core, uncounted. Each was simulated "
           "twelve times by `cyclescope validate`. What the methods count is in MODEL.md.\n")
    for name, problem in problems.items():
        yield f"**{name} failed:** {problem}\n"
    yield "## Largest error of a component, in percent of the CPI\n"
    yield ("Against the simulation reference in the paper's order; the last columns against the inverse order. Stalls of "
           "units count as base, as in the reference. `fmt, from` is the component that has fmt's largest error.\n")
    yield from errors(found)
    yield remarks
    if in_all_orders:
        yield from orders.section(in_all_orders)
    yield "## Penalties per event, in cycles\n"
    yield "The paper's figures 4, 6 and 9. Where there are fewer than 1000 events, no average is given.\n"
    yield from penalties(found)
    yield "## Cycles in which front-end and long back-end penalties overlap\n"
    yield "The paper's table 1. Programs of the same kind are compared, not the same programs.\n"
    yield from overlaps(found)
    yield "## Stacks, in CPI\n"
    yield from stacks(found)


def report(options, found, in_all_orders, problems, more=()):
    remarks = (HERE / "results_remarks.md").read_text() if options.core == "eyerman2006" else ""
    Path(options.output).write_text("\n".join([*page(options, found, in_all_orders, problems, remarks), *more]).rstrip() + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=list(STANDS_FOR), metavar="PROGRAM", help="default: " + " ".join(STANDS_FOR))
    parser.add_argument("--core", default="eyerman2006")
    parser.add_argument("--insns", type=int, default=100000000, help="instructions of the window")
    parser.add_argument("--warmup", type=int, default=20000000, help="instructions on the core before it")
    parser.add_argument("--skip", type=float, default=0.5, help="share of the program that is skipped before")
    parser.add_argument("--size", choices=("small", "big"), default="big")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=float, default=7200, help="seconds for a program")
    parser.add_argument("--output", default=HERE.parent / "docs" / "RESULTS.md", help="the page")
    parser.add_argument("--keep", metavar="FOLDER", help="keep each program's JSON there, and take what is there already")
    parser.add_argument("--cyclescope", type=lambda p: Path(p).resolve(), default=HERE.parent / "build" / "cyclescope")
    parser.add_argument("--suite", help="the suite's folder")
    sampling.add_options(parser)
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
    report(options, found, in_all_orders, problems, more)
    parts, phase_problems = phases.run(options, suite)
    report(options, found, in_all_orders, problems, [*more, *phases.section(options, parts, phase_problems)])
    sys.exit(bool(problems or profile_problems or sampling_problems or phase_problems))


if __name__ == "__main__":
    main()
