"""`cyclescope validate` of stacks as a user meets it: references from idealized runs, errors of the methods, input that
reaches every run, output that comes from one, and runs that are killed."""
import os
import re
import shlex
import shutil
import signal
import time
from contextlib import contextmanager
from fractions import Fraction
from itertools import permutations
from subprocess import PIPE, STDOUT

import pytest

pytest.register_assert_rewrite("stack_checks")

from conftest import PATIENCE_SECONDS, PROJECT, Commands
from pages import whole_rows
from stack_checks import (COMPONENTS, FORKED, LABELS, METHODS, SEVEN_SOURCE, WORK, check_svg_says, csv_rows,
                          finish, has_trailing_blanks, heading, measure, near, on_terminal)

ORDERS = {"paper": "l1d branch l1i l2i itlb l2d dtlb".split(), "inverse": "l1d branch l2d dtlb l1i l2i itlb".split()}

READS = r"""
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char part[100];
    volatile unsigned sum = 0;
    long bytes = 0, n;
    while ((n = read(0, part, sizeof part)) > 0) {
        bytes += n;
        for (long i = 0; i < n; i++)
            sum = sum * 31 + part[i];
    }
    fprintf(stderr, "sum %u\n", sum);
    printf("%ld bytes\n", bytes);
    return 4;
}
"""
# Waits for a byte from the FIFO that it is given.
WAITS = r"""
#include <fcntl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char c;
    return read(open(argv[1], O_RDONLY), &c, 1) == 1 ? 6 : 1;
}
"""
LINES = '#include <stdio.h>\nint main(void) { for (int i = 0; i < 200; i++) puts("a line"); return 0; }'


@pytest.fixture(scope="module")
def here(program, guests, work, abort):
    """Commands in the folder of the guests: a guest has the same name, such as ./work, wherever the folder is."""
    for name, source in ("seven", SEVEN_SOURCE), ("reads", READS), ("waits", WAITS), ("lines", LINES):
        guests(name, source, "-static")
    (guests.folder / "text").write_text("just some text\n")
    (guests.folder / "text").chmod(0o755)
    return Commands(program, guests.folder)


# ---- what must hold of a document

def cycles_of_runs(report):
    """By the set of what is real; None is what cannot be known."""
    return {frozenset(x["real"]): None if x["failed"] else x["cycles"] for x in report["runs"]}


def difference(a, b):
    return None if a is None or b is None else a - b


def reference(report, order):
    """The stack of an order from the cycles of the runs."""
    runs = cycles_of_runs(report)
    sets = [runs[frozenset(ORDERS[order][:n])] for n in range(8)]
    return {"base": sets[0], **{c: difference(b, a) for c, a, b in zip(ORDERS[order], sets, sets[1:])}}


def check_order(report, order, name="simulation"):
    """The stack with this name is that of the order."""
    stack, said = reference(report, order), report["stacks"][name]
    assert set(stack) == set(said)
    for c, cycles in stack.items():
        assert said[c] is None if cycles is None else near(said[c], cycles / report["instructions"])


def without_units(stack):
    """In the reference, units count for the base."""
    return {**{c: n for c, n in stack.items() if c != "fu"}, "base": stack["base"] + stack["fu"]}


def check_errors(report, name="simulation", key="max_error"):
    """For every method the largest error in percent of all cycles, and its component."""
    want = report["stacks"][name]
    assert list(report[key]) == list(report[key + "_component"]) == METHODS
    for method in METHODS:
        stack = without_units(report["stacks"][method])
        error, component = max((100 * abs(stack[c] - want[c]) / report["cpi"], c) for c in stack if want[c] is not None)
        assert near(report[key][method], error, 1e-6) and report[key + "_component"][method] == component


def check_errors_are_printed(run, row="largest error, %", key="max_error"):
    said = whole_rows(run.err, row).split()
    assert said[1::2] == list(run.report[key + "_component"].values())
    for number, want in zip(said[::2], run.report[key].values()):
        assert near(float(number), want, 0.0051)


