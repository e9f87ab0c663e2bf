"""`cyclescope record` as a user meets it, and what its profiles say: against `stat`, against the oracle, and on guests whose
samples are known; and damaged profiles."""
import os
import random
import re
import shutil
import signal
import time

import pytest

from conftest import PATIENCE_SECONDS, PROJECT
from screen import Terminal

# One load, of a line that was never touched, and no other; forty instructions without events.
ONE_LOAD = r"""
__asm__(".globl _start, the_load\n"
        "_start: lla a0, lines; li a1, 4000\n"
        "turn: mv a3, a4\n"
        "the_load: ld a2, 0(a0)\n"
        ".rept 10\n addi t0, t0, 1; addi t1, t1, 1; addi t2, t2, 1; addi t3, t3, 1\n .endr\n"
        "addi a0, a0, 64; addi a1, a1, -1; bnez a1, turn; li a0, 0; li a7, 93; ecall\n"
        ".bss; .balign 64; .globl lines; .type lines, @object; .size lines, 4000 * 64; lines: .skip 4000 * 64; .text");
"""
ENDLESS = "int main(void) { for (volatile long i = 0;; i++); }"
# Recursion of seven levels, and a longjmp out of two functions.
CHAINS = r"""
#include <setjmp.h>
#define FUNCTION __attribute__((noinline, noclone, noipa)) void
static jmp_buf there;
volatile int sum;
FUNCTION leaf(void) { for (int i = 0; i < 50; i++) sum += i; }
FUNCTION down(int n) { if (n > 1) down(n - 1); else leaf(); sum++; }
FUNCTION inner(void) { sum++; longjmp(there, 1); }
FUNCTION outer(void) { inner(); sum++; }
FUNCTION after(void) { for (int i = 0; i < 50; i++) sum += i; }
int main(void)
{
    down(7);
    if (setjmp(there) == 0)
        outer();
    else
        after();
    return 0;
}
"""


@pytest.fixture
def cli(cli, guests, work, silent):
    """Commands in a folder with the guests, so that the lengths of their paths are the same for all."""
    for guest in work, silent, guests("one", ONE_LOAD, "-static", "-nostdlib"):
        shutil.copy(guest, cli.work)
    return cli


def shown(cli, *options):
    """What `report` finds in the profile."""
    return cli.report("report", *options, "prof")


def record(cli, *words, status=3, by=None):
    """Records, and gives what `report` finds. The guest `work` ends with 3."""
    cli.run("record", "--quiet", "-o", "prof", *words, status=status)
    return shown(cli, *(["--by", by] if by else []))


def samples_at(r, event=0):
    return {x["address"]: x["samples"][event] for x in r["rows"] if x["samples"][event]}


def counts_at(r, event=0):
    return {x["address"]: x["count"][event] for x in r["rows"] if x["count"][event]}


def apart(x, y):
    return sum(abs(x.get(a, 0) - y.get(a, 0)) for a in {**x, **y})


# ---- the command

@pytest.mark.smoke
def test_status_and_output_pass_through(cli):
    result = cli.run("record", "-o", "prof", "./work", status=3)
    assert result.out == "done\n" and result.says("prof: [0-9]+ samples of [0-9]+ instructions in [0-9]+ cycles$")


def test_quiet_says_nothing(cli):
    result = cli.run("record", "--quiet", "-o", "prof", "./work", status=3)
    assert (result.out, result.err) == ("done\n", "")


def test_a_guest_that_dies_leaves_a_whole_profile(cli, abort):
    result = cli.run("record", "-o", "prof", abort, status=134)
    assert result.out == "" and result.says("^cyclescope: .*/abort was killed by SIGABRT$")
    r = shown(cli)
    assert r["complete"] is True and r["info"]["mode"] == "interrupt"


def test_the_run_is_cut_at_the_instruction(cli):
    r = record(cli, "--max-insns", 5000, "./work", 1000000, status=0)
    assert r["complete"] is True and r["info"]["instructions"] == 5000


