"""`cyclescope phases` as a user meets it: it finds the known structure of known programs, reads vectors of other tools,
writes the documented formats, counts exactly, and answers each mistake with a sentence."""
import csv
import gzip
import re
import shutil
import statistics
import subprocess
import xml.dom.minidom

import pytest

from conftest import PROJECT

GRIDS = [(100000, 100000), (100000, 50000), (100000, 70000), (20000, 9000), (10000, 5000)]  # unit, interval


@pytest.fixture(scope="module")
def shapes(module_cli):
    """Puts workloads/phase_shapes into the folder, so that the length of its path is always the same."""
    shutil.copy(PROJECT / "build/workloads/phase_shapes", module_cli.work)
    return "./phase_shapes"


def lines(cli, name):
    return (cli.work / name).read_text().splitlines()


def rows(cli, name):
    return list(csv.DictReader(lines(cli, name)))


def vectors(cli, name):
    """The .bb file by its documented format, read strictly: a dictionary from block to instructions per interval."""
    for line in lines(cli, name):
        assert re.fullmatch(r"T(:[1-9][0-9]*:[1-9][0-9]* )+", line), line[:80]
    return [{int(b): int(n) for b, n in (e.split(":")[1:] for e in line[1:].split())} for line in lines(cli, name)]


def instructions_in(cli, name):
    return sum(sum(v.values()) for v in vectors(cli, name))


def nameless(report):
    """Points as a .bb file gives them: without functions."""
    return [{k: v for k, v in p.items() if k != "functions"} for p in report["points"]]


# ---- the structure of known programs

@pytest.fixture(scope="module")
def start(module_cli, shapes):
    """Instructions of a run without work: the initialization of any shape includes what runs before main."""
    r = module_cli.report("phases", "--interval", "1G", shapes, "flat", "1")
    return r["instructions"]


@pytest.mark.parametrize("unit, interval", GRIDS)
@pytest.mark.parametrize("shape, init_units, periods", [
    ("cyclic", 20, [10]),
    ("brief", 3, [10]),
    ("lengthy", 100, [10]),
    ("endless", 0, [10]),
    ("even", 20, [10]),
    ("alike", 20, [10]),
    ("uneven", 20, [10]),
    ("nested", 15, [5, 30]),
    ("ramp", 30, []),
    ("flat", 0, []),
])
def test_a_known_shape_is_found_to_the_interval(module_cli, shapes, start, shape, init_units, periods, unit, interval):
    p = module_cli.report("phases", "--interval", interval, shapes, shape, unit)["phases"]
    assert p["interval"] == interval
    assert abs(p["init_end"] - max(init_units * unit, start)) < interval
    slack = 0.03 if shape == "uneven" else 0
    assert p["init_error"] <= interval
    wanted = [n * unit for n in periods]
    assert len(p["periods"]) == len(wanted)
    longest = wanted[-1] if wanted else 0
    for found, known in zip(p["periods"] + [p["correlated_period"]], wanted + [longest]):
        assert abs(found - known) < interval + slack * known


# ---- programs whose structure is known from their source: each prints what it noted itself

# Name and repetitions; the long form has those of the program's own choice, 0.2 to 1 G instructions.
SHORT = [("relax", 12), ("interpreter", 30), ("sorting", 150), ("levels", 5), ("growing", 20), ("irregular", 15),
         ("stepwise", 50), ("chance", 40), ("steady", 50), ("seldom", 4), ("often", 60), ("collecting", 35)]
LONG = [pytest.param(name, None, marks=pytest.mark.slow) for name, _ in SHORT]


def known(cli, name, repeats, *options):
    """What the program says, by word: numbers; and what `phases` finds."""
    shutil.copy(PROJECT / "build/workloads/phase_programs", cli.work)
    words = ["./phase_programs", name] + ([repeats] if repeats else [])
    result = cli.run("phases", "--quiet", "--json", "json", *options, *words)
    said = {line.split()[0]: [int(n) for n in line.split()[1:]] for line in result.out.splitlines()}
    return said, cli.json()["phases"]


