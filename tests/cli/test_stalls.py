"""`cyclescope stalls` as a user meets it: what is printed, written and drawn, that every interval adds up on several
programs and cores, what it says of workloads whose bottleneck is known, and what each mistake says."""
import csv
import os
import re
import shutil
import signal
import subprocess
import xml.etree.ElementTree
from types import SimpleNamespace

import pytest

from conftest import CROSS, PROJECT
from pages import unwrapped
from screen import Terminal

MIX = PROJECT / "build/workloads/mix"
LABELS = {"completion": "completion", "instruction misses": "icache", "mispredictions": "branch", "data misses": "dcache",
          "address translation": "translation", "rejections": "reject", "floating-point latency": "fpu",
          "integer latency": "integer", "other stalls": "other"}
KEYS = list(LABELS.values())
LABEL_OF = {key: label for label, key in LABELS.items()}
MARKS = dict(zip(KEYS, ".ibdtrfuo"))
CORES = ["eyerman2006", "modern", "pentium-pro", "ppc970", "ppc970-single", "ppc970-inorder"]
COLUMNS = ["first_instruction", "first_cycle", "instructions", "cycles", "cpi", *KEYS]

# Prints forty lines. Behind each it works until a byte comes, or the end of its input. Ends with 9; with an argument, it
# aborts.
TALKS = r"""
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    static int heap[1 << 16];
    struct pollfd input = {.fd = 0, .events = POLLIN};
    unsigned state = 1;
    char byte;
    for (int i = 0; i < 40; i++) {
        printf("line %d of the guest\n", i);
        fflush(stdout);
        do {
            for (int k = 0; k < 2000; k++) {
                state = state * 1103515245 + 12345;
                heap[state >> 16] += state >> 8 & 1 ? 1 : heap[state >> 15 & 0xffff];
            }
        } while (poll(&input, 1, 0) == 0);
        read(0, &byte, 1);
    }
    if (argc > 1)
        abort();
    return 9;
}
"""
READS_ITSELF = r"""
#include <cyclescope/cyclescope.h>
#include <stdio.h>
int main(void)
{
    struct cyclescope_breakdown b = {0};
    volatile unsigned n = 0;
    for (int i = 0; i < 300000; i++)
        n += i;
    int code = cyclescope_self_read(&b);
    printf("%d %d %d\n", code > 0, b.cycles >= 15000 && b.cycles <= 25000, b.number > 3);
    return 0;
}
"""


@pytest.fixture(scope="module")
def seven(guests):
    """Ends with 7 at once."""
    return guests("seven", "int main(void) { return 7; }", "-static")


@pytest.fixture(scope="module")
def talks(guests):
    return guests("talks", TALKS, "-static")


def stalls(cli, *words, status=0, **options):
    """The breakdown, from full counts."""
    return cli.report("stalls", "--exact", *words, status=status, **options)


# ---- what must hold

def near(a, b, most=1e-9):
    return abs(a - b) <= most * max(1, abs(a), abs(b))


def check_sum(i):
    """Completion and stalls sum to the cycles, exactly."""
    cycles = i["stall_cycles"]
    assert list(cycles) == list(i["stalls"]) == KEYS
    assert all(type(c) is int and c >= 0 for c in cycles.values())
    assert sum(cycles.values()) == i["cycles"]
    assert cycles["completion"] <= i["instructions"]
    if i["instructions"]:
        assert near(i["cpi"], i["cycles"] / i["instructions"])
        assert all(near(i["stalls"][k] * i["instructions"], cycles[k]) for k in KEYS)


def end_of(parts):
    """Where the last part ends. Each adds up and begins where the one before ends."""
    insn = cycle = 0
    for p in parts:
        assert (p["first_instruction"], p["first_cycle"]) == (insn, cycle)
        check_sum(p)
        insn, cycle = insn + p["instructions"], cycle + p["cycles"]
    return insn, cycle


