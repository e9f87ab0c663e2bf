#!/usr/bin/env python3
"""Speed of functional emulation beside qemu-riscv64, on programs of the suite.

Both run each program in turn, several rounds, and the best time of each counts: so a disturbance
of the machine hits both or neither.  Instructions are those that the emulator counts, and MIPS are
these per second for either.  A time stands only if the program ended well and wrote what it wrote
under qemu.
"""

import argparse
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "suite"))
import folder    # noqa: E402  (these three lie in suite/)
import guest     # noqa: E402
import programs  # noqa: E402

# Compression, compiling, interpreters, pointer chasing, search, floating point, a database: a
# minute or two in all, and every kind of load on an emulator.
DEFAULT = ["gzip", "cc1", "lemon", "hoichess", "tachyon", "perl-pod", "sqlite", "python", "liblinear"]

HEADER = ("| program | instructions | qemu s | ours s | qemu MIPS | our MIPS | speed against qemu |\n"
          "|---|--:|--:|--:|--:|--:|--:|")


class Wrong(Exception):
    """A run that did not do its work; the text says how."""


def measure(case, suite, runners, options):
    """Instructions, and the best seconds of each runner."""
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
                raise Wrong(f"other output under {options.names[i]}")
            best[i] = min(best[i], result.cpu_seconds if options.clock == "cpu" else result.seconds)
            instructions = result.instructions or instructions
    if instructions is None:
        print(f"{case.program}: no instruction count, taking the table's", file=sys.stderr)
        instructions = case.minsns * 1000000
    return instructions, *best


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"default: {' '.join(DEFAULT)}")
    parser.add_argument("--all", action="store_true", help="all programs of the suite")
    parser.add_argument("--size", choices=programs.SIZES, default="big")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="default: 3")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall",
                        help="which seconds count; processor time suits a busy machine better")
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS", help="for one run")
    parser.add_argument("--emulator", metavar="COMMAND", default=guest.EMULATOR,
                        help="as for suite/run.py check")
    parser.add_argument("--suite", metavar="FOLDER", help="as for suite/run.py")
    options = parser.parse_args()
    options.names = ("qemu", "the emulator")
    return options


def table(options):
    """Prints the table row by row; true if every program could be measured."""
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