@pytest.mark.parametrize("name, repeats", SHORT + LONG)
def test_a_known_program_has_its_initialization_and_periods(cli, name, repeats):
    said, p = known(cli, name, repeats)
    assert abs(p["init_end"] - said["init"][0]) <= p["init_error"]
    wanted = [said[word] for word in ("inner", "period") if said[word][0]]
    assert len(p["periods"]) == len(wanted)
    for found, error, (mean, least, most) in zip(p["periods"], p["period_errors"], wanted):
        assert abs(found - mean) <= error + (most - least) / 2
        assert error < 0.2 * mean


@pytest.mark.parametrize("name, repeats", [("interpreter", 30), ("relax", 12)])
def test_the_structure_does_not_depend_on_the_interval(cli, name, repeats):
    """Neither on an interval that is longer than the period, nor on one that is no part of it. Where intervals end, blocks
    are cut, so initialization may end a sample earlier or later."""
    structures = []
    for interval in (None, "70K", "500K", "2M", "10M"):
        said, p = known(cli, name, repeats, *(["--interval", interval] if interval else []))
        assert abs(p["init_end"] - said["init"][0]) <= p["init_error"]
        structures.append([p[key] for key in ("init_error", "periods", "period_errors")])
    assert structures[0][1] and all(s == structures[0] for s in structures)


def test_the_interval_follows_from_the_length_of_the_run(cli, shapes):
    for unit, interval in ((10, 1000), (3000, 1000), (10000, 10000), (100000, 100000)):
        shutil.copy(PROJECT / "build/workloads/phase_shapes", cli.work)
        p = cli.report("phases", shapes, "cyclic", unit)["phases"]
        assert p["interval"] == interval and p["count"] <= 1000


# ---- entries and instructions

BLOCKS = """
#define NOP8 "nop\\nnop\\nnop\\nnop\\nnop\\nnop\\nnop\\nnop\\n"
#define NOP32 NOP8 NOP8 NOP8 NOP8
int main(void)
{
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 20000; i++)
            __asm__ volatile("beqz x0, 1f\\n1:\\n" ::: "memory");
        for (int i = 0; i < 20000; i++)
            __asm__ volatile(NOP32 "beqz x0, 1f\\n1:\\n" ::: "memory");
    }
    return 0;
}
"""


def test_vectors_count_entries_and_the_option_counts_instructions(cli, guests):
    """Two loops are entered equally often; the second one's block is many times as long. In the whole run they have equal
    shares of the entries, and very unequal ones of the instructions: an interval in the second loop then is nearly what
    the run is."""
    program = guests("blocks", BLOCKS, "-static", "-O1")
    by = {weight: cli.report("phases", "--interval", "20K", "--weight", weight, program)["phases"]
          for weight in ("entries", "instructions")}
    assert by["entries"]["weight"] == "entries" and by["instructions"]["weight"] == "instructions"
    assert cli.report("phases", "--interval", "20K", program)["phases"]["difference"] == by["entries"]["difference"]
    usual = {weight: statistics.median(p["difference"]) for weight, p in by.items()}
    assert usual["entries"] > 0.8 and usual["instructions"] < 0.4


# ---- one program with everything that it writes

@pytest.fixture(scope="module")
def cyclic(module_cli, shapes):
    """A cyclic program: its page, in `page`, and its files, with `cyclic.` before their names."""
    result = module_cli.run("phases", "--interval", "100K", "--budget", "2M", "--write-bb", "cyclic.bb", "--simpoints",
                            "cyclic.points", "--weights", "cyclic.weights", "--json", "cyclic.json", "--csv", "cyclic.csv",
                            shapes, "cyclic")
    assert result.out == "cyclic: done\n"
    report = module_cli.json("cyclic.json")
    report["page"] = result
    return report


@pytest.mark.smoke
def test_the_page_names_what_was_found(cyclic):
    page = cyclic["page"]
    assert page.says(r"^initialization +2\.0M ± [0-9.]+K$")
    assert page.says(r"^period +1\.0M ± [0-9.]+K? +\(autocorrelation: [0-9.]+[KM]\)$")
    assert page.says("^  best single period ")
    assert page.says(r"^  best for the budget +[0-9.]+M +2\.0M ")
    assert page.says("^difference to the whole run$")


def test_every_interval_is_exact(module_cli, cyclic):
    assert all(sum(v.values()) == 100000 for v in vectors(module_cli, "cyclic.bb")[:-1])


