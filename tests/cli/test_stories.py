"""The figures of docs/stories/, each with the bounds in which the page's conclusion stands, and the pages' own commands."""
import re
import shlex
import subprocess
from collections import Counter
from functools import lru_cache

import pytest

from conftest import CROSS, PROJECT


@pytest.fixture(scope="module")
def here(module_cli):
    """Commands in a folder in which the programs have short names, wherever the project is."""
    for name in "sieve", "story_words", "story_skid":
        (module_cli.work / name).symlink_to(PROJECT / "build/workloads" / name)
    return module_cli


@pytest.fixture(scope="module")
def count(here):
    """count(CORE, EVENTS, WORDS): the counters by event, `cycles` among them. The same command runs once."""
    @lru_cache(None)
    def count(core, events, words):
        report = here.report("stat", "--core", core, "-e", events, *shlex.split(words))
        return {"cycles": report["cycles"], **{x["event"]: x["value"] for x in report["counters"]}}
    return count


class Profile:
    """Counts by address and by function of a profile's rows, of all samples or of those of ProfileMe with an outcome."""

    def __init__(self, rows, outcome=None):
        self.at, self.function = Counter(), Counter()
        for row in rows:
            history = row.get("history")
            n = row["count"][0] if outcome is None else history["samples"] * history["outcomes"][outcome]
            if n:
                self.at[int(row["address"], 16)] += n
                self.function[row["function"]] += n
        self.total = sum(self.at.values())

    def top(self):
        """The address with the most, and its share."""
        address, n = self.at.most_common(1)[0]
        return address, n / self.total


@pytest.fixture(scope="module")
def sample(here):
    """sample(CORE, WORDS): the rows of a profile by instruction. The same command runs once."""
    @lru_cache(None)
    def sample(core, words):
        here.run("record", "--quiet", "--core", core, "-o", "prof", *shlex.split(words))
        return here.report("report", "--by", "insn", "prof")["rows"]
    return sample


# ---- sieve.md: strides of a line or more, in which each mark is in a line that no cache has

TRAFFIC = "stores,loads,bus_transactions,bus_transactions:read,writebacks:l1d,writebacks:l2,bus_busy_cycles"
BLIND, TEST = "--skip 26M --warm --max-insns 1M ./sieve blind", "--skip 34M --warm --max-insns 1M ./sieve test"
MHZ = {"pentium": 133, "pentium-pro": 200}


def test_sieve_without_allocation_a_store_is_one_transaction(count):
    c = count("pentium", TRAFFIC, BLIND)
    assert 0.99 < c["bus_transactions"] / c["stores"] < 1.01
    assert c["bus_transactions:read"] == c["writebacks:l1d"] == 0


def test_sieve_with_allocation_a_store_is_eight_transactions(count):
    c = count("pentium-pro", TRAFFIC, BLIND)
    assert 7.95 < c["bus_transactions"] / c["stores"] < 8.05
    assert 0.99 < c["writebacks:l2"] / c["stores"] < 1.01


def test_sieve_the_bus_is_the_limit(count):
    c = count("pentium-pro", TRAFFIC, BLIND)
    assert c["bus_busy_cycles"] > 0.99 * c["cycles"] and 21.9 < c["cycles"] / c["stores"] < 22.1


def test_sieve_single_writes_are_the_limit_of_the_older_core(count):
    c = count("pentium", TRAFFIC, BLIND)
    assert c["bus_busy_cycles"] > 0.99 * c["cycles"] and 8 <= c["cycles"] / c["stores"] < 8.1


def test_sieve_the_newer_core_is_slower_in_time(count):
    older, newer = (count(core, TRAFFIC, BLIND)["cycles"] / mhz for core, mhz in MHZ.items())
    assert newer > 1.7 * older


def test_sieve_what_a_write_costs_decides_which_core_is_ahead(count):
    fixed = count("pentium-pro", TRAFFIC, TEST)
    newer = fixed["cycles"] / fixed["loads"] / MHZ["pentium-pro"]
    times = []
    for cycles in (0, 5, 8, 15):
        c = count("pentium", TRAFFIC, f"--set memory.write_cycles={cycles} {BLIND}")
        times.append(c["cycles"] / c["stores"] / MHZ["pentium"])
    assert times[0] < 0.25 * newer and times[1] < 0.5 * newer < times[2] < newer < times[3]


