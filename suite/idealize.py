#!/usr/bin/env python3
"""How each idealization of the core changes the cycles of programs of the suite.

A perfect structure should not cost cycles.  It can cost a few, which is no bug: the structure changes what is fetched,
issued and brought into caches, and the new order of events can happen to be worse.  A cost of more than half a percent
is `not ok`; docs/MODEL.md explains smaller costs.  A table of all changes follows the lines.
"""

import argparse
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import compare   # noqa: E402  (these four are in the folder of this file)
import folder    # noqa: E402
import guest     # noqa: E402
import programs  # noqa: E402

IDEALIZATIONS = ("branch", "l1i", "l2i", "itlb", "l1d", "l2d", "dtlb", "units")
MOST = 0.5  # limit of the cost of an idealization, in percent of the cycles


class Wrong(Exception):
    """A run that failed; the text says how."""


class Window:
    """Simulates a window in the middle of a program, on cores with and without a perfect structure."""

    def __init__(self, suite, options):
        self.suite = suite
        self.options = options

    def cycles(self, case, perfect=None):
        """Cycles on the core, with the structure `perfect` made perfect if it is given."""
        settings = ["--core", self.options.core] + [f"--set={setting}" for setting in self.options.set]
        if perfect:
            settings.append(f"--set=perfect.{perfect}=yes")
        runner = guest.on_core(self.suite.sysroot, self.options.cyclescope, *settings,
                               "--skip", case.minsns * 1000000 // 2, "--warmup", self.options.warmup,
                               "--max-insns", self.options.insns)
        result = guest.run(runner, case, self.suite.sysroot, self.options.timeout)
        if result.status != 0:
            raise Wrong(compare.bad_end(result, self.options.timeout))
        return json.loads(result.report)["cycles"]

    def changes(self, case):
        """The cycles, and by idealization their change in percent."""
        cycles = self.cycles(case)
        return cycles, {name: 100 * (self.cycles(case, name) / cycles - 1) for name in IDEALIZATIONS}


def lines(case, changes):
    """One line per fact."""
    for name, change in changes.items():
        fact = f"{case.program}.perfect.{name}"
        yield f"ok {fact}" if change <= MOST else f"not ok {fact}: {change:+.2f} % of cycles"


def row(case, insns, cycles, changes):
    return f"| {case.program} | {cycles / insns:.3f} | " + " | ".join(
        f"{change:+.2f}".replace("-0.00", "0.00").replace("+0.00", "0.00") for change in changes.values()) + " |"


def study(suite, options):
    """Prints the lines and the table.  Returns whether every line is ok."""
    cases = [case for case in programs.load(options.size, options.programs) if not suite.missing_input(case)]
    window = Window(suite, options)
    rows, good = [], True

    def attempt(case):
        try:
            return window.changes(case)
        except Wrong as problem:
            return problem

    with ThreadPoolExecutor(options.jobs) as pool:
        for case, outcome in zip(cases, pool.map(attempt, cases)):
            if isinstance(outcome, Wrong):
                printed = [f"not ok {case.program}.perfect: {outcome}"]
            else:
                printed = list(lines(case, outcome[1]))
                rows.append(row(case, options.insns, *outcome))
            print("\n".join(printed), flush=True)
            good = good and all(line.startswith("ok") for line in printed)
    print("\n| change of cycles, % | CPI | " + " | ".join(IDEALIZATIONS) + " |\n"
          "|---|--:|" + "--:|" * len(IDEALIZATIONS))
    print("\n".join(rows))
    return good


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="default: all")
    parser.add_argument("--core", metavar="NAME", default="eyerman2006", help="default: eyerman2006")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[],
                        help="change a parameter of the core")
    parser.add_argument("--insns", type=int, default=3000000, metavar="N",
                        help="instructions of the window, which begins in the middle of the program (default: 3000000)")
    parser.add_argument("--warmup", type=int, default=3000000, metavar="N",
                        help="uncounted instructions on the core before the window (default: 3000000)")
    parser.add_argument("--size", choices=programs.SIZES, default="small")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="programs at a time (default: 2)")
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS", help="time limit of a run")
    parser.add_argument("--cyclescope", metavar="FILE", type=os.path.abspath, default=guest.CYCLESCOPE,
                        help="default: build/cyclescope")
    parser.add_argument("--suite", metavar="FOLDER", help="as for run.py")
    return parser.parse_args()


def main():
    options = parse()
    try:
        suite = folder.Suite(options.suite)
        suite.prepare()
        return 0 if study(suite, options) else 1
    except guest.Unavailable as reason:
        print(f"skip idealize: {reason}")
        return 0
    except ValueError as problem:
        print(f"idealize: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