def test_the_files_have_all_intervals(module_cli, cyclic):
    count = cyclic["phases"]["count"]
    assert len(vectors(module_cli, "cyclic.bb")) == count == len(lines(module_cli, "cyclic.csv")) - 1
    assert abs(count * 100000 - cyclic["instructions"]) <= 100000


def test_blocks_are_numbered_without_gaps(module_cli, cyclic):
    assert set().union(*vectors(module_cli, "cyclic.bb")) == set(range(1, cyclic["phases"]["blocks"] + 1))


def test_simpoints_and_weights_are_those_of_the_report(module_cli, cyclic):
    points, weights = ([line.split() for line in lines(module_cli, "cyclic." + name)] for name in ("points", "weights"))
    assert [int(p[0]) * 100000 for p in points] == [p["start"] for p in cyclic["points"]]
    assert [p[1] for p in points] == [w[1] for w in weights]
    assert sum(float(w[0]) for w in weights) == pytest.approx(1, abs=1e-6)


def test_the_naive_point_is_the_second_period(cyclic):
    assert (cyclic["naive"]["start"], cyclic["naive"]["length"]) == (3000000, 1000000)


def test_a_program_with_a_period_has_a_single_period_that_resembles_it(cyclic):
    best = cyclic["best_period"]
    assert (best["length"], best["periods"]) == (1000000, 1) and best["difference"] < 0.01
    assert not cyclic["page"].says("resembles the run")


def test_the_page_says_that_there_is_no_period_and_what_it_gives_instead(module_cli, shapes):
    result = module_cli.run("phases", "--interval", "100K", "--json", "flat.json", shapes, "flat")
    best = module_cli.json("flat.json")["best_period"]
    assert (best["length"], best["periods"]) == (100000, 0)
    assert result.says("^  best stretch ") and result.says(r"^  There is no period\.")


def test_a_stretch_is_no_shorter_than_an_interval(module_cli, shapes):
    best = module_cli.report("phases", "--interval", "3M", shapes, "cyclic")["best_period"]
    assert best["length"] == 3000000 and best["periods"] == 3


def test_differences_are_between_0_and_2(cyclic):
    assert all(0 <= d <= 2 for d in cyclic["phases"]["difference"])


@pytest.mark.parametrize("compressed", [False, True])
def test_a_file_of_vectors_gives_what_the_run_gave(module_cli, shapes, cyclic, compressed):
    name = "cyclic.bb"
    if compressed:
        name = "cyclic.bb.gz"
        (module_cli.work / name).write_bytes(gzip.compress((module_cli.work / "cyclic.bb").read_bytes()))
    of_file = module_cli.report("phases", "--budget", "2M", "--bb", name)
    of_run = module_cli.report("phases", "--budget", "2M", "--interval", "100K", "--weight", "instructions", shapes, "cyclic")
    for key in ("weight", "interval", "count", "blocks", "difference", "init_difference", "similarity"):
        assert of_file["phases"][key] == of_run["phases"][key]
    assert nameless(of_file) == nameless(of_run) == nameless(cyclic)
    assert of_file["budgeted"] == of_run["budgeted"]
    assert abs(of_file["phases"]["period"] - of_run["phases"]["period"]) < 100000


def test_early_points_are_no_later(module_cli, cyclic):
    r = module_cli.report("phases", "--early", "--bb", "cyclic.bb")
    assert len(r["points"]) == len(cyclic["points"])
    assert max(p["start"] for p in r["points"]) <= max(p["start"] for p in cyclic["points"])


def test_one_cluster_is_the_whole_run(module_cli, cyclic):
    r = module_cli.report("phases", "--max-k", "1", "--bb", "cyclic.bb")
    assert [p["weight"] for p in r["points"]] == [pytest.approx(1, abs=1e-9)]


def test_the_page_of_a_file_says_that_it_has_no_names(module_cli, cyclic):
    result = module_cli.run("phases", "--bb", "cyclic.bb")
    assert result.out == "" and result.says("has no addresses")


# ---- functions and pictures

