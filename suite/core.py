"""Programs of the suite on the simulated core: do they do there what they do under plain emulation, and
does jumping over idle cycles count what stepping through them counts?

A short program runs on the core from its start.  Of a longer one only the end does, because the core is
a hundred times slower than emulation; where the end begins follows from the number of instructions.
"""

import json
import os
import subprocess

import compare
import guest
import programs

MILLION = 1000000
WHOLE = 150  # millions of instructions of the longest program that is simulated from its start
TAIL = 60    # of a longer one, the last so many millions are
STEPPED = 1  # millions of instructions, from the middle of a program on, that are also stepped through


def add_options(parser):
    parser.add_argument("--cyclescope", metavar="FILE", type=os.path.abspath, default=guest.CYCLESCOPE,
                        help="the program on trial (default: the project's own)")
    parser.add_argument("--core", metavar="NAME", default="eyerman2006", help="default: eyerman2006")
    parser.add_argument("--whole", action="store_true",
                        help=f"also simulate programs of more than {WHOLE} million instructions from their start")


def skipped(instructions, whole):
    """How many of a program's instructions do not run on the core."""
    return 0 if whole or instructions <= WHOLE * MILLION else instructions - TAIL * MILLION


def wrong_sum(counts):
    """The first stage whose cycles do not add up to all cycles, as a sentence; None if all do."""
    for stage, reasons in counts["cycles_by"].items():
        if sum(reasons.values()) != counts["cycles"]:
            return f"cycles of {stage} add up to {sum(reasons.values())} of {counts['cycles']}"
    return None


def first_change(got, expected):
    """The first count in which two runs differ, as a sentence; None if they do not."""
    for kind, names in [("events", expected["events"])] + list(expected["cycles_by"].items()):
        values = got["events"] if kind == "events" else got["cycles_by"][kind]
        for name, value in names.items():
            if values[name] != value:
                return f"{kind} {name} is {values[name]}, expected {value}"
    return None


class Check:
    """Collects one line per fact, as the class of this name in run.py."""

    def __init__(self, suite, options):
        self.suite = suite
        self.options = options
        self.emulator = guest.without_core(suite.sysroot, options.cyclescope)
        listed = subprocess.run([options.cyclescope, "list", "cores"], capture_output=True, text=True, check=True)
        self.others = [line.split()[0] for line in listed.stdout.splitlines()]
        if options.core in self.others:
            self.others.remove(options.core)
        self.places = {case.program: i for i, case in enumerate(programs.load(options.size))}

    def case(self, case):
        """The lines of a program."""
        missing = self.suite.missing_input(case)
        if missing:
            return [f"skip {case.program}.core: its input {missing} could not be made here"]
        plain = guest.run(self.emulator, case, self.suite.sysroot, self.options.timeout)
        if plain.status != 0:
            return [f"not ok {case.program}.emulated: {compare.bad_end(plain, self.options.timeout)}"]
        middle = plain.instructions // 2
        # Each program is stepped on another core as well, by turns, so that all get their share.
        other = self.others[self.places[case.program] % len(self.others)]
        return [*self._same(case, plain),
                self._step(case, f"{case.program}.core.step", self.options.core, middle),
                self._step(case, f"{case.program}.core.step-{other}", other, middle)]

    def _run(self, case, core, *arguments):
        """The result of a run, and its counts if it ended well."""
        runner = guest.on_core(self.suite.sysroot, self.options.cyclescope, "--core", core, *arguments)
        result = guest.run(runner, case, self.suite.sysroot, self.options.timeout)
        return result, json.loads(result.report) if result.status == 0 else None

    def _same(self, case, plain):
        """To its end on the core a program writes what it writes without, after as many instructions."""
        fact = f"{case.program}.core"
        skip = skipped(plain.instructions, self.options.whole)
        result, counts = self._run(case, self.options.core, "--skip", skip)
        if counts is None:
            return [f"not ok {fact}.status: {compare.bad_end(result, self.options.timeout)}"]
        total = counts["skipped"] + counts["instructions"]
        counted = (f"ok {fact}.count" if total == plain.instructions else
                   f"not ok {fact}.count: {total} instructions, expected {plain.instructions}")
        problem = wrong_sum(counts)
        return [f"ok {fact}.status", compare.outputs(self.suite, f"{fact}.output", result.outputs, plain.outputs),
                counted, f"not ok {fact}.sums: {problem}" if problem else f"ok {fact}.sums"]

    def _step(self, case, fact, core, start):
        """A window jumped through and stepped through gives the same counts."""
        window = ("--skip", start, "--max-insns", STEPPED * MILLION)
        runs = [self._run(case, core, *window), self._run(case, core, *window, "--step")]
        for result, counts in runs:
            if counts is None:
                return f"not ok {fact}: {compare.bad_end(result, self.options.timeout)}"
        problem = first_change(runs[0][1], runs[1][1]) or wrong_sum(runs[0][1])
        return f"not ok {fact}: {problem}" if problem else f"ok {fact}"
