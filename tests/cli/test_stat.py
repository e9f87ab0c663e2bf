"""`cyclescope stat` and `cyclescope list` as a user meets them: what they print and write, and what each mistake says."""
import os
import re
import shutil

import pytest

from conftest import PROJECT

BESIDE_WORK = True  # see conftest.py
STAGES = {"fetch", "dispatch", "issue", "commit", "head"}
ON_BOTH_PATHS = ["branches", "mispredictions", "l1i_accesses", "l1d_accesses", "l2d_accesses", "dtlb_walks", "loads",
                 "stores", "l1i_misses", "l2i_misses", "itlb_misses", "l1d_misses", "l2d_misses", "dtlb_misses"]


def stat(cli, *words, status=3, out="done\n"):
    """Runs stat: exit status and standard output are the guest's."""
    result = cli.run("stat", *words, status=status)
    assert result.out == out
    return result


def report(cli, *words, **expected):
    """What stat writes as JSON."""
    stat(cli, "--quiet", "--json", "json", *words, **expected)
    return cli.json()


def counted(r):
    """The counters of a report: event to value."""
    return {c["event"]: c["value"] for c in r["counters"]}


@pytest.fixture(scope="module")
def whole(module_cli):
    """A report of ./work without options."""
    return report(module_cli, "./work")


# ---- the page


@pytest.mark.smoke
def test_page(cli):
    page = stat(cli, "./work")
    assert page.says("/work on the core eyerman2006:$")
    assert page.says("^ cycles +[0-9]{1,3}(,[0-9]{3})+$")
    assert page.says("^ instructions +[0-9,]+ +[0-9,]+ +[0-9.]+ IPC, [0-9.]+ CPI$")
    assert page.says("^ mispredictions +[0-9,]+ +[0-9,]+ +[0-9.]+ % of branches, [0-9.]+ MPKI$")
    assert page.says("^ L1D misses +[0-9,]+ +[0-9,]+ +[0-9.]+ MPKI, [0-9.]+ % of accesses$")
    assert page.says("^ [0-9.]+ seconds, [0-9.]+ MIPS$")
    assert not page.says("L3|prefetches|cycles of the bus")  # the core has none
    assert not page.says(" $")


def test_page_shows_what_the_core_has(cli):
    page = stat(cli, "--core", "modern", "./work")
    assert page.says("L3D misses") and page.says("^ L1D prefetches +[0-9,]+ +[0-9.]+ % were used$")
    page = stat(cli, "--core", "modern", "--set", "l3.size=0", "--set", "l1d.prefetch=none", "./work")
    assert not page.says("L3|L1D prefetches")


def test_quiet_says_nothing(cli):
    assert stat(cli, "--quiet", "./work").err == ""


def test_death_of_the_guest_has_a_sentence(cli, abort):
    assert stat(cli, abort, status=134, out="").says("^cyclescope: .*/abort was killed by SIGABRT$")


def test_dashes_end_the_options(cli):
    stat(cli, "--", "./work", "10")


def test_help_lists_the_options(cli):
    assert "--pipeview-from N" in cli.run("stat", "--help").out


# ---- JSON


def test_json_has_the_shared_keys(whole):
    assert whole["command"] == "stat" and whole["version"] and whole["core"] == "eyerman2006"
    assert whole["program"].endswith("/work") and whole["exit_status"] == 3
    assert whole["host"]["seconds"] > 0 and whole["host"]["mips"] > 0
    assert whole["cut"] is False and whole["skipped"] == 0 and whole["warmup"] == 0


def test_cpi_is_cycles_per_instruction(whole):
    assert whole["cycles"] == whole["events"]["cycles"] > 1000
    assert whole["instructions"] == whole["events"]["instructions"] > 1000
    assert abs(whole["cpi"] - whole["cycles"] / whole["instructions"]) < 1e-9


def test_retired_is_at_most_speculative(whole):
    e = whole["events"]
    assert [n for n in ON_BOTH_PATHS if e[n] > e[n + "_spec"]] == []


def test_fetched_is_retired_or_squashed(whole):
    e = whole["events"]
    assert e["fetched"] == e["instructions"] + e["squashed"] and e["squashed"] > 0