def test_behind_the_end_nothing_is_recorded(cli):
    r = record(cli, "--skip", 1000000000, "./work")
    assert r["complete"] is True and r["samples"] == 0 and r["events"][0]["happened"] == 0
    assert r["info"]["instructions"] == 0


def test_only_the_part_that_is_measured_is_recorded(cli):
    part = ("--skip", 40000, "--warmup", 3000, "--max-insns", 20000)
    r = record(cli, *part, "--oracle", "./work", 1000000, status=0)
    event = r["events"][0]
    assert event["count"] == event["happened"] == cli.report("stat", *part, "./work", 1000000)["cycles"]
    assert r["info"]["instructions"] == 20000


@pytest.mark.parametrize("mode", ["--precise", "--profileme", "--oracle", "--truth"])
def test_a_guest_that_forks_leaves_one_whole_profile(cli, mode):
    r = record(cli, mode, "./work", 1000, 3000, status=5)
    assert r["complete"] is True and r["samples"] > 0


def test_forked_processes_are_not_recorded(cli):
    insns = lambda branches: record(cli, "--oracle", "./work", 1000, branches, status=5)["info"]["instructions"]
    assert insns(3000) < insns("0000") + 2000


def test_threads_are_recorded(cli):
    r = record(cli, "--precise", PROJECT / "build/guest/thread_basic", status=0)
    assert r["complete"] is True and r["samples"] > 0


# ---- where it goes

def test_a_program_that_is_not_there_leaves_the_profile_before(cli):
    record(cli, "./silent", status=0)
    before = (cli.work / "prof").read_bytes()
    cli.complains("no-such-program", "record", "-o", "prof", "./no-such-program")
    assert (cli.work / "prof").read_bytes() == before


def test_a_profile_goes_through_pipes(cli):
    words = "'$0' record --quiet -o - ./silent | '$0' report --json json --quiet -".replace("$0", cli.program)
    assert cli.execute(["bash", "-c", words]).status == 0
    r = cli.json()
    assert r["complete"] is True and r["samples"] > 0


@pytest.mark.mistake
def test_a_profile_among_the_output_of_the_program_is_refused(cli):
    with open(cli.work / "mixed", "wb") as mixed:
        words = cli.command("record", "--quiet", "-o", "-", "./work")
        assert cli.spawn(words, stdout=mixed).wait(PATIENCE_SECONDS) == 3
    cli.complains(".", "report", "mixed")


@pytest.mark.mistake
def test_a_terminal_gets_no_profile(cli):
    with Terminal(cli, 24, 80, cli.command("record", "-o", "-", "./silent")) as t:
        assert t.end() == 125
    assert b"a profile is binary: redirect standard output" in t.raw


def test_a_recording_that_is_killed_is_used(cli, guests):
    """It has too few samples for a block."""
    endless = guests("endless", ENDLESS, "-static")
    process = cli.spawn(cli.command("record", "--quiet", "-c", 100000, "-o", "prof", endless))
    patience = time.monotonic() + PATIENCE_SECONDS
    try:
        samples = 0
        while samples < 3:
            assert process.poll() is None and time.monotonic() < patience
            time.sleep(0.3)
            written = [*cli.work.glob("prof.*.partial"), "prof"][0]
            tried = cli.run("report", "--quiet", "--json", "json", written, status=None)
            samples = cli.json()["samples"] if tried.status == 0 else 0
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    (partial,) = cli.work.glob("prof.*.partial")
    partial.rename(cli.work / "prof")
    r = shown(cli)
    assert r["complete"] is False and r["samples"] >= 3 and r["info"]["core"] == "eyerman2006"
    assert "The recording was cut off" in cli.run("report", "prof").out


