#!/usr/bin/env python3
"""The dependence graph of small guest programs on random cores: vectors and the literal evaluation agree in all sets.

    random.py [--seed S] [--draws N] [--first K] [--jobs J] [--compare FILE]

Cores and programs are drawn as tests/stacks/random.py draws them. Cores that have no dependence graph are made to have
one, except those with latencies that are too long, which must be refused with a sentence.
"""
import sys

sys.path.pop(0)  # this folder: it would hide the module `random`

import importlib.util
import os
import random
import tempfile
from functools import cached_property

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
spec = importlib.util.spec_from_file_location("stacks_random", os.path.join(ROOT, "tests", "stacks", "random.py"))
sys.path.insert(0, "")  # which that script removes
stacks_random = importlib.util.module_from_spec(spec)
spec.loader.exec_module(stacks_random)
cores = stacks_random.cores

MOST_INSNS = 8000
REFUSED = ("graph: loads from memory", "graph: the stores of a full store buffer", "--what-if ")
WHAT_IFS = 3  # of each draw
LATENCIES = ("memory.latency", "l1d.latency", "l2.latency", "l3.latency", "tlb.walk_latency")


class Fuzzer(stacks_random.Fuzzer):
    @cached_property
    def changeable(self):
        """Parameters that what-ifs can change."""
        names = [line.split()[0] for line in cores.lines_of([self.cyclescope, "list", "what-ifs"]) if line[0] != " "]
        return [name for name in names if name in self.params]

    def draw_what_if(self, rng, core, settings):
        """Some parameters with other values; of the structures, some that become perfect."""
        before = {**self.cores[core], **settings}
        p = dict(before)
        for name in rng.sample(self.changeable, rng.choice((1, 1, 2, 5))):
            perfect = name.startswith("perfect.")
            p[name] = "yes" if perfect else cores.draw_value(rng, self.params[name])
            if name in LATENCIES:
                p[name] = rng.randrange(1, 400)
        cores.repair_window(p)
        changes = [f"{name}={p[name]}" for name in self.changeable if p[name] != before[name]]
        return "+".join(changes) or "rob.size=+0"

    def draw(self, k):
        """The command."""
        rng = random.Random(f"{self.seed} {k}")
        core, settings = cores.draw_core(rng, self.params, self.cores)
        settings["issue.order"] = "out_of_order"
        for name in LATENCIES:
            if settings.get(name, 0) > 400 and rng.random() < 0.9:
                settings[name] = rng.randrange(1, 400)
        program = rng.choice(self.programs)
        more = ["--max-insns", str(stacks_random.draw_length(rng, MOST_INSNS) if rng.random() < 0.3 else MOST_INSNS)]
        if rng.random() < 0.3:
            more += ["--warmup", str(stacks_random.draw_length(rng, MOST_INSNS))]
        sets = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
        what_ifs = ",".join(self.draw_what_if(rng, core, settings) for _ in range(WHAT_IFS))
        return ["env", "-i", self.compare, "--core", core, *sets, *more, "--base", "--what-if", what_ifs, "--", program.path]

    def check(self, command):
        """Raises cores.Failure."""
        with tempfile.TemporaryDirectory() as folder:
            status, output, errors = self.run(command, os.path.join(folder, "cwd"))
        text = (output + errors).decode(errors="replace").strip()
        if status == 125 and any(reason in text for reason in REFUSED):
            return
        if status == 1 and output:
            raise cores.Failure(text.split(":")[-1].split()[0] + " differ", text)
        if status != 0 or text:
            raise cores.Failure("status", f"status {status}: {text[:1500]}")


if __name__ == "__main__":
    stacks_random.Fuzzer = Fuzzer
    sys.exit(stacks_random.main("graph"))
