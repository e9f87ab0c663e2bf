"""Every event of `cyclescope list events`, counted by `stat -e` in all ways: these must agree.

On some guests (build/guest, build/workloads) and cores, a single run counts every event on each of its paths, whole and by
its sub-events. It counts each of them in three ways: by the numbers that the simulator keeps; instruction by instruction,
with a filter that lets everything pass; and cycle by cycle, with thresholds and edges. The tests say what must hold.
"""
import re
import shutil
from dataclasses import dataclass, field

import pytest

from conftest import PROJECT, Commands

GUESTS = {
    **{name: [f"build/guest/{name}"] for name in ("signal_basic", "signal_fault", "hints", "counters", "thread_futex")},
    "fork_exec": ["--max-insns", "30000", "build/guest/fork_exec"],
    "mix": ["--skip", "60000000", "--max-insns", "30000", "build/workloads/mix"],
    "balanced": ["--skip", "1000000", "--max-insns", "30000", "build/workloads/balanced"],
    "memory_bound": ["--skip", "1000000", "--max-insns", "30000", "build/workloads/memory_bound"],
}
LAST_LEVEL = ["--set", "l2.size=64K", "--set", "l3.size=64K"]  # small, so that lines leave it
LONG = [  # a guest, its core, and options: what each guest does on two kinds of core
    ("hints", "small"),
    ("counters", "modern"),
    ("memory_bound", "modern", *LAST_LEVEL),
    ("signal_basic", "ppc970"),
    ("signal_basic", "eyerman2006"),
    ("signal_fault", "eyerman2006"),
    ("signal_fault", "pentium-pro"),
    ("thread_futex", "eyerman2006"),
    ("thread_futex", "pentium"),
    ("fork_exec", "modern"),
    ("fork_exec", "small"),
    ("mix", "eyerman2006"),
    ("mix", "ppc970-inorder"),
    ("balanced", "modern"),
    ("balanced", "pentium-pro"),
]
SHORT = [  # every kind of core once; a later option is the one that holds
    ("hints", "small"),
    ("counters", "modern"),
    ("memory_bound", "modern", *LAST_LEVEL, "--max-insns", "8000"),
    ("signal_basic", "ppc970", "--skip", "4000"),
    ("signal_fault", "pentium-pro", "--skip", "4000", "--max-insns", "10000"),
    ("thread_futex", "pentium", "--skip", "20000"),
    ("fork_exec", "small", "--skip", "4000", "--max-insns", "6000"),
    ("mix", "eyerman2006", "--max-insns", "8000"),
    ("mix", "ppc970-inorder", "--max-insns", "5000"),
]
EVERYWHERE = "0-0xffffffffffffffff"
SPLIT = 0x20000  # an address within the code of static programs
HALVES = [f"ip=0-{SPLIT:#x}", f"ip={SPLIT:#x}-0xffffffffffffffff"]
CLASSES = "alu mul div branch load store fpadd fpmul fpdiv fpsqrt".split()
WIDEST = 16  # instructions that any stage moves per cycle
MOVED = ["instructions", "fetched", "dispatched", "issued"]  # at most that many per cycle
LARGEST_ROB = 128  # whose entries are counted one by one
SHOWN = 12  # disagreements that a failure tells
LENGTHS = ["stall_breakdown"]  # counts all cycles of a stall when it ends; other events of cycles are 1 or 0 in each


@dataclass
class Event:
    name: str
    unit: str
    paths: list  # "retired", "spec"; [""] of an event that has none
    bits: list = field(default_factory=list)  # sub-events
    attributed: list = field(default_factory=list)  # paths that filters by instruction can select
    addressed: bool = False

    def spec(self, path, *modifiers):
        return ":".join([self.name, *([path] if path else []), *modifiers])

    def whole_and_bits(self):
        return [[], *([b] for b in self.bits)]


# ---- the list of events


