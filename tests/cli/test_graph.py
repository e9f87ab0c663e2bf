"""`stack --method graph`: what the dependence graph predicts is what simulations of idealized cores take; its pages and
documents; and the cores that have no graph."""
import re
from unittest.mock import ANY

import pytest

pytest.register_assert_rewrite("stack_checks")

from conftest import PROJECT, Commands
from stack_checks import COMPONENTS, check_sums, measure

WINDOW = "--skip 2500000 --warm --warmup 50000 --max-insns 100000"
STRUCTURES = ["l1i", "l2i", "itlb", "branch", "l1d", "l2d", "dtlb"]


@pytest.fixture(scope="module")
def here(program, guests):
    """Commands in a folder with the workloads."""
    for workload in (PROJECT / "build/workloads").iterdir():
        (guests.folder / workload.name).symlink_to(workload)
    return Commands(program, guests.folder)


def stack(here, words):
    return measure(here, f"stack --quiet --method graph {words}").report


def predicted(report, *perfect):
    """The predicted cycles with these structures perfect and all others real."""
    real = [s for s in STRUCTURES if s not in perfect]
    return next(s["cycles"] for s in report["graph"]["sets"] if s["real"] == real)


@pytest.mark.parametrize("core", ["eyerman2006", "modern", "ppc970"])
@pytest.mark.parametrize("workload, perfect", [("branch_bound", ["branch"]), ("icache_bound", ["l1i", "l2i"]),
                                               ("memory_bound", ["l2d"]), ("mix", ["branch", "l2d"]),
                                               ("columns", STRUCTURES), ("divide_bound", STRUCTURES)])
def test_predicted_cycles_are_those_of_a_simulation(here, core, workload, perfect):
    options = f"{WINDOW} --core {core}"
    report = stack(here, f"{options} ./{workload}")
    settings = " ".join(f"--set perfect.{p}=yes" for p in perfect)
    simulated = measure(here, f"stat --quiet {options} {settings} ./{workload}").report["cycles"]
    assert abs(predicted(report, *perfect) - simulated) <= 0.01 * simulated


def times_in(here, structures):
    """What tests/graph/compare says about an idealized core: the lag of the graph, and how many places it lists."""
    result = here.execute([PROJECT / "build/graph/compare", *"--quick --max-insns 100000 --times 4".split(),
                           "--times-in", structures, "./mix"])
    found = re.search(r"lag of the graph at the end: (-?\d+) cycles", result.out)
    assert found or result.status == 125
    return int(found[1]) if found else result.err, len(re.findall(r"(?m) graph .* simulated ", result.out))


def test_times_of_an_idealized_core_show_where_the_graph_lags(here):
    lag, places = times_in(here, "l1i,branch")
    assert places == 4 and abs(lag) < 2000
    assert "no set l2i" in times_in(here, "l2i")[0]
    assert "no structure l4" in times_in(here, "l4,l1i")[0]


# Two branches that nobody can predict, shortly after each other; the wrong path of the first one divides.
DIVIDES = """
static unsigned long state = 1, sum, other = 7;
int main(void)
{
    for (int i = 0; i < 20000; i++) {
        state = state * 6364136223846793005ul + 1442695040888963407ul;
        unsigned long x = state >> 40;
        if (x & 1)
            sum += state / (x | 1);
        if (x & 2)
            other += i;
        else
            other ^= x;
        sum += other / (x | 3);
    }
    return 0;
}
"""


def test_a_divider_is_busy_once_for_each_wrong_path(here, guests):
    guests("divides", DIVIDES, "-static")
    report = stack(here, "--skip 100000 --warm --warmup 50000 --max-insns 100000 ./divides")
    assert abs(report["graph"]["cycles"] - report["cycles"]) <= 0.005 * report["cycles"]


# Divisions that depend on nothing take the unit as soon as they dispatch, and those of a chain wait for it.
OLDER = """
static volatile double one = 1, result;
int main(void)
{
    double chain = 1, early = 0, c = one;
    for (int i = 0; i < 20000; i++) {
        chain = (chain * c + c) * c / (c + 1);
        early += i / c;
        if (i % 3 == 0)
            early -= c / (i + 1);
    }
    result = chain + early;
    return 0;
}
"""


def test_older_divisions_wait_for_younger_ones_that_were_ready_first(here, guests):
    guests("older", OLDER, "-static")
    report = stack(here, "--skip 100000 --warm --warmup 20000 --max-insns 50000 ./older")
    assert abs(report["graph"]["cycles"] - report["cycles"]) <= 0.005 * report["cycles"]


