"""`validate what-if`: predictions of the dependence graph beside simulations of the changed cores."""
import csv

import pytest

from conftest import PROJECT, Commands

LIMIT = "--skip 2500000 --warm --warmup 20000 --max-insns 50000"
STANDARD = 11  # what-ifs that are compared if none is given


@pytest.fixture(scope="module")
def here(program, guests):
    """Commands in a folder with the workloads."""
    for workload in (PROJECT / "build/workloads").iterdir():
        (guests.folder / workload.name).symlink_to(workload)
    return Commands(program, guests.folder)


def validate(here, words):
    return here.run("validate", "what-if", "--json", "json", *words.split())


def test_simulated_are_the_changed_cores(here):
    validate(here, f"--quiet {LIMIT} --what-if l2.latency=+3,rob.size=64+lsq.size=32 --csv t.csv ./mix")
    report, rows = here.json(), list(csv.DictReader((here.work / "t.csv").open()))
    for found, row, settings in zip(report["what_ifs"], rows, ("--set l2.latency=12", "--set rob.size=64 --set lsq.size=32")):
        here.run("stat", "--quiet", "--json", "json", *f"{LIMIT} {settings} ./mix".split())
        simulated = here.json()
        assert found["simulated_cycles"] == simulated["cycles"] and found["failed"] is None
        assert found["simulated_cpi"] == pytest.approx(simulated["cpi"])
        assert found["error_percent"] == pytest.approx(100 * (found["cpi"] / simulated["cpi"] - 1))
        assert found["simulated_change_percent"] == pytest.approx(100 * (simulated["cpi"] / report["cpi"] - 1))
        assert row["what_if"] == found["what_if"]
        assert float(row["error_percent"]) == pytest.approx(found["error_percent"], abs=1e-4)
    errors = [abs(w["error_percent"]) for w in report["what_ifs"]]
    assert report["mean_error_percent"] == pytest.approx(sum(errors) / 2)
    assert abs(report["largest_error_percent"]) == pytest.approx(max(errors))


def test_predictions_are_those_of_stack(here):
    words = f"{LIMIT} --core modern --what-if l2.latency=+3,perfect.branch=yes ./mix"
    validate(here, f"--quiet {words}")
    validated = here.json()["what_ifs"]
    here.run("stack", "--quiet", "--json", "json", *words.split())
    for v, s in zip(validated, here.json()["what_ifs"]):
        assert {key: v[key] for key in s} == s


def test_without_changes_a_standard_set_is_compared(here):
    run = validate(here, f"{LIMIT} ./branch_bound")
    report, page = here.json(), " ".join(run.err.split())
    assert len(report["what_ifs"]) == STANDARD and report["command"] == "validate what-if"
    assert f"Mean absolute error {report['mean_error_percent']:.2f} %" in page
    assert report["mean_error_percent"] < 1.5


@pytest.mark.mistake
@pytest.mark.parametrize("pattern, words", [
    ("--what-if l2.size=1M: the dependence graph cannot evaluate l2.size", "--what-if l2.size=1M ./mix"),
    ("cores that issue in order .* have no dependence graph", "--set issue.order=in_order ./mix"),
    ("--restore -: every run reads the checkpoint for itself", "--restore -"),
    ("no program given", ""),
])
def test_a_mistake_gets_a_sentence(here, pattern, words):
    here.complains(pattern, "validate", "what-if", *words.split())
