#!/usr/bin/env python3
"""How close the dependence graph comes to simulation, beside fmt2 and fmt: stacks against the mean over all orders, and
the cycles of each set of real structures.

A checkpoint of each program is saved where its warm-up begins, in the middle of the program; `cyclescope validate`
restores and simulates it once for each of the 72 sets.  This script writes one section of docs/RESULTS.md; reproduce.py
writes the whole page.
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import checkpoints  # noqa: E402  (these are in the folder of this file)
import folder    # noqa: E402
import guest     # noqa: E402
import programs  # noqa: E402
import results_page  # noqa: E402
from sampling import mean, table  # noqa: E402

HEADING = "## The dependence graph against simulation"
CORES = ("eyerman2006", "modern", "ppc970")
METHODS = ("graph", "fmt2", "fmt")
GROUPS = ("the twenty-five", "further")
BALANCED = 1.4  # base, in multiples of 1/width, up to which `stack` does not warn of fmt and fmt2
STRUCTURES = ("l1i", "l2i", "itlb", "branch", "l1d", "l2d", "dtlb")


class Failed(Exception):
    """A run that failed or gave no result; the text says why."""


# ---- measuring


def simulate(options, suite, case, core):
    """The result of `validate` on the window of a program.  Where the program cannot be saved, each simulation runs it
    from its start."""
    at = max(0, int(case.minsns * 1000000 * options.skip) - options.graph_warmup)
    words = ("--core", core, "--warmup", options.graph_warmup, "--max-insns", options.graph_insns, "--jobs", 1)
    if at and case.program not in checkpoints.NEVER:
        runner = checkpoints.Interrupted(suite.sysroot, options.cyclescope, at, "validate", "--quiet", "--json={count}",
                                         *words)
        result = guest.run(runner, case, suite.sysroot, options.timeout)
        if result.status != 125 or not checkpoints.REASONS.search(result.outputs["stderr"].decode(errors="replace")):
            return result
    runner = guest.on_core(suite.sysroot, options.cyclescope, *words, "--skip", at, command="validate")
    return guest.run(runner, case, suite.sysroot, options.timeout)


def measure(options, suite, case, core):
    """The JSON of `validate`.  Reuses a saved one, or saves a new one."""
    kept = Path(options.keep) / f"{case.program}.{core}.graph.json" if options.keep else None
    if kept and kept.exists():
        return json.loads(kept.read_text())
    result = simulate(options, suite, case, core)
    if result.status != 0 or not result.report:
        raise Failed(f"status {result.status}: " + result.outputs["stderr"].decode(errors="replace")[-300:])
    report = json.loads(result.report)
    failed = [run["failed"] for run in report["runs"] if run["failed"]]
    if failed:
        raise Failed(f"{len(failed)} of {len(report['runs'])} simulations failed: {failed[0]}")
    if report["instructions"] < options.graph_insns:
        raise Failed(f"the program ended after {report['instructions']} instructions of the window")
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        fresh = kept.with_suffix(".new")
        fresh.write_text(result.report)
        fresh.rename(kept)
    errors = ", ".join(f"{m} {percent:.2f} %" for m, percent in errors_of(report).items())
    print(f"{case.program}: {core}: {errors}; {result.seconds:.0f} s", flush=True)
    return report


def run(options, suite, names=None):
    """By core and program: group and report; and problems."""
    cases = [(group, case) for group, further in zip(GROUPS, (False, True))
             for case in programs.load(options.size, further=further) if not names or case.program in names]
    jobs = [(core, group, case) for core in options.cores for group, case in cases]
    found, problems = {core: {} for core in options.cores}, {}

    def one(job):
        core, _, case = job
        try:
            return measure(options, suite, case, core)
        except Failed as problem:
            return problem

    with ThreadPoolExecutor(options.jobs) as pool:
        for (core, group, case), result in zip(jobs, pool.map(one, jobs)):
            if isinstance(result, dict):
                found[core][case.program] = group, result
            else:
                problems[f"{case.program} on {core}"] = result
                print(f"{case.program}: {core}: {result}", flush=True)
    return found, problems


# ---- evaluation


def errors_of(report):
    """The largest error of a component by method, in percent of the CPI.  Methods that the core lacks are left out."""
    return {m: report["max_error"][m] for m in METHODS if m in report["max_error"]}


def cycle_errors(report):
    """By set of real structures: predicted cycles against simulated ones, in percent.  Empty without a graph."""
    return {frozenset(run["real"]): 100 * (run["graph_cycles"] / run["cycles"] - 1)
            for run in report["runs"] if "graph_cycles" in run}


def furthest(values):
    """The item of a dictionary with the value that is furthest from 0."""
    return max(values.items(), key=lambda item: abs(item[1]))


def by_set(found):
    """By set of real structures, in the order of the runs: the error of each program."""
    errors = {}
    for program, (_, report) in found.items():
        for real, error in cycle_errors(report).items():
            errors.setdefault(real, {})[program] = error
    return errors


def set_text(real):
    return " ".join(c for c in STRUCTURES if c in real) or "none"


# ---- the section


def summary(found):
    for core, results in found.items():
        for group in GROUPS:
            reports = {program: report for program, (of, report) in results.items() if of == group}
            for m in METHODS:
                errors = {program: report["max_error"][m] for program, report in reports.items() if m in report["max_error"]}
                if errors:
                    program, worst = furthest(errors)
                    yield [f"{core}, {group}", m, str(len(errors)), f"{mean(errors.values()):.2f}", f"{worst:.2f}", program]


def balance_rows(found):
    """Errors of runs that dispatch at the core's width when nothing misses, and of those that do not."""
    reports = [report for results in found.values() for _, report in results.values()]
    for label, chosen in ((f"up to {BALANCED}", [r for r in reports if r["base_times_width"] <= BALANCED]),
                          (f"above {BALANCED}", [r for r in reports if r["base_times_width"] > BALANCED])):
        for m in METHODS:
            errors = [r["max_error"][m] for r in chosen if m in r["max_error"]]
            if errors:
                yield [label, m, str(len(errors)), f"{mean(errors):.2f}", f"{max(errors):.2f}"]