def test_every_stage_sums_to_all_cycles(whole):
    assert {stage: sum(reasons.values()) for stage, reasons in whole["cycles_by"].items()} == dict.fromkeys(
        STAGES, whole["cycles"])


def test_parameters_are_in_the_report(whole):
    params = whole["params"]
    assert params["rob.size"] == 128 and params["l1d.size"] == 16384 and params["perfect.branch"] == "no"


def test_stepping_changes_no_count(module_cli, whole):
    r = report(module_cli, "--step", "./work")
    assert r["events"] == whole["events"] and r["cycles_by"] == whole["cycles_by"]


def test_settings_take_effect(module_cli, whole):
    r = report(module_cli, "--set", "rob.size=32", "--set", "perfect.branch=yes", "./work")
    assert r["params"]["rob.size"] == 32 and r["params"]["perfect.branch"] == "yes" and r["events"]["mispredictions"] == 0
    assert r["events"]["fetched"] == r["instructions"] == whole["instructions"]


def test_a_core_comes_from_a_file(cli):
    (cli.work / "narrow.ini").write_text("; A narrow core\nbase = small\n[fetch]\nwidth = 1\n")
    r = report(cli, "--core", "narrow.ini", "./work")
    assert r["core"] == "narrow" and r["params"]["fetch.width"] == 1 and r["cpi"] >= 1


def test_page_and_json_though_the_guest_closes_everything(cli, closes):
    result = cli.run("stat", "--json", "-", closes)
    assert '"exit_status": 0' in result.out and result.says("instructions")


# ---- parts of a run


def test_a_run_is_cut_at_the_instruction(cli):
    result = stat(cli, "--max-insns", "5000", "--json", "json", "./work", "1000000", status=0, out="")
    r = cli.json()
    assert r["instructions"] == 5000 and r["cut"] is True and r["exit_status"] == 0
    assert result.says("stopped after 5,000 instructions")


def test_k_is_1000(cli):
    r = report(cli, "--skip", "1k", "--max-insns", "5K", "./work", "1000000", status=0, out="")
    assert r["instructions"] == 5000 and r["skipped"] == 1000


def test_parts_have_their_lengths_and_warming_helps(cli):
    part = ["--max-insns", "2000", "--json", "json", "./work", "1000000"]
    result = stat(cli, "--skip", "40000", "--warm", "--warmup", "3000", *part, status=0, out="")
    warm = cli.json()
    assert warm["skipped"] == 40000 and warm["warmup"] == 3000 and warm["instructions"] == 2000
    assert result.says("40,000 instructions were skipped and warmed caches, TLBs and predictors")
    stat(cli, "--skip", "43000", *part, status=0, out="")
    assert cli.json()["cycles"] > warm["cycles"]


def test_warming_trains_predictors(cli, guests):
    """A branch that alternates is learned before it is measured."""
    alternates = guests("alternates", r"""
        int main(void)
        {
            volatile int taken = 0;
            for (int i = 0; i < 20000; i++)
                if (i % 2)
                    taken++;
            return 0;
        }""", "-static")
    shutil.copy(alternates, cli.work)
    cold, warm = (report(cli, "--skip", "60000", *option, "--max-insns", "2000", "./alternates", status=0, out="")
                  for option in ([], ["--warm"]))
    assert 2 * warm["events"]["mispredictions"] < cold["events"]["mispredictions"]


def test_a_run_may_end_before_its_measured_part(cli):
    result = stat(cli, "--skip", "1000000000", "--json", "json", "./work")
    r = cli.json()
    assert r["instructions"] == 0 and r["cycles"] == 0 and r["cpi"] == 0
    assert result.says("ended before the part that is measured")


def test_forked_processes_count(module_cli, whole):
    result = stat(module_cli, "--json", "json", "./work", "1000", "50000", status=5)
    assert result.err.count("seconds,") == 1  # one page for all processes
    assert module_cli.json()["instructions"] > whole["instructions"] + 10 * 50000


