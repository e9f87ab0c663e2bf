#!/usr/bin/env python3
"""Whether the facts test all events: every event and every sub-event, on each of its paths.

usage: coverage.py CYCLESCOPE       `ok event-coverage` or `not ok event-coverage: these have no fact: ...`

An event has a fact if a `counter` line names it without a mask, a sub-event if one names it alone; with ranges and
classes or not, but without a threshold, an edge, a privilege or a preload, which make another number of it. The
counter must be expected to equal something that is not read from a counter, and that is not just 0.
"""

import ast
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import run as facts  # noqa: E402: the reader of facts

PATHS = ("retired", "spec")
NARROWING = ("ip=", "addr=", "op=", "marked")


class Event:
    def __init__(self, name, alias, paths):
        self.name, self.alias = name, alias
        self.paths = paths  # the first is what it counts if none is named; [""] of an event that has none
        self.bits = []


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {done.returncode}: {done.stderr.strip()}")
    return done.stdout.splitlines()


def plain_name(name):
    """A name of an event as all ways to write it have in common."""
    return name.lower().replace("_", "-")


def list_events(cyclescope):
    events = []
    for line in output(cyclescope, "list", "events"):
        found = re.match(r"  (\S+) +(\S+) +(?:times|cycles|value) +(-|\w+(?:, \w+)*) +\d", line)
        if found:
            events.append(Event(found[1], found[2], [""] if found[3] == "-" else found[3].split(", ")))
        elif line.startswith(" ") and not line.startswith("      "):  # its meaning
            sys.exit(f"cannot read the line `{line}` of `list events`")
    for event in events:
        inside = False
        for line in output(cyclescope, "list", "events", event.name):
            if line.startswith("    :"):
                event.bits += [line.split()[0][1:]] if inside else []
            elif not line.startswith("      "):
                inside = line.split()[:1] == [event.name]
    return events


# ---- what facts expect


def members(text):
    """The events of a counter line, each with the modifiers of its group."""
    found = re.fullmatch(r"\{(.*)\}(.*)", text)
    return [member + found[2] for member in found[1].split(",")] if found else text.split(",")


def numbers_of(node):
    """Names of the counters in an expression."""
    return {
        n.attr
        for n in ast.walk(node)
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == "counter"
    }


def is_nothing(node):
    return isinstance(node, ast.Constant) and node.value == 0


def known_counters(run):
    """Counters that a run expects to be something known, and not nothing."""
    known = set()
    for expectation in run.expectations:
        node = facts.parse(expectation)
        if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], ast.Eq):
            continue
        for this, other in ((node.left, node.comparators[0]), (node.comparators[0], node.left)):
            if isinstance(this, ast.Attribute) and not numbers_of(other) and not is_nothing(other):
                known |= numbers_of(this)
    return known


def tested(run, by_name):
    """(event, path, sub-event or None) that the counters of a run test."""
    known = known_counters(run)
    for names, text in run.counters:
        for name, member in zip(names, members(text)):
            first, *modifiers = member.split(":")
            event = by_name[plain_name(first)]
            path, bits, plain = event.paths[0], [], name in known
            for modifier in modifiers:
                if modifier in PATHS:
                    path = modifier
                elif modifier.startswith("mask=") or modifier.split("|")[0] in event.bits:
                    bits += modifier.removeprefix("mask=").split("|")
                elif not modifier.startswith(NARROWING):
                    plain = False
            if plain and len(bits) <= 1:
                yield event.name, path, bits[0] if bits else None


def missing(events):
    by_name = {plain_name(name): e for e in events for name in (e.name, e.alias) if name != "-"}
    seen = set()
    for fact in sorted(facts.HERE.glob("*.S")):
        for run in facts.read_fact(fact)[1]:
            seen.update(tested(run, by_name))
    for event in events:
        for path in event.paths:
            for bit in [None, *event.bits]:
                if (event.name, path, bit) not in seen:
                    yield ":".join(word for word in (event.name, bit, path) if word)


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__.strip())
    lacking = list(missing(list_events(arguments[0])))
    print(f"not ok event-coverage: these have no fact: {', '.join(lacking)}" if lacking else "ok event-coverage")
    return bool(lacking)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