@pytest.fixture(scope="module")
def nested(module_cli, shapes):
    """A program of four kinds of work: its page, in `page`, and its pictures, with `nested.` before their names."""
    result = module_cli.run("phases", "--interval", "100K", "--svg", "nested.svg", "--dot", "nested.dot", "--functions",
                            "nested.functions", "--similarity", "nested.similarity", "--json", "nested.json",
                            shapes, "nested")
    assert result.out == "nested: done\n"
    report = module_cli.json("nested.json")
    report["page"] = result
    return report


def test_the_page_has_functions_and_similarity(nested):
    assert nested["page"].says(r"^  multiply +9[0-9]\.[0-9] ")
    assert nested["page"].says("^similarity of ")


def test_the_svg_has_all_parts(module_cli, nested):
    text = xml.dom.minidom.parse(str(module_cli.work / "nested.svg")).toxml()
    parts = {name: text.count(f'class="{name}"') for name in ("graph", "point", "similarity")}
    assert parts == {"graph": 3, "point": len(nested["points"]), "similarity": 1}
    assert (module_cli.work / "nested.svg").stat().st_size < 2000000


def test_each_kind_of_work_is_a_phase(nested):
    assert {p["functions"][0]["name"] for p in nested["points"]} == {"fill", "add", "multiply", "shift"}


def test_functions_sum_to_their_phases_and_to_the_run(module_cli, nested):
    functions = rows(module_cli, "nested.functions")
    for phase in range(len(nested["points"])):
        assert sum(float(f["share"]) for f in functions if int(f["phase"]) == phase) == pytest.approx(1, abs=1e-6)
    total = sum(int(f["instructions"]) for f in functions)
    assert total == nested["phases"]["count"] * 100000 or abs(total - nested["instructions"]) < 100000


def test_similarity_is_symmetric_and_0_with_itself(module_cli, nested):
    m = nested["phases"]["similarity"]
    assert all(len(row) == len(m) <= 128 for row in m)
    assert all(m[i][i] == 0 for i in range(len(m)))
    assert all(m[i][j] == m[j][i] and 0 <= m[i][j] <= 2 for i in range(len(m)) for j in range(i))
    assert max(map(max, m)) > 1.5
    written = [line.split(",")[1:] for line in lines(module_cli, "nested.similarity")[1:]]
    assert [[float(x) for x in row] for row in written] == [pytest.approx(row, abs=1e-5) for row in m]


def test_the_dot_file_has_a_graph_for_each_phase(module_cli, nested):
    assert sum("subgraph cluster_" in line for line in lines(module_cli, "nested.dot")) == len(nested["points"])


CALLS = """
__attribute__((noinline)) long leaf(long x) { return x * 3 + 1; }
__attribute__((noinline)) long twice(long x) { return leaf(leaf(x)) + 1; }
int main(void) { volatile long s = 0; for (int i = 0; i < 1000; i++) s = twice(s); return 0; }
"""


@pytest.mark.smoke
def test_calls_are_counted_and_lines_are_known(cli, guests):
    r = cli.report("phases", "--interval", "1G", "--dot", "dot", guests("calls", CALLS, "-static", "-g"))
    text = (cli.work / "dot").read_text()
    node = {name: number for number, name in re.findall(r'p0_(\d+) \[label="(\w+)', text)}
    assert f'p0_{node["twice"]} -> p0_{node["leaf"]} [label="2000"]' in text
    assert f'p0_{node["main"]} -> p0_{node["twice"]} [label="1000"]' in text
    assert any(f["name"] == "leaf" and f.get("line") == 2 for f in r["points"][0]["functions"])
    if shutil.which("dot") is not None:
        assert cli.execute(["dot", "-Tsvg", "-o", "dot.svg", "dot"]).status == 0


# ---- files of other tools

# Two phases take turns; valgrind's intervals end with a block, not with an instruction.
NATIVE = """
int main(void)
{
    volatile long s = 0;
    for (int r = 0; r < 6; r++) {
        for (long i = 0; i < 300000; i++)
            s += i;
        for (long i = 0; i < 200000; i++)
            s ^= i * 3;
    }
    return s == 1;
}
"""