def accepts(cli, spec):
    """Whether it is an event: then the program is what is missing."""
    said = cli.run("stat", "-e", spec, "/no/such/program", status=125).err
    refused = re.search("is no event of instructions|does not belong to instructions|has no data address", said)
    assert refused or "/no/such/program" in said, f"unexpected answer to {spec}: {said}"
    return not refused


def sub_events(cli, event):
    """`list events` shows them of a single event; `?` stands for the underscores."""
    bits, inside = [], False
    for line in cli.run("list", "events", event.name.replace("_", "?")).out.splitlines():
        if line.startswith("    :"):
            bits += [line.split()[0][1:]] if inside else []
        elif not line.startswith("      "):
            inside = line.split()[:1] == [event.name]
    return bits


@pytest.fixture(scope="module")
def events(module_cli):
    found = []
    for line in module_cli.run("list", "events").out.splitlines():
        row = re.match(r"  (\S+) +\S+ +(times|cycles|value) +(-|(?:retired|spec)(?:, (?:retired|spec))?) +[0-9]", line)
        assert row or not line.startswith(" ") or line.startswith("      "), f"cannot read the line `{line}`"
        if row:
            found.append(Event(row[1], row[2], [""] if row[3] == "-" else row[3].split(", ")))
    for event in found:
        event.bits = sub_events(module_cli, event)
        event.attributed = [p for p in event.paths if accepts(module_cli, event.spec(p, "ip=" + EVERYWHERE))]
        event.addressed = accepts(module_cli, event.spec("", "addr=" + EVERYWHERE))
    return found


# ---- what is counted


def plain_specs(event):
    return [event.spec(path, *bit) for path in event.paths for bit in event.whole_and_bits()]


def filtered_specs(event):
    specs = []
    for path in event.attributed:
        specs += [event.spec(path, *bit, "ip=" + EVERYWHERE) for bit in event.whole_and_bits()]
        specs.append(event.spec(path, "op=" + "|".join(CLASSES)))
        specs += [event.spec(path, "op=" + c) for c in CLASSES]
        specs += [event.spec(path, half) for half in HALVES]
        if event.addressed:
            specs.append(event.spec(path, "addr=" + EVERYWHERE))
    return specs


def rob_specs(event, rob):
    """Whether the ROB has more than 1, 2, ... entries, of a small one."""
    one_by_one = event.name == "rob_occupancy" and rob <= LARGEST_ROB
    return [event.spec("", f"thresh={n}") for n in range(1, rob)] if one_by_one else []


def shaped_specs(event):
    """Edges are those of the first process: another one begins and ends somewhere between two edges."""
    shapes = [["thresh=0"], ["thresh=0", "inv"], ["u"], ["m"], ["um"]]
    shapes += [[*shape, "marked"] for shape in (["edge"], ["edge", "inv"], ["thresh=0"])]
    specs = []
    for path in event.paths:
        specs += [event.spec(path, *shape) for shape in shapes]
        specs += [event.spec(path, bit, "thresh=0") for bit in event.bits if event.unit == "cycles"]
        if event.name in MOVED:
            specs += [event.spec(path, f"thresh={n}") for n in range(1, WIDEST)]
    return specs


def count(cli, run, specs, *options):
    """Counts by spec, and the whole report. Each time in an empty folder of the same name."""
    guest, core, *more = run
    *words, program = GUESTS[guest]
    folder = cli.work / "run"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    here = Commands(cli.program, folder)
    asked = [word for spec in specs for word in ("-e", spec)]
    result = here.run("stat", "--quiet", "--core", core, *options, "--json", "json", *asked, *words, *more,
                      PROJECT / program, status=None)
    assert result.status != 125, result.err
    whole = here.json()
    assert [c["event"] for c in whole["counters"]] == specs
    return {c["event"]: c["value"] for c in whole["counters"]}, whole


@dataclass
class Counts:
    run: tuple
    specs: list
    v: dict  # counts of all specs
    whole: dict  # the report that has them
    plain: dict  # counts of a run with plain specs only