def sum_of(parts):
    return {k: sum(p["stall_cycles"][k] for p in parts) for k in KEYS}


def check_series(r, width=8):
    """Intervals and phases cover the run, end where they should, and sum to the whole."""
    parts = r["intervals"]
    check_sum(r)
    assert end_of(parts) == end_of(r["phases"]) == (r["instructions"], r["cycles"])
    for p in parts[:-1]:
        if "interval_cycles" in r:
            assert p["cycles"] == r["interval_cycles"]
        if "interval" in r:
            length, end = r["interval"], p["first_instruction"] + p["instructions"]
            assert p["first_instruction"] // length < end // length and end % length < width
    assert ("interval" in r) != ("interval_cycles" in r)
    assert sum_of(parts) == sum_of(r["phases"]) == r["stall_cycles"]
    assert r["exact"] is True and sum(p["intervals"] for p in r["phases"]) == len(parts)


def largest(i):
    return max(KEYS[1:], key=lambda k: i["stall_cycles"][k])


def check_phases(r, page):
    """The page names the phases and the largest source of each."""
    found = re.findall(r"^ phase (\d+): (\S+) to (\S+) instructions, CPI ([0-9.]+), (.*) ([0-9.]+) %$", page, re.M)
    assert len(found) == len(r["phases"]) > 0
    for i, ((number, _, _, cpi, label, share), p) in enumerate(zip(found, r["phases"])):
        assert int(number) == i + 1 and near(float(cpi), p["cpi"], 0.51e-3)
        assert LABELS[label] == p["largest"] == largest(p)
        assert abs(float(share) - p["largest_percent"]) < 0.051
        assert near(p["largest_percent"], 100 * p["stall_cycles"][p["largest"]] / p["cycles"])


def check_table(r, page):
    """The page has the cycles, the CPI and the share of every source and of all."""
    rows = {label: (int(cycles.replace(",", "")), float(cpi), float(share)) for label, cycles, cpi, share in
            re.findall(r"^ (\S.*?) +([0-9,]+) +([0-9.]+) +([0-9.]+)$", page, re.M)}
    assert {label: row[0] for label, row in rows.items()} == \
        {**{label: r["stall_cycles"][k] for label, k in LABELS.items()}, "total": r["cycles"]}
    for cycles, cpi, share in rows.values():
        assert near(cpi, cycles / r["instructions"], 0.51e-4) and abs(share - 100 * cycles / r["cycles"]) < 0.051


def columns_of(r, count):
    """CPI by source, of equal parts of the instructions."""
    width, at = r["instructions"] / count, 0
    columns = [dict.fromkeys(KEYS, 0) for _ in range(count)]
    for p in r["intervals"]:
        begin, end = at / width, (at + p["instructions"]) / width
        at += p["instructions"]
        for c in range(int(begin), min(count, int(end) + 1)):
            share = max(0, min(end, c + 1) - max(begin, c)) / (end - begin)
            for k in KEYS:
                columns[c][k] += share * p["stall_cycles"][k] / width
    return columns


def check_picture(r, page, rows=12, count=72):
    """Columns are as high as their CPI, and each cell has the mark of the source that has most of it."""
    lines = [line[8:].ljust(count) for line in re.findall(r"^ *[0-9.]* \|.*$", page, re.M)]  # from the top
    columns = columns_of(r, count)
    heights = sorted(sum(c.values()) for c in columns)
    usual = heights[count - 1 - count // 20]
    cell = (1.25 * usual if heights[-1] > 2 * usual else heights[-1]) / rows
    assert len(lines) == rows and r["intervals"][-1]["instructions"] > 0
    for c, column in enumerate(columns):
        height = sum(column.values()) / cell
        drawn = sum(line[c] != " " for line in lines)
        assert abs(drawn - min(rows, height)) <= 0.5 + 1e-6
        for i in range(drawn):
            mark = lines[rows - 1 - i][c]
            assert mark != " "
            if mark == "^":
                assert i == rows - 1 and height > rows
                continue
            covered, at = {}, 0
            for k in KEYS:
                covered[MARKS[k]] = min(cell * (i + 1), at + column[k]) - max(cell * i, at)
                at += column[k]
            assert covered[mark] >= max(covered.values()) - 1e-6 * cell


def check_csv(r, text):
    rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) == len(r["intervals"])
    for row, p in zip(rows, r["intervals"]):
        assert list(row) == COLUMNS and near(float(row["cpi"]), p["cpi"], 1e-6)
        assert all(int(row[k]) == p[k] for k in COLUMNS[:4]) and all(int(row[k]) == p["stall_cycles"][k] for k in KEYS)


