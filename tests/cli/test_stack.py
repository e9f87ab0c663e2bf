"""`cyclescope stack` and `list methods` as a user meets them: what is printed and written, that the numbers agree with each
other and with what the workloads are made of, and what each mistake says."""
import json
import os
import re
import shlex
import shutil
from subprocess import PIPE

import pytest

pytest.register_assert_rewrite("stack_checks")

from conftest import PROJECT, Commands
from pages import unwrapped, whole_rows
from stack_checks import (COMPONENTS, FORKED, LABELS, METHODS, SEVEN_SOURCE, STAGES, WORK, check_dominates, check_series,
                          check_sums, check_svg_says, csv_rows, finish, has_trailing_blanks, heading, largest, measure,
                          near, on_terminal, plain)

MARKS = dict(zip(".uiItbdDT", COMPONENTS))  # of the bars

SEGV = "int main(void) { *(volatile int *)0 = 1; return 0; }"
# Each load from memory decides a branch that cannot be predicted.
BOTH = r"""
#include <stdlib.h>
int main(void)
{
    enum { BYTES = 1 << 26 };
    volatile char *heap = calloc(BYTES, 1);
    volatile unsigned taken = 0;
    unsigned state = 1;
    for (int i = 0; i < 2000; i++) {
        state = state * 1103515245 + 12345;
        state += heap[state >> 4 & (BYTES - 1)];
        if (state >> 16 & 1)
            taken++;
    }
    return 0;
}
"""


@pytest.fixture(scope="module")
def here(program, guests, work, abort):
    """Commands in the folder of the guests: a guest has the same name, such as ./work, wherever the folder is."""
    guests("segv", SEGV, "-static")
    guests("seven", SEVEN_SOURCE, "-static")
    guests("both", BOTH, "-static")
    for workload in (PROJECT / "build/workloads").iterdir():
        (guests.folder / workload.name).symlink_to(workload)
    return Commands(program, guests.folder)


# ---- the page

def page_table(page):
    """The heads of the table's columns, and its numbers by label."""
    rows = {label: [float(n) for n in whole_rows(page, label).split()] for label in (*LABELS, "total")}
    return [head for head in whole_rows(page, "CPI").split() if head != "%"], rows


def check_table(run, kinds):
    """The table has the stacks of these kinds, each with its CPI and its percentage."""
    heads, rows = page_table(run.err)
    report = run.report
    assert heads == kinds == list(report["stacks"])
    assert all(len(row) == 2 * len(kinds) for row in rows.values())
    for i, kind in enumerate(kinds):
        for label, component in LABELS.items():
            cpi = report["stacks"][kind][component]
            assert near(rows[label][2 * i], cpi, 0.51e-4)
            assert abs(rows[label][2 * i + 1] - 100 * cpi / report["cpi"]) <= 0.051
        assert near(rows["total"][2 * i], report["cpi"], 0.51e-4) and near(rows["total"][2 * i + 1], 100, 0.51e-4)


def bars(page):
    """The bars of a page: (name, cells below zero, cells above it, total)."""
    return re.findall(r"^(\S+) +([.uiItbdDT]* *)\|([.uiItbdDT ]*) (-?[0-9.]+)$", plain(page), re.M)


def check_bars(run, kinds):
    """Each component has its share of the cells, give or take one for rounding."""
    found = bars(run.err)
    stacks = run.report["stacks"]
    assert [name for name, *_ in found] == kinds
    cells, longest = max((len(above) + len(below.strip()), kind) for kind, (_, below, above, _) in zip(kinds, found))
    per_cell = sum(abs(c) for c in stacks[longest].values()) / cells
    for kind, (_, below, above, total) in zip(kinds, found):
        assert near(float(total), run.report["cpi"], 0.51e-3)
        for mark, component in MARKS.items():
            assert abs((below + above).count(mark) - abs(stacks[kind][component]) / per_cell) <= 1.6


def predicted_gain(report, component):
    """The cycles that the graph saves with this structure perfect, in percent; with a first cache, also the second one."""
    perfect = {"l1i": {"l1i", "l2i"}, "l1d": {"l1d", "l2d"}}.get(component, {component})
    cycles = {frozenset(x["real"]): x["cycles"] for x in report["graph"]["sets"]}
    everything = frozenset(COMPONENTS) - {"base", "fu"}
    return 100 - 100 * cycles[everything - perfect] / cycles[everything]