# Each node of the list has a line, to which a store comes first; the load that follows waits for a prefetch.
LIST = """
struct node { struct node *next; long value[7]; } __attribute__((aligned(64)));
static struct node nodes[1 << 16];
int main(void)
{
    enum { COUNT = sizeof nodes / sizeof *nodes };
    for (int i = 1; i < COUNT; i++)
        nodes[i].next = &nodes[i - 1];
    nodes[0].next = &nodes[COUNT - 1];
    struct node *n = nodes;
    for (long i = 0; i < 2 * COUNT; i++) {
        n->value[1] = i;
        n = n->next;
    }
    return n == nodes;
}
"""


def test_a_late_prefetch_comes_sooner_from_a_perfect_second_cache(here, guests):
    guests("list", LIST, "-static")
    options = "--core modern --skip 400000 --warm --warmup 20000 --max-insns 50000 ./list"
    report = stack(here, options)
    simulated = measure(here, f"stat --quiet --set perfect.l2d=yes {options}").report["cycles"]
    assert abs(predicted(report, "l2d") - simulated) <= 0.01 * simulated


# While the load from a page waits for its translation, the loads behind it take all MSHRs.
PAGES = """
static char pages[4096][4096], lines[8192][512];
int main(void)
{
    long a = 0, sum = 0;
    for (long i = 0; i < 8192; i++) {
        volatile long *page = (volatile long *)(pages[i * 2049 & 4095] + a);
        volatile long *line = (volatile long *)(lines[i] + a);
        a = *page;
        sum += line[0] + line[8] + line[16] + line[24] + line[32] + line[40] + line[48] + line[56];
    }
    return sum;
}
"""


def test_older_loads_wait_for_the_mshrs_of_younger_ones(here, guests):
    guests("pages", PAGES, "-static")
    report = stack(here, "--skip 40000 --warm --warmup 10000 --max-insns 50000 ./pages")
    assert abs(report["graph"]["cycles"] - report["cycles"]) <= 0.005 * report["cycles"]


# Only wrong paths load from these lines, before a division says that they are wrong; the right path writes to them.
WRITES = """
static unsigned long state = 1, sum, lines[128][16];
int main(void)
{
    for (int i = 0; i < 20000; i++) {
        state = state * 6364136223846793005ul + 1442695040888963407ul;
        unsigned long bit = state >> 40 & 1, late;
        __asm__("divu %0, %1, %2" : "=r"(late) : "r"(bit), "r"(1ul));
        unsigned long *from = lines[i % 64 + 64 * bit];
        if (late)
            sum += *(volatile unsigned long *)from;
        *(volatile unsigned long *)&lines[i % 64][1] = bit;
    }
    return 0;
}
"""


@pytest.mark.parametrize("allocate", ["yes", "no"])
def test_a_store_waits_for_its_line_only_if_it_brings_it(here, guests, allocate):
    guests("writes", WRITES, "-static")
    options = f"--set l1d.allocate={allocate} --set store_buffer.size=4 --skip 100000 --warm --warmup 50000 --max-insns 50000 ./writes"
    report = stack(here, options)
    simulated = measure(here, f"stat --quiet --set perfect.branch=yes {options}").report["cycles"]
    assert abs(predicted(report, "branch") - simulated) <= 0.01 * simulated


@pytest.mark.parametrize("core", ["eyerman2006", "modern", "ppc970"])
@pytest.mark.parametrize("workload", ["branch_bound", "balanced"])
def test_a_warm_up_ends_with_an_empty_pipeline(here, core, workload):
    """Its instructions are not counted, but fill the caches of the graph's own."""
    options = f"--core {core} --warmup 300000 --max-insns 50000 ./{workload}"
    report = stack(here, options)
    simulated = measure(here, f"stat --quiet --set perfect.branch=yes {options}").report["cycles"]
    assert abs(predicted(report, "branch") - simulated) <= 0.001 * simulated
    assert abs(report["graph"]["cycles"] - report["cycles"]) <= 2


def test_the_document_has_all_sets_and_a_stack_that_adds_up(here):
    report = stack(here, f"{WINDOW} --interval 7000 ./mix")
    check_sums(report)
    for interval in report["intervals"]:
        check_sums(interval)
    graph = report["graph"]
    assert len(graph["sets"]) == len({tuple(s["real"]) for s in graph["sets"]}) == 72
    assert graph["cycles"] == predicted(report) and abs(graph["error_percent"]) < 1
    assert graph["error_percent"] == pytest.approx(100 * (graph["cycles"] / report["cycles"] - 1))
    for c in COMPONENTS:
        parts = sum(i["stack_cycles"]["graph"][c] for i in report["intervals"])
        assert parts == pytest.approx(report["stack_cycles"]["graph"][c])


def test_the_page_says_how_close_the_graph_came(here):
    run = measure(here, f"stack --method graph {WINDOW} ./mix")
    said = " ".join(run.err.split())
    assert "With all structures real the dependence graph takes" in said and "than simulated." in said
    assert "Interactions" not in run.err and "interactions" not in run.report["graph"]