def check_rows_are_printed(run):
    """A row for every component but units, with its CPI in each of the stacks."""
    for label, c in LABELS.items():
        if c != "fu":
            assert whole_rows(run.err, label).split() == ["{:.4f}".format(stack[c]) for stack in run.report["stacks"].values()]


def all_orders(report):
    """Mean, least and most cycles of every component, over all orders in which second caches come after first ones."""
    runs = cycles_of_runs(report)
    found = {"base": [runs[frozenset()]]}
    for order in permutations(ORDERS["paper"]):
        if order.index("l1i") < order.index("l2i") and order.index("l1d") < order.index("l2d"):
            sets = [runs[frozenset(order[:n])] for n in range(8)]
            for c, before, with_it in zip(order, sets, sets[1:]):
                found.setdefault(c, []).append(difference(with_it, before))
    return {c: None if None in n else (Fraction(sum(n), len(n)), min(n), max(n)) for c, n in found.items()}


def check_all_orders(report):
    mean, span, want = report["stacks"]["simulation"], report["simulation_range"], all_orders(report)
    assert list(mean) == list(span) == [c for c in COMPONENTS if c != "fu"] and set(mean) == set(want)
    for c, known in want.items():
        if known is None:
            assert mean[c] is None and span[c] is None
        else:
            assert abs(round(mean[c] * report["instructions"]) - known[0]) < 1
            assert [round(n * report["instructions"]) for n in span[c]] == [known[1], known[2]]
            assert span[c][0] <= mean[c] <= span[c][1]


def check_outside(report):
    """As check_errors, against what all orders give."""
    span = report["simulation_range"]
    assert list(report["max_error_outside"]) == list(report["max_error_outside_component"]) == METHODS
    for method in METHODS:
        stack = without_units(report["stacks"][method])
        errors = {c: 100 * max(0, span[c][0] - stack[c], stack[c] - span[c][1]) / report["cpi"] for c in COMPONENTS
                  if c != "fu" and span[c]}
        component = max(errors, key=errors.get)
        assert near(report["max_error_outside"][method], errors[component], 1e-6)
        assert report["max_error_outside_component"][method] == component


def timeless(report):
    return {**report, "host": 0, "runs": [{**x, "seconds": 0} for x in report["runs"]]}


def savings(report):
    """By structure and set of others that are real: the cycles that are saved when the structure becomes real."""
    runs = cycles_of_runs(report)
    return {(c, real - {c}): runs[real - {c}] - cycles for real, cycles in runs.items() for c in real
            if cycles and runs.get(real - {c})}


def check_noise(report):
    most, noise = max(savings(report).values()), report["noise"]
    if most <= 0:
        assert noise is None
    else:
        assert noise["cycles"] == most == savings(report)[noise["component"], frozenset(noise["real"])]
        assert near(noise["percent"], 100 * most / report["cycles"])


# ---- one order

@pytest.fixture(scope="module")
def paper(here):
    return measure(here, "validate --orders paper --jobs 2 --csv csv --svg svg ./work 5000", **WORK)


@pytest.mark.smoke
def test_an_order_takes_8_different_runs(paper):
    report = paper.report
    runs = report["runs"]
    assert report["orders"] == "paper" and len(runs) == len(cycles_of_runs(report)) == 8
    assert set(runs[0]["real"]) == set(COMPONENTS) - {"base", "fu"} and runs[0]["cycles"] == report["cycles"]
    assert report["instructions"] > 10000
    for run in runs:
        assert run["failed"] is None and 4 * run["cycles"] >= report["instructions"]


def test_json_has_the_shared_keys(paper):
    report = paper.report
    assert report["command"] == "validate" and report["core"] == "eyerman2006" and report["exit_status"] == 3
    assert report["program"].endswith("/work") and report["cut"] is False
    assert all(report["host"][k] > 0 for k in ("seconds", "cpu_seconds", "mips"))


