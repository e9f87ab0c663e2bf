"""`cyclescope stat --interval`, which counts over time, and the events of stride predictors.

Intervals sum to the whole run and change nothing; programs with known loads have known counts; what is printed and written,
and what each mistake says.
"""
import csv
import os
import re
import subprocess
import xml.dom.minidom

import pytest

from conftest import CROSS

BESIDE_WORK = True  # see conftest.py
WIDEST = 16  # instructions that commit in one cycle, at most
SOME = ("loads,stores:edge,instructions:thresh=3,rob_occupancy,fetch_stalls,stall_breakdown,l1d_misses:spec,"
        "load_value_mispredictions,cycles:u")
STRIDES = "loads,load_address_mispredictions,load_value_mispredictions"
RATES = {  # a metric of an interval: what is divided by what, times a factor
    "ipc": ("instructions", "cycles", 1),
    "rob_occupancy_mean": ("rob_occupancy", "cycles", 1),
    "branch_misprediction_percent": ("mispredictions", "branches", 100),
    "l1i_miss_percent": ("l1i_access_misses", "l1i_accesses", 100),
    "l1d_miss_percent": ("l1d_access_misses", "l1d_accesses", 100),
    "load_address_misprediction_percent": ("load_address_mispredictions", "loads", 100),
    "load_value_misprediction_percent": ("load_value_mispredictions", "loads", 100),
}


def stat(cli, *words, status=3, out="done\n"):
    """Runs stat: exit status and standard output are the guest's."""
    result = cli.run("stat", *words, status=status)
    assert result.out == out
    return result


def report(cli, *words, **expected):
    """What stat writes as JSON."""
    stat(cli, "--quiet", "--json", "json", *words, **expected)
    return cli.json()


def counted(r, key="value"):
    """The counters of a report: event to value."""
    return {c["event"]: c[key] for c in r["counters"]}


def csv_rows(cli):
    with open(cli.work / "csv", newline="") as file:
        return list(csv.DictReader(file))


def near(a, b):
    return abs(a - b) <= 1e-5 * max(1, abs(a), abs(b))


def check_sums(r):
    """Intervals have all that the run has."""
    parts, n = r["intervals"], counted(r)
    for key in "instructions", "cycles":
        assert sum(p[key] for p in parts) == r[key], key
    assert list(parts[0]["counts"]) == list(n)
    assert {event: sum(p["counts"][event] for p in parts) for event in n} == n


def check_cuts(r, insns):
    """Each interval begins where the one before ends, which is in the cycle of its last instruction."""
    assert r["interval"] == insns
    end, parts = 0, r["intervals"]
    for i, p in enumerate(parts):
        assert p["from"] == end, f"interval {i}"
        assert p["instructions"] > 0 or len(parts) == 1, f"interval {i}"
        end += p["instructions"]
        if i + 1 < len(parts):
            assert end % insns < WIDEST and end // insns > p["from"] // insns, f"interval {i}"


def check_metrics(p, counts):
    """The metrics of an interval, or of the whole run, are those of its counts; None if it has nothing to divide by."""
    counts = {**counts, "instructions": p["instructions"], "cycles": p["cycles"]}
    assert list(p["metrics"]) == list(RATES)
    for metric, (of, per, factor) in RATES.items():
        if counts[per] == 0:
            assert p["metrics"][metric] is None, metric
        else:
            assert near(p["metrics"][metric], factor * counts[of] / counts[per]), metric


def unchanged(r, before):
    return all(r[key] == before[key] for key in ("events", "counters", "cycles", "instructions", "cycles_by"))


# ---- loads with known addresses and values: 1000 of one instruction, and no others