def test_sieve_testing_removes_write_backs_and_is_faster(count):
    blind, test = (count("pentium-pro", TRAFFIC, words) for words in (BLIND, TEST))
    assert test["writebacks:l2"] < 0.05 * test["loads"] and 4.0 <= test["bus_transactions"] / test["loads"] < 4.25
    assert test["cycles"] / test["loads"] < 0.8 * blind["cycles"] / blind["stores"]


def test_sieve_misses_at_once_are_the_limit_when_it_tests(count):
    c = count("pentium-pro", TRAFFIC, TEST)
    assert 16.75 <= c["cycles"] / c["loads"] < 17.1


def test_sieve_the_newer_core_is_ahead_when_it_tests(count):
    older, newer = (count(core, TRAFFIC, TEST) for core in MHZ)
    assert abs(older["bus_transactions"] / newer["bus_transactions"] - 1) < 0.02
    assert older["cycles"] / MHZ["pentium"] > 2.5 * newer["cycles"] / MHZ["pentium-pro"]


@pytest.mark.parametrize("core, allocate, least, most", [("pentium-pro", "no", 0.99, 1.01), ("pentium", "yes", 7.95, 8.05)])
def test_sieve_the_policy_is_the_reason(count, core, allocate, least, most):
    c = count(core, TRAFFIC, f"--set l1d.allocate={allocate} {BLIND}")
    assert least < c["bus_transactions"] / c["stores"] < most


# ---- narrow-store.md

STALLS = "head_stalls:reject:edge,head_stalls:reject"
WORDS = 12 * 496 * 4  # 12 rounds of 496 keys of 4 words
CORES_OF_WORDS = ["pentium-pro", "eyerman2006"]


@pytest.mark.parametrize("core", CORES_OF_WORDS)
def test_words_each_word_has_a_stall_that_matters(count, core):
    c = count(core, STALLS, "./story_words copy")
    stalls, cycles = c["head_stalls:reject:edge"], c["head_stalls:reject"]
    assert 0 <= stalls - WORDS < 10
    assert cycles > 0.03 * c["cycles"] and 3 < cycles / stalls < 10


@pytest.mark.parametrize("core", CORES_OF_WORDS)
def test_words_the_fix_saves_more_than_the_stalls(count, core):
    copy, shift = (count(core, STALLS, f"./story_words {how}") for how in ("copy", "shift"))
    assert shift["head_stalls:reject"] < 0.001 * shift["cycles"]
    assert copy["cycles"] - shift["cycles"] > copy["head_stalls:reject"]


@pytest.fixture(scope="module")
def oracle(sample):
    return Profile(sample("pentium-pro", "-e head_stalls:reject --oracle ./story_words copy"))


def test_words_the_oracle_names_one_load(oracle):
    address, share = oracle.top()
    assert share > 0.99 and oracle.function["hash_copy"] >= oracle.at[address]


def test_words_interrupts_miss_the_load(sample, oracle):
    profile = Profile(sample("pentium-pro", "-e head_stalls:reject -c 100 ./story_words copy"))
    load, _ = oracle.top()
    assert load not in profile.at and profile.total > 80000
    assert set(profile.function) == {"hash_copy", "count_letters"}
    assert 0.2 < profile.function["hash_copy"] / profile.total < 0.6


def test_words_precise_samples_name_the_load(sample, oracle):
    profile = Profile(sample("pentium-pro", "-e head_stalls:reject -c 100 --precise ./story_words copy"))
    load, _ = oracle.top()
    assert profile.at[load] > 0.98 * profile.total


def test_words_profileme_names_the_load_and_its_latency(sample, oracle):
    rows = sample("pentium-pro", "--profileme -c 250 ./story_words copy")
    profile = Profile(rows, "rejected")
    load, _ = oracle.top()
    address, share = profile.top()
    assert address == load and share > 0.9 and profile.total > 50
    row, = [row for row in rows if int(row["address"], 16) == load]
    assert row["history"]["cycles"]["issue_to_complete"] > 10