def test_interactions_are_in_words_and_in_the_document(here):
    run = measure(here, "stack --interactions --skip 20000000 --max-insns 200000 ./mix")
    graph = run.report["graph"]
    assert "overlap: both must go to gain" in " ".join(run.err.split())
    assert len(graph["interactions"]) == 19
    for i in graph["interactions"]:
        a, b = ({"l1i": ["l1i", "l2i"], "l1d": ["l1d", "l2d"]}.get(s, [s]) for s in i["structures"])
        saved = [graph["cycles"] - predicted(run.report, *perfect) for perfect in (a + b, a, b)]
        assert i["cycles"] == saved[0] - saved[1] - saved[2]


@pytest.mark.parametrize("core", ["eyerman2006", "modern"])
@pytest.mark.parametrize("workload, what_if", [
    ("branch_bound", "frontend.stages=+3"), ("branch_bound", "perfect.branch=yes"), ("divide_bound", "width=-1"),
    ("mix", "memory.latency=-50%"), ("columns", "rob.size=x2+lsq.size=x2+l1d.mshrs=x2"), ("icache_bound", "l2.latency=+50%"),
    ("divide_bound", "div.latency=10")])
def test_predicted_what_ifs_are_those_of_a_simulation(here, core, workload, what_if):
    if core == "modern":
        what_if = what_if.replace("lsq.size", "lsq.loads")  # which has no limit there
    options = f"{WINDOW} --core {core}"
    found = stack(here, f"{options} --what-if {what_if} ./{workload}")["what_ifs"][0]
    settings = " ".join(f"--set {name}={str(value).replace('True', 'yes')}" for name, value in found["settings"].items())
    simulated = measure(here, f"stat --quiet {options} {settings} ./{workload}").report["cycles"]
    assert abs(found["cycles"] - simulated) <= 0.01 * simulated


def test_what_ifs_are_on_the_page_and_in_the_documents(here):
    words = f"stack {WINDOW} --what-if l2.latency=-50%,rob.size=x2+lsq.size=+64 --what-if width=+0 --csv t.csv ./mix"
    run = measure(here, words)
    shrunk, grown, same = run.report["what_ifs"]
    assert shrunk["what_if"] == "l2.latency=-50%" and shrunk["settings"] == {"l2.latency": 5}
    assert grown["settings"] == {"rob.size": 256, "lsq.size": 128}
    assert same["cycles"] == pytest.approx(run.report["cycles"]) and same["settings"] == {}
    for w in shrunk, grown, same:
        assert w["cpi"] == pytest.approx(w["cycles"] / run.report["instructions"])
        assert w["change_percent"] == pytest.approx(100 * (w["cycles"] / run.report["cycles"] - 1))
    page = " ".join(run.err.split())
    assert f"l2.latency=-50% {shrunk['cpi']:.4f} {shrunk['change_percent']:+.1f} l2.latency 9 -> 5" in page
    assert f"rob.size=x2+lsq.size=+64 {grown['cpi']:.4f}" in page and "lsq.size 64 -> 128" in page
    rows = [line.split(",") for line in (here.work / "t.csv").read_text().splitlines()]
    assert [row[0] for row in rows[2:]] == [f"what-if {w['what_if']}" for w in (shrunk, grown, same)]
    assert {len(row) for row in rows} == {len(rows[0])} and float(rows[2][4]) == pytest.approx(shrunk["cpi"], abs=1e-6)


def test_what_ifs_change_no_stack(here):
    plain, more = (stack(here, f"{WINDOW} {words} ./mix") for words in ("", "--what-if rob.size=x2,l2.latency=30"))
    assert plain["stack_cycles"] == more["stack_cycles"] and plain["graph"] == more["graph"]


def test_what_ifs_of_forks_and_samples_add_up(here, guests):
    """A what-if that changes nothing takes the cycles of the run, whatever the run is made of."""
    fork = guests("fork", "#include <sys/wait.h>\n#include <unistd.h>\n"
                          "int main(void) { volatile int x = 0; if (fork()) wait(0); while (x < 20000) x++; }", "-static")
    for words in f"{fork}", "--interval 20K --max-insns 100K ./mix", "--systematic --window 20K --period 400K ./mix":
        report = measure(here, f"stack --quiet --what-if rob.size=+0 {words}", out=ANY).report
        assert report["what_ifs"][0]["cycles"] == pytest.approx(report["cycles"], rel=1e-9)


