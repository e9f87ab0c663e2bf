#!/usr/bin/env python3
"""How often the 95 % intervals of multiplexed counters contain the true counts, from runs of the sampler itself.

This script runs `cyclescope stat --multiplex --truth` on programs of the suite and on workloads/, and writes one section
of docs/RESULTS.md.  Programs that took part in the development of the intervals are counted apart from those that did
not.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import guest     # noqa: E402  (these are in the folder of this file)
import programs  # noqa: E402
import results_page  # noqa: E402
import sampling  # noqa: E402

HERE = Path(__file__).resolve().parent
HEADING = "## Intervals of multiplexed counters: runs of the sampler"
# Programs with which the estimators and their intervals were developed.
DEVELOPMENT = ("gzip", "cc1", "perl-pod", "hoichess", "lapack", "yorick-mesh", "liblinear", "raster3d",
               "mix", "columns", "branch_bound", "phase_shapes")
HELD_OUT = ("lemon", "nextpnr", "linkparser", "tachyon", "sqlite", "bzip2", "python", "gawk", "stockfish", "yorick-rad",
            "bart-nufft", "arachne", "povray", "balanced", "divide_bound", "icache_bound", "memory_bound", "sieve",
            "story_skid", "story_words")
EVENTS = sampling.TEN
# Two runs of each program: unit of slices, their length, and the share of the program that is skipped.  The first one
# begins with the program, and a short program ends in it; the second has a part from the middle.
RUNS = (("cycles", 50000, 0), ("insns", 20000, 0.5))


class Failed(Exception):
    """A run that gave no result; the text says why."""


def is_workload(program):
    return (HERE.parent / "workloads" / f"{program}.c").exists()


def words_of(options, unit, length, skip_insns):
    skip = ("--skip", skip_insns, "--warmup", 500000) if skip_insns else ()
    return ("--multiplex", "--truth", "--core", "ppc970", "--set", "pmu.counters=4", "--unit", unit, "--slice", length,
            "--max-insns", options.interval_insns, "-e", ",".join(EVENTS), *skip)


def run_workload(options, program, words):
    """The report of a program of workloads/, which runs in an empty folder."""
    with tempfile.TemporaryDirectory() as place:
        shutil.copy(Path(options.cyclescope).parent / "workloads" / program, place)
        command = [options.cyclescope, "stat", "--quiet", "--json", "report", *map(str, words), "--", f"./{program}"]
        result = subprocess.run(command, cwd=place, env=guest.ENVIRONMENT, capture_output=True, timeout=options.timeout,
                                check=False)
        report = Path(place, "report")
        if not report.exists():
            raise Failed(result.stderr.decode(errors="replace")[-300:])
        return json.loads(report.read_text())


def run_of_suite(options, suite, case, words):
    result = guest.run(guest.on_core(suite.sysroot, options.cyclescope, *words), case, suite.sysroot, options.timeout)
    if not result.report:
        raise Failed(result.outputs["stderr"].decode(errors="replace")[-300:])
    return json.loads(result.report)


def measure(options, suite, program, number):
    """The report of one run.  Saved reports are reused."""
    kept = Path(options.keep) / f"{program}.{number}.json" if options.keep else None
    if kept and kept.exists():
        return json.loads(kept.read_text())
    unit, length, skip = RUNS[number]
    if is_workload(program):
        found = run_workload(options, program, words_of(options, unit, length, 1000000 if skip else 0))
    else:
        case, = programs.load("small", [program])
        found = run_of_suite(options, suite, case, words_of(options, unit, length, int(case.minsns * 1000000 * skip)))
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(found))
    print(f"{program} {unit}: {len(misses(found))} of {len(found['counters'])} miss", flush=True)
    return found


def run(options, suite, names=()):
    """Reports by program and number of the run, and problems by the same."""
    jobs = [(program, number) for program in names or (*HELD_OUT, *DEVELOPMENT) for number in range(len(RUNS))]
    found, problems = {}, {}

    def one(job):
        try:
            return measure(options, suite, *job)
        except (Failed, subprocess.TimeoutExpired) as problem:
            return problem

    with ThreadPoolExecutor(options.jobs) as pool:
        for job, result in zip(jobs, pool.map(one, jobs)):
            (found if isinstance(result, dict) else problems)[job] = result
    return found, problems


# ---- evaluation


def holds(c):
    """Whether an interval contains the true count; counts are whole, the interval's ends are not."""
    return c["low"] - 0.5 <= c["true_value"] and (c["high"] is None or c["true_value"] <= c["high"] + 0.5)


