#!/usr/bin/env python3
"""Small guest programs on random cores: whatever the core, a program does the same, and the counts are consistent.

    cores.py [--seed S] [--draws N] [--first K] [--seconds T] [--jobs J] [--cyclescope FILE]

Each draw has a core (one that comes with Cyclescope, some or all of its parameters drawn anew, extremes preferred) and
a program. `stat` must end as `run` does, with the same output and number of instructions; cycles jumped over must be as
cycles stepped through; and the counts must fulfil what holds for every core. What fails is shrunk to few settings.
The draws of a seed are always the same. Programs: those of tests/facts, those of tests/guest as far as they are built,
random sequences of instructions, and mixture.S.
"""
import argparse
import concurrent.futures
import json
import math
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tests", "facts"))

import run as facts  # the programs of tests/facts

GCC = os.environ.get("CROSS", "riscv64-linux-gnu-") + "gcc"
FLAGS = "-march=rv64gc -mno-relax -fno-pie -no-pie -static -nostdlib -Wl,--no-relax,--no-warn-rwx-segments".split()
TIME_LIMIT = 1800        # seconds for one run: more is a hang
SHRINK_LIMIT = 60        # the same while a hang is shrunk
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}  # the guest's, too: its size moves the guest's stack
STEP_CYCLES = 3_000_000  # that are stepped through; longer runs are cut
CACHE_BYTES = 16 << 20   # most of a cache, so that draws are quick
SHOWN = 10               # failures that are shrunk and printed; of a kind, two

GUESTS = "ctzw zicond hints memory_map memory_short_file signal_basic signal_fault thread_futex fork_exec".split()
# Lengths are of each process, so limits would change what the children do.
FORKS = {"fork_exec", "signal_fault", "counter_of_the_marked_process", "counter_of_a_process_that_marks_itself"}
TELL_CYCLES = {"cycle_counter_counts_cycles"}  # what they do depends on the core
RETIRED = "loads stores branches conditional_branches taken_branches fp_instructions atomics system_calls".split()


# ---- parameters


def lines_of(command):
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [line for line in done.stdout.splitlines() if line.strip()]


def number(text):
    """Numbers and sizes as numbers, names as they are."""
    factor = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1], 1)
    digits = text[:-1] if factor > 1 else text
    return int(digits) * factor if digits.isdigit() else text


def read_params(cyclescope):
    """Name to range: (least, most) of a number, or a list of choices."""
    params = {}
    for line in lines_of([cyclescope, "list", "params"]):
        if line.startswith(" "):  # its meaning
            continue
        name, values = line.split()[:2]
        params[name] = tuple(number(v) for v in values.split("..")) if ".." in values else values.split("|")
    return params


def draw_value(rng, values):
    if isinstance(values, list):
        return rng.choice(values)
    least, most = values
    kind = rng.random()
    if kind < 0.15:
        return least
    if kind < 0.25:
        return min(least + 1, most)
    if kind < 0.32:
        return most
    low = max(least, 1)
    return min(most, max(least, int(low * math.exp(rng.random() * math.log(most / low + 1)))))


def floor_power(n):
    return 1 << (max(1, n).bit_length() - 1)


