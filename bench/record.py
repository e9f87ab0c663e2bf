#!/usr/bin/env python3
"""The cost of recording, and the speed of reports on large profiles.

Windows of programs of the suite are simulated by `stat` and by `record` alternately, with one sample per 100,000
instructions.  The shortest processor time of several rounds counts.  Skipping takes both the same time, so the
difference is the cost of recording; it is given in percent of the time of the window alone.  Then the windows are
recorded with a million samples each, and `report` is timed on these profiles.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "suite"))
import compare   # noqa: E402  (these four are in suite/)
import folder    # noqa: E402
import guest     # noqa: E402
import programs  # noqa: E402

DEFAULT = ["gzip", "perl-pod", "cc1", "yorick-mesh"]
INSNS_PER_SAMPLE = 100000
# Ways of recording: the event that the period counts, and the options.
WAYS = {"interrupt, cycles": ("cycles", ["-e", "cycles"]),
        "precise, l1d_misses": ("l1d_misses", ["-e", "l1d_misses", "--precise"]),
        "profileme": ("fetched", ["--profileme"])}
MOST_COST = 5        # limit of the cost in percent
SAMPLES = 1000000    # samples in a profile on which `report` is timed
ROWS = ("function", "insn", "tree")
MOST_SECONDS, MOST_BYTES = 2, 200 << 20  # limits for `report`


class Wrong(Exception):
    """A run that failed or ended too early; the text says how."""


def run(case, suite, options, command, *arguments):
    """Runs the window of a program with a command; the result."""
    words = [command, "--quiet", *guest.AS_QEMU, "--sysroot", suite.sysroot, "--core", options.core, "--skip",
             options.skip, "--max-insns", options.insns, *arguments, "--"]
    template = " ".join(map(str, [options.cyclescope, *words]))
    result = guest.run(guest.Emulator(suite.sysroot, template), case, suite.sysroot, options.timeout)
    if result.status != 0:
        raise Wrong(compare.bad_end(result, options.timeout))
    return result


def counted(case, suite, options):
    """The result of `stat`, and its counts."""
    result = run(case, suite, options, "stat", "--json={count}")
    counts = json.loads(result.report)
    if not counts["cut"]:
        raise Wrong(f"ends within {options.skip + options.insns} instructions")
    return result, counts


def measure(case, suite, options):
    """Seconds of the window in `stat`, and the additional seconds of each way of recording; the least of all rounds."""
    plain, window, recorded = [], [], {way: [] for way in WAYS}
    for _ in range(options.rounds):
        result, counts = counted(case, suite, options)
        plain.append(result.cpu_seconds)
        window.append(counts["host"]["cpu_seconds"])
        for way, (event, words) in WAYS.items():
            period = max(1, counts["events"][event] * INSNS_PER_SAMPLE // options.insns)
            result = run(case, suite, options, "record", *words, "-c", period, "-o", options.profile)
            recorded[way].append(result.cpu_seconds)
    return min(window), {way: min(seconds) - min(plain) for way, seconds in recorded.items()}


def costs(options, suite, cases):
    """Prints the table of costs.  Returns whether all programs were measured and no mean cost exceeds the limit."""
    print(f"core {options.core}, {options.insns} instructions after {options.skip}, one sample per "
          f"{INSNS_PER_SAMPLE}\n")
    print("| program | seconds | " + " | ".join(f"{way}, %" for way in WAYS) + " |\n|---|--:|" + "--:|" * len(WAYS))
    sums, all_seconds, complete = dict.fromkeys(WAYS, 0), 0, True
    for case in cases:
        try:
            seconds, more = measure(case, suite, options)
        except Wrong as problem:
            print(f"| {case.program} | {problem} |" + " |" * len(WAYS), flush=True)
            complete = False
            continue
        all_seconds += seconds
        for way in WAYS:
            sums[way] += more[way]
        shares = [f"{100 * more[way] / seconds:.1f}" for way in WAYS]
        print(f"| {case.program} | {seconds:.2f} | " + " | ".join(shares) + " |", flush=True)
    if all_seconds == 0:
        return False
    print(f"| all | {all_seconds:.2f} | " + " | ".join(f"{100 * sums[way] / all_seconds:.1f}" for way in WAYS) + " |\n")
    costly = [way for way in WAYS if 100 * sums[way] / all_seconds >= MOST_COST]
    for way in costly:
        print(f"recording ({way}) costs {MOST_COST} % or more")
    return complete and not costly


def timed(command, rounds):
    """The least seconds and the largest resident bytes of a command."""
    seconds, most = [], 0
    for _ in range(rounds):
        start = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise Wrong(f"{command[1]} ends with status {process.returncode}")
        seconds.append(time.perf_counter() - start)
        most = max(most, usage.ru_maxrss * 1024)
    return min(seconds), most


def report(options, suite, cases):
    """Times `report` on a million samples of each program.  Returns whether time and memory are within the limits."""
    print("| program | samples | file, MB | " + " | ".join(f"report --by {by}, seconds" for by in ROWS) +
          " | resident, MB |\n|---|--:|--:|" + "--:|" * len(ROWS) + "--:|")
    good = True
    for case in cases:
        _, counts = counted(case, suite, options)
        period = max(1, counts["events"]["cycles"] // SAMPLES)
        run(case, suite, options, "record", "-e", "cycles", "-c", period, "-o", options.profile)
        command = [options.cyclescope, "report", "--sysroot", suite.sysroot, "--json", "-"]
        found = [timed([*command, "--by", by, options.profile], options.rounds) for by in ROWS]
        shown = subprocess.run([*command, options.profile], capture_output=True, check=True).stdout
        samples, most = json.loads(shown)["samples"], max(bytes_ for _, bytes_ in found)
        print(f"| {case.program} | {samples} | {os.path.getsize(options.profile) / 1e6:.1f} | " +
              " | ".join(f"{seconds:.2f}" for seconds, _ in found) + f" | {most / 1e6:.0f} |", flush=True)
        good &= samples > 0.9 * SAMPLES and max(found)[0] < MOST_SECONDS and most < MOST_BYTES
    return good


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"default: {' '.join(DEFAULT)}")
    parser.add_argument("--core", metavar="NAME", default="eyerman2006", help="default: eyerman2006")
    parser.add_argument("--skip", type=int, default=100000000, metavar="N",
                        help="skipped instructions before the window (default: 100000000)")
    parser.add_argument("--insns", type=int, default=40000000, metavar="N",
                        help="instructions of the window (default: 40000000)")
    parser.add_argument("--size", choices=programs.SIZES, default="big")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="default: 5")
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS", help="time limit of a run")
    parser.add_argument("--cyclescope", metavar="FILE", type=os.path.abspath, default=guest.CYCLESCOPE,
                        help="default: build/cyclescope")
    parser.add_argument("--suite", metavar="FOLDER", help="as for suite/run.py")
    return parser.parse_args()


def main():
    options = parse()
    try:
        suite = folder.Suite(options.suite)
        cases = programs.load(options.size, options.programs or DEFAULT)
        suite.prepare()
        options.profile = suite.path / "bench.prof"
        cheap = costs(options, suite, cases)
        fast = report(options, suite, cases)
        options.profile.unlink(missing_ok=True)
        return 0 if cheap and fast else 1
    except guest.Unavailable as reason:
        print(f"skip record: {reason}")
        return 0
    except (ValueError, Wrong) as problem:
        print(f"record: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