def test_an_order_is_differences_of_runs_and_sums_to_the_cycles(here, paper):
    inverse = measure(here, "validate --orders inverse --quiet ./work 5000", **WORK).report
    assert inverse["orders"] == "inverse" and len(inverse["runs"]) == 8
    for order, report in ("paper", paper.report), ("inverse", inverse):
        check_order(report, order)
        check_errors(report)
        check_noise(report)
        assert near(sum(report["stacks"]["simulation"].values()), report["cpi"])
        assert sum(reference(report, order).values()) == report["cycles"]
        assert list(report["stacks"]) == ["simulation", *METHODS]
        assert "simulation_range" not in report and "max_error_outside" not in report
    assert paper.report["stacks"]["simulation"] != inverse["stacks"]["simulation"]


def test_the_page_has_stacks_and_errors(paper):
    assert heading(paper.report) in paper.err
    assert re.match("paper's order +naive ", whole_rows(paper.err, "CPI"))
    check_rows_are_printed(paper)
    units = " ".join("{:.4f}".format(paper.report["stacks"][m]["fu"]) for m in METHODS)
    assert " ".join(whole_rows(paper.err, "long-latency units").split()) == f"in base {units}"
    check_errors_are_printed(paper)
    assert re.search("^ 8 runs, [0-9.]+ seconds$", paper.err, re.M)
    assert not has_trailing_blanks(paper.err)


def test_csv_has_stacks_and_errors(paper):
    report, rows = paper.report, csv_rows(paper.csv)
    assert [row["method"] for row in rows] == list(report["stacks"])
    for row in rows:
        for c in COMPONENTS:
            assert near(float(row[c]), report["stacks"][row["method"]].get(c, 0), 1e-6)
    assert rows[0]["max_error_percent"] == "" and list(rows[0])[-2:] == ["max_error_percent", "max_error_component"]
    for row in rows[1:]:
        assert near(float(row["max_error_percent"]), report["max_error"][row["method"]], 1e-4)
        assert row["max_error_component"] == report["max_error_component"][row["method"]]


def test_svg_has_the_stacks(paper):
    check_svg_says(paper.svg, "work", "eyerman2006", *paper.report["stacks"])


def test_stacks_are_those_of_stack(here, paper):
    """But for fmt2 and graph, whose fractions of cycles `validate` rounds: its base by up to 4 cycles, other components by a half."""
    report, stack = paper.report, measure(here, "stack --quiet --method all ./work 5000", **WORK).report
    for m in METHODS:
        for c in COMPONENTS:
            rounded = (4.01 if c == "base" else 0.501) / stack["instructions"]
            said, want = report["stacks"][m][c], stack["stacks"][m][c]
            assert near(said, want, rounded) if m in ("fmt2", "graph") else said == want
    assert report["overlap_percent"] == stack["overlap_percent"] and report["cycles"] == stack["cycles"]
    predicted = {frozenset(x["real"]): x["cycles"] for x in stack["graph"]["sets"]}
    assert [x["graph_cycles"] for x in report["runs"]] == [predicted[frozenset(x["real"])] for x in report["runs"]]


@pytest.mark.parametrize("jobs", [1, 3, 4294967296])
def test_the_number_of_jobs_changes_nothing(here, paper, jobs):
    report = measure(here, f"validate --orders paper --quiet --jobs {jobs} ./work 5000", **WORK).report
    assert timeless(report) == timeless(paper.report)


# ---- sampled runs

SAMPLED = "--systematic --period 100K --window 5K --warmup 2K"
BRANCHES = {"status": 0, "out": "checksum 000000000ea8f409\n"}


@pytest.fixture(scope="module")
def sampled(here):
    shutil.copy(PROJECT / "build/workloads/branch_bound", here.work)
    return measure(here, f"validate --orders paper {SAMPLED} ./branch_bound", **BRANCHES)


