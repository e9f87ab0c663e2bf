#!/usr/bin/env python3
"""What each idealization of the core does to the cycles of programs of the suite.

A structure made perfect must not cost cycles.  It may cost a few: what is fetched, issued and brought into
caches changes with it, and an order of events that happens to be worse is no bug.  So more than half a
percent is `not ok`; docs/MODEL.md says where fewer come from.  A table of all changes follows the lines.
"""

import argparse
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import compare   # noqa: E402  (these four lie beside this file)
import folder    # noqa: E402
import guest     # noqa: E402
import programs  # noqa: E402

IDEALIZATIONS = ("branch", "l1i", "l2i", "itlb", "l1d", "l2d", "dtlb", "units")
MOST = 0.5  # percent of cycles that an idealization may cost


class Wrong(Exception):
    """A run that did not end as it should; the text says how."""


class Window:
    """Simulates a window in the middle of a program, each time on another core."""

    def __init__(self, suite, options):
        self.suite = suite
        self.options = options

    def cycles(self, case, perfect=None):
        """Cycles on the core, or on the core with something made perfect."""
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
        """Cycles, and the change by each idealization in percent."""
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
    """Prints lines and table; true if every line is ok."""
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
                said = [f"not ok {case.program}.perfect: {outcome}"]
            else:
                said = list(lines(case, outcome[1]))
                rows.append(row(case, options.insns, *outcome))
            print("\n".join(said), flush=True)
            good = good and all(line.startswith("ok") for line in said)
    print("\n| change of cycles, % | CPI | " + " | ".join(IDEALIZATIONS) + " |\n"
          "|---|--:|" + "--:|" * len(IDEALIZATIONS))
    print("\n".join(rows))
    return good


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="default: all")
    parser.add_argument("--core", metavar="NAME", default="eyerman2006", help="default: eyerman2006")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="change a parameter of it")
    parser.add_argument("--insns", type=int, default=3000000, metavar="N",
                        help="instructions of the window, which begins in the middle (default: 3000000)")
    parser.add_argument("--warmup", type=int, default=3000000, metavar="N",
                        help="instructions simulated before it (default: 3000000)")
    parser.add_argument("--size", choices=programs.SIZES, default="small")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="programs at a time (default: 2)")
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS", help="for one run")
    parser.add_argument("--cyclescope", metavar="FILE", type=os.path.abspath, default=guest.CYCLESCOPE,
                        help="default: the project's own")
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