def check_sentence(run, kind):
    """The largest component besides the base, its CPI, and its share unless that is more than everything."""
    stack, cpi = run.report["stacks"][kind], run.report["cpi"]
    said = re.search(r"^ (What would help most: .* \((.*), ([0-9.]+) of ([0-9.]+) CPI(?:\): at most ([0-9.]+) % fewer cycles\."
                     r"|\): ([0-9.]+) % fewer cycles by the graph\.|: misses that overlap count in full\)\.))$",
                     unwrapped(run.err), re.M)
    first = largest(stack)
    assert run.report.get("method") == (None if kind in STAGES else kind)
    share = 100 * stack[first] / cpi
    assert said[1] == run.report["advice"] and LABELS[said[2]] == first
    assert near(float(said[3]), stack[first], 0.51e-3) and near(float(said[4]), cpi, 0.51e-3)
    if kind == "graph":
        assert abs(float(said[6]) - predicted_gain(run.report, first)) <= 0.051
    elif said[5] is None:
        assert share > 100
    else:
        assert share <= 100 and abs(float(said[5]) - share) <= 0.051


@pytest.fixture(scope="module")
def page(here):
    return measure(here, "stack ./work 20000", **WORK)


@pytest.fixture(scope="module")
def all_methods(here):
    return measure(here, "stack --method all ./work 20000", **WORK)


@pytest.fixture(scope="module")
def all_stages(here):
    return measure(here, "stack --stage all ./work 20000", **WORK)


@pytest.mark.smoke
def test_the_page_has_heading_table_bar_advice_and_speed(page):
    assert re.search(r"/work on the core eyerman2006:\n [0-9,]+ instructions, [0-9,]+ cycles, CPI [0-9.]+$", page.err, re.M)
    assert heading(page.report) in page.err
    check_table(page, ["graph"])
    check_bars(page, ["graph"])
    check_sentence(page, "graph")
    assert re.search(r"^ [0-9.]+ seconds, [0-9.]+ MIPS$", page.err, re.M)


def test_the_page_in_a_pipe_is_plain_and_fits(page):
    assert "\033" not in page.err and not has_trailing_blanks(page.err)
    assert max(map(len, page.err.split("\n"))) == 80 == len(next(line for line in page.err.split("\n") if "|" in line))


def test_the_page_has_only_what_was_asked_for(page):
    assert not re.search("over instructions|interval analysis", page.err)


def test_the_page_of_all_methods(all_methods):
    check_table(all_methods, METHODS)
    check_bars(all_methods, METHODS)
    check_sentence(all_methods, "graph")
    check_sums(all_methods.report)


def test_the_page_of_all_stages(all_stages, all_methods):
    check_table(all_stages, STAGES)
    check_bars(all_stages, STAGES)
    check_sentence(all_stages, "dispatch")
    check_sums(all_stages.report)
    assert all_stages.report["cycles"] == all_methods.report["cycles"]


@pytest.mark.parametrize("option, first", [(m, m) for m in METHODS] + [("sfmt,naive", "sfmt")])
def test_a_method_finds_alone_what_it_finds_among_all(here, all_methods, option, first):
    run = measure(here, f"stack --method {option} ./work 20000", **WORK)
    kinds = [m for m in METHODS if m in option.split(",")]
    check_table(run, kinds)
    check_sentence(run, first)
    assert run.report["cycles"] == all_methods.report["cycles"]
    assert run.report["stack_cycles"] == {k: all_methods.report["stack_cycles"][k] for k in kinds}


@pytest.mark.parametrize("core, method, sentence", [
    ("--core eyerman2006", "graph", "graph, the dependence graph of the run: a component is what its structure adds"),
    ("--core small", "fmt2", "The method is fmt2: cores that issue in order (issue.order) have no dependence graph."),
    ("--set memory.latency=2600", "fmt2", "The method is fmt2: loads from memory"),
])
def test_the_default_is_the_best_method_of_the_core(here, core, method, sentence):
    run = measure(here, f"stack {core} ./work 2000", **WORK)
    check_table(run, [method])
    check_sentence(run, method)
    assert sentence in " ".join(run.err.split())
    named = measure(here, f"stack {core} --method {method} ./work 2000", **WORK)
    assert named.report["stack_cycles"] == run.report["stack_cycles"] and "The method is" not in named.err
    several = measure(here, f"stack {core} --method all ./work 2000", **WORK)
    check_sentence(several, method)