# a0 is an array of 1000 doublewords, where element i is 7 * i; a1 is a list of 1000 nodes in random order
LOADS_SOURCE = r"""
static unsigned long array[1000], node[1000], next[1000];
void _start(void)
{
    unsigned x = 1;
    for (int i = 0; i < 1000; i++)
        array[i] = 7 * i, node[i] = i;
    for (int i = 999; i > 0; i--) {
        unsigned j = (x = x * 1103515245 + 12345) / 65536 %% i;
        unsigned long swap = node[i];
        node[i] = node[j], node[j] = swap;
    }
    for (int i = 0; i < 1000; i++)
        next[node[i]] = (unsigned long)&next[node[(i + 1) %% 1000]];
    asm volatile("mv a0,%%0; mv a1,%%1; li a2,1000; .globl from; from: %s; addi a2,a2,-1; bnez a2,from; .globl to; to:"
                 : : "r"(array), "r"(next) : "a0", "a1", "a2", "t0", "t1", "ft0", "memory");
    asm volatile("li a0,0; li a7,93; ecall");
}
"""
NARROW_WRAPS = 1000 * 7 // 256  # times that a byte of the array is smaller than the one before


# A walk is mispredicted until its stride was seen twice, which is three times; of the same again only the first is.
@pytest.mark.parametrize("name, body, addresses, values", [
    ("walk", "ld t0,0(a0); addi a0,a0,8", [3, 3], [3, 3]),
    ("counter_in_memory", "ld t0,0(a0); addi t0,t0,1; sd t0,0(a0)", [1, 1], [3, 3]),
    ("list_without_order", "ld a1,0(a1)", [990, 1000], [990, 1000]),
    ("floating_point", "fld ft0,0(a0); addi a0,a0,8", [3, 3], [3, 3]),
    ("without_a_register", "ld x0,0(a0); addi a0,a0,8", [3, 3], [3, 3]),
    ("atomic", "li t1,5; amoadd.d t0,t1,(a0)", [1, 1], [3, 3]),
    ("narrow", "lbu t0,0(a0); addi a0,a0,8", [3, 3], [3 + NARROW_WRAPS - 1, 3 + NARROW_WRAPS + 1]),
])
def test_mispredicted_loads_are_known(cli, guests, name, body, addresses, values):
    guest = guests("loads-" + name, LOADS_SOURCE % body, "-static", "-nostdlib")
    symbols = subprocess.run([CROSS + "nm", guest], capture_output=True, text=True, check=True).stdout
    at = {line.split()[2]: "0x" + line.split()[0] for line in symbols.splitlines()}
    events = f"{{loads,load_address_mispredictions,load_value_mispredictions}}:ip={at['from']}-{at['to']}"
    r = report(cli, "-e", events, guest, status=0, out="")
    n = {c["name"]: c["value"] for c in r["counters"]}
    assert n["loads"] == 1000
    assert addresses[0] <= n["load_address_mispredictions"] <= addresses[1]
    assert values[0] <= n["load_value_mispredictions"] <= values[1]


# ---- stride mispredictions are a property of the program: no core and no wrong path changes them


@pytest.fixture(scope="module")
def strides(module_cli):
    """A report of ./work with the events of strides."""
    return report(module_cli, "-e", STRIDES, "./work")


def test_a_core_changes_no_stride(module_cli, strides):
    r = report(module_cli, "-e", STRIDES, "--core", "pentium", "./work")
    assert r["counters"] == strides["counters"] and r["cycles"] != strides["cycles"]
    loads, addresses, values = counted(r).values()
    assert 0 < addresses < loads and 0 < values < loads


def test_the_wrong_path_changes_no_stride(module_cli, strides):
    r = report(module_cli, "-e", STRIDES, "--set", "perfect.branch=true", "./work")
    assert r["counters"] == strides["counters"]
    assert r["events"]["mispredictions"] == 0 < strides["events"]["mispredictions"]


def test_stepping_changes_no_stride(module_cli, strides):
    r = report(module_cli, "-e", STRIDES, "--step", "./work")
    assert r["counters"] == strides["counters"] and r["cycles"] == strides["cycles"]


def test_other_events_change_no_stride(module_cli, strides):
    r = report(module_cli, "-e", STRIDES + ",fetched:op=alu,instructions:op=branch,stores:edge", "./work")
    assert r["counters"][:3] == strides["counters"] and all(c["value"] > 0 for c in r["counters"])


