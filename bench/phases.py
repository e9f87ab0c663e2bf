#!/usr/bin/env python3
"""The cost of counting basic blocks over plain emulation, and the speed of functional warming, on suite programs.

`run`, `phases` and `--skip --warm` run alternately, for several rounds, and the shortest processor time of each counts.
`phases` is measured twice: with its usual intervals, and with one interval for the whole run ("counting"), which leaves
hardly anything to analyze.  With --qemu and --bbv-plugin, QEMU with its basic block plugin runs on the same inputs;
both have to be built from QEMU's source (contrib/plugins), since packages do not contain the plugin.  A time is valid
only if the program ended with status 0 and wrote the same output as under `run`.
"""

import argparse
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "suite"))
import folder    # noqa: E402  (these three are in suite/)
import guest     # noqa: E402
import programs  # noqa: E402

# Two interpreters with much code, a compiler with even more, and a program that spends its time in a small loop.
DEFAULT = ["perl-pod", "python", "cc1", "gzip"]

HEADER = ("| program | instructions | run s | counting s | phases s | counting costs | phases costs | our BBV MIPS | "
          "QEMU's BBV MIPS | warming MIPS |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
INTERVAL = 10_000_000

# For comparison: speeds of other tools, measured once (best of 6 interleaved rounds, other inputs, another machine).
PEERS = """
Other tools, measured earlier with other inputs: QEMU 10, which translates to host code, with its bbv plugin and
intervals of 10 M: gzip -9 1155 MIPS (2048 without the plugin), perl 495 (989), python 360 (693). valgrind's exp-bbv: 22
x slower than native.
"""


class QemuBbv:
    """qemu-riscv64 with the plugin that counts basic blocks."""

    def __init__(self, sysroot, program, plugin):
        self._words = [program, "-cpu", "rv64", "-seed", "1", "-L", str(sysroot), "-plugin",
                       f"{plugin},interval={INTERVAL},outfile=/dev/null"]
        self._sysroot = sysroot

    def command(self, _folder, argv):
        return [*self._words, "-0", argv[0], str(self._sysroot) + argv[0], *argv[1:]]

    def count_file(self, _folder):
        return None


class Wrong(Exception):
    """A run that failed; the text says how."""


def one_run(runner, case, suite, options, complete=True):
    result = guest.run(runner, case, suite.sysroot, options.timeout)
    if result.status != 0 and complete:
        raise Wrong("takes too long" if result.status is None else f"status {result.status}")
    return result


def measure(case, suite, options):
    """Instructions, and the least seconds of `run`, counting, `phases`, QEMU's plugin and warming."""
    def phases(interval):
        return guest.Emulator(suite.sysroot, f"{options.cyclescope} phases --quiet --interval {interval} "
                                             f"{' '.join(guest.AS_QEMU)} --sysroot {{root}} --")
    warming = guest.on_core(suite.sysroot, options.cyclescope, "--skip", options.skip, "--warm", "--max-insns", 1000)
    runners = [guest.without_core(suite.sysroot, options.cyclescope), phases("100G"), phases(INTERVAL)]
    if options.qemu:
        runners.append(QemuBbv(suite.sysroot, options.qemu, options.bbv_plugin))
    best, instructions, reference = [math.inf] * 5, None, None
    for _ in range(options.rounds):
        for i, runner in enumerate(runners):
            result = one_run(runner, case, suite, options)
            outputs = case.comparable(result.outputs)
            reference = reference or outputs
            if outputs != reference:
                raise Wrong("different output")
            best[i] = min(best[i], result.cpu_seconds)
            instructions = result.instructions or instructions
        best[4] = min(best[4], one_run(warming, case, suite, options, complete=False).cpu_seconds)
    return instructions, *best


def table(options):
    """Prints the table row by row.  Returns whether every program could be measured."""
    suite = folder.Suite(options.suite)
    cases = programs.load(options.size, None if options.all else options.programs or DEFAULT)
    suite.prepare()
    complete = True
    print(HEADER, flush=True)
    for case in cases:
        try:
            count, run, counting, phases, qemu, warming = measure(case, suite, options)
        except Wrong as problem:
            print(f"| {case.program} | {problem} | | | | | | | | |", flush=True)
            complete = False
            continue
        warmed = min(options.skip, count)
        print(f"| {case.program} | {count} | {run:.2f} | {counting:.2f} | {phases:.2f} | {counting / run:.3f} x | "
              f"{phases / run:.3f} x | {count / phases / 1e6:.0f} | "
              f"{f'{count / qemu / 1e6:.0f}' if options.qemu else '-'} | {warmed / warming / 1e6:.0f} |", flush=True)
    print(PEERS, end="")
    return complete


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"default: {' '.join(DEFAULT)}")
    parser.add_argument("--all", action="store_true", help="all programs of the suite")
    parser.add_argument("--size", choices=programs.SIZES, default="big")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="default: 5")
    parser.add_argument("--skip", type=int, default=100000000, metavar="N",
                        help="instructions to warm with (default: 100 M)")
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS", help="time limit of a run")
    parser.add_argument("--cyclescope", metavar="FILE", default=guest.CYCLESCOPE)
    parser.add_argument("--suite", metavar="FOLDER", help="as for suite/run.py")
    parser.add_argument("--qemu", metavar="FILE", help="qemu-riscv64 with support for plugins")
    parser.add_argument("--bbv-plugin", metavar="FILE", help="libbbv.so of that QEMU")
    options = parser.parse_args()
    if bool(options.qemu) != bool(options.bbv_plugin):
        parser.error("--qemu and --bbv-plugin must be given together")
    return options


def main():
    try:
        return 0 if table(parse()) else 1
    except guest.Unavailable as reason:
        print(f"skip phases: {reason}")
        return 0
    except ValueError as problem:
        print(f"phases: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