def check_svg(r, text, areas=True):
    """It is SVG, has a legend, and an area for each source that has cycles."""
    space = "{http://www.w3.org/2000/svg}"
    root = xml.etree.ElementTree.fromstring(text)
    said = [t.text for t in root.iter(space + "text")]
    drawn = [p.find(space + "title").text.split(":")[0] for p in root.iter(space + "path") if p.get("class") == "area"]
    assert root.tag == space + "svg" and all(label in said for label in LABELS)
    assert not areas or drawn == [LABEL_OF[k] for k in KEYS if r["stall_cycles"][k]]
    assert len([t for t in root.iter(space + "text") if t.get("class") == "phase"]) in (0, len(r["phases"]))


# ---- the page

def look(cli, *words, status):
    """A run with its page: `r`, the report; `err`, the page; `csv` and `svg`."""
    result = cli.run("stalls", "--exact", "--json", "json", "--csv", "csv", "--svg", "svg", *words, status=status)
    return SimpleNamespace(r=cli.json(), out=result.out, err=result.err, says=result.says,
                           csv=(cli.work / "csv").read_text(), svg=(cli.work / "svg").read_text())


@pytest.fixture(scope="module")
def page(module_cli, work):
    return look(module_cli, "--interval-cycles", "5K", work, 20000, status=3)


@pytest.mark.smoke
def test_the_output_passes_through_and_the_page_follows(page):
    assert page.out == "done\n"
    assert page.says(r"/work on the core eyerman2006:\n [0-9,]+ instructions, [0-9,]+ cycles, CPI [0-9.]+$")
    assert page.says(r"^ CPI over instructions, [0-9,]+ intervals of 5.0K cycles:$")
    assert page.says(r"^ [0-9.]+ seconds, [0-9.]+ MIPS$")
    assert not page.says("\033") and not page.says(" $")


def test_the_page_has_every_source_and_names_phases(page):
    check_table(page.r, page.err)
    check_phases(page.r, page.err)


def test_the_picture_shows_the_intervals(page):
    check_picture(page.r, page.err)


def test_the_picture_shows_a_part(cli, work):
    part = look(cli, "--skip", "100K", "--interval-cycles", "5K", work, 20000, status=3)
    check_picture(part.r, part.err)


def test_the_page_ends_with_the_largest_source(page):
    said = re.search(r"^ (What would help most: .* \((.*), ([0-9.]+) of ([0-9.]+) CPI\): "
                     r"at most ([0-9.]+) % fewer cycles\.)$", unwrapped(page.err), re.M)
    first = largest(page.r)
    share = page.r["stalls"][first]
    assert said[1] == page.r["advice"] and LABELS[said[2]] == first and near(float(said[3]), share, 0.51e-3)
    assert near(float(said[4]), page.r["cpi"], 0.51e-3) and abs(float(said[5]) - 100 * share / page.r["cpi"]) < 0.051


