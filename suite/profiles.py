#!/usr/bin/env python3
"""How accurate profiles of suite programs are: samples by interrupt, precise samples and ProfileMe, against the oracle.

A window of each program is recorded in every way.  A sample is wrong if it is charged to another instruction than the
one that caused it.  The distance of a profile from the oracle's profile is half the sum of the absolute differences of
their shares.  The distance of an ideal sample, drawn at random from the oracle's profile, shows how much of a distance
is due to chance.  This script writes one section of docs/RESULTS.md; reproduce.py writes the whole page.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import folder    # noqa: E402  (these three are in the folder of this file)
import guest     # noqa: E402
import programs  # noqa: E402

HERE = Path(__file__).resolve().parent
PROGRAMS = ("gzip", "cc1", "perl-pod", "sqlite", "hoichess", "lemon")
# Events, and their names in the history of a ProfileMe sample, which has no cycles.
EVENTS = {"cycles": None, "l1d_misses": "l1d_miss", "branch-misses": "mispredicted"}
WAYS = ("interrupt", "precise", "ProfileMe")
INSNS = 20000000
SAMPLES = 20000
PROFILEME_PERIOD = 320  # twice the usual number of instructions in flight, so that few selections are late
DRAWS = 20              # random draws over which a distance is averaged
MOST_WRONG = {"ProfileMe": 5, "precise": 1.6}  # limits in percent; for precise samples of cycles only
HEADING = "## Profiles: samples on the wrong instruction"


class Failed(Exception):
    """A run that failed or gave no result; the text says why."""


# ---- recording


def record(options, suite, case, *arguments):
    """Records the window of a program with `arguments`; its report by instruction."""
    profile = suite.path / f"{case.program}.prof"
    command = [options.cyclescope, "record", "--quiet", "-o", profile, *guest.AS_QEMU, "--sysroot",
               suite.sysroot, "--core", options.core, "--skip", int(case.minsns * 1000000 * options.skip), "--warmup", options.warmup,
               "--max-insns", INSNS, *arguments, "--"]
    result = guest.run(guest.Emulator(suite.sysroot, " ".join(map(str, command))), case, suite.sysroot, options.timeout)
    if result.status != 0:
        raise Failed(f"status {result.status}: " + result.outputs["stderr"].decode(errors="replace")[-300:])
    shown = subprocess.run([options.cyclescope, "report", "--by", "insn", "--sysroot", suite.sysroot, "--json", "-",
                            profile], capture_output=True, check=False)
    profile.unlink()
    if shown.returncode != 0:
        raise Failed(shown.stderr.decode(errors="replace")[-300:])
    return json.loads(shown.stdout)


def by_insn(rows, amount):
    """Amounts by address, without zeros."""
    return {row["address"]: amount(row) for row in rows if amount(row)}


def measure(options, suite, case):
    """By event: the oracle's counts by instruction, the samples of each way, and the shares of them that are wrong."""
    oracle = record(options, suite, case, "--oracle", "-e", ",".join(EVENTS))
    periods = [max(1, event["happened"] // SAMPLES) for event in oracle["events"]]
    specs = ",".join(f"{name}:period={period}" for name, period in zip(EVENTS, periods))
    reports = {"oracle": oracle,
               "interrupt": record(options, suite, case, "--truth", "-e", specs),
               "precise": record(options, suite, case, "--truth", "--precise", "-e", specs),
               "ProfileMe": record(options, suite, case, "--profileme", "-c", PROFILEME_PERIOD)}
    functions = {row["address"]: f"{row['module']} {row['start']}"
                 for report in reports.values() for row in report["rows"]}
    found = {"functions": functions, "events": {}}
    for i, (name, outcome) in enumerate(EVENTS.items()):
        true = by_insn(oracle["rows"], lambda row, i=i: row["count"][i])
        event = {"oracle": true, "period": periods[i], "samples": {}, "wrong": {}}
        for way in ("interrupt", "precise"):
            event["samples"][way] = by_insn(reports[way]["rows"], lambda row, i=i: row["samples"][i])
            truth = reports[way]["events"][i]["truth"]
            event["wrong"][way] = [truth[other] / truth["samples"] for other in ("other_instruction", "other_function")]
        if outcome:
            samples = by_insn(reports["ProfileMe"]["rows"],
                              lambda row, outcome=outcome: row["history"]["retired_samples"][outcome])
            event["samples"]["ProfileMe"] = samples
            event["wrong"]["ProfileMe"] = impossible(samples, true, functions)
        found["events"][name] = event
    return found


def impossible(samples, true, functions):
    """Shares of samples on instructions that never had the event, and in functions that never had it."""
    guilty = {functions[pc] for pc in true}
    total = sum(samples.values())
    return [sum(n for pc, n in samples.items() if pc not in true) / total,
            sum(n for pc, n in samples.items() if functions[pc] not in guilty) / total]


# ---- distances


def shares(profile, key):
    total, sums = sum(profile.values()), Counter()
    for pc, n in profile.items():
        sums[key(pc)] += n / total
    return sums


def distance(profile, true, key):
    a, b = shares(profile, key), shares(true, key)
    return sum(abs(a[k] - b[k]) for k in {*a, *b}) / 2


def mean(numbers):
    numbers = list(numbers)
    return sum(numbers) / len(numbers)


def distances(event, key):
    """The smallest number of samples of all ways, and by way the distance of that many samples from the oracle's
    profile, ideal samples included.  Ways with more samples are thinned at random."""
    true, chance = event["oracle"], random.Random(1)
    n = min(sum(samples.values()) for samples in event["samples"].values())
    result = {}
    for way, samples in event["samples"].items():
        places, counts = list(samples), list(samples.values())
        draws = DRAWS if sum(counts) > n else 1
        result[way] = mean(distance(Counter(chance.sample(places, n, counts=counts)), true, key)
                           for _ in range(draws))
    places, counts = list(true), list(true.values())
    result["ideal"] = mean(distance(Counter(chance.choices(places, counts, k=n)), true, key) for _ in range(DRAWS))
    return n, result


# ---- the section


def table(head, rows):
    yield "| " + " | ".join(head) + " |"
    yield "|---" + "|--:" * (len(head) - 1) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def cell(values, way, form="{:.1f}"):
    return form.format(100 * values[way]) if way in values else ""


def tables(found):
    """Two tables per event: wrong samples and distances."""
    for name in EVENTS:
        wrong, far = [], []
        for program, results in found.items():
            event, functions = results["events"][name], results["functions"]
            wrong.append([program, *(cell({way: pair[i] for way, pair in event["wrong"].items()}, way)
                                     for i in (0, 1) for way in WAYS)])
            n, of_insns = distances(event, lambda pc: pc)
            _, of_functions = distances(event, functions.get)
            far.append([program, str(n), *(cell(of_insns, way) for way in (*WAYS, "ideal")),
                        *(cell(of_functions, way) for way in (*WAYS, "ideal"))])
        yield f"### {name}\n"
        yield "Wrong samples in percent, by instruction and by function:\n"
        yield from table(["program", *(f"{what}: {way}" for what in ("instruction", "function") for way in WAYS)],
                         wrong)
        yield "Distance from the oracle's profile, in percent:\n"
        yield from table(["program", "samples", *(f"{what}: {way}" for what in ("instructions", "functions")
                                                  for way in (*WAYS, "ideal"))], far)


def too_wrong(found):
    """A sentence for each result that exceeds its limit."""
    for program, results in found.items():
        for name, event in results["events"].items():
            _, far = distances(event, lambda pc: pc)
            for way, most in MOST_WRONG.items():
                if way not in event["wrong"] or (way == "precise" and name != "cycles"):
                    continue
                if 100 * event["wrong"][way][0] > most:
                    yield f"{program}: {cell({0: event['wrong'][way][0]}, 0)} % of {way} samples of {name} are wrong"
                if 100 * (far[way] - far["ideal"]) > most:
                    yield f"{program}: {way} samples of {name} are farther from the oracle's profile than by chance"


def section(options, found, problems):
    """The section as lines of Markdown."""
    yield HEADING + "\n"
    yield (f"{len(found)} programs, {INSNS // 1000000} million instructions from the middle of each (skipped and "
           f"warmed up as above), on the core `{options.core}`. Each event has a period that gives about {SAMPLES} "
           f"samples, or a sample per event if there are fewer events. ProfileMe selects one of {PROFILEME_PERIOD} "
           "fetched instructions; its samples of an event are the selected instructions that retired and had the "
           "event.\n")
    yield ("**Wrong samples.** A sample is wrong if it is charged to another instruction than the one that caused it "
           "(`record --truth`). A sample of ProfileMe is wrong if its instruction never had the event (`record "
           "--oracle`). Precise samples are right by construction.\n")
    yield ("**Distance.** The distance of two profiles is half the sum of the absolute differences of their shares. "
           "All ways are compared with the same number of samples; from a way that has more, samples are drawn at "
           "random. *Ideal* is the mean distance of the same number of samples drawn at random from the oracle's "
           "profile, which is the effect of chance alone.\n")
    yield ("**Cycles** are charged to the oldest instruction in the window, which is the one that keeps commit "
           "waiting; while the window is empty after a misprediction, to the branch, and while it is empty otherwise, "
           "to the next instruction that enters. ProfileMe has no column for cycles: the history of an instruction "
           "does not contain how long it kept commit waiting, since that depends on when the instruction before it "
           "retired.\n")
    for name, problem in problems.items():
        yield f"**{name} failed:** {problem}\n"
    yield from tables(found)


def run(options, suite):
    """Measures all programs.  Results by program, and problems by program."""
    found, problems = {}, {}
    for case in sorted(programs.load(options.size, PROGRAMS), key=lambda case: PROGRAMS.index(case.program)):
        kept = Path(options.keep) / f"{case.program}.profiles.json" if options.keep else None
        try:
            if kept and kept.exists():
                found[case.program] = json.loads(kept.read_text())
            else:
                found[case.program] = measure(options, suite, case)
                if kept:
                    kept.parent.mkdir(parents=True, exist_ok=True)
                    kept.write_text(json.dumps(found[case.program]))
            wrong = found[case.program]["events"]["cycles"]["wrong"]
            print(f"{case.program}: wrong samples of cycles: {100 * wrong['interrupt'][0]:.1f} % by interrupt, "
                  f"{100 * wrong['precise'][0]:.1f} % precise", flush=True)
        except Failed as problem:
            problems[case.program] = problem
            print(f"{case.program}: failed: {problem}", flush=True)
    return found, problems | dict.fromkeys(too_wrong(found), "exceeds its limit")


def replaced(page, text):
    """The page with this section replaced, or added at its end."""
    rest = re.sub(rf"^{re.escape(HEADING)}\n.*?(?=^## |\Z)", "", page, flags=re.MULTILINE | re.DOTALL)
    return rest.rstrip() + "\n\n" + text.rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--core", default="eyerman2006")
    parser.add_argument("--warmup", type=int, default=20000000,
                        help="uncounted instructions on the core before the measured ones")
    parser.add_argument("--skip", type=float, default=0.5,
                        help="share of the program that runs functionally before the warm-up")
    parser.add_argument("--size", choices=programs.SIZES, default="big")
    parser.add_argument("--timeout", type=float, default=1200, help="time limit of a run in seconds")
    parser.add_argument("--output", type=Path, default=HERE.parent / "docs" / "RESULTS.md",
                        help="page in which the section is replaced")
    parser.add_argument("--keep", metavar="FOLDER", help="save results in FOLDER, and reuse the results that are there")
    parser.add_argument("--cyclescope", type=os.path.abspath, default=guest.CYCLESCOPE)
    parser.add_argument("--suite", help="folder of the suite, as for run.py")
    options = parser.parse_args()
    suite = folder.Suite(options.suite)
    suite.prepare()
    found, problems = run(options, suite)
    page = options.output.read_text() if options.output.exists() else ""
    options.output.write_text(replaced(page, "\n".join(section(options, found, problems))))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