@pytest.mark.parametrize("name, status, body", [
    ("abort", 134, "abort();"),
    ("bad_jump", 139, "((void (*)(void))0x1234567000)();"),
    ("null_store", 139, "*(volatile int *)0 = 1;"),
    ("stack_overflow", 139, "return f(n + 1) + n;"),
    ("illegal", 132, '__asm__ volatile(".4byte 0");'),
    ("breakpoint", 133, '__asm__ volatile("ebreak");'),
    ("misaligned", 135, '__asm__ volatile("lr.w a0, (%0)" :: "r"("abc" + 1));'),
])
def test_a_guest_dies_at_the_same_instruction_as_without_a_core(cli, guests, name, status, body):
    guest = guests("dies-" + name, "#include <stdlib.h>\n__attribute__((noinline)) int f(volatile int n) { "
                   + body + " }\nint main(void) { return f(1); }", "-static")
    shutil.copy(guest, cli.work / "dies")
    assert cli.run("run", "--quiet", "--json", "json", "./dies", status=status).out == ""
    alone = cli.json()
    assert report(cli, "./dies", status=status, out="")["instructions"] == alone["instructions"] > 0


WORKLOADS = [["mix"], ["mix", "60000000"], ["mix", "150000000"], ["memory_bound"], ["branch_bound"], ["icache_bound"],
             ["divide_bound"], ["balanced"]]


@pytest.mark.parametrize("workload", WORKLOADS, ids="-".join)
def test_stepping_changes_no_count_of_a_workload(cli, workload):
    """Jumps over idle cycles are the same as steps through them."""
    program, *skip = workload
    words = [*(["--skip", *skip] if skip else []), "--max-insns", "1000000", "--json", "json",
             PROJECT / "build/workloads" / program]
    cli.run("stat", "--quiet", *words)
    jumped = cli.json()
    cli.run("stat", "--quiet", "--step", *words)
    stepped = cli.json()
    assert stepped["instructions"] == jumped["instructions"] == 1000000
    assert stepped["events"] == jumped["events"] and stepped["cycles_by"] == jumped["cycles_by"]


# ---- the pipeline view


def read_view(path):
    """Reads a Kanata log strictly by the rules of its format: how many instructions retired, and whether any was flushed."""
    following = {None: {"F"}, "F": {"Dp"}, "Dp": {"Is"}, "Is": {"Is", "Cp"}, "Cp": set()}
    with open(path, newline="") as file:
        lines = file.read().split("\n")
    assert lines.pop() == "" and lines[0] == "Kanata\t0004"
    cycle, live, ids, retired, flushed = None, {}, 0, 0, 0
    for line in lines[1:]:
        command, *a = line.split("\t")
        if command == "C=":
            assert cycle is None, line
            cycle = int(a[0])
        elif command == "C":
            assert int(a[0]) > 0, line
            cycle += int(a[0])
        elif command == "I":
            assert int(a[0]) == ids and len(a) == 3 and cycle is not None, line
            live[a[0]] = {"stage": None, "text": ""}
            ids += 1
        elif command == "L":
            assert a[0] in live and a[1] in ("0", "1") and len(a) == 3 and a[2], line
            live[a[0]]["text"] += a[2]
        elif command == "S":
            op = live[a[0]]
            assert len(a) == 3 and a[1] == "0" and a[2] in following[op["stage"]], line
            op["stage"] = a[2]
        elif command == "R":
            op = live.pop(a[0])
            assert len(a) == 3 and op["text"] and a[2] in ("0", "1"), line
            if a[2] == "0":
                assert op["stage"] == "Cp" and int(a[1]) == retired, line
                retired += 1
            else:
                flushed += 1
        else:
            pytest.fail("unknown command: " + line)
    assert not live, "these have no end"
    return retired, flushed > 0


@pytest.mark.parametrize("retired, flushed, words", [
    pytest.param(10000, True, "./work", id="of_the_first_10000"),
    pytest.param(400, True, "--core ppc970 --pipeview-from 15000 --pipeview-insns 400 ./work 5000", id="of_bundles"),
    pytest.param(400, True, "--core pentium --pipeview-from 15000 --pipeview-insns 400 ./work 5000", id="in_order"),
    pytest.param(400, False, "--set perfect.branch=yes --pipeview-insns 400 ./work", id="without_wrong_path"),
    pytest.param(0, False, "--pipeview-from 1000000000 ./work", id="behind_the_end"),
    pytest.param(3000, True, "--skip 20000 --warmup 300 --max-insns 3000 ./work 5000", id="of_what_is_measured"),
])
def test_view(cli, retired, flushed, words):
    cli.run("stat", "--quiet", "--pipeview", "log", *words.split(), status=None)
    assert read_view(cli.work / "log") == (retired, flushed)


