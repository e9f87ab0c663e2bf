#!/usr/bin/env python3
"""Speed of functional emulation compared with qemu-riscv64, on programs of the suite.

The two run each program alternately, for several rounds, and the shortest time of each counts, so other load on the
machine affects both.  Instructions are counted by the emulator; the MIPS of both are these instructions per second.  A
time is valid only if the program ended with status 0 and wrote the same output as under qemu.
"""

import argparse
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "suite"))
import folder    # noqa: E402  (these three are in suite/)
import guest     # noqa: E402
import programs  # noqa: E402

# Compression, compiling, interpreters, pointer chasing, search, floating point, a database: all kinds of load on an
# emulator, in one or two minutes.
DEFAULT = ["gzip", "cc1", "lemon", "hoichess", "tachyon", "perl-pod", "sqlite", "python", "liblinear"]

HEADER = ("| program | instructions | qemu s | ours s | qemu MIPS | our MIPS | speed against qemu |\n"
          "|---|--:|--:|--:|--:|--:|--:|")


class Wrong(Exception):
    """A run that failed; the text says how."""


def measure(case, suite, runners, options):
    """Instructions, and the least seconds of each runner."""
    best = [math.inf] * len(runners)
    instructions, reference = None, None
    for _ in range(options.rounds):
        for i, runner in enumerate(runners):
            result = guest.run(runner, case, suite.sysroot, options.timeout)
            if result.status != 0:
                end = "takes too long" if result.status is None else f"status {result.status}"
                raise Wrong(f"{end} under {options.names[i]}")
            outputs = case.comparable(result.outputs)
            reference = reference or outputs
            if outputs != reference:
                raise Wrong(f"different output under {options.names[i]}")
            best[i] = min(best[i], result.cpu_seconds if options.clock == "cpu" else result.seconds)
            instructions = result.instructions or instructions
    if instructions is None:
        print(f"{case.program}: no instruction count; using the one in programs.toml", file=sys.stderr)
        instructions = case.minsns * 1000000
    return instructions, *best


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"default: {' '.join(DEFAULT)}")
    parser.add_argument("--all", action="store_true", help="all programs of the suite")
    parser.add_argument("--size", choices=programs.SIZES, default="big")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="default: 3")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall",
                        help="elapsed or processor seconds (default: wall; cpu is better on a busy machine)")
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS", help="time limit of a run")
    parser.add_argument("--emulator", metavar="COMMAND", default=guest.EMULATOR,
                        help="as for suite/run.py check")
    parser.add_argument("--suite", metavar="FOLDER", help="as for suite/run.py")
    options = parser.parse_args()
    options.names = ("qemu", "the emulator")
    return options


def table(options):
    """Prints the table row by row.  Returns whether every program could be measured."""
    suite = folder.Suite(options.suite)
    cases = programs.load(options.size, None if options.all else options.programs or DEFAULT)
    suite.prepare()
    runners = (guest.Qemu(suite.sysroot), guest.Emulator(suite.sysroot, options.emulator))
    ratios, complete = [], True
    print(HEADER, flush=True)
    for case in cases:
        try:
            count, qemu, ours = measure(case, suite, runners, options)
        except Wrong as problem:
            print(f"| {case.program} | {problem} | | | | | |", flush=True)
            complete = False
            continue
        ratios.append(qemu / ours)
        print(f"| {case.program} | {count} | {qemu:.2f} | {ours:.2f} | {count / qemu / 1e6:.0f} | "
              f"{count / ours / 1e6:.0f} | {qemu / ours:.2f} |", flush=True)
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"| geometric mean | | | | | | {mean:.2f} |")
    return complete


def main():
    try:
        return 0 if table(parse()) else 1
    except guest.Unavailable as reason:
        print(f"skip emulate: {reason}")
        return 0
    except ValueError as problem:
        print(f"emulate: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