def program_rows(found):
    for program, (group, report) in found.items():
        row = [program, "" if group == GROUPS[0] else group, f"{report['cpi']:.3f}"]
        for m in METHODS:
            known = m in report["max_error"]
            row.append(f"{report['max_error'][m]:.2f} {report['max_error_component'][m]}" if known else "")
        errors = cycle_errors(report)
        if errors:
            real, worst = furthest(errors)
            row += [f"{mean(map(abs, errors.values())):.2f}", f"{worst:+.2f}", set_text(real)]
        else:
            row += ["", "", ""]
        yield [*row, f"{report['noise']['percent']:.2f}" if report["noise"] else "0"]


def set_rows(found):
    columns = [by_set(results) for results in found.values()]
    for real in dict.fromkeys(real for column in columns for real in column):
        row = [set_text(real)]
        for column in columns:
            if real in column:
                program, worst = furthest(column[real])
                row += [f"{mean(map(abs, column[real].values())):.2f}", f"{worst:+.2f} {program}"]
            else:
                row += ["", ""]
        yield row


def section(options, found, problems):
    """The section as lines of Markdown."""
    yield HEADING + "\n"
    yield (f"`suite/graph.py` saves each program at {100 * options.skip:.0f} % of its run (size {options.size}) and runs "
           f"`cyclescope validate` there: {options.graph_warmup / 1e6:g} million instructions on the core uncounted, then "
           f"{options.graph_insns / 1e6:g} million that are measured, simulated once for each of the 72 sets of real "
           "structures. *Error* is the largest error of a component against the mean over all orders, in percent of the "
           "CPI. *Cycles* compares the cycles that the graph predicts for a set of real structures with the simulated "
           "ones, in percent: the mean of the absolute values over sets or programs, and the worst. *Noise* is that of "
           "the reference ([MODEL.md](MODEL.md#the-reference)). No method was developed with the further programs.\n")
    for name, problem in problems.items():
        yield f"**{name}:** {problem}\n"
    found = {core: results for core, results in found.items() if results}
    yield from table(["core and programs", "method", "programs", "mean error", "worst error", "program"], summary(found))
    yield ("fmt and fmt2 take for granted that a core dispatches at its width when nothing misses. The same runs by their "
           "base, units included (by fmt2, in multiples of 1/width):\n")
    yield from table(["base × width", "method", "runs", "mean error", "worst error"], balance_rows(found))
    for core, results in found.items():
        yield f"### Programs on `{core}`\n"
        yield from table(["program", "", "CPI", *(f"{m}: error" for m in METHODS), "cycles: mean", "cycles: worst",
                          "real in the worst set", "noise"], program_rows(results))
    with_graph = {core: results for core, results in found.items() if by_set(results)}
    if with_graph:
        yield "### Cycles by set of real structures\n"
        yield from table(["real", *(f"{core}: {what}" for core in with_graph for what in ("mean", "worst"))],
                         set_rows(with_graph))


def add_options(parser):
    parser.add_argument("--graph-insns", type=int, default=1000000, metavar="N",
                        help="instructions on which the graph is compared with simulation")
    parser.add_argument("--graph-warmup", type=int, default=1000000, metavar="N",
                        help="uncounted instructions on the core before these")
    parser.add_argument("--cores", type=lambda names: names.split(","), default=CORES, metavar="CORE,CORE",
                        help="cores on which the graph is compared with simulation (" + ",".join(CORES) + ")")


def main():
    parser = results_page.parser(__doc__)
    add_options(parser)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="run these only, and print the section")
    parser.add_argument("--skip", type=float, default=0.5, help="share of the program before the window")
    parser.add_argument("--size", choices=programs.SIZES, default="big")
    options = parser.parse_args()
    suite = folder.Suite(options.suite)
    suite.prepare()
    found, problems = run(options, suite, options.programs)
    text = "\n".join(section(options, found, problems))
    if options.programs:
        print(text)
    else:
        results_page.write(options.output, text, HEADING)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