@pytest.mark.parametrize("workload, unbalanced", [("divide_bound", True), ("balanced", False)])
def test_methods_that_need_a_balanced_run_say_when_it_is_not(here, workload, unbalanced):
    """divide_bound waits for a unit: its base is 22 cycles for 7 instructions on a core of width 4."""
    window = f"--skip 50K --warm --warmup 5K --max-insns 20K ./{workload}"
    for methods, names in ("fmt", "fmt"), ("fmt2", "fmt2"), ("all", "fmt and fmt2"):
        run = measure(here, f"stack --method {methods} {window}")
        assert run.report["base_times_width"] == pytest.approx(4 * 22 / 7 if unbalanced else 1, rel=0.02)
        assert run.report["unbalanced"] == unbalanced
        assert (f"Do not rely on {names} here: the method takes for granted" in " ".join(run.err.split())) == unbalanced
    graph = measure(here, f"stack --method graph {window}")
    assert "unbalanced" not in graph.report and "Do not rely" not in graph.err


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_finds_alone_what_it_finds_among_all(here, all_stages, stage):
    run = measure(here, f"stack --stage {stage} ./work 20000", **WORK)
    check_table(run, [stage])
    check_sentence(run, stage)
    assert run.report["stack_cycles"] == {stage: all_stages.report["stack_cycles"][stage]}


OVERLAPPING = "--skip 4M --max-insns 50K ./mix"  # misses overlap, and a naive base is negative


@pytest.fixture(scope="module")
def overlapping(here):
    return measure(here, f"stack --method all --penalties {OVERLAPPING}")


def test_bars_go_below_zero(overlapping):
    check_bars(overlapping, METHODS)
    below = {name: cells.strip() for name, cells, *_ in bars(overlapping.err)}
    assert overlapping.report["stacks"]["naive"]["base"] < 0
    assert below["naive"] and not below["fmt"]


def test_more_than_all_cycles_has_no_percentage(here):
    run = measure(here, f"stack --method naive {OVERLAPPING}")
    check_sentence(run, "naive")
    assert "fewer cycles" not in run.err


def test_quiet_prints_nothing(here):
    result = here.run("stack", "--quiet", "--interval", "1000", "--penalties", "./work", status=3)
    assert result.out == "done\n" and result.err == ""


def test_quiet_prints_nothing_of_a_death(here):
    result = here.run("stack", "--quiet", "./abort", status=134)
    assert result.out == result.err == ""


def test_help_lists_the_options(here):
    assert "--svg FILE" in here.run("stack", "--help").out


# ---- on a terminal

@pytest.mark.parametrize("columns", [40, 80, 200])
def test_the_page_fits_the_terminal_and_has_colors(here, columns):
    status, printed = on_terminal(here, "stack --stage all ./work", "stderr", columns=columns)
    found = bars(printed)
    assert status == 3 and len(found) == 3
    assert max(len(f"{name:8} {below}|{above} {total}") for name, below, above, total in found) == columns
    legend = re.search(r"^CPI:.*?\n\n", plain(printed), re.M | re.S)[0]
    assert max(map(len, legend.split("\n"))) <= columns
    colored = [line.count("\033[") for line in printed.split("\n") if re.match("(dispatch|issue|commit) ", line)]
    assert len(colored) == 3 and all(n % 2 == 0 and n > 3 for n in colored)
    assert printed.count("\033[") == 2 * printed.count("\033[0m")


# ---- intervals

def quick(here, words, **options):
    return measure(here, words.replace("stack", "stack --quiet", 1), **options).report


PLACES = [0, 60_000_000, 150_000_000]  # parts of `mix` of different kinds


@pytest.mark.parametrize("skip", PLACES)
def test_short_intervals_add_up(here, skip):
    check_series(quick(here, f"stack --interval 1 --method all --skip {skip} --max-insns 1500 ./mix"), 1)
    check_series(quick(here, f"stack --interval 7 --method all --skip {skip} --max-insns 10000 ./mix"), 7)


