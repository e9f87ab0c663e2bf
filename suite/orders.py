"""The simulation reference in all orders in which structures can become real: how far orders disagree, and how far
methods are from their mean.

Every program is saved where its window begins; `cyclescope validate --all-orders` simulates that 72 times."""

import json
from pathlib import Path

import checkpoints
import guest

INSNS, WARMUP = 10000000, 5000000
METHODS = ("power5", "fmt", "sfmt", "fmt2")
COMPONENTS = ("l1i", "l2i", "itlb", "l1d", "l2d", "dtlb", "branch")  # the base is the same in all orders


class Failed(Exception):
    """A run that did not give what it should; the text says what."""


def measure(options, suite, case):
    """What `validate --all-orders` says about a program."""
    kept = Path(options.keep) / f"{case.program}.orders.json" if options.keep else None
    if kept and kept.exists():
        return json.loads(kept.read_text())
    runner = checkpoints.Interrupted(suite.sysroot, options.cyclescope, int(case.minsns * 1000000 * options.skip),
                                     "validate", "--all-orders", "--quiet", "--json={count}", "--jobs", options.jobs,
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
    """The component on which orders disagree most, and by how much, in percent of the CPI."""
    width = {c: 100 * (r["simulation_range"][c][1] - r["simulation_range"][c][0]) / r["cpi"] for c in COMPONENTS}
    widest = max(width, key=width.get)
    return width[widest], widest


def off_mean(r, order):
    """The largest difference of an order to the mean of all."""
    return max(100 * abs(r["stacks"][order][c] - r["stacks"]["simulation_mean"][c]) / r["cpi"] for c in COMPONENTS)


def figures(r):
    return [spread(r)[0], off_mean(r, "simulation"), off_mean(r, "simulation_inverse"),
            *(r["max_error_mean"][m] for m in METHODS), *(r["max_error_outside"][m] for m in METHODS)]


def section(found):
    """Lines of a page."""
    yield "## The reference in all orders\n"
    yield (f"`cyclescope validate --all-orders` on {INSNS // 1000000} million instructions from the same place on, after "
           f"{WARMUP // 1000000} million on the core: 72 simulations serve all 1260 orders in which structures can become real. "
           "In percent of the CPI: how far orders disagree about a component at most, and which; how far the paper's order and "
           "its inverse are from the mean of all; the largest error of a component against the mean; and how far outside of what "
           "any order says a method is, which no order explains.\n")
    head = ["program", "orders disagree by", "about", "paper's order to the mean", "inverse order to the mean",
            *(f"{m} to the mean" for m in METHODS), *(f"{m} outside all" for m in METHODS)]
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
