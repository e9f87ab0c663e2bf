#!/usr/bin/env python3
"""How close the dependence graph comes to simulation, beside fmt2 and fmt: stacks against the mean over all orders, and
the cycles of each set of real structures.

A checkpoint of each program is saved where its warm-up begins, in the middle of the program; `cyclescope validate`
restores and simulates it once for each of the 72 sets.  This script writes one section of docs/RESULTS.md; reproduce.py
writes the whole page.
"""

import itertools
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import results_page  # noqa: E402  (these are in the folder of this file)
import window_runs  # noqa: E402
from sampling import mean, table  # noqa: E402
from window_runs import GROUPS  # noqa: E402

HEADING = "## The dependence graph against simulation"
CORES = ("eyerman2006", "modern", "ppc970")
METHODS = ("graph", "fmt2", "fmt")
BALANCED = 1.4  # base, in multiples of 1/width, up to which `stack` does not warn of fmt and fmt2
STRUCTURES = ("l1i", "l2i", "itlb", "branch", "l1d", "l2d", "dtlb")
CHANGED = "led to a change"
LED_TO_A_CHANGE = ("z3", "dot")  # further programs whose errors led to a change of the graph
LARGE_PERCENT = 1  # of the CPI: the sign of an interaction that is larger should be right


def runs_of(options):
    return window_runs.WindowRuns(
        name="graph", subject=(), words=(), runs="runs", insns=options.graph_insns, warmup=options.graph_warmup, cores=options.cores,
        summary=lambda report: ", ".join(f"{m} {percent:.2f} %" for m, percent in errors_of(report).items()))


def run(options, suite, names=None):
    """By core and program: group and report; and problems."""
    found, problems = runs_of(options).measure_all(options, suite, names)
    for results in found.values():
        for program in LED_TO_A_CHANGE:
            if program in results:
                results[program] = CHANGED, results[program][1]
    return found, problems


# ---- evaluation


def errors_of(report):
    """The largest error of a component by method, in percent of the CPI.  Methods that the core lacks are left out."""
    return {m: report["max_error"][m] for m in METHODS if m in report["max_error"]}


def cycle_errors(report):
    """By set of real structures: predicted cycles against simulated ones, in percent.  Empty without a graph."""
    return {frozenset(run["real"]): 100 * (run["graph_cycles"] / run["cycles"] - 1)
            for run in report["runs"] if "graph_cycles" in run}


def perfect_with(structure):
    """What is perfect if a structure is: a perfect first cache makes the second cache of its side perfect."""
    return {structure, structure.replace("1", "2")}


def interactions(report):
    """By pair of structures: the simulated interaction (src/stacks/interactions.h) and the predicted one, in percent of the
    simulated cycles.  Empty without a graph; pairs whose sets were not simulated are left out."""
    runs = {frozenset(run["real"]): (run["cycles"], run["graph_cycles"]) for run in report["runs"] if "graph_cycles" in run}
    everything, found = frozenset(STRUCTURES), {}
    for first, second in itertools.combinations(STRUCTURES, 2):
        a, b = perfect_with(first), perfect_with(second)
        left = [runs.get(everything - perfect) for perfect in (set(), a, b, a | b)]
        if a & b or None in left:
            continue
        found[first, second] = tuple(100 * (alone + other - both - real) / left[0][0] for real, alone, other, both in zip(*left))
    return found


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


def interaction_rows(found):
    """By core: interactions of more than LARGE_PERCENT in simulation, those whose predicted sign is right, and errors."""
    for core, results in found.items():
        for group in (*GROUPS, CHANGED):
            pairs = {f"{program}: {' '.join(pair)}": values for program, (of, report) in results.items() if of == group
                     for pair, values in interactions(report).items() if abs(values[0]) > LARGE_PERCENT}
            if pairs:
                right = sum(simulated * predicted > 0 for simulated, predicted in pairs.values())
                where, worst = furthest({name: predicted - simulated for name, (simulated, predicted) in pairs.items()})
                error = mean(abs(predicted - simulated) for simulated, predicted in pairs.values())
                yield [f"{core}, {group}", str(len(pairs)), str(right), f"{error:.2f}", f"{worst:+.2f}", where]


def set_text(real):
    return " ".join(c for c in STRUCTURES if c in real) or "none"


# ---- the section


def summary(found):
    for core, results in found.items():
        for group in (*GROUPS, CHANGED):
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
           "the reference ([MODEL.md](MODEL.md#the-reference)). Methods were developed with the twenty-five programs of the suite, on "
           "windows of their small size; the further programs had no part in it, except those whose errors led to a change: "
           f"{', '.join(LED_TO_A_CHANGE)}.\n")
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
    rows = list(interaction_rows(with_graph))
    if rows:
        yield "### Interactions of two structures\n"
        yield (f"Pairs whose simulated interaction is above {LARGE_PERCENT} % of the cycles: how many of them have the right sign "
               "in the graph (above 0 they overlap, below they are serial), and the error, in percent of the cycles.\n")
        yield from table(["core and programs", "pairs", "right sign", "mean error", "worst error", "pair"], rows)
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
    results_page.add_window_options(parser)
    results_page.add_programs(parser)
    results_page.measure_and_write(parser.parse_args(), run, {HEADING: section})


if __name__ == "__main__":
    main()