@pytest.mark.mistake
@pytest.mark.parametrize("pattern, words", [
    ("give one", "--precise --oracle"),
    ("needs no -e", "--profileme -e loads"),
    ("--pairs needs --profileme", "--pairs 4"),
    ("at most 1000000", "--profileme --pairs 1000001"),
    ("give one", "-c 10 -F 10"),
    ("takes no -c", "--oracle -c 10"),
    ("leave --data out", "--data --profileme"),
    ("--truth is for samples by counters", "--oracle --truth"),
    ("--truth is for samples by counters", "--profileme --truth"),
    ("use -c with l1d_misses", "-F 1000 -e l1d_misses"),
    ("use -c with --profileme", "-F 1000 --profileme"),
    ("more than half of the core", "-F 1000000000000"),
    ("branch-misses has no data address", "--data -e branch-misses"),
    ("is too much", "-c 18446744073709551615"),
    ("is too much", "-e cycles:period=0xffffffffffffffff"),
    ("profile cannot be written: No space left on device", "--quiet -o /dev/full"),
    ("--output .*/none/prof: No such file", "-o ./none/prof"),
])
def test_a_mistake_gets_a_sentence(cli, pattern, words):
    cli.complains(pattern, "record", "-o", "prof", *words.split(), "./silent")


# ---- periods

def test_a_frequency_is_of_the_clock(cli):
    r = record(cli, "-F", "1M", "./work")
    assert r["events"][0]["period"] == int(cli.report("stat", "./work", status=3)["params"]["clock.mhz"]) > 1


def test_jitter_changes_samples_and_a_seed_repeats_them(cli):
    sampled = lambda *words: record(cli, "-c", 100, *words, "./work", by="insn")
    fixed, jitter, again, other = sampled("--no-jitter"), sampled(), sampled(), sampled("--sample-seed", 2)
    assert fixed["events"][0]["samples"] == fixed["events"][0]["happened"] // 100
    assert samples_at(fixed) != samples_at(jitter) == samples_at(again) != samples_at(other)
    assert abs(jitter["events"][0]["count"] / jitter["events"][0]["happened"] - 1) < 0.05 and len(samples_at(jitter)) > 20


def test_a_huge_period_samples_nothing(cli):
    r = record(cli, "-c", 1000000000000000000, "./work")
    assert r["samples"] == 0 and r["events"][0]["happened"] > 0


def test_an_event_given_twice_is_sampled_twice(cli):
    r = record(cli, "-e", "cycles,cycles", "-c", 100, "./work", by="insn")
    first, second = r["events"]
    assert first["happened"] == second["happened"] and samples_at(r, 0) != samples_at(r, 1) and second["samples"] > 0


def test_many_events_are_sampled_at_once(cli):
    many = "cycles,loads,stores,branches,l1d_misses,branch-misses,l1i_misses,taken_branches,calls,returns,fetched,issued"
    events = record(cli, "-e", many, "-c", 50, "./work")["events"]
    counters = cli.report("stat", "-e", many, "./work", status=3)["counters"]
    assert len(events) == 12 and [x["happened"] for x in events] == [c["value"] for c in counters]
    assert all(abs(x["count"] - x["happened"]) <= 0.05 * x["happened"] + 200 for x in events)


# ---- precision

@pytest.mark.parametrize("mode", ["interrupt", "precise"])
@pytest.mark.parametrize("event", ["cycles", "l1d_misses", "branch-misses", "stores"])
def test_truth_changes_no_sample_and_tells_which_skid(cli, mode, event):
    """Samples are the same with watched counts as with a callback for each event. Precise samples of cycles may differ by
    one, which was announced for a cycle that did not come."""
    words = (*(["--precise"] if mode == "precise" else []), "-e", event, "-c", 7, "./work", 3000)
    plain, with_truth = record(cli, *words, by="insn"), record(cli, "--truth", *words, by="insn")
    e = with_truth["events"][0]
    assert plain["events"][0]["truth"] is None and e["truth"]["samples"] == e["samples"] > 50
    assert with_truth["info"]["mode"] == mode
    assert apart(samples_at(with_truth), samples_at(plain)) in ([0, 1] if e["cycles"] and mode == "precise" else [0])
    if mode == "precise":
        assert e["truth"]["other_instruction"] == 0
    else:
        assert 2 * e["truth"]["other_instruction"] > e["samples"]


