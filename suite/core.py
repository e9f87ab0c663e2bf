"""Checks the simulated core: programs of the suite must do the same on it as under plain emulation, and must have the
same counts whether the core jumps over idle cycles or steps through them.

A short program runs on the core from its start.  Of a longer program only the end runs on the core, because the core is
a hundred times slower than emulation; the number of instructions decides where the end begins.
"""

import json
import os
import subprocess

import compare
import guest
import programs

MILLION = 1000000
WHOLE = 150  # millions of instructions up to which a program runs on the core from its start
TAIL = 60    # millions of instructions at the end of a longer program that run on the core
STEPPED = 1  # millions of instructions from the middle of a program that are also stepped through
SHORT_TAIL, SHORT_STEPPED = 3, 0.2  # the same with --short, for every program


def add_options(parser):
    parser.add_argument("--cyclescope", metavar="FILE", type=os.path.abspath, default=guest.CYCLESCOPE,
                        help="program to test (default: build/cyclescope)")
    parser.add_argument("--core", metavar="NAME", default="eyerman2006", help="default: eyerman2006")
    parser.add_argument("--whole", action="store_true",
                        help=f"simulate programs of more than {WHOLE} million instructions from their start, too")
    parser.add_argument("--short", action="store_true",
                        help=f"simulate only the last {SHORT_TAIL} million instructions of each program")


def skipped(instructions, whole, short=False):
    """The number of instructions of a program that do not run on the core."""
    if short:
        return max(0, instructions - SHORT_TAIL * MILLION)
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
    """Makes one line per fact, like the class Check in run.py."""

    def __init__(self, suite, options):
        self.suite = suite
        self.options = options
        self.emulator = guest.without_core(suite.sysroot, options.cyclescope)
        listed = subprocess.run([options.cyclescope, "list", "cores"], capture_output=True, text=True, check=True)
        self.others = [line.split()[0] for line in listed.stdout.splitlines() if not line.startswith(" ")]
        if options.core in self.others:
            self.others.remove(options.core)
        self.places = {case.program: i for further in (False, True)
                       for i, case in enumerate(programs.load(options.size, further=further))}

    def case(self, case):
        """The lines of a program."""
        missing = self.suite.missing_input(case)
        if missing:
            return [f"skip {case.program}.core: its input {missing} is missing"]
        plain = guest.run(self.emulator, case, self.suite.sysroot, self.options.timeout)
        if plain.status != 0:
            return [f"not ok {case.program}.emulated: {compare.bad_end(plain, self.options.timeout)}"]
        middle = plain.instructions // 2
        # Each program is also stepped on one of the other cores; programs take these cores in turn.
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
        """Runs a program to its end on the core: same output and same number of instructions as without a core."""
        fact = f"{case.program}.core"
        skip = skipped(plain.instructions, self.options.whole, self.options.short)
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
        """A window has the same counts with and without --step."""
        length = int((SHORT_STEPPED if self.options.short else STEPPED) * MILLION)
        window = ("--skip", start, "--max-insns", length)
        runs = [self._run(case, core, *window), self._run(case, core, *window, "--step")]
        for result, counts in runs:
            if counts is None:
                return f"not ok {fact}: {compare.bad_end(result, self.options.timeout)}"
        problem = first_change(runs[0][1], runs[1][1]) or wrong_sum(runs[0][1])
        return f"not ok {fact}: {problem}" if problem else f"ok {fact}"