def test_words_profileme_finds_none_after_the_fix(sample):
    rows = sample("pentium-pro", "--profileme -c 250 ./story_words shift")
    assert Profile(rows, "rejected").function["hash_shift"] == 0
    assert Profile(rows).function["hash_shift"] > 0


# ---- skid.md

@pytest.fixture(scope="module")
def skid(sample):
    """skid(CORE, WORDS, OUTCOME): the profile with `distances`, the share of samples by distance from the missing load,
    along the loop of 64 instructions."""
    listed = subprocess.check_output([CROSS + "nm", PROJECT / "build/workloads/story_skid"], text=True)
    symbols = {f[2]: int(f[0], 16) for f in map(str.split, listed.splitlines()) if len(f) == 3}
    begin, load = symbols["skid_loop"], symbols["skid_load"]

    def skid(core, words, outcome=None):
        profile = Profile(sample(core, words), outcome)
        profile.distances = {(a - load) // 4 % 64: n / profile.total
                             for a, n in profile.at.items() if begin <= a < begin + 256}
        return profile
    return skid


# The distance is the window, the front end, the fetch buffer and what retires with the load, modulo 64.
@pytest.mark.parametrize("core, distance", [
    ("eyerman2006", (128 + 4 * 5 + 16 + 4) % 64),
    ("pentium-pro", (40 + 3 * 8 + 16 + 3) % 64),
    ("modern", (257 + 8 * 10 + 64 + 8) % 64),  # 257 instructions, which have 249 results
])
def test_skid_in_a_steady_loop_is_one_wrong_place(skid, core, distance):
    profile = skid(core, "-e l1d_misses -c 64 ./story_skid steady")
    assert profile.distances.get(distance, 0) > 0.95


@pytest.mark.parametrize("core", ["eyerman2006", "modern"])
def test_skid_scatters_interrupts(skid, core):
    distances = skid(core, "-e l1d_misses -c 64 ./story_skid tossed").distances
    assert 0 not in distances and len(distances) > 10
    assert max(distances) - min(distances) > 25 and max(distances.values()) < 0.5


@pytest.mark.parametrize("core", ["eyerman2006", "modern"])
@pytest.mark.parametrize("options, outcome", [
    ("-e l1d_misses -c 64 --precise", None),
    ("--profileme -c 1000", "l1d_miss"),
    ("-e l1d_misses --oracle", None),
])
def test_skid_is_none_by_other_means(skid, core, options, outcome):
    profile = skid(core, f"{options} ./story_skid tossed", outcome)
    assert profile.distances.keys() == {0} and profile.distances[0] > 0.95
    assert profile.total > 50


# ---- the pages' own commands

def commands_of(page):
    """Every command of a page, with the lines that are shown below it."""
    found = []
    for block in re.findall(r"^```\n(\$ .*?)^```$", page.read_text(), re.M | re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, *shown = part.replace("\\\n", "").splitlines()
            while command.count("'") % 2:
                command += "\n" + shown.pop(0)
            found.append((command, shown))
    return found


def counts_in(lines):
    """Counts by event in what `stat` prints."""
    rows = (re.match(r" ([a-z][a-z0-9_:]*) +([0-9,]+)(  |$)", line) for line in lines)
    return {row[1]: int(row[2].replace(",", "")) for row in rows if row}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sieve", "narrow-store", "skid"])
def test_the_commands_of_a_page_run_and_count_what_it_shows(cli, name):
    """Counts agree within 2 %: environment and path change the start of a program, and draw other samples."""
    (cli.work / "build").mkdir()
    (cli.work / "build/cyclescope").symlink_to(cli.program)
    (cli.work / "build/workloads").symlink_to(PROJECT / "build/workloads")
    commands = commands_of(PROJECT / f"docs/stories/{name}.md")
    assert len(commands) > 5
    for command, shown in commands:
        result = cli.execute(["bash", "-c", command])
        assert result.status == 0, (command, result.err)
        if " stat " in command:
            wanted, found = counts_in(shown), counts_in(result.err.splitlines())
            assert wanted
            for event, count in wanted.items():
                assert abs(found[event] - count) <= max(10, 0.02 * count), (command, event)
