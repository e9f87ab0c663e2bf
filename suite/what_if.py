#!/usr/bin/env python3
"""How close the what-ifs of the dependence graph come to simulations of the changed cores.

A checkpoint of each program is saved where its warm-up begins, in the middle of the program; `cyclescope validate
what-if` restores it, predicts the CPI of the changed cores from one run, and simulates each of them.  This script writes
one section of docs/RESULTS.md; reproduce.py writes the whole page.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import results_page  # noqa: E402  (these are in the folder of this file)
import window_runs  # noqa: E402
from sampling import mean, table  # noqa: E402

HEADING = "## What-ifs of the dependence graph against simulation"
CORES = ("eyerman2006", "modern")
WHAT_IFS = ("l2.latency=-50%", "l2.latency=+50%", "memory.latency=-50%", "memory.latency=+50%", "rob.size=x0.5",
            "rob.size=x2", "width=-1", "width=+1", "frontend.stages=-3", "frontend.stages=+3", "perfect.branch=yes")


def runs_of(options):
    return window_runs.WindowRuns(
        name="what_if", subject=("what-if",), words=("--what-if", ",".join(WHAT_IFS)), runs="what_ifs", insns=options.what_if_insns,
        warmup=options.what_if_warmup, cores=options.what_if_cores,
        summary=lambda report: f"what-ifs {report['mean_error_percent']:.2f} %, worst {report['largest_error_percent']:+.2f} %")


def run(options, suite, names=None):
    """By core and program: the report; and problems."""
    found, problems = runs_of(options).measure_all(options, suite, names)
    return {core: {program: report for program, (_, report) in of.items()} for core, of in found.items()}, problems


# ---- the section


def errors_of(reports, what_if):
    """By program: the error of a what-if, and the simulated change, in percent."""
    return {program: (row["error_percent"], row["simulated_change_percent"])
            for program, report in reports.items() for row in report["what_ifs"] if row["what_if"] == what_if}


def cells(errors):
    """The mean of the absolute errors, the worst with its program, and the mean of the absolute changes."""
    program, (worst, _) = max(errors.items(), key=lambda item: abs(item[1][0]))
    return [f"{mean(abs(change) for _, change in errors.values()):.1f}",
            f"{mean(abs(error) for error, _ in errors.values()):.2f}", f"{worst:+.2f} {program}"]


def what_if_rows(found):
    for what_if in WHAT_IFS:
        row = [f"`{what_if}`"]
        for reports in found.values():
            row += cells(errors_of(reports, what_if))
        yield row
    row = ["all"]
    for reports in found.values():
        of_all = {(program, what_if): of for what_if in WHAT_IFS
                  for program, of in errors_of(reports, what_if).items()}
        changed, error, _ = cells({" ".join(key): of for key, of in of_all.items()})
        row += [changed, error, ""]
    yield row


def program_rows(found):
    for program in dict.fromkeys(program for reports in found.values() for program in reports):
        row = [program]
        for reports in found.values():
            report = reports.get(program)
            if report is None:
                row += ["", "", ""]
                continue
            worst = max(report["what_ifs"], key=lambda r: abs(r["error_percent"]))
            row += [f"{report['cpi']:.3f}", f"{report['mean_error_percent']:.2f}",
                    f"{worst['error_percent']:+.2f} {worst['what_if']}"]
        yield row


def section(options, found, problems):
    """The section as lines of Markdown."""
    yield HEADING + "\n"
    yield (f"`suite/what_if.py` saves each program at {100 * options.skip:.0f} % of its run (size {options.size}) and "
           f"runs `cyclescope validate what-if` there: {options.what_if_warmup / 1e6:g} million instructions on the core "
           f"uncounted, then {options.what_if_insns / 1e6:g} million from which the graph predicts the CPI of changed "
           "cores, each of which is also simulated. *Error* is that of the predicted CPI, in percent of the simulated one: "
           "the mean of the absolute values, and the worst. *Change* is the mean of the absolute values of what the "
           "change does in simulation.\n")
    for name, problem in problems.items():
        yield f"**{name}:** {problem}\n"
    found = {core: reports for core, reports in found.items() if reports}
    if not found:
        return
    yield from table(["what if", *(f"{core}: {what}" for core in found for what in ("change, %", "error, %", "worst"))],
                     what_if_rows(found))
    yield from table(["program", *(f"{core}: {what}" for core in found for what in ("CPI", "mean error, %", "worst"))],
                     program_rows(found))


def add_options(parser):
    parser.add_argument("--what-if-insns", type=int, default=1000000, metavar="N",
                        help="instructions on which what-ifs are compared with simulation")
    parser.add_argument("--what-if-warmup", type=int, default=1000000, metavar="N",
                        help="uncounted instructions on the core before these")
    parser.add_argument("--what-if-cores", type=lambda names: names.split(","), default=CORES, metavar="CORE,CORE",
                        help="cores on which what-ifs are compared with simulation (" + ",".join(CORES) + ")")


def main():
    parser = results_page.parser(__doc__)
    add_options(parser)
    results_page.add_window_options(parser)
    results_page.add_programs(parser)
    results_page.measure_and_write(parser.parse_args(), run, {HEADING: section})


if __name__ == "__main__":
    main()