def run_id(run):
    return "-".join(run[:2])


@pytest.fixture(scope="module", params=[pytest.param(run, id=run_id(run)) for run in SHORT] + [
    pytest.param(run, id="long-" + run_id(run), marks=pytest.mark.slow) for run in LONG if run not in SHORT])
def counts(module_cli, events, request):
    plain = [spec for e in events for spec in plain_specs(e)]
    alone, whole = count(module_cli, request.param, plain)
    rob = int(whole["params"]["rob.size"])
    specs = plain + [s for e in events for s in filtered_specs(e) + shaped_specs(e) + rob_specs(e, rob)]
    v, whole = count(module_cli, request.param, specs)
    assert whole["instructions"] > 0
    return Counts(request.param, specs, v, whole, alone)


# ---- what must hold


def none(disagreements):
    """There are none; or the test tells the first of them."""
    wrong = list(disagreements)
    more = f" and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
    assert not wrong, "; ".join(wrong[:SHOWN]) + more


def test_there_are_events_to_check(events):
    assert len(events) >= 80
    assert sum(len(e.attributed) > 0 for e in events) >= 30
    assert sum(len(e.bits) > 0 for e in events) >= 45


def test_every_event_occurs_in_some_run(module_cli, events):
    never = {e.name: e for e in events}
    for run in LONG:
        v, _ = count(module_cli, run, [e.spec(path) for e in never.values() for path in e.paths])
        never = {name: e for name, e in never.items() if not any(v[e.spec(path)] for path in e.paths)}
        if not never:
            break
    assert sorted(never) == []


def test_retired_is_at_most_speculative(events, counts):
    def wrong(v):
        for e in events:
            for bit in e.whole_and_bits() if set(e.paths) == {"retired", "spec"} else []:
                retired, spec = v[e.spec("retired", *bit)], v[e.spec("spec", *bit)]
                if retired > spec:
                    yield f"{e.spec('', *bit)}: {retired} retired, {spec} speculative"
    none(wrong(counts.v))


def test_sub_events_sum_to_the_event(events, counts):
    def wrong(v):
        for e in events:
            for path in e.paths if e.bits else []:
                total, sums = v[e.spec(path)], sum(v[e.spec(path, b)] for b in e.bits)
                if total != sums:
                    yield f"{e.spec(path)}: {total}, its sub-events {sums}"
    none(wrong(counts.v))


def test_a_filter_that_lets_everything_pass_changes_nothing(events, counts):
    def wrong(v):
        for e in events:
            for path in e.paths:
                for bit in e.whole_and_bits():
                    filtered = e.spec(path, *bit, "ip=" + EVERYWHERE)
                    if filtered in v and v[filtered] != v[e.spec(path, *bit)]:
                        yield f"{e.spec(path, *bit)}: {v[e.spec(path, *bit)]}, by instructions {v[filtered]}"
                for filtered in e.spec(path, "addr=" + EVERYWHERE), e.spec(path, "op=" + "|".join(CLASSES)):
                    if filtered in v and v[filtered] != v[e.spec(path)]:
                        yield f"{e.spec(path)}: {v[e.spec(path)]}, as {filtered} {v[filtered]}"
    none(wrong(counts.v))


def test_classes_and_halves_of_the_code_sum_to_the_event(events, counts):
    def wrong(v):
        for e in events:
            for path in e.attributed:
                total = v[e.spec(path, "ip=" + EVERYWHERE)]
                classes = sum(v[e.spec(path, "op=" + c)] for c in CLASSES)
                halves = sum(v[e.spec(path, half)] for half in HALVES)
                if total != classes or total != halves:
                    yield f"{e.spec(path)}: {total}, by class {classes}, by address {halves}"
    none(wrong(counts.v))