def test_view_of_a_window_has_details(cli):
    stat(cli, "--quiet", "--pipeview", "log", "--pipeview-from", "15000", "--pipeview-insns", "300", "./work", "5000")
    assert read_view(cli.work / "log") == (300, True)
    text = (cli.work / "log").read_text()
    assert "mispredicted" in text and "on the wrong path" in text


def test_view_is_of_one_process_and_the_same_stepped(cli):
    words = ["--pipeview-insns", "30000", "./work", "5000", "5000"]
    stat(cli, "--quiet", "--pipeview", "log", *words, status=5)
    stat(cli, "--quiet", "--step", "--pipeview", "stepped", *words, status=5)
    assert read_view(cli.work / "log") == (30000, True)
    assert (cli.work / "log").read_bytes() == (cli.work / "stepped").read_bytes()


# ---- events of -e


@pytest.fixture(scope="module")
def events(module_cli):
    """A page, a report and the lines of a CSV file of some events."""
    page = stat(module_cli, "-e", "loads,l1d_misses,cycles", "--event", "fetch_stalls, fetch_stalls:edge",
                "-e", "rob_occupancy", "-e", "instructions:thresh=3,{branches,branch-misses:name=my own}",
                "--json", "json", "--csv", "csv", "./work")
    return page, module_cli.json(), (module_cli.work / "csv").read_text().splitlines()


@pytest.mark.smoke
def test_page_of_events(events):
    page, _, _ = events
    assert page.says("/work on the core eyerman2006:$")
    assert page.says("^ loads +[0-9,]+ +[0-9.]+ per 1000 instructions$")
    assert page.says("^ fetch_stalls +[0-9,]+ +[0-9.]+ % of cycles$")
    assert page.says("^ fetch_stalls:edge +[0-9,]+ +[0-9.]+ cycles each$")
    assert page.says("^ rob_occupancy +[0-9,]+ +[0-9.]+ on average$")
    assert page.says("^ instructions:thresh=3 +[0-9,]+ +[0-9.]+ % of cycles$")
    assert page.says("^ my own +[0-9,]+ +[0-9.]+ per 1000 instructions$")
    assert page.says("^ instructions +[0-9,]+ +[0-9.]+ IPC$")
    assert page.says("^ cycles +[0-9,]+$")
    assert page.says("^ [0-9.]+ seconds, [0-9.]+ MIPS$")
    assert not page.says("L1D misses|what ended dispatch| $")  # these are of the page without -e


def test_events_are_exact(events):
    _, r, _ = events
    n, e = counted(r), r["events"]
    assert [c["name"] for c in r["counters"]] == ["loads", "l1d_misses", "cycles", "fetch_stalls", "fetch_stalls",
                                                  "rob_occupancy", "instructions", "branches", "mispredictions"]
    assert n["loads"] == e["loads"] > 0 and n["l1d_misses"] == e["l1d_misses"] > 0 and n["cycles"] == r["cycles"]
    assert n["rob_occupancy"] == e["rob_occupancy"] and n["my own"] == e["mispredictions"] > 0
    assert 0 < n["fetch_stalls:edge"] < n["fetch_stalls"] < r["cycles"]
    assert not any("fits" in c for c in r["counters"])  # only --counters tells


def test_events_change_nothing_else(events, whole):
    _, r, _ = events
    assert set(r) - {"counters"} == set(whole)
    assert r["events"] == whole["events"] and r["instructions"] == whole["instructions"]


def test_events_as_csv(events):
    _, r, lines = events
    units = ["occurrences"] * 2 + ["cycles"] * 2 + ["occurrences", "value", "cycles"] + ["occurrences"] * 2
    assert lines == ["event,value,unit"] + [f"{c['event']},{c['value']},{u}" for c, u in zip(r["counters"], units)]


