"""Counts by turns and how they are validated: `validate counters`, `stalls` and `overhead`, what they say, write and
refuse; and a workload that beats with the round, on which a fixed order of turns fails."""
import csv
import math
import re
import shutil
import xml.etree.ElementTree as ElementTree

import pytest

from conftest import PROJECT

ESTIMATORS = "linear", "regression"


@pytest.fixture(scope="module")
def mix(module_cli):
    """Puts workloads/mix into the folder, so that the length of its path is always the same."""
    shutil.copy(PROJECT / "build/workloads/mix", module_cli.work)
    return "./mix"


def validate(cli, *words):
    """A report of `validate` with its page (a Result) as `page` and the rows of its CSV as `rows`."""
    what, *rest = words
    page = cli.run("validate", what, "--json", "json", "--csv", "csv", *rest)
    report = cli.json()
    report["page"] = page
    with open(cli.work / "csv") as f:
        report["rows"] = list(csv.DictReader(f))
    return report


def by_event(report):
    return {c["event"]: c for c in report["counters"]}


def estimates(report):
    return [(c, c[w]) for c in report["counters"] for w in ESTIMATORS]


# ---- counters

COUNTERS = "counters --slice 20K --seeds 4 --max-insns 3M".split()


@pytest.fixture(scope="module")
def counters(module_cli, mix):
    return validate(module_cli, *COUNTERS, mix)


def test_counters_print_the_plan_and_the_errors(counters):
    page = counters["page"]
    assert page.says(r"^ l1d_misses +[0-9,]+( +[0-9.]+){3}$")
    assert page.says("Replayed in 4 other orders")
    assert page.says("9 events in 2 groups; slices of 20,000 cycles, rounds of 200,000")


def test_counters_are_of_all_events_and_full_rounds(counters):
    assert (counters["command"], counters["core"], len(counters["counters"])) == ("validate counters", "ppc970", 9)
    assert counters["multiplexing"]["rounds"] == counters["multiplexing"]["user_cycles"] // 200000


def test_counters_of_instructions_take_turns_and_know_the_truth(counters):
    instructions = by_event(counters)["instructions"]
    assert instructions["linear"]["error_percent"] > 0
    assert instructions["true_value"] == 3000000 <= counters["instructions"]


def test_rare_events_have_no_distance(counters):
    for c, estimate in estimates(counters):
        assert c["rare"] == (c["true_value"] * 10000 < counters["multiplexing"]["user_cycles"] or c["true_value"] == 0)
        assert (estimate["distance"] is None) == c["rare"]


def test_intervals_are_held_against_the_truth(counters):
    for c, estimate in estimates(counters):
        high = math.inf if estimate["high"] is None else estimate["high"]
        assert estimate["holds"] == (estimate["low"] - 0.5 <= c["true_value"] <= high + 0.5)
        assert 0 <= estimate["replayed"]["held"] <= 4


def test_the_csv_of_counters_has_the_truth(counters):
    assert len(counters["rows"]) == 18
    assert all(int(row["true_value"]) == by_event(counters)[row["event"]]["true_value"] for row in counters["rows"])


def test_rounds_have_the_distance(counters):
    """The rounds in JSON are those that the distance is computed from."""
    for c, w in ((c, w) for c in counters["counters"] for w in ESTIMATORS):
        truth, estimate = c["rounds"]["true"], c["rounds"][w]
        assert len(truth) == len(estimate) == counters["multiplexing"]["rounds"]
        if c["rare"]:
            continue
        estimate = [max(e, 0.5 if t else 0) for t, e in zip(truth, estimate)]
        shares = [(t / sum(truth), e / sum(estimate)) for t, e in zip(truth, estimate)]
        assert math.isclose(sum(p * math.log(p / q) for p, q in shares if p), c[w]["distance"], abs_tol=1e-9)