def test_json_csv_and_svg_have_the_series(page):
    r = page.r
    assert [r[k] for k in ("command", "core", "exit_status", "interval_cycles", "cut")] == \
        ["stalls", "eyerman2006", 3, 5000, False]
    assert r["program"].endswith("/work") and r["host"]["seconds"] >= 0
    assert len(r["intervals"]) > 10
    check_series(r)
    check_csv(r, page.csv)
    check_svg(r, page.svg)


def test_runs_repeat_and_stepping_changes_nothing(cli, page, work):
    again = stalls(cli, "--interval-cycles", "5K", work, 20000, status=3)
    assert {**again, "host": 0} == {**page.r, "host": 0}
    stepped = stalls(cli, "--interval-cycles", "5K", "--step", work, 20000, status=3)
    assert stepped["intervals"] == page.r["intervals"] and stepped["phases"] == page.r["phases"]


def test_an_interval_has_two_million_cycles_and_one_has_no_picture(cli, page, work):
    one = look(cli, work, 20000, status=3)
    assert one.r["interval_cycles"] == 2000000 and len(one.r["intervals"]) == 1
    check_series(one.r)
    assert one.r["stall_cycles"] == page.r["stall_cycles"]
    assert "over instructions" not in one.err


def test_quiet_says_nothing(cli, work):
    result = cli.run("stalls", "--exact", "--quiet", work, status=3)
    assert (result.out, result.err) == ("done\n", "")


def test_csv_on_standard_output(cli, seven):
    assert cli.run("stalls", "--exact", "--quiet", "--csv", "-", seven, status=7).out.splitlines()[0] == ",".join(COLUMNS)


def test_help_lists_the_options_and_the_command(cli):
    assert "--interval-cycles N" in cli.run("stalls", "--help").out
    assert re.search("^  stalls ", cli.run("--help").out, re.M)


# ---- every interval adds up

@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("options", ["--interval-cycles 1 --max-insns 2000", "--interval-cycles 97 --max-insns 30000",
                                     "--interval-cycles 10K --max-insns 200K", "--interval 1 --max-insns 2000",
                                     "--interval 1000 --max-insns 200K"])
def test_intervals_of_any_length_add_up(cli, core, options):
    check_series(stalls(cli, "--core", core, *options.split(), MIX))


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("workload", ["memory_bound", "branch_bound", "divide_bound", "icache_bound", "balanced"])
def test_intervals_of_any_program_add_up(cli, core, workload):
    r = stalls(cli, "--core", core, "--skip", "100K", "--interval-cycles", 1000, "--max-insns", "100K",
               PROJECT / "build/workloads" / workload)
    assert len(r["intervals"]) > 10
    check_series(r)


@pytest.mark.parametrize("core", ["eyerman2006", "ppc970", "modern"])
def test_stat_counts_the_same(cli, core):
    part = ("--core", core, "--skip", "4M", "--max-insns", "200K")
    sources = [*KEYS[1:-1], "hit|stores|other"]
    events = ",".join(["completion_cycles,cycles,stall_breakdown", *(f"stall_breakdown:{s}" for s in sources)])
    r = stalls(cli, *part, "--interval-cycles", 777, MIX)
    counted = [c["value"] for c in cli.report("stat", *part, "-e", events, MIX)["counters"]]
    completion, *stalled = r["stall_cycles"].values()
    assert counted == [completion, r["cycles"], r["cycles"] - completion, *stalled]


@pytest.fixture(scope="module")
def firmware(module_cli):
    """firmware(PERIOD): looks every PERIOD cycles whether the counters add up, and ends the run unless they do."""
    listed = module_cli.run("list", "events").out

    def build(period):
        to = module_cli.work / f"firmware{period}"
        numbers = {"PERIOD": period}
        for macro, event in ("CYCLES", "cycles"), ("COMPLETION", "completion_cycles"), ("STALLS", "stall_breakdown"):
            numbers[macro] = re.search(rf"^  {event} .* (\d+)$", listed, re.M)[1]
        words = [CROSS + "gcc", "-x", "assembler-with-cpp", "-march=rv64gc", "-mno-relax", "-fno-pie", "-no-pie", "-static",
                 "-nostdlib", "-I", PROJECT / "tests/machine", "-Wl,--no-relax", "-Wl,--build-id=none",
                 "-Wl,-Ttext-segment=0x4000000000", *(f"-D{k}={v}" for k, v in numbers.items()), "-o", to,
                 PROJECT / "tests/machine/breakdown.S"]
        subprocess.run(words, check=True)
        return to

    return build