@pytest.mark.parametrize("skip", PLACES)
def test_intervals_are_the_same_however_they_are_measured(here, skip):
    part = f"--skip {skip} --max-insns 100500 ./mix"
    series = quick(here, f"stack --interval 1000 --method all {part}")
    check_series(series, 1000)
    assert len(series["intervals"]) == 101 and series["instructions"] == 100500
    stepped = quick(here, f"stack --interval 1000 --step --method all {part}")
    assert stepped["intervals"] == series["intervals"] and stepped["stack_cycles"] == series["stack_cycles"]
    whole = quick(here, f"stack --method all {part}")
    assert whole["stack_cycles"] == series["stack_cycles"] and whole["overlap_percent"] == series["overlap_percent"]
    one = quick(here, f"stack --interval 1000 --method sfmt {part}")
    assert [i["stack_cycles"]["sfmt"] for i in one["intervals"]] == [i["stack_cycles"]["sfmt"] for i in series["intervals"]]


def test_long_intervals_add_up(here):
    report = quick(here, "stack --interval 1M --method all --skip 20M --max-insns 1200K ./mix")
    check_series(report, 1_000_000)
    assert len(report["intervals"]) == 2


def test_intervals_of_stages_add_up_and_do_not_depend_on_stepping(here):
    words = "--interval 7 --stage all --skip 60M --max-insns 10000 ./mix"
    report = quick(here, f"stack {words}")
    check_series(report, 7)
    assert list(report["intervals"][0]["stacks"]) == STAGES
    assert quick(here, f"stack --step {words}")["intervals"] == report["intervals"]


@pytest.mark.parametrize("core", ["modern", "ppc970", "pentium", "small"])
def test_intervals_on_other_cores_add_up_and_do_not_depend_on_stepping(here, core):
    words = f"--core {core} --interval 100 --method all --skip 60M --max-insns 30000 ./mix"
    report = quick(here, f"stack {words}")
    check_series(report, 100)
    assert quick(here, f"stack --step {words}")["intervals"] == report["intervals"]


def test_an_interval_longer_than_the_run_is_the_run(here):
    report = quick(here, "stack --interval 1G --method all ./work", **WORK)
    check_series(report, 1_000_000_000)
    assert len(report["intervals"]) == 1 and report["intervals"][0]["stack_cycles"] == report["stack_cycles"]


def check_csv(text, kinds, parts):
    """A row for each of the kinds and each of the parts, in order."""
    rows, begin = csv_rows(text), 0
    assert len(rows) == len(parts) * len(kinds)
    assert list(rows[0]) == ["method", "from", "instructions", "cycles", "cpi"] + COMPONENTS
    for part in parts:
        for kind in kinds:
            row = rows.pop(0)
            assert row["method"] == kind and int(row["from"]) == begin
            assert int(row["instructions"]) == part["instructions"] and int(row["cycles"]) == part["cycles"]
            assert near(float(row["cpi"]), part["cpi"], 1e-6)
            for c in COMPONENTS:
                assert near(float(row[c]), part["stacks"][kind][c], 1e-6)
        begin += part["instructions"]


@pytest.mark.smoke
def test_the_page_and_csv_of_a_series(here):
    run = measure(here, "stack --interval 5000 --csv csv --skip 4M --max-insns 52K ./mix")
    intervals = run.report["intervals"]
    assert re.search("CPI over instructions, by graph, 11 intervals:$", run.err, re.M)
    _, *found = bars(run.err)
    assert len(found) == len(intervals) == 11 and [name for name, *_ in found[:3]] == ["0", "5.0K", "10.0K"]
    for (*_, total), interval in zip(found, intervals):
        assert near(float(total), interval["cpi"], 0.51e-3)
    check_csv(run.csv, ["graph"], intervals)


def test_the_page_of_a_long_series_has_24_bars(here):
    run = measure(here, "stack --interval 100 --method all --csv csv --skip 4M --max-insns 50K ./mix")
    assert len(bars(run.err)) == len(METHODS) + 24 and len(run.report["intervals"]) == 500
    check_csv(run.csv, METHODS, run.report["intervals"])


# ---- penalties

def test_penalties_are_cycles_per_event(here, overlapping):
    events = measure(here, f"stat --quiet {OVERLAPPING}").report["events"]
    report = overlapping.report
    penalties, cycles = report["penalties"], report["stack_cycles"]
    wanted = {"l1i": events["l1i_primary_misses"] - events["l2i_primary_misses"], "branch": events["mispredictions"],
              "l2d": events["l2d_primary_misses"]}
    assert wanted["l2d"] < events["l2d_misses"]  # several loads wait for a line
    assert {k: p["events"] for k, p in penalties.items()} == wanted and list(penalties) == list(wanted)
    for component, p in penalties.items():
        assert p["events"] > 0
        assert near(p["interval_analysis"] * p["events"], cycles["fmt"][component])
        assert near(p["power5"] * p["events"], cycles["power5"][component])