def test_every_sampled_run_is_that_of_stack(here, sampled):
    """The estimate with everything real, and the one with everything perfect, are those of `stack` with the same windows."""
    report, cycles = sampled.report, cycles_of_runs(sampled.report)
    stack = measure(here, f"stack --quiet --method fmt {SAMPLED} ./branch_bound", **BRANCHES).report
    perfect = " ".join(f"--set perfect.{c}=yes" for c in ORDERS["paper"])
    base = measure(here, f"stack --quiet --method fmt {SAMPLED} {perfect} ./branch_bound", **BRANCHES).report
    assert report["instructions"] == stack["instructions"] > 10000000
    assert report["cycles"] == stack["cycles"] and cycles[frozenset()] == base["cycles"]
    for c, cpi in stack["stacks"]["fmt"].items():
        assert near(report["stacks"]["fmt"][c], cpi, 1.01 / stack["instructions"])  # estimates are rounded to cycles
    assert report["sampled"]["cpi"] == stack["sampled"]["cpi"] and report["sampled"]["windows"] == stack["sampled"]["windows"] - 1


def test_stacks_of_sampled_runs_add_up(sampled):
    check_order(sampled.report, "paper")
    check_errors(sampled.report)


def test_the_page_of_sampled_runs_has_their_intervals(sampled):
    about = sampled.report["sampled"]
    half = 50 * (about["cpi"][1] - about["cpi"][0]) / sampled.report["cpi"]
    assert about["method"] == "systematic" and about["largest_half_percent"] >= half > 0
    assert f"same {about['windows']} windows of 5,000 instructions and the first " in " ".join(sampled.err.split())
    assert f"to ±{half:.2f} %, and that of all runs to ±{about['largest_half_percent']:.2f} % at worst" in " ".join(sampled.err.split())


def test_short_runs_are_simulated_whole(here, paper):
    run = measure(here, "validate --orders paper --systematic ./work 5000", **WORK)
    assert run.report["sampled"] == {"method": "whole"} and "every run was simulated whole" in " ".join(run.err.split())
    assert cycles_of_runs(run.report) == cycles_of_runs(paper.report)


# ---- all orders

@pytest.fixture(scope="module")
def every_order(here):
    return measure(here, "validate --csv csv --svg svg ./work 1000", **WORK)


def test_all_orders_take_72_runs(every_order):
    runs = every_order.report["runs"]
    assert every_order.report["orders"] == "all" and len(runs) == len(cycles_of_runs(every_order.report)) == 72
    for run in runs:
        assert "l1i" in run["real"] or "l2i" not in run["real"]
        assert "l1d" in run["real"] or "l2d" not in run["real"]
        assert run["graph_cycles"] > 0
    assert re.search("^ 72 runs, [0-9.]+ seconds$", every_order.err, re.M)


@pytest.mark.parametrize("order", ORDERS)
def test_all_orders_include_each(here, every_order, order):
    every, one = every_order.report, measure(here, f"validate --quiet --orders {order} ./work 1000", **WORK).report
    runs = cycles_of_runs(every)
    assert all(runs[real] == cycles for real, cycles in cycles_of_runs(one).items())
    for m in METHODS:
        assert every["stacks"][m] == one["stacks"][m]
    if order == "paper":
        assert every["stacks"]["simulation_paper"] == one["stacks"]["simulation"]
        assert every["max_error_paper"] == one["max_error"]


def test_mean_and_range_are_those_of_all_orders(every_order):
    report = every_order.report
    mean, span = report["stacks"]["simulation"], report["simulation_range"]
    assert list(report["stacks"]) == ["simulation", "simulation_paper", *METHODS]
    check_all_orders(report)
    check_order(report, "paper", "simulation_paper")
    check_noise(report)
    assert near(sum(mean.values()), report["cpi"])
    assert sum(round(n * report["instructions"]) for n in mean.values()) == report["cycles"]
    for c, (low, high) in span.items():
        assert low <= report["stacks"]["simulation_paper"][c] <= high
    assert any(low < high for low, high in span.values())


