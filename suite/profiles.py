#!/usr/bin/env python3
"""How good profiles of suite programs are: samples by interrupt, precise ones and ProfileMe's against the oracle.

A window of each program is recorded in all ways.  Wrong is a sample that is charged to another instruction than the one
that caused it.  The distance of a profile from the oracle's is half the sum of the absolute differences of shares; that
of an ideal sample, drawn at random from the oracle's profile, tells how much of it is due to chance.  Writes a section
of docs/RESULTS.md; reproduce.py writes it with the rest of the page.
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
import folder    # noqa: E402  (these three lie beside this file)
import guest     # noqa: E402
import programs  # noqa: E402

HERE = Path(__file__).resolve().parent
PROGRAMS = ("gzip", "cc1", "perl-pod", "sqlite", "hoichess", "lemon")
# An event, and what a history of ProfileMe calls it; of cycles it tells nothing.
EVENTS = {"cycles": None, "l1d-misses": "l1d_miss", "branch-misses": "mispredicted"}
WAYS = ("interrupt", "precise", "ProfileMe")
INSNS = 20000000
SAMPLES = 20000
PROFILEME_PERIOD = 320  # half of it is about what is in flight at a time, so that few choices are late
DRAWS = 20              # of ideal samples, and of thinned ones, whose distances are averaged
MOST_WRONG = {"ProfileMe": 5, "precise": 1.6}  # percent; of precise samples those of cycles
HEADING = "## Profiles: samples on the wrong instruction"


class Failed(Exception):
    """A run that did not give what it should; the text says what."""


# ---- recording


def record(options, suite, case, *arguments):
    """A report by instruction of a window that is recorded in some way."""
    profile = suite.path / f"{case.program}.prof"
    command = [options.cyclescope, "record", "--quiet", "-o", profile, "--sysroot", suite.sysroot, "--core",
               options.core, "--skip", int(case.minsns * 1000000 * options.skip), "--warmup", options.warmup,
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
    """Amounts by address, without those that are 0."""
    return {row["address"]: amount(row) for row in rows if amount(row)}


def measure(options, suite, case):
    """By event: what the oracle counted by instruction, what each way sampled, and what of it is wrong."""
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
    """Shares of samples on instructions, and in functions, that had no such event."""
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
    """The number of samples, and by way the distance of as many from the oracle's profile; ideal ones included.  What
    there is more of in one way is thinned at random."""
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
    """Both tables of each event."""
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
        yield "Samples that are wrong, in percent, by instruction and by function:\n"
        yield from table(["program", *(f"{what}: {way}" for what in ("instruction", "function") for way in WAYS)],
                         wrong)
        yield "Distance from the oracle's profile, in percent:\n"
        yield from table(["program", "samples", *(f"{what}: {way}" for what in ("instructions", "functions")
                                                  for way in (*WAYS, "ideal"))], far)


def too_wrong(found):
    """Sentences on what is worse than it may be."""
    for program, results in found.items():
        for name, event in results["events"].items():
            _, far = distances(event, lambda pc: pc)
            for way, most in MOST_WRONG.items():
                if way not in event["wrong"] or (way == "precise" and name != "cycles"):
                    continue
                if 100 * event["wrong"][way][0] > most:
                    yield f"{program}: {cell({0: event['wrong'][way][0]}, 0)} % of {way} samples of {name} are wrong"
                if 100 * (far[way] - far["ideal"]) > most:
                    yield f"{program}: {way} samples of {name} are farther from the oracle's than by chance"


def section(options, found, problems):
    """Markdown."""
    yield HEADING + "\n"
    yield (f"{len(found)} programs, {INSNS // 1000000} million instructions each on the core `{options.core}`, from "
           f"the middle as above. Periods are such that there are about {SAMPLES} samples, or as many as there are "
           f"events; ProfileMe chooses one of {PROFILEME_PERIOD} instructions fetched, and its samples of an event are "
           "those that retired and had it. Wrong is a sample that is charged to another instruction than the one that "
           "caused it (`record --truth`), of ProfileMe one on an instruction that never had the event (`record "
           "--oracle`). Precise samples are right by construction. The distance of two profiles is half the sum of the "
           "absolute differences of their shares, at equal numbers of samples: where a way has more, some are drawn. "
           "*Ideal* is the mean distance of as many samples drawn at random from the oracle's profile: what chance "
           "alone does.\n")
    yield ("Cycles belong to the instruction that the head of the ROB holds up in them; after a misprediction, while "
           "the window refills, to the branch. ProfileMe has no column there: how long an instruction kept commit "
           "waiting is not in its history, since it depends on when the one before it retired.\n")
    for name, problem in problems.items():
        yield f"**{name} failed:** {problem}\n"
    yield from tables(found)


def run(options, suite):
    """Measures all programs; what was found, and problems by program."""
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
            print(f"{case.program}: wrong samples of cycles {100 * wrong['interrupt'][0]:.1f} % by interrupt, "
                  f"{100 * wrong['precise'][0]:.1f} % precise", flush=True)
        except Failed as problem:
            problems[case.program] = problem
            print(f"{case.program}: failed: {problem}", flush=True)
    return found, problems | dict.fromkeys(too_wrong(found), "more than it may be")


def replaced(page, text):
    """A page with its section of profiles replaced, or added at its end."""
    rest = re.sub(rf"^{re.escape(HEADING)}\n.*?(?=^## |\Z)", "", page, flags=re.MULTILINE | re.DOTALL)
    return rest.rstrip() + "\n\n" + text.rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--core", default="eyerman2006")
    parser.add_argument("--warmup", type=int, default=20000000, help="instructions on the core before the window")
    parser.add_argument("--skip", type=float, default=0.5, help="share of the program that is skipped before")
    parser.add_argument("--size", choices=programs.SIZES, default="big")
    parser.add_argument("--timeout", type=float, default=1200, help="seconds for a run")
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