@pytest.mark.parametrize("period", [1000, 1237])
def test_firmware_finds_counters_that_add_up_whenever_it_looks(cli, firmware, period):
    built = firmware(period)
    for core in "eyerman2006", "ppc970", "modern":
        r = cli.report("stat", "--core", core, "--set", "pmu.counters=4", "--firmware", built, "--skip", "4M", "--max-insns",
                       "300K", "-e", "cycles:u", "-e", "instructions:m", MIX)
        cycles, of_firmware = (c["value"] for c in r["counters"])
        assert of_firmware > 20 * cycles // period * 0.9 > 1000


def test_firmware_is_part_of_the_run(cli, firmware):
    r = stalls(cli, "--firmware", firmware(1237), "--set", "pmu.counters=4", "--interval-cycles", "10K", "--skip", "4M",
               "--max-insns", "100K", MIX)
    check_series(r)
    assert r["instructions"] > 100000


@pytest.mark.parametrize("workload, source", [("memory_bound", "dcache"), ("branch_bound", "branch"),
                                              ("divide_bound", "integer"), ("icache_bound", "icache")])
def test_most_stalls_are_those_that_a_workload_is_made_of(cli, workload, source):
    r = stalls(cli, "--skip", "3M", "--max-insns", "300K", PROJECT / "build/workloads" / workload)
    assert largest(r) == source and r["stalls"][source] > 0.5 * sum(r["stalls"][k] for k in KEYS[1:])


# ---- parts, processes and ends

def test_only_the_part_that_is_measured_has_intervals(cli, work):
    r = stalls(cli, "--skip", 10000, "--warmup", 2000, "--max-insns", 3000, "--interval-cycles", 100, work, 100000)
    assert (r["instructions"], r["skipped"], r["warmup"], r["cut"]) == (3000, 10000, 2000, True)
    assert r["intervals"][0]["first_instruction"] == 0
    check_series(r)


def test_forked_processes_are_in_the_table_and_not_in_the_intervals(cli, work):
    r = stalls(cli, "--interval-cycles", 1000, work, 2000, 20000, status=5)
    check_sum(r)
    assert end_of(r["intervals"])[1] < r["cycles"] / 2
    assert all(sum_of(r["intervals"])[k] <= r["stall_cycles"][k] for k in KEYS)


def test_a_part_behind_the_end_is_empty(cli, work):
    none = look(cli, "--skip", "1G", work, 10, status=3)
    assert none.out == "done\n" and none.says("ended before the part that is measured")
    assert none.r["cycles"] == 0 and none.r["intervals"] == none.r["phases"] == []
    check_csv(none.r, none.csv)
    check_svg(none.r, none.svg, areas=False)


def test_a_guest_that_dies_has_a_breakdown(cli, abort):
    died = look(cli, abort, status=134)
    assert died.out == "" and died.says("^cyclescope: .*abort was killed by SIGABRT$")
    check_series(died.r)
    assert died.r["cycles"] > 0


def test_a_strange_name_is_drawn(cli, seven):
    shutil.copy(seven, cli.work / '<&">')
    strange = look(cli, "--interval-cycles", 500, './<&">', status=7)
    check_svg(strange.r, strange.svg)


# ---- counters that take turns, which is how it is done unless --exact is asked for

TURNS = ("stalls", "--core", "ppc970", "--set", "pmu.counters=4", "--interval-cycles", "20K")