def test_the_picture_shows_estimates_and_full_counts_of_each_round(module_cli, mix):
    report = validate(module_cli, "counters", "-e", "loads,mispredictions", "--slice", "20K", "--max-insns", "3M", "--svg",
                      "svg", mix)
    rounds, cycles = report["multiplexing"]["rounds"], 200000
    svg = ElementTree.parse(module_cli.work / "svg").getroot()
    paths = {name: [e.get("d") for e in svg.iter("{http://www.w3.org/2000/svg}path") if e.get("class") == name]
             for name in ("true", "estimate", "linear", "band")}
    ticks = [(float(e.get("x")), float(e.get("y")), e.text) for e in svg.iter("{http://www.w3.org/2000/svg}text")
             if e.get("class") == "tick"]
    assert any(e.text == "rounds of 200,000 cycles" for e in svg.iter("{http://www.w3.org/2000/svg}text"))
    rows = [(y, float(text)) for x, y, text in ticks if x < 72]  # of the vertical axes, from the lowest tick up
    starts = [i for i, (_, tick) in enumerate(rows) if tick == 0]
    axes = [rows[i:j] for i, j in zip(starts, [*starts[1:], len(rows)])]
    assert len(axes) == 2 and all(len(found) == 2 for found in paths.values())
    for i, (counter, axis) in enumerate(zip(report["counters"], axes)):
        (bottom, _), (top, most) = axis[0], axis[-1]
        for name, key in (("true", "true"), ("estimate", "regression"), ("linear", "linear")):
            points = re.findall(r"[ML]([0-9.]+) ([0-9.]+)H([0-9.]+)", paths[name][i])
            assert len(points) == rounds and float(points[-1][2]) == 72 + 840
            for (x, y, _), count in zip(points, counter["rounds"][key]):
                shown = (bottom - 0.35 * 12 - float(y)) / (bottom - top) * most
                assert abs(shown - min(most, count * 1000 / cycles)) < 0.01 * most
        assert paths["band"][i].count("H") == 2 * rounds


def test_counters_repeat(module_cli, mix, counters):
    again = validate(module_cli, *COUNTERS, mix)
    assert (again["counters"], again["cycles"]) == (counters["counters"], counters["cycles"])


def test_another_order_gives_other_estimates_of_the_same_truth(module_cli, mix, counters):
    r = validate(module_cli, "counters", "--slice", "20K", "--order-seed", 7, "--max-insns", "3M", "--quiet", mix)
    assert r["page"].err == ""
    assert r["counters"] != counters["counters"] and "replayed" not in r["counters"][0]["linear"]
    assert by_event(r)["loads"]["true_value"] == by_event(counters)["loads"]["true_value"]


def test_estimates_are_exact_if_all_events_fit_the_counters(module_cli, mix):
    r = validate(module_cli, *"counters -e loads,stores --ratio 0 --slice 20K --max-insns 1M".split(), mix)
    for _, estimate in estimates(r):
        assert estimate["distance"] < 1e-9 and estimate["error_percent"] < 1e-9 and estimate["holds"]


def test_a_sweep_goes_through_slices_and_ratios(module_cli, mix):
    r = validate(module_cli, *"counters -e loads,stores --ratio 2 --sweep --max-insns 3M".split(), mix)
    assert r["page"].says("Distances of the linear estimator at other slices and ratios")
    assert [(p["slice"], p["ratio"]) for p in r["sweep"]] == \
        [(n, 2) for n in (20000, 40000, 100000, 200000, 500000)] + [(500000, n) for n in (5, 10, 20, 40)]
    for p in r["sweep"]:
        assert abs(p["rounds"] - r["multiplexing"]["user_cycles"] / (p["slice"] * p["ratio"])) < 1.5
        assert all((d["linear"] is None) == (p["rounds"] < 2) for d in p["distance"])


# ---- stalls

@pytest.fixture(scope="module")
def stalls(module_cli, mix):
    return validate(module_cli, *"stalls --interval 50K --max-insns 1M".split(), mix)


def test_stalls_print_their_sources(stalls):
    assert stalls["page"].says(r"^ mispredictions +\| +[0-9.]+ +[0-9.]+ +[0-9.]+ \|")
    assert len(stalls["stalls"]) == 8 and [row["source"] for row in stalls["rows"]] == list(stalls["stalls"])


def test_stalls_compare_sources_where_they_occur(stalls):
    assert stalls["intervals"] == 20
    assert stalls["stalls"]["fpu"]["kl_single"] is None and 0 <= stalls["stalls"]["branch"]["kl_single"] < 0.2