def occurred(report):
    return [c for c in report["counters"] if c["true_value"]]


def misses(report):
    return [c["event"] for c in occurred(report) if not holds(c)]


def error(c):
    return 100 * abs(c["value"] / c["true_value"] - 1)


def half(c):
    return None if c["high"] is None else 50 * (c["high"] - c["low"]) / c["true_value"]


def median(numbers):
    numbers = sorted(numbers)
    return numbers[len(numbers) // 2] if numbers else float("nan")


def row(label, reports):
    counters = [c for report in reports for c in occurred(report)]
    kept = sum(map(holds, counters))
    share = 100 * kept / len(counters) if counters else float("nan")
    return [label, str(sum(map(bool, map(occurred, reports)))), str(len(counters)), f"{share:.1f}", f"{median(map(error, counters)):.2f}",
            f"{median(h for h in map(half, counters) if h is not None):.2f}"]


def section(options, found, problems):
    """The section as lines of Markdown."""
    yield HEADING + "\n"
    yield ("`suite/intervals.py` runs `stat --multiplex --truth` with ten events on four counters, one of which is the "
           f"clock of the slices, on the core `ppc970`. Every program has two runs of at most {options.interval_insns:,} "
           "instructions: one from its start with slices of 50,000 cycles, one from its middle with slices of 20,000 "
           "instructions. The counts are those of the sampler as it ran, not replays. An event that never occurred is "
           "left out; rare ones are not. Errors and half widths are medians, in percent of the true count.\n")
    for (program, number), problem in problems.items():
        yield f"**{program}, {RUNS[number][0]}:** {problem}\n"
    rows = []
    for title, names in (("held out", HELD_OUT), ("development", DEVELOPMENT)):
        of = {job: report for job, report in found.items() if job[0] in names}
        rows.append(row(f"**{title}: all**", list(of.values())))
        for number, (unit, *_) in enumerate(RUNS):
            rows.append(row(f"{title}: slices of {unit}", [r for job, r in of.items() if job[1] == number]))
    yield from sampling.table(["", "runs", "intervals", "contained, %", "error", "half width"], rows)
    yield ("Programs that took part in development: " + ", ".join(DEVELOPMENT) +
           ". No other program was run before the method was final.\n")
    rows = [[program, "development" if program in DEVELOPMENT else "held out",
             *(f"{len(occurred(found[program, n])) - len(misses(found[program, n]))} of "
               f"{len(occurred(found[program, n]))}" if (program, n) in found else "" for n in range(len(RUNS))),
             ", ".join(f"{event} ({RUNS[n][0]})" for n in range(len(RUNS)) if (program, n) in found
                       for event in misses(found[program, n]))]
            for program in (*HELD_OUT, *DEVELOPMENT) if any((program, n) in found for n in range(len(RUNS)))]
    yield from sampling.table(["program", "", "contained, by cycles", "by instructions", "missed"], rows)


def add_options(parser):
    parser.add_argument("--interval-insns", type=int, default=8000000,
                        help="most instructions of a run that checks intervals of multiplexed counters")


def main():
    parser = results_page.parser(__doc__, jobs="runs", timeout=3600)
    results_page.add_programs(parser)
    add_options(parser)
    results_page.measure_and_write(parser.parse_args(), run, {HEADING: section})


if __name__ == "__main__":
    main()