def test_turns_estimate_what_is_counted_fully(cli, work):
    shutil.copy(work, cli.work / "work")
    result = cli.run(*TURNS, "--json", "json", "./work", 60000, status=3)
    assert result.out == "done\n"
    assert result.says(r"^ mispredictions +[0-9,]+ +[0-9.]+ ± [0-9.]+ +[0-9.]+$")
    assert result.says(r"The sampler took [0-9,]+ more cycles: [0-9.]+ %\.$")
    r = cli.json()
    assert r["exact"] is False and len(r["intervals"]) > 20 and r["sampler_cycles"] > 0
    assert all(sum(i["stall_cycles"].values()) == i["cycles"] for i in [*r["intervals"], *r["phases"], r])
    assert all(sum(i[k] for i in r["intervals"]) == r[k] for k in ("cycles", "instructions"))
    assert 0 < r["stalls_error"]["branch"] < r["stalls"]["branch"]

    full = cli.report(*TURNS, "--exact", "./work", 60000, status=3)
    assert all(abs(full["stalls"][k] - r["stalls"][k]) < 0.03 * full["cpi"] for k in KEYS)
    assert r["instructions"] == full["instructions"] and 0.98 < r["cycles"] / full["cycles"] < 1.05


def test_turns_are_written_as_csv(cli, work):
    cli.run(*TURNS, "--quiet", "--json", "json", "--csv", "csv", work, 10000, status=3)
    rows = list(csv.DictReader((cli.work / "csv").read_text().splitlines()))
    assert [int(row["cycles"]) for row in rows] == [i["cycles"] for i in cli.json()["intervals"]] != []


@pytest.mark.parametrize("command, printed", [(TURNS, "1 1 1\n"), ((*TURNS, "--exact"), "1 1 1\n"), (("stat",), "0 0 0\n")],
                         ids=["turns", "exact", "nobody watches"])
def test_a_program_reads_its_own_breakdown(cli, guests, command, printed):
    reads_itself = guests("reads_itself", READS_ITSELF, "-static", f"-I{PROJECT}/include")
    assert cli.run(command[0], "--quiet", *command[1:], reads_itself).out == printed


# ---- mistakes

@pytest.mark.mistake
@pytest.mark.parametrize("pattern, words", [
    ("--interval-cycles must be at least 1", "--exact --interval-cycles 0 ./seven"),
    ("--interval-cycles needs a number", "--exact --interval-cycles many ./seven"),
    ("--interval and --interval-cycles exclude each other", "--exact --interval 5 --interval-cycles 5 ./seven"),
    ("--live=maybe", "--exact --live=maybe ./seven"),
    ("no core 'pentuim'", "--exact --core pentuim ./seven"),
    ("no program given", "--exact"),
    ("there is no ./missing", "--exact ./missing"),
    ("--json /nowhere/x: No such file", "--exact --json /nowhere/x ./seven"),
    ("--csv /dev/full: No space left", "--exact --quiet --csv /dev/full ./seven"),
    ("leave them out with --exact", "--exact --slice 5K ./seven"),
    ("(slice|round)", "--core ppc970 --set pmu.counters=4 --interval-cycles 1000 ./seven"),
])
def test_a_mistake_gets_a_sentence(cli, seven, pattern, words):
    if "/dev/full" in words and not os.access("/dev/full", os.W_OK):
        pytest.skip("there is no /dev/full")
    shutil.copy(seven, cli.work / "seven")
    cli.complains(pattern, "stalls", *words.split())


# ---- the live picture: at most ten are drawn in a second, so every test waits for those that it needs

def terminal(cli, rows, columns, *words, **options):
    return Terminal(cli, rows, columns, cli.command("stalls", "--exact", "--interval-cycles", "20K", *words), **options)


def lines_of_the_guest(shown):
    return [int(n) for n in re.findall(r"^line (\d+) of the guest$", shown, re.M)]


