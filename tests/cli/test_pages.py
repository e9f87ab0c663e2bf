"""Text pages: 80 columns in a pipe, names first, wider on a wider terminal; the same words for the same things."""
import re
from pathlib import Path

import pytest

from conftest import PROJECT
from pages import too_wide, unwrapped
from screen import Terminal

# `long N`: a function with a long name among others.
LONG_NAME = "a_function_whose_name_is_much_longer_than_the_names_of_usual_functions_and_does_not_fit"
LONG_SOURCE = """
static volatile int sum, array[4096];
__attribute__((noinline)) void usual(int n) { while (n--) sum += array[n & 4095]; }
__attribute__((noinline)) void NAME(int n) { while (n--) sum ^= array[n * 7 & 4095]; }
int main(void) { usual(20000); NAME(20000); return 0; }
""".replace("NAME", LONG_NAME)

COLUMNS = PROJECT / "build/workloads/columns"
LIMIT = "--max-insns 300K"
EVENTS = "-e loads,stores,branches,mispredictions,l1d_misses,load_address_mispredictions"
PAGES = {
    "stat": f"stat {LIMIT}", "modern": f"stat --core modern {LIMIT}", "events": f"stat {LIMIT} {EVENTS}",
    "counters": f"stat {LIMIT} --counters --set pmu.counters=2 {EVENTS}",
    "multiplex": f"stat {LIMIT} --multiplex --truth --slice 2K --set pmu.counters=2 {EVENTS}",
    "series": f"stat {LIMIT} --interval 10K", "series-events": f"stat {LIMIT} --interval 10K {EVENTS}",
    "sampled": "stat --systematic --window 1K --period 20K --precision 50", "stack": f"stack {LIMIT}",
    "sampled-events": f"stat --systematic --window 1K --period 20K --precision 50 {EVENTS}",
    "methods": f"stack {LIMIT} --method all --penalties --interval 30K", "stages": f"stack {LIMIT} --stage all",
    "sampled-stack": "stack --method all --systematic --window 1K --period 20K --precision 50",
    "stalls": f"stalls {LIMIT} --interval-cycles 20K", "exact": f"stalls {LIMIT} --interval 20K --exact",
    "sampled-stalls": "stalls --systematic --window 1K --period 20K --precision 50",
    "phases": "phases", "validate": f"validate {LIMIT}", "validate-counters": f"validate counters {LIMIT} --slice 2K",
    "validate-stalls": f"validate stalls {LIMIT} --interval 20K", "validate-overhead": f"validate overhead {LIMIT}",
    "what-if": f"stack {LIMIT} --what-if width=+1,rob.size=x2+lsq.size=x2+frontend.stages=-3,l2.latency=3",
    "validate-what-if": f"validate what-if {LIMIT} --what-if width=+1,rob.size=x2+lsq.size=x2+frontend.stages=-3",
    "run": "run --summary",
}


@pytest.fixture
def small(guests, cli):
    """A program in the folder of the test, under a short name."""
    (cli.work / "small").symlink_to(guests("small", LONG_SOURCE, "-static", "-g"))
    return "./small"


@pytest.mark.parametrize("kind", PAGES)
def test_a_page_fits_80_columns(cli, small, kind):
    page = cli.run(*PAGES[kind].split(), small, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "COLUMNS": "150"}).err
    assert page and not too_wide(page.replace(LONG_NAME, "short"))


@pytest.mark.parametrize("kind", ["cores", "counts", "estimators", "events", "methods", "params", "what-ifs"])
def test_a_list_fits_80_columns_with_names_first(cli, kind):
    lines = cli.run("list", kind).out.splitlines()
    assert lines and not too_wide("\n".join(lines))
    indent = "  " if kind == "events" else ""
    heads = [line for line in lines if re.match(rf"{indent}[a-z0-9_.-]+( |$)", line)]
    assert len(heads) >= 3