def repair_caches(p):
    for name in ("l1i.line", "l1d.line", "l2.line", "l3.line", "bus.width", "tlb.page"):
        p[name] = floor_power(p[name])
    if p["l2.size"] == 0:
        p["l3.size"] = 0
    else:
        p["l2.line"] = max(p["l2.line"], p["l1i.line"], p["l1d.line"])
    if p["l3.size"]:
        p["l3.line"] = max(p["l3.line"], p["l2.line"])
    for level in ("l1i", "l1d", "l2", "l3"):
        size, way = f"{level}.size", p[f"{level}.ways"] * p[f"{level}.line"]
        if p[size] or level in ("l1i", "l1d"):
            p[size] = way * floor_power(min(p[size], CACHE_BYTES) // way)
        else:
            p[f"{level}.prefetch"] = "none"


def repair_tables(p):
    p["branch.history_bits"] = min(p["branch.history_bits"], p["branch.gshare_bits"])
    least = p["branch.tage_min_history"] + p["branch.tage_tables"]
    p["branch.tage_max_history"] = max(p["branch.tage_max_history"], least)
    for table in ("branch.btb_", "itlb.", "dtlb.", "l2tlb."):
        entries, ways = table + "entries", table + "ways"
        if p[entries]:
            p[entries] = p[ways] * floor_power(p[entries] // p[ways])


def repair_window(p):
    if p["issue.order"] == "in_order_serial":
        p["dispatch.bundle"] = min(p["dispatch.bundle"], 1)
    for part, whole in (("lsq.loads lsq.stores", "lsq.size"), ("iq.int iq.fp iq.mem", "iq.size")):
        for name in part.split():
            p[name] = min(p[name], p[whole] or p[name])
    for name in ("fetch.buffer dispatch.width rob.size iq.size iq.int iq.fp iq.mem lsq.size lsq.loads lsq.stores "
                 "store_buffer.size").split():
        p["dispatch.bundle"] = min(p["dispatch.bundle"], p[name] or p["dispatch.bundle"])
    for name, registers in (("rename.int_regs", 31), ("rename.fp_regs", 32)):
        if p[name]:
            p[name] = max(p[name], registers + max(1, p["dispatch.bundle"]))


def draw_core(rng, params, cores):
    """A core's name and settings that change it, valid by the rules of config_check.c."""
    core = rng.choice(sorted(cores))
    base = cores[core]
    p = dict(base)
    share = rng.choice((0.03, 0.1, 0.3, 1))
    for name, values in params.items():
        if name.startswith("perfect."):
            p[name] = "yes" if rng.random() < 0.15 * share else p[name]
        elif rng.random() < share:
            p[name] = draw_value(rng, values)
    repair_caches(p)
    repair_tables(p)
    repair_window(p)
    return core, {name: value for name, value in p.items() if value != base[name]}


# ---- runs


class Failure(Exception):
    """What does not hold; `kind` stays the same while settings are dropped."""

    def __init__(self, kind, what):
        super().__init__(what)
        self.kind = kind


class Program:
    def __init__(self, name, path):
        self.name, self.path = name, path
        self.forks = name in FORKS
        self.status = self.output = self.insns = None  # under `run`
        self.retired = None  # counts that no core changes


def find_programs(work):
    found = []
    for rounds in (20, 300):
        path = os.path.join(work, f"mixture{rounds}")
        source = os.path.join(HERE, "mixture.S")
        subprocess.run([GCC, *FLAGS, f"-DROUNDS={rounds}", "-o", path, source], check=True)
        found += [Program(f"mixture{rounds}", path)] * 8  # as likely as the many small ones
    sources = [path for path in sorted(facts.HERE.glob("*.S")) if path.stem not in TELL_CYCLES]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found += [Program(path.name, str(path)) for path in pool.map(facts.assemble, sources)]
    guests = {name: os.path.join(ROOT, "build/guest", name) for name in GUESTS}
    found += [Program(name, path) for name, path in guests.items() if os.path.exists(path)]
    generator = os.path.join(ROOT, "build/fuzz/generate")
    for seed in range(1, 31 if os.path.exists(generator) else 1):
        path = os.path.join(work, f"sequences{seed}")
        subprocess.run([generator, "--seed", str(seed), "--sequences", "12", path], check=True)
        found.append(Program(f"sequences{seed}", path))
    return found


class Fuzzer:
    def __init__(self, options, work):
        self.cyclescope = os.path.abspath(options.cyclescope)
        self.seed = options.seed
        self.work = work
        self.params = read_params(self.cyclescope)
        self.programs = find_programs(work)
        self.cores = {}
        for line in lines_of([self.cyclescope, "list", "cores"]):
            if line.startswith(" "):  # more of the last one's meaning
                continue
            name = line.split()[0]
            report = self.stat(name, {}, self.programs[0], [])[2]
            self.cores[name] = report["params"]
        for program in self.programs:
            self.refer(program)

    def run(self, command, folder, limit=TIME_LIMIT):
        """Status, output and error output. What hangs may not listen to any other signal than SIGKILL."""
        os.makedirs(folder)
        try:
            done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, stdin=subprocess.DEVNULL,
                                  timeout=limit)
        except subprocess.TimeoutExpired:
            raise Failure("hang", f"no end after {limit} seconds") from None
        return done.returncode, done.stdout, done.stderr

    def command(self, core, settings, program, more):
        sets = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
        return [self.cyclescope, "stat", "--quiet", "--core", core, *sets, *more, program.path]

    def stat(self, core, settings, program, more, limit=TIME_LIMIT):
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            file = os.path.join(folder, "json")
            command = self.command(core, settings, program, [*more, "--json", file])
            status, output, errors = self.run(command, os.path.join(folder, "cwd"), limit)
            text = errors.decode(errors="replace").strip()
            if status < 0 or "Sanitizer" in text or "runtime error" in text:
                raise Failure("crash " + text.split("\n")[0][-100:], f"status {status}: {text[:1500]}")
            if status == 125 or not os.path.exists(file):
                raise Failure("refused", f"status {status}: {text[:1500]}")
            with open(file) as written:
                return status, output, json.load(written)

    def refer(self, program):
        """What the program does without a core, and what retires on the default one."""
        if program.insns is not None:
            return
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            file = os.path.join(folder, "json")
            command = [self.cyclescope, "run", "--quiet", "--json", file, program.path]
            program.status, program.output, _ = self.run(command, os.path.join(folder, "cwd"))
            with open(file) as written:
                program.insns = json.load(written)["instructions"]
        events = self.stat("eyerman2006", {}, program, [])[2]["events"]
        program.retired = {name: events[name] for name in RETIRED}

    # ---- one draw

    def draw(self, k):
        """The arguments of `check`."""
        rng = random.Random(f"{self.seed} {k}")
        core, settings = draw_core(rng, self.params, self.cores)
        program = rng.choice(self.programs)
        more = []
        for option in ("--skip", "--warmup", "--max-insns"):
            length = str(rng.randrange(1, program.insns + 2))
            if rng.random() < 0.2 and not program.forks:
                more += [option, length]
        if "--skip" in more and rng.random() < 0.7:
            more += ["--warm"]
        return core, settings, program, more

    def check(self, core, settings, program, more, limit=TIME_LIMIT):
        """Raises Failure."""
        status, output, report = self.stat(core, settings, program, more, limit)
        check_outcome(program, more, status, output, report)
        warmed = program.forks or "--skip" in more or "--warmup" in more
        check_counts(report, self.cores[core] | settings, warmed)
        if report["cycles"] > STEP_CYCLES and report["instructions"] > 1:
            most = max(1, report["instructions"] * STEP_CYCLES // report["cycles"])
            more = [*more, "--max-insns", str(most)]
            report = self.stat(core, settings, program, more, limit)[2]
        stepped = self.stat(core, settings, program, [*more, "--step"], limit)[2]
        for part in ("events", "cycles_by"):
            pairs = {key: (value, stepped[part][key]) for key, value in report[part].items()}
            changed = "; ".join(f"{key} {one} → {other}" for key, (one, other) in pairs.items() if one != other)
            if changed:
                raise Failure("step", f"--step changes {part}: {changed}")

    def shrink(self, core, settings, program, more, kind):
        """Fewer arguments of `check` that fail in the same way."""

        def fails(*arguments):
            try:
                self.check(*arguments, limit=SHRINK_LIMIT if kind == "hang" else TIME_LIMIT)
            except Failure as failure:
                return failure.kind == kind
            return False

        if fails("eyerman2006", settings, program, more):
            core = "eyerman2006"
        if more and fails(core, settings, program, []):
            more = []
        names, step = list(settings), max(1, len(settings) // 2)
        while names and step:
            left = []
            for start in range(0, len(names), step):
                dropped = set(names[start:start + step])
                fewer = {name: value for name, value in settings.items() if name not in dropped}
                if fails(core, fewer, program, more):
                    settings = fewer
                else:
                    left += names[start:start + step]
            step, names = step // 2, left
        return core, settings, program, more


# ---- what holds for every core


def check_outcome(program, more, status, output, report):
    given = dict(zip(more, more[1:]))
    skip, warmup, most = (int(given.get(name, 0)) for name in ("--skip", "--warmup", "--max-insns"))
    insns, skipped = report["instructions"], report["skipped"]
    if report["cut"]:
        if insns != most:
            raise Failure("cut", f"cut after {insns} instructions instead of {most}")
        return
    if (status, output) != (program.status, program.output):
        raise Failure("outcome", f"status {status} and output {output[:200]}, "
                                 f"with run {program.status} and {program.output[:200]}")
    expected = max(0, program.insns - skip - warmup)
    if insns != expected or skipped != min(skip, program.insns):
        raise Failure("instructions", f"{skipped} skipped and {insns} measured of {program.insns}, not {expected}")
    for name in RETIRED if not skip and not warmup else []:
        if report["events"][name] != program.retired[name]:
            raise Failure("retired", f"{name} is {report['events'][name]}, on eyerman2006 {program.retired[name]}")


def check_counts(report, config, warmed):
    """`warmed`: caches hold lines that were brought before counting began, as those of forked processes do."""
    events, cycles, insns = report["events"], report["cycles"], report["instructions"]

    def must(holds, what):
        if not holds:
            counts = ", ".join(f"{word} is {events[word]}" for word in dict.fromkeys(what.split()) if word in events)
            raise Failure(what, f"{what}: {counts}")

    def at_most(*names):
        values = [events[name] for name in names]
        must(values == sorted(values), " <= ".join(names))

    must(cycles == events["cycles"] and insns == events["instructions"], "cycles and instructions are events, too")
    for stage, reasons in report["cycles_by"].items():
        must(sum(reasons.values()) == cycles, f"reasons of {stage} sum to cycles")
    for name in events:
        if name + "_spec" in events:
            at_most(name, name + "_spec")
    must(events["fetched"] == insns + events["squashed"], "fetched == instructions + squashed")
    at_most("instructions", "dispatched", "fetched")
    at_most("instructions", "issued")
    for stage in ("fetch", "decode", "dispatch", "issue", "commit"):
        width = config[f"{stage}.width"]
        if stage in ("dispatch", "commit"):
            width = config["dispatch.bundle"] or width  # a bundle a cycle
        must(insns <= cycles * width, f"instructions <= cycles * width of {stage}")
    must(events["rob_occupancy"] <= cycles * config["rob.size"], "rob_occupancy <= cycles * rob.size")
    at_most("rob_full_cycles", "cycles")
    at_most("wrong_path_cycles", "cycles")
    at_most("taken_branches", "branches")
    at_most("forwards", "loads_spec")
    kinds = events["conditional_mispredictions"] + events["return_mispredictions"] + events["indirect_mispredictions"]
    must(events["mispredictions"] == kinds, "mispredictions are of three kinds")
    must(events["bus_reads"] + events["bus_writes"] == events["bus_transactions"],
         "bus_reads + bus_writes == bus_transactions")
    for cache in ("l1i", "l1d", "l2i", "l2d", "l3i", "l3d"):
        for path in ("", "_spec"):
            at_most(*(f"{cache}_{what}{path}" for what in ("merges", "access_misses", "accesses")))
    for level in ("l1i", "l1d", "l2", "l3") if not warmed else []:
        sides = [level] if level[-1] in "id" else [level + "i", level + "d"]  # one may use what the other brought
        used, brought = (sum(events[f"{s}_{what}"] for s in sides) for what in ("useful_prefetches", "prefetches"))
        must(used <= brought, f"{level} uses no more prefetches than there are")
    check_absent(events, config, must)


NEVER = {
    "perfect.branch": "squashed mispredictions_spec wrong_path_cycles misfetches",
    "perfect.l1i": "l1i_misses_spec l1i_access_misses_spec l2i_accesses_spec l1i_prefetches",
    "perfect.l1d": "l1d_misses_spec l1d_access_misses_spec l2d_accesses_spec l1d_prefetches rejects_mshr",
    "perfect.l2i": "l2i_misses_spec l2i_access_misses_spec l3i_accesses_spec",
    "perfect.l2d": "l2d_misses_spec l2d_access_misses_spec l3d_accesses_spec",
    "perfect.itlb": "itlb_misses_spec itlb_access_misses_spec itlb_walks_spec",
    "perfect.dtlb": "dtlb_misses_spec dtlb_access_misses_spec dtlb_walks_spec rejects_tlb",
}


def check_absent(events, config, must):
    """What is perfect, or not there, is not counted."""
    for name, counts in NEVER.items():
        for count in counts.split():
            must(config[name] == "no" or events[count] == 0, f"{name} has no {count}")
    for level in ("l2", "l3"):
        for side in "id":
            perfect = config.get(f"perfect.{level}{side}") == "yes"
            for what in ("accesses_spec", "prefetches", "writebacks"):
                count = f"{level}{side}_{what}"
                must(config[f"{level}.size"] or perfect or events[count] == 0, f"without {level} there is no {count}")


# ---- the command line


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--first", type=int, default=1, help="number of the first draw")
    parser.add_argument("--seconds", type=float, default=math.inf, help="end after that time, whatever is left")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cyclescope", default=os.path.join(ROOT, "build/cyclescope"), metavar="FILE")
    return parser.parse_args()


def make_draws(options, work):
    """Prints failures; the number of draws, and how many failed by kind."""
    started, done, failed = time.monotonic(), 0, {}
    fuzzer = Fuzzer(options, work)

    def attempt(k):
        if time.monotonic() - started > options.seconds:
            return None
        drawn = fuzzer.draw(k)
        try:
            fuzzer.check(*drawn)
        except Failure as failure:
            return k, drawn, failure
        return k, drawn, None

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(attempt, range(options.first, options.first + options.draws)):
            done += result is not None
            if result is None or result[2] is None:
                continue
            k, drawn, failure = result
            failed[failure.kind] = failed.get(failure.kind, 0) + 1
            if failed[failure.kind] <= 2 and sum(failed.values()) <= SHOWN:
                small = fuzzer.shrink(*drawn, failure.kind)
                print(f"# draw {k}, {drawn[2].name}: {failure}")
                print(f"#   {shlex.join(fuzzer.command(*small))}", flush=True)
    return done, failed


def main():
    options = parse_options()
    if shutil.which(GCC) is None:
        print(f"skip fuzz-cores: there is no {GCC}")
        return 0
    with tempfile.TemporaryDirectory() as work:
        try:
            done, failed = make_draws(options, work)
        except Failure as failure:
            print(f"not ok fuzz-cores: before the first draw: {failure}".replace("\n", "; "))
            return 1
    print(f"# seed {options.seed}: {done} draws from number {options.first} on")
    if failed:
        kinds = ", ".join(f"{n} of kind `{kind}`" for kind, n in failed.items())
        print(f"not ok fuzz-cores: {sum(failed.values())} draws fail: {kinds}")
        return 1
    print("ok fuzz-cores")
    return 0


if __name__ == "__main__":
    sys.exit(main())