def test_edges(cli):
    page = stat(cli, "-e", "fetch_stalls:edge", "-e", "loads:m,instructions:edge,instructions", "./work")
    assert page.says("^ fetch_stalls:edge +[0-9,]+$")  # without the event itself there is no average length
    assert page.says("^ instructions:edge +[0-9,]+ +[0-9.]+ events each$")


def test_csv_to_standard_output(cli):
    stat(cli, "--quiet", "-e", "loads:m", "--csv", "-", "./work", out="done\nevent,value,unit\nloads:m,0,occurrences\n")


def test_csv_quotes_names(cli):
    stat(cli, "--quiet", "-e", 'loads:m:name=a "b"', "--csv", "-", "./work",
         out='done\nevent,value,unit\n"a ""b""",0,occurrences\n')


def test_a_preload_of_all_bits_is_a_number(cli):
    r = report(cli, "-e", "loads:m:preload=0xffffffffffffffff", "./work")
    assert abs(r["counters"][0]["value"] / 2**64 - 1) < 1e-14 and r["counters"][0]["growth"] == 0


def test_events_are_0_if_nothing_was_measured(cli):
    page = stat(cli, "--skip", "1000000000", "-e", "loads,cycles:u,loads:edge,rob_occupancy", "./work")
    assert page.says("^ rob_occupancy +0$")


def test_events_are_of_all_processes(cli):
    r = report(cli, "-e", "instructions,instructions:marked,loads", "./work", "1000", "50000", status=5)
    n = counted(r)
    assert n["instructions"] == r["instructions"] and n["loads"] == r["events"]["loads"]
    assert n["instructions:marked"] + 10 * 50000 < n["instructions"]


def test_events_are_of_processes_forked_in_what_is_skipped(cli):
    r = report(cli, "--skip", "200000", "-e", "instructions,loads,cycles:edge", "./work", "10", "50000", status=5)
    n = counted(r)
    assert n["instructions"] == r["instructions"] > 0 and n["loads"] == r["events"]["loads"] > 0


# ---- the counters of a core


def test_events_that_fit_the_counters(cli):
    page = stat(cli, "--core", "pentium", "--counters", "-e", "cycles,instructions,loads,stores", "--json", "json", "./work")
    assert page.says(r"^ 4 of 4 events fit the 2 counters of pentium\.$")
    r = cli.json()
    assert all(c["fits"] is True for c in r["counters"])
    assert [c.get("counter") for c in r["counters"]] == [None, None, 0, 1]
    assert counted(r)["loads"] == r["events"]["loads"] > 0


def test_events_that_do_not_fit_have_a_reason(cli):
    page = stat(cli, "--core", "pentium-pro", "--set", "events.calls=7", "--counters", "--csv", "csv", "--json", "json",
                "-e", "cycles,loads,fp_instructions,stores,calls,{branches,branch-misses}", "./work")
    assert page.says("^ 3 of 7 events fit the 2 counters of pentium-pro; not counted:$")
    assert page.says("^ stores +<not counted>$")
    assert page.says("^   stores: all counters are taken$")
    assert page.says("^   branch-misses: its group does not fit$")
    assert page.says("^   calls: it needs counter 7, which the core does not have$")
    counters = cli.json()["counters"]
    assert [c["fits"] for c in counters] == [True] * 3 + [False] * 4
    assert [c["value"] for c in counters][3:] == [None] * 4 and [c.get("counter") for c in counters][1:3] == [1, 0]
    assert "stores,,occurrences" in (cli.work / "csv").read_text().splitlines()


def test_a_core_file_and_settings_bind_events_to_counters(cli):
    (cli.work / "bound.ini").write_text("base = pentium-pro\n[events]\nstores = 1\nfp_instructions = 0,1\n")
    words = ["--core", "bound.ini", "--counters", "-e", "fp_instructions,loads,stores", "./work"]
    assert [c["fits"] for c in report(cli, *words)["counters"]] == [True, True, False]
    r = report(cli, "--set", "events.stores=0,1", "--set", "pmu.counters=3", *words)
    assert all(c["fits"] for c in r["counters"]) and r["params"]["pmu.counters"] == 3