def test_naive_penalties_are_those_of_a_manual(overlapping):
    params = overlapping.report["params"]
    assert [p["naive"] for p in overlapping.report["penalties"].values()] == \
        [int(params[k]) for k in ("l2.latency", "frontend.stages", "memory.latency")]


def test_penalties_and_overlap_are_printed(overlapping):
    report = overlapping.report
    for name, p in zip(("L1 I-miss", "misprediction", "L2 D-miss"), report["penalties"].values()):
        cycles = "".join(" +{:.2f}".format(p[k]) for k in ("interval_analysis", "naive", "power5"))
        assert re.search("^ {} +{:,}{}$".format(name, p["events"], cycles), overlapping.err, re.M)
    assert report["overlap_percent"] > 0
    assert "overlap in {:.2f} % of cycles.".format(report["overlap_percent"]) in overlapping.err


def test_penalties_do_not_depend_on_the_method(here, overlapping):
    report = quick(here, f"stack --penalties --method sfmt {OVERLAPPING}")
    assert report["penalties"] == overlapping.report["penalties"] and list(report["stacks"]) == ["sfmt"]


def test_overlap_needs_both_long_misses_and_mispredictions(here):
    assert 25 < quick(here, "stack ./both")["overlap_percent"] < 90
    assert quick(here, "stack --set perfect.branch=yes ./both")["overlap_percent"] < 1
    assert quick(here, "stack --set perfect.l2d=yes --set perfect.dtlb=yes ./both")["overlap_percent"] == 0


def test_penalties_without_events_are_zero(here):
    report = quick(here, "stack --penalties --set perfect.branch=yes --set perfect.l1i=yes ./seven", status=7)
    assert report["penalties"]["branch"]["events"] == 0 == report["penalties"]["branch"]["interval_analysis"]


# ---- the same run

def test_stepping_changes_no_stack(here, all_methods):
    stepped = quick(here, "stack --method all --step ./work 20000", **WORK)
    assert stepped["stack_cycles"] == all_methods.report["stack_cycles"]
    assert stepped["overlap_percent"] == all_methods.report["overlap_percent"]


def test_stat_has_the_same_cycles(here, all_methods):
    stat = measure(here, "stat --quiet ./work 20000", **WORK).report
    stack = all_methods.report
    assert stat["command"] == "stat" and stack["command"] == "stack"
    for key in "cycles", "instructions", "params", "version":
        assert stat[key] == stack[key]


def test_json_has_the_shared_keys(all_methods):
    report = all_methods.report
    assert report["core"] == "eyerman2006" and report["program"].endswith("/work") and report["exit_status"] == 3
    assert report["host"]["mips"] > 0 and report["cut"] is False
    assert near(report["cpi"], report["cycles"] / report["instructions"])
    assert "intervals" not in report and "penalties" not in report


def test_settings_take_effect(here, all_methods):
    report = quick(here, "stack --method all --set rob.size=32 --set perfect.branch=yes ./work 20000", **WORK)
    check_sums(report)
    assert report["params"]["rob.size"] == 32 and report["cycles"] != all_methods.report["cycles"]
    for m in METHODS:
        assert report["stack_cycles"][m]["branch"] < all_methods.report["stack_cycles"][m]["branch"] / 20


def test_rows_of_the_fmt_take_effect_on_its_stack_alone(here, all_methods):
    report = quick(here, "stack --method fmt --set fmt.rows=1 ./work 20000", **WORK)
    check_sums(report)
    assert report["stack_cycles"]["fmt"]["branch"] < all_methods.report["stack_cycles"]["fmt"]["branch"]
    assert report["cycles"] == all_methods.report["cycles"]


# ---- processes, deaths, parts of a run