def test_stride_predictors_change_no_cycle(module_cli, strides):
    r = report(module_cli, "./work")
    assert r["events"] == strides["events"] and r["cycles"] == strides["cycles"]


# ---- what comes before the measured part trains predictors as if it were measured: by warming, and on the core


def test_warming_trains_strides_and_skipping_does_not(module_cli):
    def part(*options):
        return list(counted(report(module_cli, "-e", STRIDES, *options, "./work", "20000", status=0, out="")).values())

    first, both = part("--max-insns", "30000"), part("--max-insns", "70000")
    second = [x - y for x, y in zip(both, first)]
    warmed = part("--skip", "30000", "--warm", "--max-insns", "40000")
    assert warmed == second and 0 < warmed[2] < warmed[0]
    assert part("--skip", "20000", "--warm", "--warmup", "10000", "--max-insns", "40000") == second
    skipped = part("--skip", "30000", "--max-insns", "40000")
    assert skipped[0] == second[0] and skipped[2] > second[2]


def test_firmware_changes_no_stride(module_cli):
    alone = report(module_cli, "--core", "pentium-pro", "-e", STRIDES, "./work", "20000")
    r = report(module_cli, "--multiplex", "--truth", "--slice", "5000", "--core", "pentium-pro",
               "-e", STRIDES + ",branches,stores,calls,returns", "./work", "20000")
    assert list(counted(r, "true_value").values())[:3] == list(counted(alone).values())


@pytest.fixture(scope="module")
def counting(guests):
    """Increments a counter in memory 50000 times: one load whose address never and whose value always changes."""
    return guests("counting", r"""
        static long counter;
        void _start(void)
        {
            asm volatile("mv a0,%0; li a2,50000; 1: ld t0,0(a0); addi t0,t0,1; sd t0,0(a0); addi a2,a2,-1; bnez a2,1b;"
                         "li a0,0; li a7,93; ecall" : : "r"(&counter) : "memory");
        }""", "-static", "-nostdlib")


@pytest.mark.parametrize("words, loads, addresses, values", [
    pytest.param("--core pentium-pro", (50000, 50000), 1, 3, id="all"),
    pytest.param("--skip 100000 --warm", (29991, 30009), 0, 0, id="behind_warming"),
    pytest.param("--skip 100000", (29991, 30009), 1, 3, id="behind_skipping"),
])
def test_a_counter_is_mispredicted_until_its_stride_is_known(cli, counting, words, loads, addresses, values):
    n = counted(report(cli, "-e", STRIDES, *words.split(), counting, status=0, out=""))
    assert loads[0] <= n["loads"] <= loads[1]
    assert n["load_address_mispredictions"] == addresses and n["load_value_mispredictions"] == values


def test_strides_are_trained_while_other_events_have_their_turn(cli, counting):
    n = counted(report(cli, "--multiplex", "--slice", "2000", "--core", "pentium-pro",
                       "-e", "load_value_mispredictions,load_address_mispredictions,stores,branches,returns", counting,
                       status=0, out=""), "counted")
    assert n["load_value_mispredictions"] <= 3 and n["load_address_mispredictions"] <= 3 and n["stores"] > 3000


# ---- a series: sums, cuts, and nothing changes


@pytest.mark.parametrize("core", ["eyerman2006", "modern", "ppc970", "pentium"])
def test_intervals_sum_to_the_whole_and_change_nothing(cli, core):
    whole = report(cli, "--core", core, "-e", SOME, "./work")
    r = report(cli, "--core", core, "--interval", "1000", "--csv", "csv", "-e", SOME, "./work")
    assert len(r["intervals"]) > 20
    check_sums(r)
    check_cuts(r, 1000)
    assert unchanged(r, whole) and "intervals" not in whole
    columns = ["from", "instructions", "cycles", *counted(r)]
    assert [[int(row[k]) for k in columns] for row in csv_rows(cli)] == [
        [p["from"], p["instructions"], p["cycles"], *p["counts"].values()] for p in r["intervals"]]


def test_stepping_cuts_at_the_same_places(cli):
    words = ["--core", "pentium", "--interval", "1000", "-e", SOME, "./work"]
    assert report(cli, *words)["intervals"] == report(cli, "--step", *words)["intervals"]


