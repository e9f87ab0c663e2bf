"""The simulation reference in all orders in which structures can become real: how far the orders differ, and how far
each method is from their mean.

A checkpoint of each program is saved where its warm-up begins; `cyclescope validate` restores and simulates it 72
times."""

import json
from pathlib import Path

import checkpoints
import guest

INSNS, WARMUP = 10000000, 5000000
METHODS = ("power5", "fmt", "fmt2")
COMPONENTS = ("l1i", "l2i", "itlb", "l1d", "l2d", "dtlb", "branch")  # without the base, which is the same in all orders


class Failed(Exception):
    """A run that failed or gave no result; the text says why."""


def measure(options, suite, case):
    """The JSON of `validate` on the window of a program."""
    kept = Path(options.keep) / f"{case.program}.orders.json" if options.keep else None
    if kept and kept.exists():
        validation = json.loads(kept.read_text())
        if validation.get("orders") == "all":
            return validation
    runner = checkpoints.Interrupted(suite.sysroot, options.cyclescope, int(case.minsns * 1000000 * options.skip),
                                     "validate", "--quiet", "--json={count}", "--jobs", options.jobs,
                                     "--core", options.core, "--warmup", WARMUP, "--max-insns", INSNS)
    result = guest.run(runner, case, suite.sysroot, options.timeout)
    if result.status != 0 or not result.report:
        raise Failed(f"all orders: status {result.status}: " + result.outputs["stderr"].decode(errors="replace")[-300:])
    validation = json.loads(result.report)
    failed = sum(run["failed"] is not None for run in validation["runs"])
    if failed:
        raise Failed(f"all orders: {failed} of {len(validation['runs'])} runs failed")
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(result.report)
    return validation


def spread(r):
    """The widest range of a component over all orders, in percent of the CPI, and the component."""
    width = {c: 100 * (r["simulation_range"][c][1] - r["simulation_range"][c][0]) / r["cpi"] for c in COMPONENTS}
    widest = max(width, key=width.get)
    return width[widest], widest


def off_mean(r):
    """The largest difference in a component between the paper's order and the mean of all, in percent of the CPI."""
    return max(100 * abs(r["stacks"]["simulation_paper"][c] - r["stacks"]["simulation"][c]) / r["cpi"] for c in COMPONENTS)


def figures(r):
    return [spread(r)[0], off_mean(r), *(r["max_error"][m] for m in METHODS), *(r["max_error_outside"][m] for m in METHODS)]


def section(found):
    """The section as lines of Markdown."""
    yield "## The reference in all orders\n"
    yield (f"`cyclescope validate` on {INSNS // 1000000} million instructions of each program. The same "
           f"share as above runs functionally before, and {WARMUP // 1000000} million run on the core uncounted. 72 "
           "simulations cover all 1260 orders in which structures can become real. All columns are in percent of the "
           "CPI:\n")
    yield ("- *orders differ by*, *component*: the widest range of a component over all orders, and the component.\n"
           "- *paper's order from mean*: the largest difference in a component between this order and the mean of all "
           "orders.\n"
           "- *METHOD from mean*: the largest error of a component against the mean of all orders.\n"
           "- *METHOD out of range*: how far a component is outside the range of all orders at most. No choice of an "
           "order explains this part of the error.\n")
    head = ["program", "orders differ by", "component", "paper's order from mean", *(f"{m} from mean" for m in METHODS), *(f"{m} out of range" for m in METHODS)]
    yield "| " + " | ".join(head) + " |"
    yield "|---" + "|--:" * (len(head) - 1) + "|"
    for name, r in found.items():
        numbers = [f"{x:.2f}" for x in figures(r)]
        yield "| " + " | ".join([name, numbers[0], spread(r)[1], *numbers[1:]]) + " |"
    columns = list(zip(*(figures(r) for r in found.values())))
    for label, pick in (("average", lambda x: sum(x) / len(x)), ("largest", max)):
        numbers = [f"**{pick(column):.2f}**" for column in columns]
        yield "| " + " | ".join([f"**{label}**", numbers[0], "", *numbers[1:]]) + " |"
    yield ""
