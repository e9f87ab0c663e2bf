#!/usr/bin/env python3
"""Runs the suite: Debian's riscv64 programs under an emulator, compared with qemu-riscv64.

    run.py prepare                build the suite's folder (packages and inputs) unless it exists
    run.py list                   print the programs
    run.py show PROGRAM           print the command line that runs a program by hand
    run.py check [PROGRAM]        compare every program under the emulator with qemu, and with a second run
    run.py core [PROGRAM]         compare every program on the simulated core with plain emulation
    run.py checkpoints [PROGRAM]  save every program at random points, restore it, and compare the rest of the run

With --further, a command runs the further programs, which are kept for validation.
"""

import argparse
import shlex
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import checkpoints  # noqa: E402  (these six are in the folder of this file)
import compare      # noqa: E402
import core         # noqa: E402
import folder       # noqa: E402
import guest        # noqa: E402
import programs     # noqa: E402


class Check:
    """Makes one line per fact: `ok NAME`, `not ok NAME: why` or `skip NAME: why`."""

    def __init__(self, suite, options):
        self.suite = suite
        self.timeout = options.timeout
        self.emulator = guest.Emulator(suite.sysroot, options.emulator)
        try:
            self.oracle, self.no_oracle = folder.Oracle(suite, options.timeout), None
        except guest.Unavailable as reason:
            self.oracle, self.no_oracle = None, reason

    def case(self, case):
        """The lines of one program."""
        missing = self.suite.missing_input(case)
        if missing:
            return [f"skip {case.program}: its input {missing} is missing"]
        runs = [self._run(case)]
        if runs[0].status != 0:
            return [f"not ok {case.program}.status: {compare.bad_end(runs[0], self.timeout)}"]
        runs.append(self._run(case))
        return [f"ok {case.program}.status", self._output(case, runs[0]), self._repeat(case, *runs)]

    def _run(self, case):
        return guest.run(self.emulator, case, self.suite.sysroot, self.timeout)

    def _output(self, case, result):
        """The outputs are those of qemu, except for what programs.toml masks or ignores."""
        fact = f"{case.program}.output"
        try:
            if self.no_oracle:
                raise self.no_oracle
            expected = self.oracle.expected(case)
        except guest.Unavailable as reason:
            return f"skip {fact}: {reason}"
        except RuntimeError as problem:
            return f"not ok {fact}: {problem}"
        return compare.outputs(self.suite, fact, case.comparable(result.outputs), expected)

    def _repeat(self, case, first, second):
        """Two runs execute the same number of instructions and write the same bytes.  That includes times and dates,
        which the guest must not get from the host."""
        fact = f"{case.program}.repeat"
        if first.instructions is None:
            return f"skip {fact}: the emulator does not count instructions"
        if first.instructions != second.instructions:
            return f"not ok {fact}: {first.instructions} instructions, then {second.instructions}"
        return compare.outputs(self.suite, fact, second.outputs, first.outputs)


def check(suite, options):
    """Prints the lines of every program, made by the class of checks of the command."""
    cases = [case for case in programs.load(options.size, options.programs, options.further)
             if options.up_to is None or case.minsns <= options.up_to]
    try:
        suite.prepare()
    except guest.Unavailable as reason:
        print(f"skip suite: {reason}")
        return 0
    checks = options.checks(suite, options)
    failed = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        try:
            for lines in pool.map(checks.case, cases):
                print("\n".join(lines), flush=True)
                failed += sum(line.startswith("not ok") for line in lines)
        except KeyboardInterrupt:  # also ends the running guests
            pool.shutdown(cancel_futures=True)
            return 130
    return 1 if failed else 0


def prepare(suite, _options):
    suite.prepare()
    print(suite.path)
    return 0


def list_programs(_suite, options):
    for small, big in zip(*(programs.load(size, further=options.further) for size in programs.SIZES)):
        print(f"{small.program:12} {small.like:20} {small.minsns:5} {big.minsns:5}  {small.does}")
    return 0


def show(suite, options):
    case, = programs.load(options.size, [options.program])
    emulator = options.emulator.replace("--summary={count}", "--summary").replace("{root}", str(suite.sysroot))
    settings = [f"{key}={value}" for key, value in {**guest.ENVIRONMENT, **case.env}.items()]
    redirect = f" < {shlex.quote(str(suite.sysroot) + case.stdin)}" if case.stdin else ""
    print(f"env -i {shlex.join(settings)} {emulator} {shlex.join(case.argv)}{redirect}")
    return 0


def parse():
    # The shared options come after the command, as in `run.py check --size big`.
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--suite", metavar="FOLDER",
                        help="the suite's folder (default: $CYCLESCOPE_SUITE, or one in the user's cache)")
    sized = argparse.ArgumentParser(add_help=False)
    sized.add_argument("--size", choices=programs.SIZES, default="small")
    emulator = argparse.ArgumentParser(add_help=False)
    emulator.add_argument("--emulator", metavar="COMMAND", default=guest.EMULATOR,
                          help="command before the guest's command line; {root} stands for the sysroot, {count} for "
                               "a file for the instruction count (default: `cyclescope run` of this project)")
    group = argparse.ArgumentParser(add_help=False)
    group.add_argument("--further", action="store_true",
                       help="the further programs, which are kept for validation, instead of the twenty-five")
    checking = argparse.ArgumentParser(add_help=False, parents=[group])
    checking.add_argument("programs", nargs="*", metavar="PROGRAM", help="default: the twenty-five, or all further ones")
    checking.add_argument("--up-to", type=int, metavar="N", help="only programs of at most N million instructions")
    checking.add_argument("--jobs", type=int, default=2, metavar="N", help="programs at a time (default: 2)")

    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name, function, help_text, *parents, **defaults):
        sub = commands.add_parser(name, help=help_text, parents=[shared, *parents])
        sub.set_defaults(function=function, **defaults)
        return sub

    def timeout(sub, seconds):
        sub.add_argument("--timeout", type=float, default=seconds, metavar="SECONDS",
                         help=f"time limit of a run (default: {seconds})")

    command("prepare", prepare, "build the suite's folder unless it exists")
    command("list", list_programs, "print name, kind of work, millions of instructions (small, big) and description",
            group)
    command("show", show, "print the command line of a program", sized, emulator).add_argument("program")
    timeout(command("check", check, "compare the emulator with qemu, and with a second run", checking, sized, emulator,
                    checks=Check), 300)
    sub = command("core", check, "compare the simulated core with the emulator, and jumping over idle cycles with "
                  "stepping through them", checking, sized, checks=core.Check)
    timeout(sub, 1800)
    core.add_options(sub)
    sub = command("checkpoints", check, "save programs at random points, restore them, and compare the rest of the run",
                  checking, sized, checks=checkpoints.Check)
    timeout(sub, 300)
    checkpoints.add_options(sub)
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