def test_errors_are_those_to_all_orders(every_order):
    report = every_order.report
    check_errors(report)
    check_errors(report, "simulation_paper", "max_error_paper")
    check_outside(report)
    for m in METHODS:
        for key in "max_error", "max_error_paper":
            assert report["max_error_outside"][m] <= report[key][m]


def test_the_page_of_all_orders(every_order):
    assert re.match("mean order +paper's order +naive ", whole_rows(every_order.err, "CPI"))
    check_rows_are_printed(every_order)
    check_errors_are_printed(every_order)
    check_errors_are_printed(every_order, "... to the paper's", "max_error_paper")
    check_errors_are_printed(every_order, "... outside all", "max_error_outside")
    assert not has_trailing_blanks(every_order.err)


def test_the_page_says_how_large_the_noise_is(here, every_order):
    """Perfect structures save nothing when they become real; the program has real ones that do."""
    noise, said = every_order.report["noise"], " ".join(every_order.err.split())
    assert noise["percent"] > 0.01
    assert f"Noise of the reference: at least {noise['percent']:.2f} % of cycles. So many are saved when " \
           f"{noise['component']} becomes real" in said
    perfect = " ".join(f"--set perfect.{c}=yes" for c in ORDERS["paper"])
    run = measure(here, f"validate --orders paper {perfect} ./work 1000", **WORK)
    assert run.report["noise"] is None and "Noise of the reference: not found." in run.err


def test_a_core_without_a_graph_has_none_of_its_figures(here):
    report = measure(here, "validate --orders paper --quiet --core small ./work 1000", **WORK).report
    assert "graph" not in report["stacks"] and "graph" not in report["max_error"]
    assert all("graph_cycles" not in x for x in report["runs"])


def test_csv_and_svg_of_all_orders(every_order):
    report, rows = every_order.report, csv_rows(every_order.csv)
    assert [row["method"] for row in rows] == \
        ["simulation", "simulation_paper", "simulation_lowest", "simulation_highest", *METHODS]
    assert list(rows[0])[-6:] == [f"{key}_{of}" for key in ("max_error", "max_error_paper", "max_error_outside")
                                  for of in ("percent", "component")]
    mean, _, lowest, highest = rows[:4]
    for c in COMPONENTS:
        low, high = report["simulation_range"].get(c, (0, 0))
        assert near(float(mean[c]), report["stacks"]["simulation"].get(c, 0), 1e-6)
        assert near(float(lowest[c]), low, 1e-6) and near(float(highest[c]), high, 1e-6)
    for row in rows[:4]:
        assert row["max_error_percent"] == row["max_error_outside_component"] == ""
    for row in rows[4:]:
        for key in "max_error", "max_error_paper", "max_error_outside":
            assert near(float(row[key + "_percent"]), report[key][row["method"]], 1e-4)
            assert row[key + "_component"] == report[key + "_component"][row["method"]]
    check_svg_says(every_order.svg, *report["stacks"])


# ---- settings, processes, deaths, parts of a run

def test_what_is_perfect_stays_perfect(here):
    report = measure(here, "validate --set perfect.branch=yes --set perfect.l1i=yes ./work 1000", **WORK).report
    check_all_orders(report)
    for name in "simulation", "simulation_paper":
        stack = report["stacks"][name]
        assert stack["branch"] == stack["l1i"] == 0 < stack["l2d"]


def test_forked_processes_count(here):
    report = measure(here, "validate --orders inverse ./work 1000 3000", **FORKED).report
    check_order(report, "inverse")
    for stack in report["stacks"].values():
        assert near(sum(stack.values()), report["cpi"])


def test_a_death_has_one_sentence(here):
    result = here.run("validate", "./abort", status=134)
    assert result.out == "" and len(re.findall("abort was killed by SIGABRT$", result.err, re.M)) == 1