@pytest.mark.parametrize("status, words", [
    pytest.param(0, "-e loads", id="its_counters"),
    pytest.param(1, "-e stores,loads", id="the_first_counter"),
    pytest.param(0, "-e loads:op=load,loads:edge,cycles", id="filtered_counters"),
    pytest.param(0, "--core modern -e loads", id="counters_of_another_core"),
    pytest.param(0, "--core ppc970 -e loads,stores", id="counters_of_bundles"),
])
def test_a_guest_reads(cli, status, words):
    """The guest compares what it reads with the loads that it does: status 0 if these are the same."""
    stat(cli, "--quiet", *words.split(), PROJECT / "build/guest/counters", "loads", status=status, out="")


# ---- mistakes


@pytest.mark.mistake
@pytest.mark.parametrize("column, events, sentence", [
    (8, "cycles,lods:u", "there is no event 'lods': did you mean 'loads'?"),
    (14, "loads:thresh=x", "thresh needs a number such as 100 or 2M"),
    (8, "cycles,{loads,stores", "a brace is not closed"),
])
def test_a_caret_points_at_the_mistake(cli, column, events, sentence):
    result = cli.run("stat", "-e", events, "./work", status=125)
    assert result.err == f"cyclescope: {sentence}\n{events}\n{' ' * (column - 1)}^\n"


@pytest.mark.mistake
@pytest.mark.parametrize("pattern, words", [
    ("-e and --pipeview exclude each other", "stat -e loads --pipeview log ./work"),
    ("--counters needs -e EVENTS", "stat --counters ./work"),
    ("--csv needs -e EVENTS", "stat --csv - ./work"),
    ("--event needs a value", "stat -e"),
    ("'loads:period=5': a period is for samples", "stat -e loads:period=5 ./work"),
    ("'l1i_misses:spec:ip=0-4' does not belong to instructions", "stat -e l1i_misses:spec:ip=0-4 ./work"),
    ("--csv /no/where/csv: No such file", "stat -e loads --csv /no/where/csv ./work"),
    ("--set events.lods=1: there is no event 'lods': did you mean 'loads'", "stat --set events.lods=1 ./work"),
    ("--set events.loads=x: events.loads must be numbers of counters", "stat --set events.loads=x ./work"),
    ("bad.ini:4: there is no event 'loafs'", "stat --core bad.ini ./work"),
    ("--skip needs a number", "stat --skip 99999999T ./work"),
    ("no program given", "stat"),
    ("'?pentuim'?.*", "stat --core pentuim ./work"),
    ("rob.sise", "stat --set rob.sise=3 ./work"),
    ("rob.size", "stat --set rob.size=0 ./work"),
    ("l1d", "stat --set l1d.ways=3 ./work"),
    ("--max-insns needs a number such as 500 or 2M, not 'many'", "stat --max-insns many ./work"),
    ("--warm needs --skip", "stat --warm ./work"),
    ("--pipeview-from needs --pipeview", "stat --pipeview-from 3 ./work"),
    ("--pipeview-insns needs --pipeview", "stat --pipeview-insns 3 ./work"),
    ("--pipeview-insns must be at least 1", "stat --pipeview log --pipeview-insns 0 ./work"),
    ("--json /no/where/json: No such file", "stat --json /no/where/json ./work"),
    ("--pipeview /no/where/log: No such file", "stat --pipeview /no/where/log ./work"),
    (r"there is no \./missing", "stat ./missing"),
    ("no event .* 'mispredicshuns': did you mean 'mispredictions'", "list events mispredicshuns"),
    ("no event .* 'xyzzyxyzzy': .cyclescope list events. (names|lists) all", "list events xyzzyxyzzy"),
    ("list events takes one pattern", "list events a b"),
    ("list cores takes no pattern", "list cores small"),
    ("list needs .*: cores, counts, estimators, events, methods, params", "list"),
    ("no list of 'colors'", "list colors"),
])
def test_a_mistake_gets_a_sentence(cli, pattern, words):
    (cli.work / "bad.ini").write_text("[events]\n\nloads = 0\nloafs = 1\n")
    cli.complains(pattern, *words.split())


