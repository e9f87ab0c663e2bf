#!/usr/bin/env python3
"""Runs the suite: Debian's riscv64 programs under an emulator, beside qemu-riscv64.

    run.py prepare           build the suite's folder (packages and inputs) unless it is there
    run.py list              the programs
    run.py show PROGRAM      the command line that runs a program by hand
    run.py check [PROGRAM]   does every program do under the emulator what it does under qemu,
                             and twice the same?
"""

import argparse
import shlex
import shutil
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import folder    # noqa: E402  (these three lie beside this file)
import guest     # noqa: E402
import programs  # noqa: E402


def first_difference(name, got, expected):
    """One sentence on how an output differs from what is expected."""
    if expected is None:
        return f"{name} should not be there"
    if got is None:
        return f"{name} is missing"
    at = next((i for i, (a, b) in enumerate(zip(got, expected)) if a != b),
              min(len(got), len(expected)))
    return f"{name} differs at byte {at} ({len(got)} bytes, expected {len(expected)})"


def difference(got, expected):
    """The first difference between two sets of outputs, None if there is none."""
    for name in sorted(got.keys() | expected.keys()):
        if got.get(name) != expected.get(name):
            return first_difference(name, got.get(name), expected.get(name))
    return None


class Check:
    """Collects one line per fact: `ok NAME`, `not ok NAME: why` or `skip NAME: why`."""

    def __init__(self, suite, options):
        self.suite = suite
        self.timeout = options.timeout
        self.emulator = guest.Emulator(suite.sysroot, options.emulator)
        try:
            self.oracle, self.no_oracle = folder.Oracle(suite, options.timeout), None
        except guest.Unavailable as reason:
            self.oracle, self.no_oracle = None, reason

    def case(self, case):
        """The lines of a program."""
        missing = self.suite.missing_input(case)
        if missing:
            return [f"skip {case.program}: its input {missing} could not be made here"]
        runs = [self._run(case)]
        if runs[0].status != 0:
            return [f"not ok {case.program}.status: {self._end(runs[0])}"]
        runs.append(self._run(case))
        return [f"ok {case.program}.status", self._output(case, runs[0]), self._repeat(case, *runs)]

    def _run(self, case):
        return guest.run(self.emulator, case, self.suite.sysroot, self.timeout)

    def _end(self, result):
        if result.status is None:
            return f"no end after {self.timeout} seconds"
        end = f"signal {-result.status}" if result.status < 0 else f"exit status {result.status}"
        return f"{end}, expected 0: {folder.last_line(result.outputs['stderr'])}"

    def _output(self, case, result):
        """The outputs are those of qemu, save what the table says varies."""
        fact = f"{case.program}.output"
        try:
            if self.no_oracle:
                raise self.no_oracle
            expected = self.oracle.expected(case)
        except guest.Unavailable as reason:
            return f"skip {fact}: {reason}"
        except RuntimeError as problem:
            return f"not ok {fact}: {problem}"
        got = case.comparable(result.outputs)
        return self._compare(fact, got, expected)

    def _repeat(self, case, first, second):
        """Two runs execute equally many instructions and write the same, down to times and dates,
        which the guest must not get from this machine."""
        fact = f"{case.program}.repeat"
        if first.instructions is None:
            return f"skip {fact}: the emulator counts no instructions"
        if first.instructions != second.instructions:
            return f"not ok {fact}: {first.instructions} instructions, then {second.instructions}"
        return self._compare(fact, second.outputs, first.outputs)

    def _compare(self, fact, got, expected):
        kept = self.suite.path / "failed" / fact
        shutil.rmtree(kept, ignore_errors=True)
        problem = difference(got, expected)
        if not problem:
            return f"ok {fact}"
        folder.write_outputs(kept / "got", got)
        folder.write_outputs(kept / "expected", expected)
        return f"not ok {fact}: {problem}, see {kept}"


def check(suite, options):
    cases = programs.load(options.size, options.programs)
    try:
        suite.prepare()
    except guest.Unavailable as reason:
        print(f"skip suite: {reason}")
        return 0
    checks = Check(suite, options)
    failed = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        try:
            for lines in pool.map(checks.case, cases):
                print("\n".join(lines), flush=True)
                failed += sum(line.startswith("not ok") for line in lines)
        except KeyboardInterrupt:  # which also ends the guests: start no more
            pool.shutdown(cancel_futures=True)
            return 130
    return 1 if failed else 0


def prepare(suite, _options):
    suite.prepare()
    print(suite.path)
    return 0


def list_programs(_suite, _options):
    for small, big in zip(programs.load("small"), programs.load("big")):
        print(f"{small.program:12} {small.like:20} {small.minsns:5} {big.minsns:5}  {small.does}")
    return 0


def show(suite, options):
    case, = programs.load(options.size, [options.program])
    emulator = options.emulator.replace("--count={count}", "--count").replace("{root}", str(suite.sysroot))
    settings = [f"{key}={value}" for key, value in {**guest.ENVIRONMENT, **case.env}.items()]
    redirect = f" < {shlex.quote(str(suite.sysroot) + case.stdin)}" if case.stdin else ""
    print(f"env -i {shlex.join(settings)} {emulator} {shlex.join(case.argv)}{redirect}")
    return 0


def parse():
    # The shared options come after the command, as in `run.py check --size big`.
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--suite", metavar="FOLDER",
                        help="the suite's folder (default: $CYCLESCOPE_SUITE, or one in the user's cache)")
    running = argparse.ArgumentParser(add_help=False)
    running.add_argument("--size", choices=programs.SIZES, default="small")
    running.add_argument("--emulator", metavar="COMMAND", default=guest.EMULATOR,
                         help="what comes before the guest's command line; {root} is the sysroot, {count} "
                              "a file for the instruction count (default: this project's `cyclescope run`)")

    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name, function, help_text, *parents):
        sub = commands.add_parser(name, help=help_text, parents=[shared, *parents])
        sub.set_defaults(function=function)
        return sub

    command("prepare", prepare, "build the suite's folder unless it is there")
    command("list", list_programs, "name, kind, millions of instructions (small, big), description")
    command("show", show, "print the command line of a program", running).add_argument("program")
    sub = command("check", check, "compare the emulator with qemu and with itself", running)
    sub.add_argument("programs", nargs="*", metavar="PROGRAM", help="default: all")
    sub.add_argument("--jobs", type=int, default=2, metavar="N", help="programs at a time (default: 2)")
    sub.add_argument("--timeout", type=float, default=300, metavar="SECONDS",
                     help="for one run of a program (default: 300)")
    return parser.parse_args()


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `run.py list | head` ends quietly
    options = parse()
    try:
        return options.function(folder.Suite(options.suite), options)
    except (guest.Unavailable, ValueError) as problem:
        print(f"suite: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