@pytest.mark.smoke
def test_the_live_picture_is_below_the_output_and_gone_at_the_end(cli, talks):
    with terminal(cli, 24, 80, "--json", "json", talks) as t:
        heading = lambda frame: frame.split("\n")[12]
        for lines in 10, 10, 10, 9:
            drawn = len(t.frames)
            t.wait_until(lambda: len(t.frames) > drawn)
            t.send(b"." * lines)
        t.wait_until(lambda: len({heading(f) for f in t.frames}) >= 3)  # it grows
        t.wait_until(lambda: any(" |" in f and "completion" in f for f in t.frames))
        t.wait_until(lambda: lines_of_the_guest(t.screen.text(True))[-1:] == [39])
        assert t.end() == 9
    page = t.screen.text(True)
    for f in t.frames:
        assert all(len(line) <= 80 for line in f.split("\n"))
        assert not any("instructions," in line for line in f.split("\n")[:12])
        assert heading(f).split(" instructions,")[0][-1] in "KM"
        assert lines_of_the_guest(f) == sorted(lines_of_the_guest(f))
    assert lines_of_the_guest(page) == list(range(40))
    assert t.screen.is_reset() and "MIPS, CPI" not in page
    assert re.search(rb"\033\[[0-9;]*48;2;[0-9;]*m", t.raw)  # colors
    raw = t.raw.decode().replace("\r\n", "\n")
    r = cli.json()
    check_table(r, raw)
    check_phases(r, raw)
    check_series(r)


def test_a_small_terminal_gets_one_line(cli, talks):
    with terminal(cli, 6, 30, talks) as t:
        t.wait_until(lambda: len(t.frames) >= 3)
        assert t.end() == 9
    assert not any(" |" in f for f in t.frames[:-1]) and t.screen.is_reset()


def test_a_tiny_terminal_gets_no_picture(cli, talks):
    with terminal(cli, 2, 10, talks) as t:
        t.wait_until(lambda: "line 0" in t.screen.text(True))
        assert t.end() == 9
    assert t.screen.is_reset() and b"\0337" not in t.raw


def test_the_live_picture_follows_the_size(cli, talks):
    with terminal(cli, 40, 120, talks) as t:
        t.wait_until(lambda: t.frames and max(map(len, t.frames[0].split("\n"))) > 60)
        t.resize(20, 60)
        in_its_place = lambda: "instructions," in t.frames[-1].split("\n")[10] and " |" in t.frames[-1]
        t.wait_until(in_its_place)
        assert t.end() == 9
    assert all(len(line) <= 60 for line in t.frames[-1].split("\n")) and in_its_place() and t.screen.is_reset()


def test_a_guest_that_dies_leaves_the_screen_in_order(cli, talks):
    with terminal(cli, 24, 80, talks, "and aborts") as t:
        t.wait_until(lambda: t.frames)
        assert t.end() == 134
    assert t.screen.is_reset() and lines_of_the_guest(t.screen.text(True)) == list(range(40))
    assert "SIGABRT" in t.screen.text(True)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_the_screen_in_order(cli, talks, ending):
    with terminal(cli, 24, 80, talks) as t:
        t.wait_until(lambda: len(t.frames) >= 2)
        t.process.send_signal(ending)
        t.wait_until(lambda: "What would help" in t.screen.text(True))
        assert t.end() == 128 + ending
    assert t.screen.is_reset()


@pytest.mark.parametrize("options, term, forbidden", [
    (["--live=no"], "xterm", b"\0337"), (["--quiet"], "xterm", b"\033"), ([], "dumb", b"\0337")],
    ids=["not wanted", "quiet", "dumb terminal"])
def test_nothing_is_drawn(cli, talks, options, term, forbidden):
    with terminal(cli, 24, 80, *options, talks, term=term) as t:
        assert t.end() == 9
    assert forbidden not in t.raw
