#!/usr/bin/env python3
"""Speed and memory of detailed simulation, on windows of programs of the suite.

Each window is simulated several times, and the shortest time counts.  Instructions are those that retired in the
window.  Seconds are the processor time for simulating them (elapsed time with --clock wall), without the time of the
skipped instructions.  The same windows are simulated with five accounting methods (--methods), in alternating rounds.  Memory is
the largest resident size of the simulator without the guest's memory, read ten times a second in a separate run that
is not timed.

With --against, the windows are simulated with the methods of --methods and with those of --against, and a table shows
the ratio of their times, and the memory of both.
"""

import argparse
import json
import math
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "suite"))
import compare   # noqa: E402  (these four are in suite/)
import folder    # noqa: E402
import guest     # noqa: E402
import programs  # noqa: E402

# Compression, an interpreter, a compiler, and the program with the most L2 misses.
DEFAULT = ["gzip", "perl-pod", "cc1", "yorick-mesh"]

GUEST_BYTES = 1 << 38  # size of the one host region that is the guest's memory (GUEST_SPACE in src/guest/memory.h)

HEADER = ("| program | CPI | L2D misses per 1000 | seconds | MIPS | simulator's memory, MB | MIPS with CPI stacks | their cost, % |\n"
          "|---|--:|--:|--:|--:|--:|--:|--:|")
METHODS = "naive,naive_nonspec,power5,fmt,sfmt"
RATIOS = ("| program | CPI | {1}, MIPS | {0}, MIPS | time of {0} / {1} | memory of {1}, MB | of {0}, MB |\n"
          "|---|--:|--:|--:|--:|--:|--:|")


class Wrong(Exception):
    """A run that failed or ended too early; the text says how."""


def resident(smaps):
    """From /proc/PID/smaps: (start, end, permissions, resident bytes) of every mapping."""
    mappings = []
    for line in smaps.splitlines():
        head = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+)", line)
        if head:
            mappings.append([int(head[1], 16), int(head[2], 16), head[3], 0])
        elif line.startswith("Rss:"):
            mappings[-1][3] = int(line.split()[1]) * 1024
    return mappings


def besides_guest(mappings):
    """Resident bytes outside the guest's memory; None if no mapping looks like it.  The guest's memory has no gaps, and
    begins with pages without access rights, because guest address 0 is never mapped."""
    for i, (start, _, permissions, _) in enumerate(mappings):
        end, inside = start, 0
        for mapping in mappings[i:] if permissions.startswith("---") else ():
            if mapping[0] != end or end - start >= GUEST_BYTES:
                break
            end = mapping[1]
            inside += mapping[3]
        if end - start >= GUEST_BYTES:
            return sum(mapping[3] for mapping in mappings) - inside
    return None


class Memory:
    """Records the peak of a simulator's memory, without the guest's."""

    def __init__(self):
        self.peak = 0

    def watch(self, pid):
        try:
            smaps = Path(f"/proc/{pid}/smaps").read_text()
        except OSError:  # the process has just ended
            return
        self.peak = max(self.peak, besides_guest(resident(smaps)) or 0)


def simulate(case, suite, options, watch=None, methods=None):
    """Simulates a window, with stacks by these methods; its counts."""
    what = {"command": "stack"} if methods else {}
    runner = guest.on_core(suite.sysroot, options.cyclescope, *(["--method", methods] if methods else []), "--core",
                           options.core, "--skip", options.skip, "--max-insns", options.insns, **what)
    result = guest.run(runner, case, suite.sysroot, options.timeout, watch)
    if result.status != 0:
        raise Wrong(compare.bad_end(result, options.timeout))
    counts = json.loads(result.report)
    if not counts["cut"]:
        raise Wrong(f"ends within {options.skip + options.insns} instructions")
    return counts


def measure(case, suite, options):
    """Counts, the least seconds without and with stacks, and the peak of memory in bytes."""
    memory = Memory()
    counts = simulate(case, suite, options, memory.watch)
    clock = "seconds" if options.clock == "wall" else "cpu_seconds"
    rounds = [[simulate(case, suite, options, methods=methods)["host"][clock] for methods in (None, options.methods)]
              for _ in range(options.rounds)]
    return counts, *map(min, zip(*rounds)), memory.peak