def test_vectors_of_valgrind_give_their_period(cli):
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    subprocess.run(["gcc", "-O1", "-x", "c", "-o", cli.work / "native", "-"], input=NATIVE.encode(), check=True)
    result = cli.execute(["valgrind", "--tool=exp-bbv", "--interval-size=100000", "--bb-out-file=v.bb", "./native"])
    assert result.status == 0, result.err
    p = cli.report("phases", "--bb", "v.bb")["phases"]
    assert p["interval"] == 100000 and p["count"] == sum(line.startswith("T") for line in lines(cli, "v.bb"))
    assert len(p["periods"]) == 1 and p["period"] in (2900000, 3000000, 3100000)


# ---- what is counted

def test_a_forked_process_runs_on_and_is_not_counted(cli, work):
    options = ["--quiet", "--interval", "10K", "--json", "json", "--write-bb", "bb"]
    assert cli.run("phases", *options, work, 20000, 40000, status=5).out == "done\n"
    assert instructions_in(cli, "bb") <= cli.json()["instructions"] < 400000


@pytest.mark.parametrize("interval, lost", [("1G", 0), ("1K", 499)])
def test_threads_are_counted_exactly(cli, interval, lost):
    shutil.copy(PROJECT / "build/guest/thread_basic", cli.work)
    counted = cli.report("run", "./thread_basic")["instructions"]
    r = cli.report("phases", "--interval", interval, "--write-bb", "bb", "./thread_basic")
    assert r["instructions"] == counted
    assert 0 <= counted - instructions_in(cli, "bb") <= lost


def test_a_run_shorter_than_an_interval_is_one_interval(cli, work):
    result = cli.run("phases", "--interval", "1G", "--json", "json", work, 10, status=3)
    assert result.out == "done\n" and result.says("not longer than one interval: --interval [0-9]+ ")
    r = cli.json()
    assert r["phases"]["count"] == 1 and len(r["points"]) == 1


def test_intervals_of_one_instruction(cli, work):
    r = cli.report("phases", "--interval", "1", work, 10, status=3)
    assert r["phases"]["count"] == r["instructions"]


def test_csv_goes_to_standard_output(cli, work):
    out = cli.run("phases", "--quiet", "--interval", "1G", "--csv", "-", work, 10, status=3).out
    assert out.splitlines()[:2] == ["done", "start,instructions,difference,cluster"]


def test_a_signal_ends_the_run_with_a_page(cli, guests):
    dies = guests("dies", "int main(void) { for (volatile int i = 0; i < 100000; i++); *(volatile int *)0 = 1; }", "-static")
    result = cli.run("phases", "--interval", "10K", "--json", "json", dies, status=139)
    assert result.out == "" and result.says("^initialization")
    assert cli.json()["exit_status"] == 139 and cli.json()["phases"]["count"] > 10


def test_the_guest_reads_standard_input(cli, guests):
    source = '#include <stdio.h>\nint main(void) { int n = 0; while (getchar() >= 0) n++; printf("%d\\n", n); return 0; }'
    echo = guests("echo", source, "-static")
    assert cli.run("phases", "--quiet", "--interval", "1K", echo, stdin=bytes(5000)).out == "5000\n"


# ---- mistakes

@pytest.mark.mistake
@pytest.mark.parametrize("pattern, words", [
    ("program", ""),
    ("nothing", "./nothing"),
    ("more than 131072 intervals of 1 instructions: choose longer ones", "--interval 1 ./work 100000"),
    ("--interval", "--interval 0 ./work"),
    ("--max-k", "--max-k 0 ./work"),
    ("--weight is entries or instructions, not 'size'", "--weight size ./work"),
    ("--weight entries needs a program", "--weight entries --bb bb"),
    ("--dot needs a program", "--bb bb --dot dot"),
    ("--functions needs a program", "--bb bb --functions f"),
    ("--svg", "--bb bb --svg no/svg"),
    ("--bb reads a file", "--bb bb ./work"),
    ("nothing.bb: No such file", "--bb nothing.bb"),
    ("foreign:1: neither a vector nor a comment", "--bb foreign"),
])
def test_a_mistake_gets_a_sentence(cli, work, pattern, words):
    shutil.copy(work, cli.work)
    (cli.work / "bb").write_text("T:1:1000 \nT:1:400 :2:600 \n" * 8)
    (cli.work / "foreign").write_text("hello\n")
    cli.complains(pattern, "phases", *words.split())