@pytest.mark.mistake
@pytest.mark.skipif(not os.access("/dev/full", os.W_OK), reason="there is no /dev/full")
@pytest.mark.parametrize("pattern, words", [
    ("--json /dev/full: No space left", "--json /dev/full"),
    ("--pipeview /dev/full: ", "--pipeview /dev/full"),
    ("--csv /dev/full: ", "-e loads --csv /dev/full"),
])
def test_a_full_disk_is_reported(cli, pattern, words):
    assert cli.run("stat", "--quiet", *words.split(), "./work", status=125).says(pattern)


# ---- list


CORES = sorted(path.stem for path in (PROJECT / "cores").glob("*.ini"))


def first_words(text):
    """The names of a list. Lines that begin with a blank have more of a meaning."""
    return [line.split()[0] for line in text.splitlines() if line[0] != " "]


def list_events(cli, *pattern):
    """What `list events` prints: its heads, its rows (name to columns), and sub-events (name to their names)."""
    heads, rows, bits, name, columns = [], {}, {}, None, []
    for line in cli.run("list", "events", *pattern).out.splitlines():
        if line.startswith("    :"):
            bit, _ = re.fullmatch(r"    :([a-z0-9_-]+) +(\S.*)", line).groups()
            bits.setdefault(name, []).append(bit)
        elif line.startswith("      "):
            columns[-1] = f"{columns[-1]} {line.strip()}".strip()
        elif line.startswith("  "):
            name, *columns = re.fullmatch(r"  ([a-z0-9_]+) +([A-Za-z0-9-]+) +(times|cycles|value) +"
                                          r"(-|retired|spec|retired, spec|spec, retired) +([0-9]+)( +\S.*|)", line).groups()
            rows[name] = columns
        elif line:
            heads.append(line)
    return heads, rows, bits


def test_list_cores(cli):
    assert first_words(cli.run("list", "cores").out) == CORES


def test_list_params(cli):
    assert re.search(r"^rob\.size +[0-9]+\.\.[0-9]+ +128$", cli.run("list", "params").out, re.M)


def test_list_counts_names_what_stat_writes(cli, whole):
    assert sorted(first_words(cli.run("list", "counts").out)) == sorted(whole["events"])


@pytest.mark.smoke
def test_list_events(cli):
    heads, rows, bits = list_events(cli)
    assert len(rows) >= 90 and not bits
    assert heads == ["program characterization", "memory accesses", "pipeline stalls", "branch prediction",
                     "resource utilization"]
    assert rows["l1d_misses"][:3] == ["L1-dcache-load-misses", "times", "retired, spec"]
    assert rows["forwards"][2] == "spec, retired" and rows["rob_occupancy"][1] == "value" and rows["cycles"][2] == "-"


def test_list_one_event(cli):
    _, rows, bits = list_events(cli, "useful_prefetches")
    assert list(rows) == ["useful_prefetches"] and bits["useful_prefetches"][:2] == ["l1i", "l1d"]


def test_list_an_event_as_the_json_names_it(cli):
    assert "l1d_misses" in list_events(cli, "l1d_misses")[1]


def test_list_an_event_with_dashes(cli):
    assert list(list_events(cli, "useful-prefetches")[1]) == ["useful_prefetches"]


def test_list_an_event_by_its_other_name(cli):
    assert list(list_events(cli, "L1-DCACHE-load-misses")[1]) == ["l1d_misses"]


def test_list_shows_the_sub_events_of_a_named_event(cli):
    _, rows, bits = list_events(cli, "branches")
    assert len(rows) > 5 and list(bits) == ["branches"] and "return" in bits["branches"]


def test_list_events_by_a_pattern(cli):
    _, rows, bits = list_events(cli, "l[23]*ccesses")
    assert set(rows) == {"l2_accesses", "l3_accesses"} == set(bits)
    assert bits["l2_accesses"] == ["fetch", "load", "store", "prefetch"]


def test_list_events_of_a_category(cli):
    heads, rows, bits = list_events(cli, "branch PREDICTION")
    assert "mispredictions" in rows and heads == ["branch prediction"] and not bits


def test_list_events_by_meaning(cli):
    assert "rejects" in list_events(cli, "sent back")[1]


@pytest.mark.parametrize("core", CORES)
def test_every_core_runs(cli, core):
    stat(cli, "--quiet", "--core", core, "./work", "100")