def test_quiet_prints_nothing_of_a_death(here):
    result = here.run("validate", "--quiet", "./abort", status=134)
    assert result.out == result.err == ""


def test_parts_of_a_run_have_their_lengths(here):
    report = measure(here, "validate --skip 10000 --warmup 2000 --max-insns 3000 ./work 100000").report
    assert (report["skipped"], report["warmup"], report["instructions"]) == (10000, 2000, 3000)
    assert report["cut"] is True
    check_all_orders(report)


def test_a_run_that_ends_while_it_is_skipped_measures_nothing(here):
    run = measure(here, "validate --skip 1G --csv csv --svg svg ./work 10", **WORK)
    assert "ended before the part that is measured" in run.err
    assert run.report["cycles"] == 0 and run.report["max_error"] == {}
    check_svg_says(run.svg)


def test_help_lists_the_options(here):
    assert "--svg FILE" in here.run("validate", "--help").out


# ---- mistakes

@pytest.mark.mistake
@pytest.mark.parametrize("pattern, words", [
    ("unknown option '--orders'", "stalls --orders all ./work"),
    ("--orders both: there are all, paper and inverse", "--orders both ./work"),
    ("no core 'pentuim'", "--core pentuim ./work"),
    ("rob.size", "--set rob.size=0 ./work"),
    ("no program given", ""),
    ("there is no ./missing", "./missing"),
    (r"\./text", "./text"),
    ("RISC-V", "/bin/true"),
    ("--jobs needs a number", "--jobs few ./work"),
    ("--json /no/where/x: No such file", "--json /no/where/x ./work"),
    ("--csv /no/where/x: No such file", "--csv /no/where/x ./work"),
    ("--svg /no/where/x: No such file", "--svg /no/where/x ./work"),
    ("--points and --systematic are different ways", "--points auto --systematic ./work"),
    ("--skip and --max-insns exclude --points and --systematic", "--systematic --skip 5 ./work"),
    ("--restore excludes --points and --systematic", "--systematic --restore x ./work"),
    ("need --points or --systematic", "--window 5K ./work"),
    ("./missing: No such file", "--points ./missing ./work"),
])
def test_a_mistake_gets_a_sentence(here, pattern, words):
    here.complains(pattern, "validate", *shlex.split(words))


needs_full_disk = pytest.mark.skipif(not os.access("/dev/full", os.W_OK), reason="there is no /dev/full")


@pytest.mark.mistake
@needs_full_disk
@pytest.mark.parametrize("option", ["json", "csv", "svg"])
def test_a_full_disk_is_reported(here, option):
    here.complains(f"--{option} /dev/full: No space left", "validate", "--quiet", f"--{option}", "/dev/full", "./seven")


@pytest.mark.mistake
@needs_full_disk
def test_output_of_the_program_to_a_full_disk_is_reported(here):
    with open("/dev/full", "w") as full:
        process = here.spawn(here.command("validate", "--quiet", "./lines"), stdout=full, stderr=PIPE)
        status, _, err = finish(process)
    assert status == 125
    assert err.startswith(b"cyclescope: the program's output cannot be written: No space left")


# ---- input reaches every run

INPUT = bytes(i * i % 251 for i in range(5000))


def fed(here, stdin):
    """Validates `reads` with this open file as standard input: what it printed, and the report."""
    (here.work / "json").unlink(missing_ok=True)
    process = here.spawn(here.command("validate", "--orders", "paper", "--json", "json", "./reads"), stdin=stdin, stdout=PIPE, stderr=PIPE)
    status, out, err = finish(process)
    assert status == 4 and len(re.findall(b"^sum ", err, re.M)) == 1
    return out.decode(), timeless(here.json())


def fed_from_file(here, content, offset=0):
    (here.work / "input").write_bytes(content)
    with open(here.work / "input", "rb", buffering=0) as stdin:
        stdin.seek(offset)
        return fed(here, stdin)