def test_cycles_above_and_not_above_a_threshold_are_all_cycles(events, counts):
    def wrong(v, cycles):
        for e in events:
            for path in e.paths:
                total, above, below = (v[e.spec(path, *m)] for m in ([], ["thresh=0"], ["thresh=0", "inv"]))
                if above + below != cycles:
                    yield f"{e.spec(path)}: {above} cycles at 1 and {below} below are not {cycles}"
                if above > total:
                    yield f"{e.spec(path)}: {total} in {above} cycles"
    none(wrong(counts.v, counts.whole["cycles"]))


def test_an_event_of_cycles_is_what_threshold_0_counts(events, counts):
    def wrong(v):
        for e in events:
            for path in e.paths if e.unit == "cycles" and e.name not in LENGTHS else []:
                for bit in e.whole_and_bits():
                    value, cycles = v[e.spec(path, *bit)], v[e.spec(path, *bit, "thresh=0")]
                    if value != cycles:
                        yield f"{e.spec(path, *bit)}: {value}, cycles {cycles}"
    none(wrong(counts.v))


def test_cycles_above_each_threshold_sum_to_the_event(events, counts):
    def wrong(v):
        for e in events:
            for path in e.paths:
                specs = [e.spec(path, f"thresh={n}") for n in range(LARGEST_ROB)]
                steps = [v[spec] for spec in specs if spec in v]
                if len(steps) > 1 and sum(steps) != v[e.spec(path)]:
                    yield f"{e.spec(path)}: {v[e.spec(path)]}, thresholds sum to {sum(steps)}"
                if sorted(steps, reverse=True) != steps:
                    yield f"{e.spec(path)}: more cycles at a higher threshold"
    none(wrong(counts.v))


def test_rising_and_falling_edges_alternate(events, counts):
    def wrong(v):
        for e in events:
            for path in e.paths:
                shapes = ["edge"], ["edge", "inv"], ["thresh=0"]
                rising, falling, above = (v[e.spec(path, *shape, "marked")] for shape in shapes)
                if not 0 <= rising - falling <= 1 or rising > above or (above > 0) != (rising > 0):
                    yield f"{e.spec(path)}: {rising} rising and {falling} falling edges in {above} cycles"
    none(wrong(counts.v))


def test_all_is_in_user_mode(events, counts):
    def wrong(v):
        for e in events:
            for path in e.paths:
                total, user, machine, both = (v[e.spec(path, *m)] for m in ([], ["u"], ["m"], ["um"]))
                if user != total or both != total or machine != 0:
                    yield f"{e.spec(path)}: {total}, u {user}, m {machine}, um {both}"
    none(wrong(counts.v))


def test_the_counts_of_every_report_are_the_same(events, counts):
    def wrong(v, report):
        for e in events:
            pairs = {e.name: e.paths[0], **({e.name + "_spec": "spec"} if "spec" in e.paths else {})}
            for name, path in pairs.items():
                if name in report and report[name] != v[e.spec(path)]:
                    yield f"{e.spec(path)}: {v[e.spec(path)]}, the JSON's {name} {report[name]}"
    none(wrong(counts.v, counts.whole["events"]))


def test_what_ended_a_stage_is_the_same_in_every_report(events, counts):
    stops = {e.name.removesuffix("_stops"): {b: counts.v[e.spec("", b)] for b in e.bits}
             for e in events if e.name.endswith("_stops")}
    heads = {b: counts.v[e.spec("", b)] for e in events if e.name == "head_stalls" for b in e.bits}
    expected = {stage: dict(reasons) for stage, reasons in counts.whole["cycles_by"].items()}
    del expected["head"]["nothing"]  # the oldest instruction can retire, or there is none
    assert {**stops, "head": heads} == expected


def same(one, other):
    none(f"{spec}: {one[spec]} and {other[spec]}" for spec in other if one[spec] != other[spec])


def test_other_counters_change_no_counter(counts):
    same(counts.v, counts.plain)


def test_stepping_changes_no_counter(module_cli, counts):
    """Steps through idle cycles are the same as jumps over them."""
    same(counts.v, count(module_cli, counts.run, counts.specs, "--step")[0])