def test_simpler_cores_are_slower(stalls):
    cpi = stalls["cpi_by_run"]
    assert cpi["real"] < cpi["single"] < cpi["inorder"] and cpi["single"] > 1 and cpi["inorder"] > 2


@pytest.mark.parametrize("mode", ["single", "inorder"])
def test_stalls_measure_the_simpler_core(module_cli, mix, stalls, mode):
    r = module_cli.report("stat", "--core", f"ppc970-{mode}", "--max-insns", "1M", mix)
    assert abs(r["cpi"] - stalls["cpi_by_run"][mode]) < 1e-3


# ---- overhead

def test_overhead_grows_with_the_frequency(module_cli, mix):
    r = validate(module_cli, *"overhead --skip 20M --max-insns 1M".split(), mix)
    overhead = r["overhead"]
    assert r["page"].says("^ +1000 +1,800 ") and len(r["rows"]) == 7
    assert [o["khz"] for o in overhead] == [1, 2, 5, 20, 100, 200, 1000]
    assert [o["slice"] for o in overhead] == [1800000, 900000, 360000, 90000, 18000, 9000, 1800]
    assert all(a["percent"] < b["percent"] for a, b in zip(overhead[3:], overhead[4:]))
    assert all(o["percent"] < o["paper_percent"] for o in overhead if o["khz"] >= 20)
    assert all(abs(o["samples"] - r["cycles"] / o["slice"]) < 2 + 0.02 * o["samples"] for o in overhead)


# ---- the program under validation

@pytest.fixture
def named_stalls(cli, work):
    """A program whose name is that of a kind of validation."""
    shutil.copy(work, cli.work / "stalls")
    return "./stalls"


def test_a_program_may_have_the_name_of_a_validation(cli, named_stalls):
    assert cli.run("validate", "--quiet", "--jobs", 2, named_stalls, status=3).out == "done\n"


@pytest.mark.smoke
@pytest.mark.parametrize("words", ["stalls --interval 1K --jobs 2", "counters --slice 2K", "overhead"])
def test_output_and_status_are_those_of_one_run(cli, named_stalls, words):
    assert cli.run("validate", *words.split(), "--quiet", named_stalls, status=3).out == "done\n"


@pytest.mark.mistake
@pytest.mark.parametrize("pattern, words", [
    ("a round of 200000 cycles has 1 slices", "counters --ratio 1 ./work"),
    ("--ratio must be at most", "counters --ratio 1000 ./work"),
    ("nowhere", "counters ./nowhere"),
    ("--interval must be at least 1", "stalls --interval 0 ./work"),
    ("machine mode has room for one", "overhead --firmware x ./work"),
])
def test_a_mistake_gets_a_sentence(cli, work, pattern, words):
    shutil.copy(work, cli.work)
    cli.complains(pattern, "validate", *words.split())


# ---- the beat: a round of four slices is a period of the workload

def beat(cli, order, seed):
    """Estimates of four events, two at a time."""
    shutil.copy(PROJECT / "build/workloads/beat", cli.work)
    return cli.report("stat", "--core", "ppc970", "--set", "pmu.counters=2", "--multiplex", "--truth", "--slice", "50K",
                      "--order", order, "--order-seed", seed, "-e", "loads,stores,integer_instructions:div,"
                      "integer_instructions:mul", "./beat", 200000, 60)["counters"]


def missed(c):
    return not c["low"] - 0.5 <= c["true_value"] <= c["high"] + 0.5


def error(c):
    return abs(c["value"] / c["true_value"] - 1)


def test_a_fixed_order_fails_on_the_beat_and_is_sure_of_itself(cli):
    counters = beat(cli, "fixed", 0)
    assert sum(map(missed, counters)) >= 3 and max(map(error, counters)) > 0.9
    assert any(error(c) > 2 * (c["high"] - c["low"]) / c["true_value"] for c in counters)


def test_random_orders_hold_on_the_beat(cli):
    """An interval is one of 95 %: of 16, a few may miss, and which ones depends on a few instructions more or less."""
    counters = [beat(cli, "random", seed) for seed in range(4)]
    assert sum(missed(c) for of_seed in counters for c in of_seed) <= 4
    for of_seed in counters:
        assert sorted(map(error, of_seed))[1] < 0.1
