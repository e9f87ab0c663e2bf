"""What the tests of `stack` and `validate` share: runs with their documents, and what must hold of every stack."""
import csv
import fcntl
import json
import os
import pty
import re
import select
import shlex
import signal
import struct
import termios
import xml.etree.ElementTree
from subprocess import DEVNULL, TimeoutExpired

import pytest

from conftest import ENVIRONMENT, PATIENCE_SECONDS

LABELS = {"base": "base", "long-latency units": "fu", "L1 I-cache": "l1i", "L2 I-cache": "l2i", "I-TLB": "itlb",
          "branch prediction": "branch", "L1 D-cache": "l1d", "L2 D-cache": "l2d", "D-TLB": "dtlb"}
COMPONENTS = list(LABELS.values())
METHODS = ["naive", "naive_nonspec", "power5", "fmt", "sfmt", "fmt2", "graph"]
STAGES = ["dispatch", "issue", "commit"]

WORK = {"status": 3, "out": "done\n"}  # how the guest `work` ends
FORKED = {"status": 5, "out": "done\n"}  # ... when it forks

# `here/NAME` returns 7 and prints nothing.
SEVEN_SOURCE = "int main(void) { return 7; }"


class Measured:
    """A run of a command: what it printed, its JSON document `report`, and the files `csv` and `svg` if it wrote them."""

    def __init__(self, result, folder):
        self.status, self.out, self.err = result.status, result.out, result.err
        read = lambda name: (folder / name).read_text() if (folder / name).exists() else None
        self.report = json.loads(read("json") or "null")
        self.csv, self.svg = read("csv"), read("svg")


def measure(here, words, status=0, out="", **options):
    """Runs a command that is written as in a shell, with --json: its exit status and standard output must be these."""
    command, *rest = shlex.split(words)
    for name in "json", "csv", "svg":
        (here.work / name).unlink(missing_ok=True)
    result = here.run(command, "--json", "json", *rest, status=status, **options)
    assert result.out == out
    return Measured(result, here.work)


def finish(process, stdin=None):
    """Waits for a command that was spawned: its exit status, output and errors. One that hangs is killed."""
    try:
        out, err = process.communicate(stdin, timeout=PATIENCE_SECONDS)
    except TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        pytest.fail(f"hangs: {process.args}")
    return process.returncode, out, err


def on_terminal(here, words, *streams, columns=80):
    """Runs a command with these of its streams, such as "stderr", on a terminal: its exit status, what it prints."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    files = {"stdout": DEVNULL, "stderr": DEVNULL, **dict.fromkeys(streams, its)}
    printed = b""
    with here.spawn(here.command(*shlex.split(words)), env={**ENVIRONMENT, "TERM": "xterm"}, **files) as process:
        os.close(its)
        while select.select([ours], [], [], PATIENCE_SECONDS)[0]:
            try:
                printed += os.read(ours, 65536)
            except OSError:  # nobody has the terminal open any more
                break
        else:
            process.kill()
    os.close(ours)
    return process.returncode, printed.decode().replace("\r\n", "\n")


def near(a, b, most=1e-9):
    return abs(a - b) <= most * max(1, abs(a), abs(b))


def counts_whole_cycles(kind):
    return kind in METHODS and kind not in ("fmt2", "graph")


# ---- stacks of a document or of an interval

def check_sums(s):
    """All stacks sum to the cycles, those that count whole ones exactly; no component is negative but the base of a naive method or of
    sfmt, which may charge cycles twice, and those of graph, where a real structure may save cycles of another one."""
    assert list(s["stacks"]) == list(s["stack_cycles"]) != []
    assert 0 <= s["overlap_percent"] <= 100
    for kind, stack in s["stack_cycles"].items():
        assert list(stack) == list(s["stacks"][kind]) == COMPONENTS
        assert near(sum(stack.values()), s["cycles"])
        if counts_whole_cycles(kind):
            assert all(type(c) is int for c in stack.values()) and sum(stack.values()) == s["cycles"]
        for component, cycles in stack.items():
            assert cycles >= 0 or component == "base" and kind in ("naive", "naive_nonspec", "sfmt") or kind == "graph"
            assert near(s["stacks"][kind][component] * max(1, s["instructions"]), cycles)


def check_series(report, insns, width=None):
    """Intervals add up each and to the whole, and end where they should: at most a commit behind a multiple of insns."""
    width = width or int(report["params"]["commit.width"])
    end = 0
    for i in report["intervals"]:
        check_sums(i)
        begin, end = end, end + i["instructions"]
        if i is not report["intervals"][-1]:
            assert begin // insns < end // insns and end % insns < width
    assert end == report["instructions"]
    assert sum(i["cycles"] for i in report["intervals"]) == report["cycles"]
    check_sums(report)
    for kind in report["stacks"]:
        for c in COMPONENTS:
            total = sum(i["stack_cycles"][kind][c] for i in report["intervals"])
            assert near(total, report["stack_cycles"][kind][c], 0 if counts_whole_cycles(kind) else 1e-9)


def largest(stack, but=("base",)):
    return max((c for c in COMPONENTS if c not in but), key=lambda c: stack[c])


def check_dominates(stack, component):
    """The component is the largest beside the base, and twice as large as the next."""
    assert largest(stack) == component
    assert stack[component] >= 2 * stack[largest(stack, ("base", component))]


# ---- pages and files

def heading(report):
    return "{:,} instructions, {:,} cycles, CPI {:.3f}\n".format(report["instructions"], report["cycles"], report["cpi"])


def has_trailing_blanks(page):
    return any(line.endswith(" ") for line in page.splitlines())


def csv_rows(text):
    return list(csv.DictReader(text.splitlines()))


def svg_texts(svg):
    """The texts of a chart, each with its tooltip, which has the whole of a long one. It must be well-formed XML."""
    name = "{http://www.w3.org/2000/svg}"
    root = xml.etree.ElementTree.fromstring(svg)
    assert root.tag == name + "svg"
    return ["".join(t.itertext()) for t in root.iter(name + "text")]


def check_svg_says(svg, *words):
    texts = svg_texts(svg)
    for word in words:
        assert any(word in t for t in texts)


def plain(page):
    """A page without its colors."""
    return re.sub(r"\033\[[0-9;]*m", "", page)
