#!/usr/bin/env python3
"""Stacks of small guest programs on random cores: the methods of src/stacks count what the literal tables count.

    random.py [--seed S] [--draws N] [--first K] [--jobs J] [--compare FILE]

Cores and programs are drawn as tests/fuzz/cores.py draws them, tables with few rows more often; half of the draws step
through every cycle, half have intervals, half tell the literal tables about every instruction, half leave out the
methods that examine every cycle. The draws of a seed are always the same. Programs that are made for this stay beside
FILE, so that commands can be repeated.
"""
import sys

sys.path.pop(0)  # this folder: it would hide the module `random`

import argparse
import concurrent.futures
import math
import os
import random
import shlex
import shutil
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tests", "fuzz"))

import cores

MOST_INSNS = 20000
SHOWN = 10       # failures that are printed; of a kind, two
FEW_ROWS = (1, 2, 3, 5)


def draw_length(rng, most):
    """Short ones as likely as long ones."""
    return int(math.exp(rng.random() * math.log(most)))


class Fuzzer(cores.Fuzzer):
    def __init__(self, options, work):
        self.compare = os.path.abspath(options.compare)
        super().__init__(options, work)

    def refer(self, program):
        """What programs do without a core is of no interest."""

    def draw(self, k):
        """The command."""
        rng = random.Random(f"{self.seed} {k}")
        core, settings = cores.draw_core(rng, self.params, self.cores)
        if rng.random() < 0.7:
            settings["fmt.rows"] = rng.choice((rng.choice(FEW_ROWS), rng.choice(FEW_ROWS), rng.randrange(1, 65)))
        program = rng.choice(self.programs)
        more = ["--max-insns", str(draw_length(rng, MOST_INSNS) if rng.random() < 0.3 else MOST_INSNS)]
        if rng.random() < 0.2:
            more += ["--warmup", str(draw_length(rng, MOST_INSNS))]
        if rng.random() < 0.5:
            more += ["--interval", str(draw_length(rng, MOST_INSNS))]
        more += [option for option in ("--step", "--all-insns", "--fewer") if rng.random() < 0.5]
        sets = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
        # The environment lies on the guest's stack and moves what is below.
        return ["env", "-i", self.compare, "--core", core, *sets, *more, "--", program.path]

    def check(self, command):
        """Raises cores.Failure."""
        with tempfile.TemporaryDirectory() as folder:
            status, output, errors = self.run(command, os.path.join(folder, "cwd"))
        text = (output + errors).decode(errors="replace").strip()
        if status == 1 and output:
            raise cores.Failure(kind_of(text.split("\n")[0]), text)
        if status != 0 or text:
            raise cores.Failure("status", f"status {status}: {text[:1500]}")


def kind_of(line):
    """A complaint without its place and numbers."""
    what, _, values = line.partition(": ")[2].partition(" is ")
    return f"{what} {'is negative' if 'less than' in values else 'differs'}"


def parse_options(name):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--first", type=int, default=1, help="number of the first draw")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--compare", default=os.path.join(ROOT, f"build/{name}/compare"), metavar="FILE",
                        help="its build has `cyclescope` one folder up")
    return parser.parse_args()


def make_draws(options, work):
    """Prints failures; how many draws failed, by kind."""
    fuzzer, failed = Fuzzer(options, work), {}

    def attempt(k):
        command = fuzzer.draw(k)
        try:
            fuzzer.check(command)
        except cores.Failure as failure:
            return k, command, failure
        return k, command, None

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for k, command, failure in pool.map(attempt, range(options.first, options.first + options.draws)):
            if failure is None:
                continue
            failed[failure.kind] = failed.get(failure.kind, 0) + 1
            if failed[failure.kind] <= 2 and sum(failed.values()) <= SHOWN:
                print(f"# draw {k}: {failure}".replace("\n", "\n#     "))
                print(f"#   {shlex.join(command)}", flush=True)
    return failed


def main(name):
    """`name`: the folder of the comparison in the build; the group is NAME-random."""
    options = parse_options(name)
    if shutil.which(cores.GCC) is None:
        print(f"skip {name}-random: there is no {cores.GCC}")
        return 0
    build = os.path.dirname(os.path.dirname(os.path.abspath(options.compare)))
    options.cyclescope = os.path.join(build, "cyclescope")
    work = os.path.join(build, name, "programs")
    os.makedirs(work, exist_ok=True)
    try:
        failed = make_draws(options, work)
    except cores.Failure as failure:
        print(f"not ok {name}-random: before the first draw: {failure}".replace("\n", "; "))
        return 1
    if failed:
        kinds = ", ".join(f"{n} of kind `{kind}`" for kind, n in failed.items())
        print(f"not ok {name}-random: {sum(failed.values())} of {options.draws} draws fail: {kinds}")
        return 1
    print(f"ok {name}-random: {options.draws} draws")
    return 0


if __name__ == "__main__":
    sys.exit(main("stacks"))