@pytest.mark.parametrize("core", ["eyerman2006", "modern"])
def test_the_parts_of_the_base_sum_to_it(here, core):
    run = measure(here, f"stack --base {WINDOW} --interval 30K --core {core} ./mix")
    parts, base = run.report["base_cycles"], run.report["stack_cycles"]["graph"]["base"]
    assert list(parts) == ["width", "dependences", "window", "queues", "units", "order", "rest"]
    assert sum(parts.values()) == pytest.approx(base, rel=1e-9)
    assert parts["width"] >= 0.98 * run.report["instructions"] / (4 if core == "eyerman2006" else 8)
    assert parts["queues"] == 0 or core == "modern"
    for name, cycles in parts.items():
        assert run.report["base"][name] == pytest.approx(cycles / run.report["instructions"])
    page = " ".join(run.err.split())
    assert f"base {base / run.report['instructions']:.2f}: " in page
    assert f"width {run.report['base']['width']:.4f}" in page and "units and ports" in page


def test_a_base_bound_by_units_says_so(here):
    """Divisions, one after another in one unit that is not pipelined, which the program does not depend on."""
    parts = stack(here, f"--base {WINDOW} --set units.muldiv=1 ./divide_bound")["base"]
    assert parts["dependences"] + parts["units"] > 0.5 * sum(parts.values())
    assert parts["window"] < 0.5 * sum(parts.values())


@pytest.mark.parametrize("words", ["--core modern --skip 6M --warm --max-insns 100K ./columns", f"{WINDOW} ./mix"])
def test_a_graph_that_is_off_is_not_the_default(here, words):
    """Nor is one that is asked for replaced."""
    graph = stack(here, words)
    run = measure(here, f"stack {words}")
    off = abs(graph["graph"]["error_percent"]) > 2
    assert list(graph["stacks"]) == ["graph"] and graph["method"] == "graph"
    assert list(run.report["stacks"]) == [run.report["method"]] == ["fmt2" if off else "graph"]
    assert ("simulated, too far off." in " ".join(run.err.split())) == off


@pytest.mark.mistake
@pytest.mark.parametrize("pattern, words", [
    (r"cores that issue in order \(issue.order\) have no", "--method graph --set issue.order=in_order"),
    ("graph: loads from memory .* may take at most 2500 cycles", "--interactions --set memory.latency=2600"),
    ("graph: the stores of a full store buffer may take at most 18000 cycles",
     "--interactions --core ppc970 --set store_buffer.size=203 --set memory.write_cycles=100"),
    ("--interactions needs the method graph: add it to --method fmt", "--method fmt --interactions"),
    ("--interactions needs the method graph, and --stage shows no method", "--stage all --interactions"),
    ("--base needs the method graph: add it to --method fmt", "--method fmt --base"),
    ("--base needs the method graph, and --stage shows no method", "--stage all --base"),
    ("--what-if needs the method graph: add it to --method fmt", "--method fmt --what-if rob.size=x2"),
    ("--what-if needs the method graph, and --stage shows no method", "--stage all --what-if rob.size=x2"),
    (r"cores that issue in order \(issue.order\) have no", "--set issue.order=in_order --what-if rob.size=x2"),
    ("--what-if l2.size=x2: the dependence graph cannot evaluate l2.size; .* `cyclescope list what-ifs` names all",
     "--what-if l2.size=x2"),
    ("--what-if robb.size=2: 'robb.size' is not a parameter; did you mean 'rob.size'", "--what-if robb.size=2"),
    ("--what-if rob.size: must be section.key=value, such as l2.latency=10", "--what-if rob.size"),
    ("--what-if rob.size=x100: rob.size is 128, and must lie between 1 and 2048 after", "--what-if rob.size=x100"),
    ("--what-if rob.size=0: rob.size must lie between 1 and 2048", "--what-if rob.size=0"),
    (r"--what-if rob.size=\+3x: rob.size=\+3x must be a value, or a change such as \+3, -50% or x2", "--what-if rob.size=+3x"),
    ("--what-if iq.size=x2: iq.size is 0, no number to change: give a value", "--what-if iq.size=x2"),
    ("--what-if mul.pipelined=x2: mul.pipelined is not a number", "--what-if mul.pipelined=x2"),
    ("--what-if perfect.l1d=no: perfect.l1d is yes on this core", "--set perfect.l1d=yes --what-if perfect.l1d=no"),
    ("--what-if memory.latency=2400: loads from memory .* at most 2500", "--set l2.latency=200 --what-if memory.latency=2400"),
])
def test_a_mistake_gets_a_sentence(here, pattern, words):
    here.complains(pattern, "stack", *words.split(), "./mix")


def test_all_methods_of_a_core_without_a_graph_are_the_others(here):
    report = measure(here, "stack --quiet --method all --core small --max-insns 20000 ./mix").report
    assert "graph" not in report and "graph" not in report["stacks"] and len(report["stacks"]) == 6