def test_intervals_of_one_instruction(cli):
    r = report(cli, "--interval", "1", "--max-insns", "500", "--csv", "csv", "./work", status=0, out="")
    parts = r["intervals"]
    assert len(parts) > 100
    check_sums(r)
    check_cuts(r, 1)
    for p in parts:
        check_metrics(p, p["counts"])
    without_loads = sum(p["metrics"]["load_value_misprediction_percent"] is None for p in parts)
    assert 0 < without_loads < len(parts)
    assert [row["l1d_miss_percent"] == "" for row in csv_rows(cli)] == [p["counts"]["l1d_accesses"] == 0 for p in parts]


def test_one_interval_is_the_whole_and_has_no_graph(cli):
    page = stat(cli, "--interval", "9T", "--json", "json", "./work")
    r = cli.json()
    assert len(r["intervals"]) == 1 and not page.says(r"\|")
    check_sums(r)


def test_a_series_of_a_part(cli):
    r = report(cli, "--interval", "1000", "--skip", "5000", "--warmup", "500", "--max-insns", "4000", "-e", SOME, "./work",
               status=0, out="")
    assert r["instructions"] == 4000
    check_sums(r)
    check_cuts(r, 1000)


# ---- without -e: metrics


@pytest.fixture(scope="module")
def metrics(module_cli):
    """A page and a report of a series without -e; `csv` and `svg` are in the folder of the module."""
    page = stat(module_cli, "--interval", "10K", "--json", "json", "--csv", "csv", "--svg", "svg", "./work", "20000")
    return page, module_cli.json()


@pytest.mark.smoke
def test_metrics_are_those_of_their_counts(metrics):
    _, r = metrics
    assert len(r["intervals"]) > 10
    for p in r["intervals"]:
        check_metrics(p, p["counts"])
    check_metrics(r, counted(r))
    check_sums(r)
    check_cuts(r, 10000)


def test_metrics_change_nothing(module_cli, metrics):
    whole = report(module_cli, "./work", "20000")
    assert metrics[1]["events"] == whole["events"] and metrics[1]["cycles"] == whole["cycles"]


def test_metrics_as_csv(module_cli, metrics):
    rows, parts = csv_rows(module_cli), metrics[1]["intervals"]
    assert len(rows) == len(parts)
    for row, p in zip(rows, parts):
        for metric in RATES:
            written, exact = row[metric], p["metrics"][metric]
            assert written == "" if exact is None else near(float(written), exact), metric


def test_svg_has_a_graph_of_each_metric(module_cli, metrics):
    paths = xml.dom.minidom.parse(str(module_cli.work / "svg")).getElementsByTagName("path")
    assert len([p for p in paths if p.getAttribute("class") == "line"]) == len(RATES)


def test_page_of_metrics(metrics):
    page, _ = metrics
    assert page.says("^ [0-9]+ intervals of 10,000 instructions:$")
    assert page.says("^ IPC +[0-9.]+ +[0-9.]+ +[0-9.]+$")
    assert page.says("^ load values off stride +[0-9.]+ +[0-9.]+ +[0-9.]+  %$")
    assert page.says(r"^ +[0-9.e-]+ \|[.:#^]+")
    graphs = re.findall(r"\n +[0-9.e-]+ \|.*\n +\|.*\n +\|.*\n +[0-9.e-]+ \|", page.err)
    assert len(graphs) == len(RATES)


def test_quiet_says_nothing(cli):
    assert stat(cli, "--quiet", "--interval", "10K", "./work").err == ""


def test_stack_cuts_at_the_same_places(module_cli, metrics):
    result = module_cli.run("stack", "--quiet", "--interval", "10K", "--json", "json", "./work", "20000", status=3)
    assert result.out == "done\n"
    parts, stacks = ([(p["instructions"], p["cycles"]) for p in r["intervals"]] for r in (metrics[1], module_cli.json()))
    assert parts[:-1] == stacks[:len(parts) - 1]


