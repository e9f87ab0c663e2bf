#!/usr/bin/env python3
"""Facts about the simulated core: a few guest instructions each, and when they must go through the pipeline.

usage: run.py CYCLESCOPE [NAME...]          all facts, or those named: `ok NAME` or `not ok NAME: what was expected`
       run.py --show CYCLESCOPE NAME        the pipeline of a fact's runs, as a table

A fact is a file NAME.S. Its header has lines that are read here, and above or below them the derivation in words:

    #: core NAME                      other than eyerman2006
    #: set l1d.latency=3 ...          settings, of all runs if before the first `run`
    #: run branch.ras_entries=2 ...   a further run; settings and expectations that follow are its own
    #: counter inside loads:ip=@first-@last
    #: expect issue(use) - issue(load) == 3

An expectation is a comparison of sums of numbers, of cycles of labeled instructions, of events.NAME and
cycles_by.STAGE.REASON (as in the JSON of `cyclescope stat`), of cycles, instructions and exit_status. Cycles are
fetch(x), dispatch(x), issue(x) (the first time), last_issue(x), complete(x) and commit(x); count(x) is how often x was
executed. x is a label, or label[k] if it was executed several times: on the right path. wrong.x and wrong.x[k] are the
instances that were squashed, which are those of wrong paths. stack.METHOD.COMPONENT are the cycles that an accounting
method charges to a component, in the whole program (stack_cycles in the JSON of `cyclescope stack --method all`).
overlap are the cycles of that run in which front-end and long back-end penalties overlap.
counter.NAME is what a counter has counted that a line before names: the event as after -e, with @label for the address
of a label. A group gives a name to each of its events: `counter a,b {loads,stores}`.

Every run is made twice, the second time with --step; counts and pipelines of both must be identical. Where stacks and
counters are expected, those of both must be, too; the components of each stack must sum to the cycles, and only the base
of a naive method or of sfmt may be negative. Components of graph may be negative by up to a hundredth of the cycles: where
prediction is real, lines come when they came in the run, and otherwise when the graph requests them. Counting changes no
other count.
"""

import ast
import concurrent.futures
import json
import operator
import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parent.parent / "build" / "facts"
GCC = os.environ.get("CROSS", "riscv64-linux-gnu-") + "gcc"
FLAGS = "-x assembler -march=rv64gc -mno-relax -fno-pie -no-pie -static -nostdlib".split()  # so that la is no load
FLAGS += "-Wl,--no-relax -Wl,--build-id=none".split()
INSNS = 100000  # that the log holds; a fact needs a few
HANG_SECONDS = 1800  # whatever takes longer hangs, on the slowest machine
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}  # the guest's, too: its size moves the guest's stack


class Mistake(Exception):
    """The fact cannot be checked: a mistake in it, or a run that failed."""


# ---- facts


class Run:
    def __init__(self, settings, counters=()):
        self.settings = list(settings)
        self.counters = list(counters)  # (names, event)
        self.expectations = []

    def wants_stacks(self):
        return any(
            isinstance(node, ast.Name) and node.id in ("stack", "overlap")
            for expectation in self.expectations
            for node in ast.walk(parse(expectation))
        )


def read_fact(path):
    """The core and the runs that a fact asks for."""
    core, shared, runs = None, Run([]), []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.startswith("#:"):
            continue
        word, _, rest = line[2:].strip().partition(" ")
        current = runs[-1] if runs else shared
        if word == "core":
            core = rest.strip()
        elif word == "set":
            current.settings += rest.split()
        elif word == "run":
            if not runs and shared.expectations:
                raise Mistake(f"line {number}: an expectation before the first run")
            runs.append(Run(shared.settings + rest.split(), shared.counters))
        elif word == "counter":
            names, _, event = rest.strip().partition(" ")
            current.counters.append((names.split(","), event.strip()))
        elif word == "expect":
            current.expectations.append(rest.strip())
        else:
            raise Mistake(f"line {number}: unknown word `{word}`")
    runs = runs or [shared]
    if any(not run.expectations for run in runs):
        raise Mistake("a run without expectations")
    return core, runs


def assemble(path):
    """The program of a fact. Others may ask for it at the same time, in this process and in others."""
    program = BUILD / path.stem
    BUILD.mkdir(parents=True, exist_ok=True)
    newest = max(p.stat().st_mtime for p in (path, HERE / "fact.inc", HERE / "run.py"))
    if not program.exists() or program.stat().st_mtime < newest:
        with tempfile.TemporaryDirectory(dir=BUILD) as folder:
            made = pathlib.Path(folder) / "program"
            done = subprocess.run([GCC, *FLAGS, f"-I{HERE}", "-o", made, path], capture_output=True, text=True)
            if done.returncode != 0:
                raise Mistake("does not assemble: " + done.stderr.strip().replace("\n", "; "))
            made.replace(program)
    return program


