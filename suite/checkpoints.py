"""Programs of the suite, saved after random numbers of instructions: do they go on from there as they would
have, with the same outputs, exit status and number of instructions?"""

import os
import random
import re
import sys

import compare
import guest

# Why a program may not be saved at a point (guest/state.h); such a point counts for nothing.
REASONS = re.compile(r"cannot be saved: it is a (pipe|socket)|its child \d+ (still runs|has ended)|"
                     r"has no name in any folder|which only the kernel knows|it holds a lock")

# Programs that cannot be saved at any point, once they have begun in earnest: a pipe to themselves (meep: of MPI).
NEVER = ("meep",)

# Two commands, the second if the first succeeds. A shell would give them other variables, or others first.
BOTH = """
import os, subprocess, sys
file, first = sys.argv[1], 3 + int(sys.argv[2])
status = subprocess.run(sys.argv[3:first]).returncode or subprocess.run(sys.argv[first:]).returncode
if os.path.exists(file):
    os.unlink(file)
sys.exit(status if status >= 0 else 128 - status)
"""


def add_options(parser):
    parser.add_argument("--cyclescope", metavar="FILE", type=os.path.abspath, default=guest.CYCLESCOPE,
                        help="the program on trial (default: the project's own)")
    parser.add_argument("--points", type=int, default=3, metavar="N", help="points per program (default: 3)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the points (default: 1)")


class Interrupted:
    """Runs a program up to a point, saves it, and goes on with what was saved by a command of Cyclescope's, in which
    {count} stands for the file that it writes; all as one command."""

    def __init__(self, sysroot, cyclescope, at, *go_on):
        self._sysroot, self._cyclescope, self._at = sysroot, str(cyclescope), at
        self._go_on = go_on or ("run", "--count={count}")

    def command(self, folder, argv):
        file = folder.with_name(folder.name + ".checkpoint")
        save = [self._cyclescope, "checkpoint", "--quiet", "--at", str(self._at), "-o", str(file), "--sysroot",
                str(self._sysroot), "--", *argv]
        count = str(self.count_file(folder))
        go_on = [self._cyclescope, *(str(word).replace("{count}", count) for word in self._go_on), "--restore", str(file)]
        return [sys.executable, "-I", "-c", BOTH, str(file), str(len(save)), *save, *go_on]

    def count_file(self, folder):
        return folder.with_name(folder.name + ".count")


class Check:
    """Collects one line per fact, as the class of this name in run.py."""

    def __init__(self, suite, options):
        self.suite = suite
        self.options = options
        self.emulator = guest.without_core(suite.sysroot, options.cyclescope)

    def case(self, case):
        """The line of a program."""
        fact = f"{case.program}.checkpoints"
        missing = self.suite.missing_input(case)
        if missing:
            return [f"skip {fact}: its input {missing} could not be made here"]
        whole = guest.run(self.emulator, case, self.suite.sysroot, self.options.timeout)
        if whole.status != 0:
            return [f"not ok {fact}: {compare.bad_end(whole, self.options.timeout)}"]
        draw, refused, went_on = random.Random(f"{self.options.seed} {case.program}"), [], 0
        for _ in range(self.options.points):
            at = draw.randrange(1, whole.instructions)
            runner = Interrupted(self.suite.sysroot, self.options.cyclescope, at)
            problem, reason = self._compare(fact, guest.run(runner, case, self.suite.sysroot, self.options.timeout),
                                            whole)
            if problem:
                return [f"not ok {fact}: saved after {at} instructions: {problem}"]
            refused += [reason] if reason else []
            went_on += not reason
        if not went_on and case.program not in NEVER:
            return [f"not ok {fact}: no point could be saved: {refused[0]}"]
        return [f"ok {fact}" + (f" # {len(refused)} points were refused: {refused[0]}" if refused else "")]

    def _compare(self, fact, result, whole):
        """What is wrong, and why the point was refused; None and None if it went on."""
        words = result.outputs["stderr"].decode(errors="replace")
        if result.status == 125 and REASONS.search(words):
            return None, words.strip().splitlines()[-1]
        if result.status != 0:
            return f"{compare.bad_end(result, self.options.timeout)} {words[-200:]!r}", None
        if result.instructions != whole.instructions:
            return f"{result.instructions} instructions instead of {whole.instructions}", None
        line = compare.outputs(self.suite, fact, result.outputs, whole.outputs)
        return (None if line.startswith("ok") else line), None
