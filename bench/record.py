#!/usr/bin/env python3
"""What recording costs, and how fast a large profile is reported.

Windows of programs of the suite are simulated by `stat` and recorded, in turn, with one sample per 100,000
instructions.  The best of several rounds counts, in seconds of the processor; what comes before the window takes both
equally long, and the cost is told in percent of the window alone.  Then a window is recorded with a million samples,
and `report` is timed on it.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "suite"))
import compare   # noqa: E402  (these four lie in suite/)
import folder    # noqa: E402
import guest     # noqa: E402
import programs  # noqa: E402

DEFAULT = ["gzip", "perl-pod", "cc1", "yorick-mesh"]
INSNS_PER_SAMPLE = 100000
# How each way of recording is asked for, and what its period counts.
WAYS = {"interrupt, cycles": ("cycles", ["-e", "cycles"]),
        "precise, l1d-misses": ("l1d_misses", ["-e", "l1d-misses", "--precise"]),
        "profileme": ("fetched", ["--profileme"])}
MOST_COST = 5        # percent
SAMPLES = 1000000    # of the profile that is reported
MOST_SECONDS, MOST_BYTES = 2, 200 << 20


class Wrong(Exception):
    """A run that did not do its work; the text says how."""


def run(case, suite, options, command, *arguments):
    """A window by a command; its result."""
    words = [command, "--quiet", "--sysroot", suite.sysroot, "--core", options.core, "--skip", options.skip,
             "--max-insns", options.insns, *arguments, "--"]
    template = " ".join(map(str, [options.cyclescope, *words]))
    result = guest.run(guest.Emulator(suite.sysroot, template), case, suite.sysroot, options.timeout)
    if result.status != 0:
        raise Wrong(compare.bad_end(result, options.timeout))
    return result


def counted(case, suite, options):
    """The result of `stat`, and what it says."""
    result = run(case, suite, options, "stat", "--json={count}")
    counts = json.loads(result.report)
    if not counts["cut"]:
        raise Wrong(f"ends within {options.skip + options.insns} instructions")
    return result, counts


def measure(case, suite, options):
    """Seconds of the window in `stat`, and how many more each way of recording takes: the best of each."""
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
    """Prints a table; true if no mean is too much."""
    print(f"core {options.core}, {options.insns} instructions after {options.skip}, a sample per {INSNS_PER_SAMPLE}\n")
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
        print(f"| {case.program} | {seconds:.2f} | " + " | ".join(f"{100 * more[way] / seconds:.1f}" for way in WAYS) + " |", flush=True)
    if all_seconds == 0:
        return False
    print(f"| all | {all_seconds:.2f} | " + " | ".join(f"{100 * sums[way] / all_seconds:.1f}" for way in WAYS) + " |\n")
    dear = [way for way in WAYS if 100 * sums[way] / all_seconds >= MOST_COST]
    for way in dear:
        print(f"recording ({way}) costs {MOST_COST} % or more")
    return complete and not dear


def report(options, suite, case):
    """Times `report` on a million samples; true if it is fast and small enough."""
    _, counts = counted(case, suite, options)
    period = max(1, counts["events"]["cycles"] // SAMPLES)
    run(case, suite, options, "record", "-e", "cycles", "-c", period, "-o", options.profile)
    best, bytes_most, samples = float("inf"), 0, 0
    for by in ["function", "insn", "tree"]:
        command = [options.cyclescope, "report", "--by", by, "--sysroot", suite.sysroot, "--json", "-", options.profile]
        seconds = []
        for _ in range(options.rounds):
            start = time.perf_counter()
            with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            seconds.append(time.perf_counter() - start)
            bytes_most = max(bytes_most, usage.ru_maxrss * 1024)
            if process.returncode != 0:
                raise Wrong(f"report --by {by} ends with status {process.returncode}")
        print(f"report --by {by}: {min(seconds):.2f} seconds")
        best = min(seconds) if best == float("inf") else max(best, min(seconds))
    head = json.loads(subprocess.run([options.cyclescope, "report", "--by", "module", "--json", "-", options.profile],
                                     capture_output=True, check=True).stdout)
    samples = head["samples"]
    print(f"{samples} samples of {case.program}, {os.path.getsize(options.profile) / 1e6:.1f} MB: "
          f"{best:.2f} seconds at most, {bytes_most / 1e6:.0f} MB resident")
    return samples >= 0.9 * SAMPLES and best < MOST_SECONDS and bytes_most < MOST_BYTES


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"default: {' '.join(DEFAULT)}")
    parser.add_argument("--core", metavar="NAME", default="eyerman2006", help="default: eyerman2006")
    parser.add_argument("--skip", type=int, default=100000000, metavar="N",
                        help="instructions before the window (default: 100000000)")
    parser.add_argument("--insns", type=int, default=40000000, metavar="N",
                        help="instructions of the window (default: 40000000)")
    parser.add_argument("--size", choices=programs.SIZES, default="big")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="default: 5")
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS", help="for one run")
    parser.add_argument("--cyclescope", metavar="FILE", type=os.path.abspath, default=guest.CYCLESCOPE,
                        help="default: the project's own")
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
        fast = report(options, suite, cases[0])
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