def fed_from_pipe(here, content, read_before=0):
    reader, writer = os.pipe()
    os.write(writer, content)  # which is less than a pipe holds
    os.close(writer)
    try:
        assert len(os.read(reader, read_before)) == read_before
        return fed(here, reader)
    finally:
        os.close(reader)


def test_input_from_a_file_or_a_pipe_reaches_every_run(here):
    out, report = fed_from_file(here, INPUT)
    assert out == "5000 bytes\n" and report["instructions"] > 5 * 5000
    assert all(4 * x["cycles"] >= report["instructions"] for x in report["runs"])
    assert fed_from_pipe(here, INPUT) == (out, report)


def test_input_begins_where_the_file_or_the_pipe_is(here):
    rest = fed_from_file(here, INPUT[2000:])
    assert rest[0] == "3000 bytes\n"
    assert fed_from_file(here, INPUT, offset=2000) == rest
    assert fed_from_pipe(here, INPUT[1999:], read_before=1) == rest
    with open(os.devnull) as null:
        out, report = fed(here, null)
    assert out == "0 bytes\n" and 2 * report["instructions"] < rest[1]["instructions"]


# ---- output comes from one run

def test_output_to_a_terminal_is_that_to_a_file(here):
    """What a program does for a terminal it would not do for another file: in each run its output is of the same kind."""
    with open(here.work / "out", "w") as out:
        process = here.spawn(here.command("validate", "--orders", "paper", "--quiet", "--json", "json", "./lines"), stdout=out)
        assert finish(process)[0] == 0
    file = here.json()
    assert (here.work / "out").read_text() == 200 * "a line\n"
    assert on_terminal(here, "validate --orders paper --quiet --json json ./lines", "stdout", "stderr") == (0, 200 * "a line\n")
    terminal = here.json()
    assert abs(terminal["instructions"] - file["instructions"]) < 2000
    for x, y in zip(terminal["runs"], file["runs"]):
        assert abs(x["cycles"] - y["cycles"]) < 0.1 * y["cycles"]


def test_output_and_errors_to_one_file_keep_their_order(here):
    with open(here.work / "out", "w") as out:
        process = here.spawn(here.command("validate", "./reads"), stdout=out, stderr=STDOUT, stdin=PIPE)
        assert finish(process, INPUT)[0] == 4
    assert re.match(r"sum \d+\n5000 bytes\n", (here.work / "out").read_text())


def test_output_may_be_closed(here):
    result = here.execute(["bash", "-c", 'exec "$@" >&- 2>&-', "-", *here.command("validate", "./lines")])
    assert result.status == 0 and result.out == ""


def test_output_that_nobody_reads_to_its_end(here):
    with here.spawn(here.command("validate", "--quiet", "./lines"), stdout=PIPE, stderr=PIPE) as process:
        assert process.stdout.readline() == b"a line\n"
        process.stdout.close()
        assert process.wait(PATIENCE_SECONDS) in (0, -signal.SIGPIPE) and process.stderr.read() == b""


# ---- a run that is killed

def wait_until(condition):
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < end, "waits in vain"
        time.sleep(0.01)


class Waiting:
    """A validation that runs, the processes of its first eight runs, and the FIFO from which each run waits for a byte."""

    def __init__(self, here, process, fifo):
        self.here, self.process, self.fifo = here, process, fifo
        wait_until(lambda: len(self.children()) == 8)
        self.runs = self.children()

    def children(self):
        pid = self.process.pid
        with open(f"/proc/{pid}/task/{pid}/children") as children:
            return [int(child) for child in children.read().split()]

    def end(self, status):
        """Gives every run its byte, also those that come later, and expects this exit status: what is printed."""
        os.write(self.fifo, 72 * b" ")
        ended, out, err = finish(self.process)
        assert ended == status and out == b""
        return err.decode()