def test_forked_processes_count(here):
    alone = quick(here, "stack --method all ./work 1000", **WORK)
    run = measure(here, "stack --method all --interval 1000 ./work 1000 20000", **FORKED)
    report = run.report
    assert run.err.count("seconds,") == 1  # one page for all processes
    check_sums(report)
    for m in METHODS:
        assert report["stack_cycles"][m]["branch"] > 5 * alone["stack_cycles"][m]["branch"]
    for interval in report["intervals"]:
        check_sums(interval)
    of_itself = sum(i["instructions"] for i in report["intervals"])
    assert alone["instructions"] <= of_itself < report["instructions"] - 10 * 20000 / 2
    stat = measure(here, "stat --quiet ./work 1000 20000", **FORKED).report
    assert (stat["cycles"], stat["instructions"]) == (report["cycles"], report["instructions"])


def test_a_death_has_a_sentence_and_stacks(here):
    run = measure(here, "stack ./abort", status=134)
    assert re.search("^cyclescope: .*/abort was killed by SIGABRT$", run.err, re.M)
    assert run.report["exit_status"] == 134
    check_sums(run.report)


def test_a_fault_has_stacks(here):
    report = quick(here, "stack --method all --interval 100 ./segv", status=139)
    assert report["exit_status"] == 139
    check_series(report, 100)


def test_a_run_is_cut_at_the_instruction(here):
    run = measure(here, "stack --max-insns 5000 ./work 1000000")
    assert run.report["instructions"] == 5000 and run.report["cut"] is True
    check_sums(run.report)
    assert "stopped after 5,000 instructions" in run.err


def test_parts_of_a_run_have_their_lengths(here):
    parts = "--skip 40000 --warm --warmup 3000 --max-insns 2000"
    report = quick(here, f"stack --method all --interval 500 {parts} ./work 1000000")
    assert (report["skipped"], report["warmup"], report["instructions"]) == (40000, 3000, 2000)
    check_series(report, 500)


def test_a_run_that_ends_while_it_is_skipped_measures_nothing(here):
    run = measure(here, "stack --skip 1G --interval 10 --penalties --csv csv --svg svg ./work", **WORK)
    report = run.report
    assert report["instructions"] == report["cycles"] == report["cpi"] == 0
    assert set(report["stack_cycles"]["graph"].values()) == {0}
    check_svg_says(run.svg)
    assert all(int(row["cycles"]) == 0 for row in csv_rows(run.csv))
    assert "ended before the part that is measured" in run.err


def test_a_run_that_ends_during_warmup_measures_nothing(here):
    report = quick(here, "stack --warmup 1G --method all ./work", **WORK)
    assert report["cycles"] == 0
    assert all(set(stack.values()) == {0} for stack in report["stack_cycles"].values())


# ---- files

def to_standard_output(here, words):
    return here.run("stack", "--quiet", *words.split(), "./seven", status=7).out


def test_json_to_standard_output(here):
    report = json.loads(to_standard_output(here, "--json -"))
    assert report["exit_status"] == 7
    check_sums(report)


def test_csv_to_standard_output(here):
    report = quick(here, "stack --method all ./seven", status=7)
    check_csv(to_standard_output(here, "--method all --csv -"), METHODS, [report])


def test_svg_to_standard_output(here):
    check_svg_says(to_standard_output(here, "--method all --svg -"), "seven", "eyerman2006", *METHODS)


def test_all_files_to_standard_output_follow_each_other(here):
    text = to_standard_output(here, "--csv - --svg - --json -")
    assert text.startswith("method,") and text.count("</svg>") == 1
    assert json.loads(text[text.index("</svg>") + 6:])["command"] == "stack"


def test_svg_quotes_the_name_of_a_program(here):
    shutil.copy(here.work / "seven", here.work / '<&">')
    assert here.run("stack", "--svg", "svg", './<&">', status=7).out == ""
    check_svg_says((here.work / "svg").read_text(), '<&">')


def test_svg_of_a_name_in_no_encoding_is_in_utf_8(here):
    name = os.fsdecode(b"./\xff")
    shutil.copy(here.work / "seven", here.work / name)
    here.run("stack", "--quiet", "--svg", "svg", name, status=7)
    check_svg_says((here.work / "svg").read_text("utf-8"), "graph")


@pytest.mark.mistake
@pytest.mark.skipif(not os.access("/dev/full", os.W_OK), reason="there is no /dev/full")
@pytest.mark.parametrize("option", ["json", "csv", "svg"])
def test_a_full_disk_is_reported(here, option):
    here.complains(f"--{option} /dev/full: No space left", "stack", "--quiet", f"--{option}", "/dev/full", "./seven")
    with open("/dev/full", "w") as full:
        process = here.spawn(here.command("stack", "--quiet", f"--{option}", "-", "./seven"), stdout=full, stderr=PIPE)
        status, _, err = finish(process)
    assert status == 125 and f"--{option} -: No space left" in err.decode()