def test_intervals_are_those_of_the_first_process(cli):
    page = stat(cli, "--interval", "1000", "--json", "json", "-e", "loads", "./work", "500", "2000", status=5)
    assert page.says(r"^ [0-9,]+ instructions of processes that the program forked are not in the intervals\.$")
    r = cli.json()
    check_cuts(r, 1000)
    assert sum(p["counts"]["loads"] for p in r["intervals"]) < counted(r)["loads"]
    assert sum(p["instructions"] for p in r["intervals"]) < r["instructions"]


# ---- phases under the graphs


def test_phases_of_a_file(cli):
    (cli.work / "phases").write_text(
        "start,instructions,difference,cluster\n0,20000,1.5,1\n20000,10000,0.5,0\n30000,90000,0.5,2\n")
    page = stat(cli, "--interval", "10K", "--phases", "phases", "--svg", "svg", "--csv", "csv", "--json", "json",
                "./work", "20000")
    assert page.says("^   phase  BBACCC")
    parts = cli.json()["intervals"]
    assert [p.get("phase") for p in parts][:5] == [1, 1, 0, 2, 2] and "phase" not in parts[-1]
    assert [row["phase"] for row in csv_rows(cli)][:5] == ["1", "1", "0", "2", "2"]
    assert (cli.work / "svg").read_text().count('class="phase"') == 3


def test_phases_of_the_phases_command(cli):
    assert cli.run("phases", "--quiet", "--interval", "10K", "--csv", "phases", "./work", "20000", status=3).out == "done\n"
    r = report(cli, "--interval", "10K", "--phases", "phases", "./work", "20000")
    assert len(r["intervals"]) > 2 and all("phase" in p for p in r["intervals"][:-1])


# ---- mistakes


@pytest.mark.mistake
@pytest.mark.parametrize("pattern, words", [
    ("--interval must be at least 1", "--interval 0 ./work"),
    ("--interval needs a number such as 500 or 2M, not 'often'", "--interval often ./work"),
    ("--svg needs --interval N", "--svg svg ./work"),
    ("--phases needs --interval N", "--phases phases ./work"),
    ("--interval and --multiplex exclude each other", "--interval 1K --multiplex -e loads ./work"),
    ("--interval and --counters exclude each other", "--interval 1K --counters -e loads ./work"),
    ("--interval and --pipeview exclude each other", "--interval 1K --pipeview log ./work"),
    ("--interval and --with exclude each other", "--interval 1K --with ./work ./work"),
    ("--interval and --from exclude each other", "--interval 1K --from log"),
    ("--svg /no/where/svg: No such file", "--interval 1K --svg /no/where/svg ./work"),
    ("--phases /no/where: No such file", "--interval 1K --phases /no/where ./work"),
])
def test_a_mistake_gets_a_sentence(cli, pattern, words):
    (cli.work / "phases").write_text("start,instructions,cluster\n0,20000,1\n")
    cli.complains(pattern, "stat", *words.split())


@pytest.mark.mistake
@pytest.mark.parametrize("pattern, text", [
    ("there is no column 'start'", "0 1\n5 0\n"),
    ("there is no column 'cluster'", "start,instructions\n0,5\n"),
    (".* no phases", "start,instructions,cluster\n"),
    ("line 3 has no start, instructions and cluster", "start,instructions,cluster\n0,5,1\n5,x,1\n"),
    ("line 3 (does not begin behind the one before it|begins before the previous interval ends)",
     "start,instructions,cluster\n0,5,1\n4,5,1\n"),
])
def test_phases_that_make_no_sense_get_a_sentence(cli, pattern, text):
    (cli.work / "phases").write_text(text)
    cli.complains("--phases phases: " + pattern, "stat", "--interval", "1K", "--phases", "phases", "./work")


@pytest.mark.mistake
@pytest.mark.skipif(not os.access("/dev/full", os.W_OK), reason="there is no /dev/full")
def test_a_full_disk_is_reported(cli):
    result = cli.run("stat", "--quiet", "--interval", "1K", "--svg", "/dev/full", "./work", status=125)
    assert result.says("--svg /dev/full: ")