@pytest.mark.parametrize("event", ["l1d_misses", "branch-misses", "loads", "taken_branches", "l1i_misses"])
def test_a_precise_sample_of_each_event_is_the_oracle(cli, event):
    precise = record(cli, "--precise", "-e", event, "-c", 1, "./work", 3000, by="insn")
    oracle = record(cli, "--oracle", "-e", event, "./work", 3000, by="insn")
    assert counts_at(oracle) == counts_at(precise)
    assert sum(counts_at(oracle).values()) == oracle["events"][0]["happened"] > 50


def test_a_precise_sample_of_each_cycle_is_the_oracle(cli):
    precise = record(cli, "--precise", "-c", 1, "./work", 3000, by="insn")
    oracle = record(cli, "--oracle", "./work", 3000, by="insn")
    assert apart(counts_at(oracle), counts_at(precise)) <= 3 and sum(counts_at(oracle).values()) > 50000


def test_precise_samples_of_events_that_cannot_be_watched(cli):
    r = record(cli, "--precise", "-e", "instructions,l2_accesses,head_stalls", "-c", 11, "./work", 3000)
    assert all(abs(x["count"] - x["happened"]) <= 0.05 * x["happened"] + 50 for x in r["events"])


# ---- one load that misses

def test_precise_samples_lie_on_the_load_and_interrupts_elsewhere(cli):
    rows = record(cli, "--precise", "-e", "l1d_misses", "-c", 10, "./one", status=0, by="insn")["rows"]
    assert len(rows) == 1 and rows[0]["function"] == "the_load" and rows[0]["address"] == rows[0]["start"]
    assert rows[0]["samples"][0] > 300
    skidded = record(cli, "-e", "l1d_misses", "-c", 10, "--truth", "./one", status=0, by="insn")
    e = skidded["events"][0]
    assert e["truth"]["other_instruction"] > 0.9 * e["samples"]
    assert samples_at(skidded).get(rows[0]["address"], 0) < 0.1 * e["samples"]


def test_profileme_names_the_load_and_counts_what_was_fetched(cli):
    r = record(cli, "--profileme", "-c", 401, "./one", status=0, by="insn")
    missed = [x for x in r["rows"] if x["history"]["retired_samples"]["l1d_miss"]]
    assert [(x["function"], x["address"] == x["start"]) for x in missed] == [("the_load", True)]
    assert abs(r["events"][0]["count"] / r["events"][0]["happened"] - 1) < 0.02


# ---- data

def test_data_is_that_of_the_load(cli):
    r = record(cli, "--data", "-c", 10, "./one", status=0, by="data")
    assert r["events"][0]["name"] == "l1d_misses" and len(r["rows"]) > 300
    for x in r["rows"]:
        assert x["object"] == "lines" and x["stores"] == 0 and x["l1d_misses"] == x["samples"][0]
        assert [i["function"] for i in x["instructions"]] == ["the_load"]


def test_stores_have_addresses(cli):
    r = record(cli, "--data", "-e", "stores", "-c", 10, "./work", by="data")
    assert len(r["rows"]) > 10 and all(x["stores"] == sum(x["samples"]) for x in r["rows"])
    assert sum(sum(x["samples"]) for x in r["rows"]) == r["events"][0]["samples"]


def test_the_oracle_tells_data_too(cli):
    rows = record(cli, "--data", "--oracle", "-e", "loads", "./one", status=0, by="data")["rows"]
    assert len(rows) == 4000 and all(x["count"] == [1] for x in rows)


# ---- pairs