def compare_methods(case, suite, options):
    """Counts, and for the methods of --against and of --methods the least seconds and the peaks of memory in bytes."""
    both = options.against, options.methods
    peaks = []
    for methods in both:
        memory = Memory()
        counts = simulate(case, suite, options, memory.watch, methods)
        peaks.append(memory.peak)
    clock = "seconds" if options.clock == "wall" else "cpu_seconds"
    rounds = [[simulate(case, suite, options, methods=methods)["host"][clock] for methods in both]
              for _ in range(options.rounds)]
    return counts, list(map(min, zip(*rounds))), peaks


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"default: {' '.join(DEFAULT)}")
    parser.add_argument("--all", action="store_true", help="all programs of the suite")
    parser.add_argument("--core", metavar="NAME", default="eyerman2006", help="default: eyerman2006")
    parser.add_argument("--methods", metavar="NAMES", default=METHODS, help=f"methods of the stacks (default: {METHODS})")
    parser.add_argument("--against", metavar="NAMES", help="compare with stacks by these methods")
    parser.add_argument("--skip", type=int, default=500000000, metavar="N",
                        help="skipped instructions before the window (default: 500000000)")
    parser.add_argument("--insns", type=int, default=40000000, metavar="N",
                        help="instructions of the window (default: 40000000)")
    parser.add_argument("--size", choices=programs.SIZES, default="big")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="default: 3")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="cpu",
                        help="elapsed or processor seconds (default: cpu, for shared machines)")
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS", help="time limit of a run")
    parser.add_argument("--cyclescope", metavar="FILE", type=os.path.abspath, default=guest.CYCLESCOPE,
                        help="default: build/cyclescope")
    parser.add_argument("--suite", metavar="FOLDER", help="as for suite/run.py")
    return parser.parse_args()


def table(options):
    """Prints the table row by row.  Returns whether every program could be measured."""
    suite = folder.Suite(options.suite)
    cases = programs.load(options.size, None if options.all else options.programs or DEFAULT)
    suite.prepare()
    speeds, peaks, complete = [], [], True
    print(f"core {options.core}, {options.insns} instructions after {options.skip}\n\n{HEADER}", flush=True)
    for case in cases:
        try:
            counts, seconds, with_stacks, peak = measure(case, suite, options)
        except Wrong as problem:
            print(f"| {case.program} | {problem} | | | | | | |", flush=True)
            complete = False
            continue
        speeds.append((counts["instructions"] / seconds / 1e6, counts["instructions"] / with_stacks / 1e6))
        peaks.append(peak)
        print(f"| {case.program} | {counts['cpi']:.3f} | {1000 * counts['events']['l2d_misses'] / options.insns:.2f} | "
              f"{seconds:.2f} | {speeds[-1][0]:.2f} | {peak / 1e6:.1f} | {speeds[-1][1]:.2f} | "
              f"{100 * (with_stacks / seconds - 1):.1f} |", flush=True)
    if speeds:
        plain, stacked = (math.exp(sum(map(math.log, column)) / len(speeds)) for column in zip(*speeds))
        print(f"| geometric mean, most | | | | {plain:.2f} | {max(peaks) / 1e6:.1f} | {stacked:.2f} | {100 * (plain / stacked - 1):.1f} |")
    return complete


def ratios(options):
    """Prints the table of --against row by row.  Returns whether every program could be measured."""
    suite = folder.Suite(options.suite)
    cases = programs.load(options.size, None if options.all else options.programs or DEFAULT)
    suite.prepare()
    found, complete = [], True
    print(f"core {options.core}, {options.insns} instructions after {options.skip}\n\n{RATIOS.format(options.methods, options.against)}",
          flush=True)
    for case in cases:
        try:
            counts, seconds, peaks = compare_methods(case, suite, options)
        except Wrong as problem:
            print(f"| {case.program} | {problem} | | | | | |", flush=True)
            complete = False
            continue
        found.append(seconds[1] / seconds[0])
        mips = [counts["instructions"] / s / 1e6 for s in seconds]
        print(f"| {case.program} | {counts['cpi']:.3f} | {mips[0]:.2f} | {mips[1]:.2f} | {found[-1]:.2f} | "
              f"{peaks[0] / 1e6:.1f} | {peaks[1] / 1e6:.1f} |", flush=True)
    if found:
        print(f"| geometric mean, most | | | | {math.exp(sum(map(math.log, found)) / len(found)):.2f}, {max(found):.2f} | | |")
    return complete


def main():
    try:
        options = parse()
        return 0 if (ratios if options.against else table)(options) else 1
    except guest.Unavailable as reason:
        print(f"skip core: {reason}")
        return 0
    except ValueError as problem:
        print(f"core: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
