"""`stack` and `stalls` on one run: what each charges, where they differ, and that pages and docs/MODEL.md say so."""
import re

import pytest

from conftest import PROJECT
from pages import unwrapped

# Loads that depend on each other, from 256 pages in turn, more than the D-TLB has entries, and from 16 lines of each page:
# more than the first cache holds, and less than the second. After the first round, each load walks and then misses.
WALKS = r"""
enum { PAGES = 256, LINES = 16, PAGE = 4096, LINE = 64 };
static volatile char area[PAGES * PAGE] __attribute__((aligned(4096)));
int main(void)
{
    unsigned long next = 0;
    for (int round = 0; round < 8; round++)
        for (unsigned long line = 0; line < LINES; line++)
            for (unsigned long page = 0; page < PAGES; page++)
                next += area[page * PAGE + line * LINE + next];
    return (int)next;
}
"""


@pytest.fixture(scope="module")
def walks(guests):
    return guests("walks", WALKS, "-static", "-O1")


@pytest.fixture
def measured(cli, walks):
    """Pages and JSON of one run by three commands."""
    stack = cli.run("stack", "--method", "power5,fmt", "--json", "stack.json", walks)
    stalls = cli.run("stalls", "--exact", "--json", "stalls.json", walks)
    cli.run("stat", "-e", "translation_stalls,data_stalls:walked", "--json", "stat.json", walks)
    return stack, cli.json("stack.json"), stalls, cli.json("stalls.json"), cli.json("stat.json")


def test_translation_is_dtlb_in_one_and_a_data_miss_in_the_other(measured):
    stack, stacked, stalls, stalled, counted = measured
    cycles = stacked["cycles"]
    assert stalled["cycles"] == cycles
    assert stacked["stack_cycles"]["power5"]["dtlb"] > 0.3 * cycles
    assert stacked["stack_cycles"]["fmt"]["dtlb"] > 0.3 * cycles
    assert stalled["stall_cycles"]["translation"] < 0.05 * cycles
    assert stalled["stall_cycles"]["dcache"] > 0.3 * cycles
    waits = [counter["value"] for counter in counted["counters"]]
    assert len(waits) == 2 and min(waits) > 0
    assert sum(waits) == stacked["stack_cycles"]["power5"]["dtlb"]


def test_pages_name_what_they_charge(measured):
    stack, _, stalls, _, _ = measured
    assert "D-TLB: page walks, and data from the second or third cache after a walk (`stalls`: in data misses)." \
        in unwrapped(stack.err)
    assert "Address translation: page walks before a hit; a walk before a cache miss is in data misses (`stack`: in D-TLB)." \
        in unwrapped(stalls.err)


def test_every_component_and_every_source_is_in_the_table(measured):
    _, stacked, _, _, _ = measured
    text = (PROJECT / "docs/MODEL.md").read_text()
    section = text[text.index("### Stalls and CPI stacks"):].split("\n### ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    for component in set(stacked["stack_cycles"]["fmt"]) - {"base"}:
        assert any(f"`{component}`" in row for row in rows), component
    for source in ("translation", "data misses", "rejections", "integer latency", "floating-point latency", "other",
                   "instruction misses", "mispredictions"):
        assert any(re.search(rf"\| {source}[^|]*\|$", row) for row in rows), source