def test_pairs_tell_wasted_slots(cli):
    r = record(cli, "--profileme", "--pairs", 8, "-c", 100, "./work", 3000, by="insn")
    assert sum(x["history"]["pairs"] for x in r["rows"]) == r["samples"] > 100
    assert any((x["history"]["wasted_issue_slots"] or 0) > 0 for x in r["rows"])


def test_pairs_follow_one_another(cli):
    r = record(cli, "--profileme", "--pairs", 8, "-c", 1, "./silent", status=0)
    assert r["complete"] is True and r["samples"] > 100


# ---- the oracle and `stat`

@pytest.mark.parametrize("guest", ["./work", "./one", "guest/thread_basic", "guest/code_changes", "workloads/memory_bound",
                                   "workloads/branch_bound"])
def test_the_oracle_is_stat_and_its_rows_sum_to_the_total(cli, guest):
    listed = re.findall("^  ([a-z][a-z0-9_]*) ", cli.run("list", "events").out, re.M)
    events = ",".join([*listed, "l1d_misses:spec", "loads:edge", "instructions:thresh=2"])
    words = ("--max-insns", 60000, "-e", events, guest if guest[0] == "." else PROJECT / "build" / guest)
    r = record(cli, "--oracle", *words, status=None)
    counters = cli.report("stat", *words, status=None)["counters"]
    e = r["events"]
    assert len(e) == len(listed) + 3 > 90
    assert [x["count"] for x in e] == [c["value"] for c in counters] == [x["happened"] for x in e]
    for by in "function", "line", "insn", "module":
        rows = shown(cli, "--by", by)["rows"]
        assert [sum(x["count"][i] for x in rows) for i in range(len(e))] == [x["count"] for x in e], by
    tree = shown(cli, "--by", "tree")["rows"]
    assert sum(x["count"] for x in tree) == e[0]["count"] == sum(x["total"] for x in tree if x["parent"] == 0)


# ---- call chains

def test_call_chains_follow_recursion_and_longjmp(cli, guests):
    chains = guests("chains", CHAINS, "-static", "-fno-inline", "-fno-optimize-sibling-calls")
    tree = record(cli, "--oracle", "-e", "instructions", chains, status=0, by="tree")
    cli.run("report", "--quiet", "--folded", "folded", "prof")
    folded = (cli.work / "folded").read_text()
    has = lambda pattern: re.search(pattern, folded, re.M) is not None
    assert has("main;down;down;down;down;down;down;down;leaf [0-9]+$") and not has("(down;){8}")
    assert has("main;outer;inner;.*longjmp")
    assert has("main;after [0-9]+$") and not has("outer;(.*;)?after|inner;(.*;)?after")
    depths = sorted(x["depth"] for x in tree["rows"] if x["function"] == "down")
    assert depths == list(range(depths[0], depths[0] + 7))


# ---- damaged profiles

class Damage:
    """Ways to damage a profile. What is cut or lacks a piece may be used as far as it goes; all else is refused."""

    def __init__(self, seed):
        self.chance = random.Random(seed)

    def cut(self, data):
        return data[:self.chance.randrange(len(data))]

    def flip(self, data):
        i = self.chance.randrange(len(data))
        return data[:i] + bytes([data[i] ^ 1 << self.chance.randrange(8)]) + data[i + 1:]

    def remove(self, data):
        i = self.chance.randrange(len(data))
        return data[:i] + data[i + 1 + self.chance.randrange(200):]

    def insert(self, data):
        i = self.chance.randrange(len(data))
        return data[:i] + self.chance.randbytes(1 + self.chance.randrange(200)) + data[i:]

    def wipe(self, data):
        i, n = self.chance.randrange(len(data)), 1 + self.chance.randrange(64)
        return data[:i] + bytes(255 - x for x in data[i:i + n]) + data[i + n:]

    def swap(self, data):
        i, j = sorted(self.chance.sample(range(16, len(data)), 2))
        return data[:16] + data[j:] + data[i:j] + data[16:i]

    def foreign(self, data):
        noise = self.chance.randbytes
        return self.chance.choice([b"", b"\0", b"\x7fELF" + noise(500), b"PERFILE2" + noise(500), noise(3000), data[:16],
                                   data[:7], data[:8] + b"\2\0\0\0" + data[12:]])


