"""Checks checkpoints: programs of the suite, saved after a random number of instructions and restored, must end with
the same outputs, exit status and number of instructions as a run in one piece."""

import os
import random
import re
import sys

import compare
import guest

# Reasons for which a program cannot be saved at a point (src/guest/state.h).  Such a point is neither ok nor not ok.
REASONS = re.compile(r"cannot be saved: it is a (pipe|socket)|its child \d+ (still runs|has ended)|"
                     r"has no name in any folder|which only the kernel knows|it holds a lock")

# Programs that cannot be saved at any point after their start, because they keep a pipe to themselves open: meep's MPI does.
NEVER = ("meep", "xz")

# Runs two commands, the second if the first succeeds.  A shell would change the environment, or its order.
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
                        help="program to test (default: build/cyclescope)")
    parser.add_argument("--points", type=int, default=3, metavar="N", help="checkpoints per program (default: 3)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the random points (default: 1)")


class Interrupted:
    """Runs a program up to a point, saves it, and restores it with a command of Cyclescope, all as one command line.
    In that command, {count} stands for the file that it writes."""

    def __init__(self, sysroot, cyclescope, at, *go_on):
        self._sysroot, self._cyclescope, self._at = sysroot, str(cyclescope), at
        self._go_on = go_on or ("run", "--summary={count}")

    def command(self, folder, argv):
        file = folder.with_name(folder.name + ".checkpoint")
        save = [self._cyclescope, "checkpoint", "--quiet", "--at", str(self._at), "-o", str(file),
                *guest.AS_QEMU, "--sysroot", str(self._sysroot), "--", *argv]
        count = str(self.count_file(folder))
        go_on = [self._cyclescope, *(str(word).replace("{count}", count) for word in self._go_on), "--restore", str(file)]
        return [sys.executable, "-I", "-c", BOTH, str(file), str(len(save)), *save, *go_on]

    def count_file(self, folder):
        return folder.with_name(folder.name + ".count")


class Check:
    """Makes one line per fact, like the class Check in run.py."""

    def __init__(self, suite, options):
        self.suite = suite
        self.options = options
        self.emulator = guest.without_core(suite.sysroot, options.cyclescope)

    def case(self, case):
        """The line of one program, in a list."""
        fact = f"{case.program}.checkpoints"
        missing = self.suite.missing_input(case)
        if missing:
            return [f"skip {fact}: its input {missing} is missing"]
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
        return [f"ok {fact}" + (f" # {len(refused)} points could not be saved: {refused[0]}" if refused else "")]

    def _compare(self, fact, result, whole):
        """(problem, reason for which the point could not be saved); both are None if the restored run is right."""
        words = result.outputs["stderr"].decode(errors="replace")
        if result.status == 125 and REASONS.search(words):
            return None, words.strip().splitlines()[-1]
        if result.status != 0:
            return f"{compare.bad_end(result, self.options.timeout)} {words[-200:]!r}", None
        if result.instructions != whole.instructions:
            return f"{result.instructions} instructions instead of {whole.instructions}", None
        line = compare.outputs(self.suite, fact, result.outputs, whole.outputs)
        return (None if line.startswith("ok") else line), None