RECORDED = {"usual": "-c 100", "data": "--data -e loads -c 20", "profileme": "--profileme -c 20", "pairs": "--profileme --pairs 50 -c 20",
            "events": "-e cycles,instructions,loads -c 100", "oracle": "--oracle", "truth": "--truth -c 100"}
VIEWS = ["function", "line", "insn", "module", "tree", "data"]


@pytest.mark.parametrize("recorded", RECORDED)
def test_reports_fit_80_columns_with_names_first(cli, small, recorded):
    assert not too_wide(cli.run("record", *RECORDED[recorded].split(), small).err)
    pages = [cli.run("report", "--by", by).out for by in VIEWS if by != "data" or recorded == "data"]
    pages += [cli.run("report", "--children").out, cli.run("annotate").out]
    for page in pages:
        assert not too_wide(page.replace(LONG_NAME, "short"))
    for name, page in ("usual ", pages[0]), ("<stdin>:3 ", pages[1]), ("usual+0x", pages[2]):
        rows = [line for line in page.split("\n") if re.search(r" [0-9]+\.[0-9]{2} ", line)]
        assert any(row.startswith(f" {name}") for row in rows), page


def test_a_long_name_has_a_line_of_its_own_and_stays_whole(cli, small):
    cli.run("record", "--quiet", "-c", "100", small)
    page = cli.run("report", "--json", "json").out
    at = page.split("\n").index(f" {LONG_NAME}")
    assert re.match(r" {12,}[0-9]+\.[0-9]{2} .* small$", page.split("\n")[at + 1])
    assert LONG_NAME in (cli.work / "json").read_text() and not too_wide(page.replace(LONG_NAME, ""))


def test_a_page_on_a_wide_terminal_is_wide(cli, small):
    with Terminal(cli, 40, 160, cli.command("stack", "--method", "all", "--max-insns", "100K", small)) as t:
        assert t.end() == 0
    heads = [line.split() for line in t.screen.text(True).split("\n") if line.startswith(" CPI ")]
    assert len(heads) == 1 and heads[0][1::2] == ["naive", "naive_nonspec", "power5", "fmt", "sfmt", "fmt2", "graph"]


def test_columns_is_for_a_terminal_without_a_size(cli, small):
    words = cli.command("stack", "--method", "all", "--max-insns", "100K", small)
    for columns, tables in ("160", 1), ("80", 2), ("x", 2):
        with Terminal(cli, 40, 0, words, env={"COLUMNS": columns}) as t:
            t.screen.resize(40, 200)
            assert t.end() == 0
        assert len(re.findall("^ CPI ", t.screen.text(True), re.M)) == tables


def test_a_page_in_a_file_has_80_columns(cli, small):
    with Terminal(cli, 40, 160, cli.command("stack", "--method", "all", "-o", "page", "--max-insns", "100K", small)) as t:
        assert t.end() == 0
    assert not too_wide((cli.work / "page").read_text())


# ---- one sentence, one word

MEANING = "± is half the width of the 95 % interval"


@pytest.mark.parametrize("kind", ["sampled", "sampled-stack", "sampled-stalls", "stalls", "multiplex", "validate-counters"])
def test_every_page_says_the_same_of_intervals(cli, small, kind):
    page = unwrapped(cli.run(*PAGES[kind].split(), small).err)
    assert MEANING in page and page.count("±") > 1 and page.count("95 %") == 1


def test_a_report_says_the_same_of_intervals(cli, small):
    cli.run("record", "--quiet", "-c", "100", small)
    page = unwrapped(cli.run("report").out)
    assert MEANING in page and page.count("95 %") == 1


def test_documents_say_the_same_of_intervals():
    documents = [PROJECT / "README.md", *(PROJECT / "docs").glob("**/*.md"), *(PROJECT / "docs").glob("*.[13]")]
    for document in documents:
        text = re.sub(r"\s+", " ", Path(document).read_text())
        assert not re.search("± is the 95 % interval|[Hh]alf of (a|the|its) 95 %|diverge", text), document