@pytest.mark.parametrize("copies", [pytest.param(28, marks=pytest.mark.mistake), 300])
def test_a_damaged_profile_gets_a_sentence(cli, copies):
    cli.run("record", "--quiet", "-o", "prof", "--profileme", "--pairs", 4, "-c", 40, "./work", 60000, status=3)
    good, damage, used, refused = (cli.work / "prof").read_bytes(), Damage(7), 0, 0
    kinds = [damage.cut, damage.flip, damage.remove, damage.insert, damage.wipe, damage.swap, damage.foreign]
    for i in range(copies):
        kind = kinds[i % 7]
        (cli.work / "bad").write_bytes(kind(good))
        command = [["report", "--by", ("function", "insn", "tree", "data", "line")[i % 5]], ["annotate"]][i % 2]
        result = cli.run(*command, "bad", status=None)
        was_cut = kind in (damage.cut, damage.remove) and "was cut off" in result.out
        said = f"{kind.__name__}, copy {i}, {command}: status {result.status}: {result.err[:300]!r}"
        if result.status == 0:
            used += 1
            assert was_cut and result.err == "", said
        else:
            refused += 1
            assert result.status == 125 and re.fullmatch("cyclescope: .*\n", result.err), said
            assert result.out == "" or was_cut, said
    assert used > 0 and refused > 0.66 * copies


# ---- profiles without a row that reaches the limit

FLAT = "".join(f"__attribute__((noinline)) void f{i}(void) {{ for (volatile int i = 0; i < 500; i++) a[{i} * 64 + i % 8]++; }}\n"
               for i in range(12))
FLAT = "static volatile int a[1024];\n" + FLAT + "int main(void) { for (int i = 0; i < 20; i++) {" + "".join(
    f"f{i}();" for i in range(12)) + "} return 0; }"


@pytest.mark.parametrize("by", ["function", "line", "insn", "tree", "data"])
def test_a_table_is_never_empty_because_of_the_limit(cli, guests, by):
    flat = guests("flat", FLAT, "-static", "-g")
    words = ["--data", "-e", "loads"] if by == "data" else []
    cli.run("record", "--quiet", "-c", "50", *words, "-o", "prof", flat)
    page = cli.run("report", "--limit", "99", "--by", by, "prof").out
    table = page[page.rindex("±"):]
    shown = [line for line in table.splitlines()[1:] if re.match(r" \S.* [0-9]+\.[0-9]+ ", line)]
    rows = len([line for line in shown if " more]" not in line])
    assert rows >= 1 if by == "tree" else rows == 10, page
    assert by == "tree" or " more]" in table


SPREAD = """
#include <pthread.h>
__attribute__((noinline)) static void work(void) { for (volatile int i = 0; i < 30000; i++); }
static void *other(void *x) { work(); return x; }
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    work();
    return pthread_join(thread, 0);
}
"""


def test_a_tree_whose_roots_are_below_the_limit_is_not_empty(cli, guests):
    cli.run("record", "--quiet", "-c", "50", "-o", "prof", guests("spread", SPREAD, "-static", "-pthread"))
    tree = cli.run("report", "--limit", "99", "--by", "tree", "prof").out
    assert re.search(r"^ (_start|__thread_start) +[1-9]", tree, re.M) and "[1 more]" in tree, tree


def test_annotate_all_is_never_empty_because_of_the_limit(cli, guests):
    cli.run("record", "--quiet", "-c", "50", "-o", "prof", guests("flat", FLAT, "-static", "-g"))
    assert re.search(r"\bf[0-9]+\b", cli.run("annotate", "--all", "--limit", "99", "prof").out)
