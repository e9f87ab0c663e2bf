#!/usr/bin/env python3
"""Every event that `list events` names, counted by `stat -e` in all ways that there are: these must agree.

usage: events.py CYCLESCOPE [PART...]       `ok NAME` or `not ok NAME: events that disagree, with their counts`

On some guests (build/guest, build/workloads) and cores, a single run counts every event on each of its paths, whole
and by its sub-events; by the numbers that the simulator keeps and, with a filter that lets everything pass, by asking
every instruction; and cycle by cycle with thresholds and edges. Then
    what retired is never more than what was speculative;
    the sum over sub-events, over classes of instructions and over halves of the code is the whole;
    a filter that lets everything pass changes nothing;
    cycles at and below a threshold are all cycles; cycles at or above 1, 2, 3, ... sum to the event;
    an event that is 0 or 1 in a cycle is what threshold 1 counts;
    rising and falling edges alternate;
    user mode is all there is, and machine mode nothing;
    the JSON's counts of the same names are the same;
    and stepping through idle cycles, or leaving out all counters that look at single cycles, changes no count.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PARTS = {
    "signal_basic": ["build/guest/signal_basic"],
    "signal_fault": ["build/guest/signal_fault"],
    "hints": ["build/guest/hints"],
    "counters": ["build/guest/counters"],
    "thread_futex": ["build/guest/thread_futex"],
    "fork_exec": ["--max-insns", "30000", "build/guest/fork_exec"],
    "mix": ["--skip", "60000000", "--max-insns", "30000", "build/workloads/mix"],
    "balanced": ["--skip", "1000000", "--max-insns", "30000", "build/workloads/balanced"],
    "memory_bound": ["--skip", "1000000", "--max-insns", "30000", "build/workloads/memory_bound"],
}
RUNS = [  # a guest, a core and what is changed of it
    ("signal_basic", "eyerman2006"),
    ("signal_basic", "ppc970"),
    ("signal_fault", "eyerman2006"),
    ("signal_fault", "pentium-pro"),
    ("hints", "small"),
    ("counters", "modern"),
    ("thread_futex", "eyerman2006"),
    ("thread_futex", "pentium"),
    ("fork_exec", "modern"),
    ("fork_exec", "small"),
    ("mix", "eyerman2006"),
    ("mix", "ppc970-inorder"),
    ("balanced", "modern"),
    ("balanced", "pentium-pro"),
    ("memory_bound", "modern", "l2.size=64K", "l3.size=64K"),
]
EVERYWHERE = "0-0xffffffffffffffff"
SPLIT = 0x20000  # an address within the code of static programs
CLASSES = "alu mul div branch load store fpadd fpmul fpdiv fpsqrt".split()
WIDEST = 16  # instructions that any stage moves per cycle
MOVED = ["committed", "fetched", "dispatched", "issued"]  # at most that many per cycle
LARGEST_ROB = 128  # whose entries are counted one by one
SHOWN = 12  # disagreements that a line tells


class Event:
    def __init__(self, name, unit, paths):
        self.name, self.unit = name, unit
        self.paths = paths  # "retired", "spec"; [""] of an event that has none
        self.bits = []
        self.attributed = []  # paths that filters by instruction can select
        self.addressed = False

    def spec(self, path, *modifiers):
        return ":".join([self.name, *([path] if path else []), *modifiers])


# ---- what there is


def run(command, folder=ROOT):
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=300)


def list_events(cyclescope):
    events = []
    for line in run([cyclescope, "list", "events"]).stdout.splitlines():
        found = re.match(r"  (\S+) +\S+ +(times|cycles|value) +(-|(?:retired|spec)(?:, (?:retired|spec))?) +\S", line)
        if found:
            events.append(Event(found[1], found[2], [""] if found[3] == "-" else found[3].split(", ")))
        elif line.startswith(" "):
            sys.exit(f"cannot read the line `{line}` of `list events`")
    for event in events:
        shown, inside = run([cyclescope, "list", "events", event.name]).stdout, False
        for line in shown.splitlines():
            if line.startswith("    :"):
                event.bits += [line.split()[0][1:]] if inside else []
            else:
                inside = line.split()[:1] == [event.name]
        event.attributed = [p for p in event.paths if accepts(cyclescope, event.spec(p, "ip=" + EVERYWHERE))]
        event.addressed = accepts(cyclescope, event.spec("", "addr=" + EVERYWHERE))
    return events


def accepts(cyclescope, spec):
    """Whether it is an event: then the program is what is missing."""
    said = run([cyclescope, "stat", "-e", spec, "/no/such/program"]).stderr
    if "/no/such/program" in said:
        return True
    if re.search("is no event of instructions|does not belong to instructions|has no data address", said):
        return False
    sys.exit(f"unexpected answer to {spec}: {said}")


# ---- what is counted


def plain_specs(event):
    return [event.spec(path, *bit) for path in event.paths for bit in [[], *([b] for b in event.bits)]]


def filtered_specs(event):
    specs = []
    for path in event.attributed:
        for bit in [[], *([b] for b in event.bits)]:
            specs.append(event.spec(path, *bit, "ip=" + EVERYWHERE))
        specs.append(event.spec(path, "op=" + "|".join(CLASSES)))
        specs += [event.spec(path, "op=" + c) for c in CLASSES]
        specs += [event.spec(path, f"ip=0-{SPLIT:#x}"), event.spec(path, f"ip={SPLIT:#x}-0xffffffffffffffff")]
        if event.addressed:
            specs.append(event.spec(path, "addr=" + EVERYWHERE))
    return specs


def rob_specs(event, rob):
    """Whether the ROB has 1, 2, 3, ... entries, of a small one."""
    counted = event.name == "rob-occupancy" and rob <= LARGEST_ROB
    return [event.spec("", f"thresh={n}") for n in range(2, rob + 1)] if counted else []


def shaped_specs(event):
    """Edges are those of the first process: another one begins and ends somewhere between two edges."""
    shapes = [["thresh=1"], ["thresh=1", "inv"], ["u"], ["m"], ["um"]]
    shapes += [[*shape, "marked"] for shape in (["edge"], ["edge", "inv"], ["thresh=1"])]
    specs = []
    for path in event.paths:
        specs += [event.spec(path, *shape) for shape in shapes]
        specs += [event.spec(path, bit, "thresh=1") for bit in event.bits if event.unit == "cycles"]
        if event.name in MOVED:
            specs += [event.spec(path, f"thresh={n}") for n in range(2, WIDEST + 1)]
    return specs


def count(cyclescope, part, core, settings, specs, *options):
    """Counts by spec, and the whole report."""
    with tempfile.TemporaryDirectory() as folder:
        words = [word for spec in specs for word in ("-e", spec)]
        report = folder + "/json"
        words += [word for setting in settings for word in ("--set", setting)]
        *options_of_part, guest = PARTS[part]
        done = run([cyclescope, "stat", "--quiet", "--core", core, *options, "--json", report, *words,
                    *options_of_part, str(ROOT / guest)], folder)
        if done.returncode == 125 or not os.path.exists(report):
            raise RuntimeError(f"status {done.returncode}: {done.stderr.strip()}")
        whole = json.loads(pathlib.Path(report).read_text())
    counters = whole["counters"]
    if [c["event"] for c in counters] != specs:
        raise RuntimeError("the JSON's counters are not those that were asked for")
    return {c["event"]: c["value"] for c in counters}, whole


# ---- what must hold; each gives the events that disagree, in words


def retired_below_spec(events, v, whole):
    for e in events:
        if set(e.paths) == {"retired", "spec"}:
            for bit in [[], *([b] for b in e.bits)]:
                retired, spec = v[e.spec("retired", *bit)], v[e.spec("spec", *bit)]
                if retired > spec:
                    yield f"{e.spec('', *bit)}: {retired} retired, {spec} speculative"


def sub_events_sum(events, v, whole):
    for e in events:
        for path in e.paths:
            total, sums = v[e.spec(path)], sum(v[e.spec(path, b)] for b in e.bits)
            if e.bits and total != sums:
                yield f"{e.spec(path)}: {total}, its sub-events {sums}"


def instructions_agree(events, v, whole):
    for e in events:
        for path in e.paths:
            for bit in [[], *([b] for b in e.bits)]:
                filtered = e.spec(path, *bit, "ip=" + EVERYWHERE)
                if filtered in v and v[filtered] != v[e.spec(path, *bit)]:
                    yield f"{e.spec(path, *bit)}: {v[e.spec(path, *bit)]}, by instructions {v[filtered]}"
            for filtered in (e.spec(path, "addr=" + EVERYWHERE), e.spec(path, "op=" + "|".join(CLASSES))):
                if filtered in v and v[filtered] != v[e.spec(path)]:
                    yield f"{e.spec(path)}: {v[e.spec(path)]}, as {filtered} {v[filtered]}"


def parts_sum(events, v, whole):
    for e in events:
        for path in e.paths:
            if e.spec(path, "op=alu") not in v:
                continue
            total = v[e.spec(path, "ip=" + EVERYWHERE)]
            classes = sum(v[e.spec(path, "op=" + c)] for c in CLASSES)
            halves = v[e.spec(path, f"ip=0-{SPLIT:#x}")] + v[e.spec(path, f"ip={SPLIT:#x}-0xffffffffffffffff")]
            if total != classes or total != halves:
                yield f"{e.spec(path)}: {total}, by class {classes}, by address {halves}"


# Of what lasts, all of it when it ends: its value is a length, while other events of cycles are 1 or 0.
COUNTED_AT_THE_END = ["stall-breakdown"]


def thresholds_agree(events, v, whole):
    for e in events:
        for path in e.paths:
            total, above, below = (v[e.spec(path, *m)] for m in ([], ["thresh=1"], ["thresh=1", "inv"]))
            if above + below != whole["cycles"]:
                yield f"{e.spec(path)}: {above} cycles at 1 and {below} below are not {whole['cycles']}"
            if above > total:
                yield f"{e.spec(path)}: {total} in {above} cycles"
            in_cycles = e.unit == "cycles" and e.name not in COUNTED_AT_THE_END
            for bit in [[], *([b] for b in e.bits)]:
                if in_cycles and v[e.spec(path, *bit)] != v[e.spec(path, *bit, "thresh=1")]:
                    yield f"{e.spec(path, *bit)}: {v[e.spec(path, *bit)]}, cycles {v[e.spec(path, *bit, 'thresh=1')]}"
            steps = [v[spec] for spec in (e.spec(path, f"thresh={n}") for n in range(1, LARGEST_ROB + 1)) if spec in v]
            if len(steps) > 1 and sum(steps) != total:
                yield f"{e.spec(path)}: {total}, thresholds sum to {sum(steps)}"
            if sorted(steps, reverse=True) != steps:
                yield f"{e.spec(path)}: more cycles at a higher threshold"


def edges_alternate(events, v, whole):
    for e in events:
        for path in e.paths:
            shapes = ["edge"], ["edge", "inv"], ["thresh=1"]
            rising, falling, above = (v[e.spec(path, *shape, "marked")] for shape in shapes)
            if not 0 <= rising - falling <= 1 or rising > above or (above > 0) != (rising > 0):
                yield f"{e.spec(path)}: {rising} rising and {falling} falling edges in {above} cycles"


def privileges_add_up(events, v, whole):
    for e in events:
        for path in e.paths:
            total, user, machine, both = (v[e.spec(path, *m)] for m in ([], ["u"], ["m"], ["um"]))
            if user != total or both != total or machine != 0:
                yield f"{e.spec(path)}: {total}, u {user}, m {machine}, um {both}"


def json_agrees(events, v, whole):
    for e in events:
        name = e.name.replace("-", "_").replace("committed", "instructions")
        pairs = {name: e.paths[0], name + "_spec": "spec"} if "spec" in e.paths else {name: e.paths[0]}
        for name, path in pairs.items():
            if name in whole["events"] and whole["events"][name] != v[e.spec(path)]:
                yield f"{e.spec(path)}: {v[e.spec(path)]}, the JSON's {name} {whole['events'][name]}"
        stage, _, kind = e.name.rpartition("-")
        if kind == "stops":
            for reason, cycles in whole["cycles_by"][stage].items():
                if v[e.spec("", reason.replace("_", "-"))] != cycles:
                    yield f"{e.name}:{reason}: {v[e.spec('', reason)]}, the JSON {cycles}"


CHECKS = [
    retired_below_spec,
    sub_events_sum,
    instructions_agree,
    parts_sum,
    thresholds_agree,
    edges_alternate,
    privileges_add_up,
    json_agrees,
]


def report(name, wrong):
    more = f" and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
    print(f"not ok {name}: {'; '.join(wrong[:SHOWN])}{more}" if wrong else f"ok {name}", flush=True)
    return not wrong


def same_counts(one, other):
    return [f"{spec}: {one[spec]} and {other[spec]}" for spec in other if one[spec] != other[spec]]


def check_run(cyclescope, events, part, core, settings):
    """Whether all is well, and the events that occurred."""
    where, good, occurred = f"{part}-{core}", True, set()
    plain = [spec for e in events for spec in plain_specs(e)]
    try:
        alone, whole = count(cyclescope, part, core, settings, plain)
        occurred = {e.name for e in events if any(alone[e.spec(path)] for path in e.paths)}
        rob = int(whole["params"]["rob.size"])
        specs = plain + [s for e in events for s in filtered_specs(e) + shaped_specs(e) + rob_specs(e, rob)]
        v, whole = count(cyclescope, part, core, settings, specs)
        for check in CHECKS:
            good &= report(f"{check.__name__.replace('_', '-')}-{where}", list(check(events, v, whole)))
        good &= report(f"cheap-counters-are-the-same-{where}", same_counts(v, alone))
        stepped, _ = count(cyclescope, part, core, settings, specs, "--step")
        good &= report(f"stepping-changes-no-counter-{where}", same_counts(v, stepped))
    except (RuntimeError, subprocess.TimeoutExpired) as mistake:
        good = report(where, [str(mistake)])
    return good, occurred


def main(arguments):
    if not arguments:
        sys.exit(__doc__.strip())
    cyclescope, parts = os.path.abspath(arguments[0]), arguments[1:]
    events = list_events(cyclescope)
    good = report("there-are-events-to-check", [] if len(events) >= 80 else [f"only {len(events)}"])
    filtered = sum(len(e.attributed) > 0 for e in events)
    good &= report("there-are-events-of-instructions", [] if filtered >= 30 else [f"only {filtered}"])
    never = {e.name for e in events}
    for part, core, *settings in RUNS:
        if parts and part not in parts:
            continue
        fine, occurred = check_run(cyclescope, events, part, core, settings)
        good &= fine
        never -= occurred
    if not parts:
        good &= report("every-event-occurs", sorted(never))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