# ---- mistakes

LISTS = "; .cyclescope list methods. lists all"


@pytest.mark.mistake
@pytest.mark.parametrize("pattern, words", [
    ("--method ftm: there is no 'ftm'" + LISTS, "--method ftm ./work"),
    ("--method fmt,ftm: there is no 'ftm'" + LISTS, "--method fmt,ftm ./work"),
    ("--method : there is no ''" + LISTS, "--method '' ./work"),
    ("--method fmt,: there is no ''" + LISTS, "--method fmt, ./work"),
    ("--method fmt,all: there is no 'all'" + LISTS, "--method fmt,all ./work"),
    ("--method commit: there is no 'commit'" + LISTS, "--method commit ./work"),
    ("--stage fetch: there is no 'fetch'" + LISTS, "--stage fetch ./work"),
    ("--stage fmt: there is no 'fmt'" + LISTS, "--stage fmt ./work"),
    ("--method and --stage are .*: give one of them", "--stage all --method all ./work"),
    ("--interval needs a number such as 500 or 2M, not 'some'", "--interval some ./work"),
    ("--method needs a value", "--method"),
    ("no program given", ""),
    ("there is no ./missing", "./missing"),
    ("no core 'pentuim'", "--core pentuim ./work"),
    ("--json /no/where/x: No such file", "--json /no/where/x ./work"),
    ("--csv /no/where/x: No such file", "--csv /no/where/x ./work"),
    ("--svg /no/where/x: No such file", "--svg /no/where/x ./work"),
])
def test_a_mistake_gets_a_sentence(here, pattern, words):
    here.complains(pattern, "stack", *shlex.split(words))


# ---- list methods

@pytest.mark.smoke
def test_list_methods_has_methods_and_stages_that_exist(here):
    lines = [line for line in here.run("list", "methods").out.splitlines() if line[0] != " "]
    rows = [line.split(maxsplit=2) for line in lines]
    assert [row[:2] for row in rows] == [[m, "--method"] for m in METHODS] + [[s, "--stage"] for s in STAGES]
    for line, (name, option, _) in zip(lines, rows):
        assert re.match(r"[a-z0-9_]+ +--(method|stage) +[a-z].{20}", line)
        assert here.run("stack", "--quiet", option, name, "./seven", status=7).out == ""


# ---- the workloads: what each is made of is what the methods find (workloads/README.md)

WINDOW = "--skip 2500000 --warm --warmup 50000 --max-insns 150000"
EXACT = ["fmt", "sfmt", "fmt2"]  # methods that find the cause


@pytest.mark.parametrize("workload, component, perfect", [
    ("memory_bound", "l2d", "l2d"),
    ("branch_bound", "branch", "branch"),
    ("icache_bound", "l1i", "l1i"),
    ("divide_bound", "fu", "units"),
])
def test_a_workload_is_bound_by_what_perfection_removes(here, workload, component, perfect):
    report = quick(here, f"stack {WINDOW} --method all ./{workload}")
    without = measure(here, f"stat --quiet {WINDOW} --set perfect.{perfect}=yes ./{workload}").report
    check_sums(report)
    assert without["instructions"] == report["instructions"] == 150000
    for method in EXACT:
        check_dominates(report["stacks"][method], component)
        saved = report["cycles"] - without["cycles"]
        assert abs(saved - report["stack_cycles"][method][component]) <= 0.08 * report["cycles"]


def test_the_balanced_workload_is_base(here):
    report = quick(here, f"stack {WINDOW} --method all ./balanced")
    check_sums(report)
    for method in EXACT:
        assert report["stack_cycles"][method]["base"] > 0.9 * report["cycles"]


@pytest.mark.parametrize("core", ["modern", "ppc970"])
@pytest.mark.parametrize("workload, component",
                         [("memory_bound", "l2d"), ("branch_bound", "branch"), ("divide_bound", "fu")])
def test_a_workload_is_bound_by_the_same_on_other_cores(here, core, workload, component):
    report = quick(here, f"stack {WINDOW} --method fmt2 --core {core} ./{workload}")
    assert report["core"] == core
    check_dominates(report["stacks"]["fmt2"], component)