def read_labels(program):
    """Symbols of a 64-bit ELF file: name to address."""
    image = program.read_bytes()
    (sections,) = struct.unpack_from("<Q", image, 0x28)
    size, count = struct.unpack_from("<HH", image, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", image, sections + i * size) for i in range(count)]
    labels = {}
    for _, kind, _, _, at, length, link, _, _, _ in headers:
        if kind != 2:  # SHT_SYMTAB
            continue
        strings = headers[link][4]
        for symbol in range(at, at + length, 24):
            name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", image, symbol)
            text = image[strings + name : image.index(0, strings + name)].decode()
            if text:
                labels[text] = value
    return labels


# ---- pipelines


class Insn:
    """An instruction in flight, from the log."""

    def __init__(self):
        self.pc, self.text, self.squashed = None, "", None
        self.fetched = self.dispatched = self.completed = self.ended = None
        self.issued = []

    def row(self):
        cycles = [self.fetched, self.dispatched, *[self.issued[k] if self.issued else None for k in (0, -1)]]
        return cycles + [self.completed, self.ended]


def read_log(path):
    """A log in the Kanata format: instructions in the order of fetch."""
    insns, cycle = {}, 0
    with open(path) as log:
        if not log.readline().startswith("Kanata\t0004"):
            raise Mistake("the pipeline view is no Kanata log of version 4")
        for line in log:
            field = line.rstrip("\n").split("\t")
            if field[0] == "C=":
                cycle = int(field[1])
            elif field[0] == "C":
                cycle += int(field[1])
            elif field[0] == "I":
                insns[field[1]] = Insn()
            elif field[0] == "L" and field[2] == "0":
                pc, _, text = field[3].partition(":")
                insns[field[1]].pc, insns[field[1]].text = int(pc, 16), text.strip()
            elif field[0] == "S":
                note_stage(insns[field[1]], field[3], cycle)
            elif field[0] == "R":
                insns[field[1]].ended, insns[field[1]].squashed = cycle, field[3] == "1"
    return list(insns.values())


def note_stage(insn, stage, cycle):
    if stage == "F":
        insn.fetched = cycle
    elif stage == "Dp":
        insn.dispatched = cycle
    elif stage == "Is":
        insn.issued.append(cycle)
    elif stage == "Cp":
        insn.completed = cycle
    else:
        raise Mistake(f"the pipeline view has an unknown stage {stage}")


def cyclescope_run(command, program, core, run, step):
    """Runs a command of cyclescope on the program, which must not fail."""
    command = command + (["--core", core] if core else []) + (["--step"] if step else [])
    command += [word for setting in run.settings for word in ("--set", setting)]
    try:
        done = subprocess.run([*command, program], capture_output=True, text=True, timeout=HANG_SECONDS, env=ENVIRONMENT)
    except subprocess.TimeoutExpired:
        raise Mistake(f"no end after {HANG_SECONDS} seconds: " + shlex.join(map(str, [*command, program]))) from None
    if done.returncode in (125, 128 + 4, 128 + 6, 128 + 11) or done.returncode < 0:
        raise Mistake(f"status {done.returncode}: {done.stderr.strip()}: {shlex.join(map(str, [*command, program]))}")


def count_events(cyclescope, program, core, run, file, step):
    """What the counters of a run have counted, by name."""
    labels = read_labels(program)
    names = [name for some, _ in run.counters for name in some]
    words = []
    for _, event in run.counters:
        unknown = [label for label in re.findall(r"@(\w+)", event) if label not in labels]
        if unknown:
            raise Mistake(f"`{unknown[0]}` is no label")
        words += ["-e", re.sub(r"@(\w+)", lambda label: hex(labels[label[1]]), event)]
    cyclescope_run([cyclescope, "stat", "--quiet", "--json", file, *words], program, core, run, step)
    report = json.loads(file.read_text())
    if len(report["counters"]) != len(names) or len(set(names)) != len(names):
        raise Mistake(f"{len(report['counters'])} events are counted, with the names {', '.join(names)}")
    return {name: counter["value"] for name, counter in zip(names, report["counters"])}, report


def simulate(cyclescope, program, core, run, step):
    """The report of a run, with its stacks and counters if they are wanted, and its pipeline."""
    with tempfile.TemporaryDirectory() as folder:
        return simulate_in(pathlib.Path(folder) / "run", cyclescope, program, core, run, step)


def simulate_in(name, cyclescope, program, core, run, step):
    files = ["--json", f"{name}.json", "--pipeview", f"{name}.log", "--pipeview-insns", str(INSNS)]
    cyclescope_run([cyclescope, "stat", "--quiet", *files], program, core, run, step)
    report = json.loads(pathlib.Path(f"{name}.json").read_text())
    if run.wants_stacks():
        stacks = pathlib.Path(f"{name}.stacks.json")
        cyclescope_run([cyclescope, "stack", "--quiet", "--method", "all", "--json", stacks], program, core, run, step)
        stacked = json.loads(stacks.read_text())
        report["stack"], report["stack_run"] = stacked["stack_cycles"], stacked
        report["overlap"] = round(stacked["overlap_percent"] * stacked["cycles"] / 100)
    if run.counters:
        file = pathlib.Path(f"{name}.counters.json")
        report["counter"], counted = count_events(cyclescope, program, core, run, file, step)
        if differences(report, counted):
            raise Mistake("-e changes " + ", ".join(differences(report, counted)))
    return report, read_log(f"{name}.log")


# ---- expectations


class Values:
    """What the names in an expectation stand for."""

    def __init__(self, report, insns, labels):
        self.report, self.labels = report, labels
        self.at = {}  # (address, squashed) to instances
        for insn in insns:
            self.at.setdefault((insn.pc, insn.squashed), []).append(insn)

    def instances(self, node):
        """A label, wrong.label, or one of these with an index: the instances, and the index or None."""
        index = None
        if isinstance(node, ast.Subscript):
            index, node = self.number(node.slice), node.value
        wrong = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "wrong"
        name = node.attr if wrong else node.id if isinstance(node, ast.Name) else None
        if name not in self.labels:
            raise Mistake(f"`{ast.unparse(node)}` is no label")
        return self.at.get((self.labels[name], wrong), []), index

    def call(self, node):
        function = node.func.id
        if len(node.args) != 1 or node.keywords:
            raise Mistake(f"`{ast.unparse(node)}`: one label is needed")
        found, index = self.instances(node.args[0])
        if function == "count":
            return len(found)
        cycles = {
            "fetch": lambda i: i.fetched,
            "dispatch": lambda i: i.dispatched,
            "issue": lambda i: i.issued[0] if i.issued else None,
            "last_issue": lambda i: i.issued[-1] if i.issued else None,
            "complete": lambda i: i.completed,
            "commit": lambda i: None if i.squashed else i.ended,
        }
        if function not in cycles:
            raise Mistake(f"there is no function {function}")
        if index is None and len(found) != 1:
            raise Mistake(f"`{ast.unparse(node)}`: executed {len(found)} times")
        if index is not None and not -len(found) <= index < len(found):
            raise Mistake(f"`{ast.unparse(node)}`: executed only {len(found)} times")
        cycle = cycles[function](found[index or 0])
        if cycle is None:
            raise Mistake(f"`{ast.unparse(node)}`: it did not come that far")
        return cycle

    def field(self, node):
        path = ast.unparse(node).split(".")
        at = self.report
        for key in path:
            if not isinstance(at, dict) or key not in at:
                raise Mistake(f"the report has no {'.'.join(path)}")
            at = at[key]
        return at

    def number(self, node):
        arithmetic = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self.number(node.operand)
        if isinstance(node, ast.BinOp) and type(node.op) in arithmetic:
            return arithmetic[type(node.op)](self.number(node.left), self.number(node.right))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self.call(node)
        if isinstance(node, (ast.Attribute, ast.Name)):
            return self.field(node)
        raise Mistake(f"cannot evaluate `{ast.unparse(node)}`")


def parse(expectation):
    try:
        return ast.parse(expectation, mode="eval").body
    except SyntaxError:
        raise Mistake(f"cannot read `{expectation}`") from None


def check(expectation, values):
    """None, or what was found instead."""
    compare = {ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le}
    compare |= {ast.Gt: operator.gt, ast.GtE: operator.ge}
    node = parse(expectation)
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or type(node.ops[0]) not in compare:
        raise Mistake(f"`{expectation}` is no comparison")
    left, right = values.number(node.left), values.number(node.comparators[0])
    if compare[type(node.ops[0])](left, right):
        return None
    terms = {ast.unparse(n): values.number(n) for n in ast.walk(node) if isinstance(n, ast.Call)}
    return f"{left} and {right}" + "".join(f", {term} is {value}" for term, value in terms.items())


def differences(one, other):
    """Where two reports differ, times on the host aside."""
    return [
        f"{part}.{key}"
        for part in ("events", "cycles_by", "stack", "counter")
        for key in one.get(part, {})
        if part in other and one[part][key] != other[part].get(key)
    ]


def check_stacks(report):
    """What must hold of all stacks of a run, in words where it does not."""
    wrong = []
    for name in ("cycles", "instructions"):
        if report["stack_run"][name] != report[name]:
            wrong.append(f"`stack` has {report['stack_run'][name]} {name}, `stat` {report[name]}")
    for method, stack in report["stack"].items():
        rounding = 1e-6 if method == "graph" else 0  # its components are means over all orders
        if abs(sum(stack.values()) - report["cycles"]) > rounding:
            wrong.append(f"the stack of {method} sums to {sum(stack.values())}, not {report['cycles']}")
        may_be_negative = ["base"] if method in ("naive", "naive_nonspec", "sfmt") else []
        least = -report["cycles"] / 100 if method == "graph" else 0
        wrong += [
            f"stack.{method}.{component} is {cycles}"
            for component, cycles in stack.items()
            if cycles < least and component not in may_be_negative
        ]
    return wrong


def check_run(cyclescope, program, labels, core, run):
    """What does not hold, in words."""
    wrong, runs = [], []
    for step in (False, True):
        report, insns = simulate(cyclescope, program, core, run, step)
        runs.append((report, insns))
        values = Values(report, insns, labels)
        for expectation in run.expectations:
            found = check(expectation, values)
            if found:
                wrong.append(f"{expectation}: found {found}{' with --step' if step else ''}")
        if run.wants_stacks():
            wrong += check_stacks(report)
    changed = differences(runs[0][0], runs[1][0])
    if changed:
        wrong.append("--step changes " + ", ".join(changed))
    if [i.row() for i in runs[0][1]] != [i.row() for i in runs[1][1]]:
        wrong.append("--step changes the pipeline")
    return wrong


def check_fact(cyclescope, path):
    try:
        core, runs = read_fact(path)
        program = assemble(path)
        labels = read_labels(program)
        wrong = []
        for number, run in enumerate(runs):
            found = check_run(cyclescope, program, labels, core, run)
            which = f"run {number + 1}: " if len(runs) > 1 else ""
            wrong += [which + text for text in found]
    except (Mistake, OSError) as mistake:
        wrong = [str(mistake)]
    return f"not ok {path.stem}: {'; '.join(wrong)}" if wrong else f"ok {path.stem}"


def show_stacks(report):
    for i, (method, stack) in enumerate(report.get("stack", {}).items()):
        if i == 0:
            print(f"{'cycles':14} {report['cycles']:>7} " + " ".join(f"{component:>7}" for component in stack))
        print(f"{method:22} " + " ".join(f"{cycles:>7}" for cycles in stack.values()))


def show(cyclescope, path):
    core, runs = read_fact(path)
    program = assemble(path)
    names = {value: name for name, value in read_labels(program).items()}
    for number, run in enumerate(runs):
        report, insns = simulate(cyclescope, program, core, run, False)
        print(f"run {number + 1}: {' '.join(run.settings)}")
        for name, value in report.get("counter", {}).items():
            print(f"counter.{name}: {value}")
        print(f"{'':40} {'fetch':>7} {'disp':>7} {'issue':>7} {'last':>7} {'compl':>7} {'end':>7}")
        for insn in insns:
            cells = " ".join(f"{'-' if cycle is None else cycle:>7}" for cycle in insn.row())
            label = names.get(insn.pc, "")
            print(f"{insn.pc:x} {label:12} {insn.text:22.22} {cells}{'  squashed' if insn.squashed else ''}")
        show_stacks(report)


def main(arguments):
    showing = arguments[:1] == ["--show"]
    arguments = arguments[showing:]
    if not arguments or (showing and len(arguments) != 2):
        sys.exit(__doc__.strip())
    cyclescope, names = os.path.abspath(arguments[0]), arguments[1:]
    paths = [HERE / f"{name}.S" for name in names] or sorted(HERE.glob("*.S"))
    if shutil.which(GCC) is None:
        print(f"skip facts: there is no {GCC}")
        return 0
    if showing:
        return show(cyclescope, paths[0])
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        lines = list(pool.map(lambda path: check_fact(cyclescope, path), paths))
    print("\n".join(lines))
    return any(line.startswith("not ok") for line in lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