@contextmanager
def begin_waiting(here, orders):
    for name in "json", "csv":
        (here.work / name).unlink(missing_ok=True)
    os.mkfifo(here.work / "fifo")
    fifo = os.open(here.work / "fifo", os.O_RDWR)
    words = ["validate", "--orders", orders, "--jobs", "8", "--json", "json", "--csv", "csv", "./waits", "./fifo"]
    process = here.spawn(here.command(*words), stdout=PIPE, stderr=PIPE)
    try:
        yield Waiting(here, process, fifo)
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        os.close(fifo)
        (here.work / "fifo").unlink()


KILLED = 3  # the place of a run among the first eight


def test_a_run_that_is_killed_leaves_the_rest(here):
    with begin_waiting(here, "paper") as waiting:
        waiting.end(6)
        whole = here.json()
    with begin_waiting(here, "paper") as waiting:
        os.kill(waiting.runs[KILLED], signal.SIGKILL)
        err = waiting.end(6)
        report = here.json()
    assert re.search(r"^ The run with real: branch l1d failed: killed by signal 9 \(Killed\)$", err, re.M)
    assert re.search(r"^ branch prediction +\? +[0-9.]+", err, re.M)
    assert [i for i, x in enumerate(report["runs"]) if x["failed"]] == [KILLED]
    assert report["runs"][KILLED]["cycles"] == 0
    check_order(report, "paper")
    check_noise(report)
    assert all(report["stacks"][m] == whole["stacks"][m] for m in METHODS)
    stack = report["stacks"]["simulation"]
    assert [c for c, n in stack.items() if n is None] == ["l1i", "branch"]
    for c, n in stack.items():
        assert n is None or n == whole["stacks"]["simulation"][c]
    check_errors(report)


def test_a_run_of_all_orders_that_is_killed_leaves_some_of_the_mean(here):
    with begin_waiting(here, "all") as waiting:
        os.kill(waiting.runs[KILLED], signal.SIGKILL)
        err = waiting.end(6)
        report, rows = here.json(), csv_rows((here.work / "csv").read_text())
    assert report["runs"][KILLED]["failed"] and set(report["runs"][KILLED]["real"]) == {"l1i", "l2i"}
    assert re.search(r"^ branch prediction +\? +[0-9.]+ +[0-9.]+", err, re.M)
    check_all_orders(report)
    check_noise(report)
    assert [c for c, n in report["stacks"]["simulation"].items() if n is not None] == ["base", "l1i", "l2d"]
    for row in (rows[0], *rows[2:4]):
        assert row["branch"] == "" and row["l2d"] != ""
    check_errors(report)
    check_outside(report)


def test_the_run_that_methods_account_for_is_killed(here):
    with begin_waiting(here, "paper") as waiting:
        os.kill(waiting.runs[0], signal.SIGKILL)
        err = waiting.end(125)
    assert err == "cyclescope: the run that the methods account for failed: killed by signal 9 (Killed)\n"


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_runs_die_with_their_parent(here):
    with begin_waiting(here, "all") as waiting:
        waiting.process.kill()
        wait_until(lambda: not any(map(is_alive, waiting.runs)))


SIGNALS = r"""
#include <signal.h>
#include <stdio.h>
int main(void)
{
    sigset_t blocked;
    struct sigaction action;
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    sigaction(SIGCHLD, NULL, &action);
    printf("%d %d\n", sigismember(&blocked, SIGCHLD), action.sa_handler == SIG_IGN);
    return 0;
}
"""


@pytest.mark.parametrize("ignored", [0, 1])
def test_what_sigchld_does_for_the_caller(here, guests, ignored):
    """The parent waits for its runs whatever SIGCHLD does for its caller, and the program sees the same."""
    program = guests("signals", SIGNALS, "-static")
    action = signal.SIG_IGN if ignored else signal.SIG_DFL
    result = here.run("validate", "--quiet", program, preexec_fn=lambda: signal.signal(signal.SIGCHLD, action))
    assert result.out == "0 0\n"
