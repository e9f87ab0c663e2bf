"""Interrupted runs: each command says so on its page, in its JSON and by its exit status."""
import os
import re
import signal
import subprocess

import pytest

# Runs until it is killed. Writes a byte when it has begun, and another one after a while.
FOREVER = r"""
#include <unistd.h>
int main(void)
{
    write(1, "a", 1);
    for (volatile long i = 0; i < 100000; i++)
        ;
    write(1, "b", 1);
    for (volatile long i = 0;; i++)
        ;
}
"""

# Ends with 7 when it is interrupted.
HANDLES = r"""
#include <signal.h>
#include <unistd.h>
static void end(int number) { _exit(7); }
int main(void)
{
    signal(SIGINT, end);
    write(1, "ab", 2);
    for (volatile long i = 0;; i++)
        ;
}
"""

REPORTS = {
    "run": ["run", "--summary"],
    "stat": ["stat"],
    "stat-events": ["stat", "-e", "loads"],
    "stat-series": ["stat", "--interval", "10K"],
    "stat-multiplexed": ["stat", "--multiplex", "-e", "loads"],
    "stack": ["stack"],
    "stalls": ["stalls", "--interval-cycles", "20K"],
    "phases": ["phases", "--interval", "10K"],
}
SYSTEMATIC = ["--systematic", "--window", "1K", "--period", "10K", "--lead", "20K", "--jobs", "1"]
rows = lambda table: [pytest.param(words, id=name) for name, words in table.items()]


@pytest.fixture(scope="module")
def forever(guests):
    return guests("forever", FOREVER, "-static")


def interrupt(cli, *words, number=signal.SIGINT, ready=2, group=True):
    """Runs a command, interrupts it when the guest has written `ready` bytes, and returns exit status and page."""
    process = cli.spawn(cli.command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert len(process.stdout.read(ready)) == ready
    (os.killpg if group else os.kill)(process.pid, number)
    out, err = process.communicate(timeout=300)
    return process.returncode, err.decode()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda n: n.name)
@pytest.mark.parametrize("words", rows(REPORTS))
def test_report_says_that_the_run_was_interrupted(cli, forever, words, number):
    status, page = interrupt(cli, *words, "--json", "json", forever, number=number)
    r = cli.json()
    assert status == 128 + number and r["exit_status"] == status and r["interrupted"] is True
    assert re.search(rf"INTERRUPTED by {number.name}|interrupted by {number.name}", page), page


@pytest.mark.parametrize("words", rows(REPORTS))
def test_whole_run_was_not_interrupted(cli, silent, words):
    page = cli.run(*words, "--json", "json", silent).err
    assert cli.json()["interrupted"] is False and "interrupted" not in page.lower()


def test_profile_says_that_the_run_was_interrupted(cli, forever, silent):
    status, page = interrupt(cli, "record", "-c", "1000", "-o", "prof", forever)
    assert status == 130 and "INTERRUPTED by SIGINT" in page
    assert "INTERRUPTED by SIGINT" in cli.run("report", "prof").out
    assert cli.report("report", "prof")["info"]["interrupted"] is True
    cli.run("record", "--quiet", "-o", "whole", silent)
    assert "INTERRUPTED" not in cli.run("report", "whole").out
    assert cli.report("report", "whole")["info"]["interrupted"] is False


def test_log_says_that_the_run_was_interrupted(cli, forever):
    status, _ = interrupt(cli, "stat", "--multiplex", "-e", "loads", "--log", "log", forever)
    assert status == 130 and cli.run("stat", "--from", "log", "--json", "json").says("INTERRUPTED by SIGINT")
    assert cli.json()["interrupted"] is True


def test_programs_that_share_the_core(cli, forever):
    status, page = interrupt(cli, "stat", "--json", "json", "--with", str(forever), "--", forever, ready=4)
    r = cli.json()
    assert status == 130 and r["interrupted"] is True and r["with"][0]["interrupted"] is True
    assert page.count("INTERRUPTED by SIGINT") == 2


@pytest.mark.parametrize("group", [True, False], ids=["terminal", "kill"])
@pytest.mark.parametrize("command", ["stat", "stack", "stalls"])
def test_part_of_the_windows_is_no_estimate(cli, forever, command, group):
    """A terminal's signal reaches the copies that measure windows as well, kill(1) only the run."""
    status, page = interrupt(cli, command, *SYSTEMATIC, "--json", "json", forever, group=group)
    assert status == 130, page
    if not (cli.work / "json").exists():  # no window was done in time
        assert page == "cyclescope: interrupted before a window was measured: there is no estimate\n"
        return
    r = cli.json()
    assert r["interrupted"] is True and r["exit_status"] == 130
    measured, windows = map(int, re.search(r"INTERRUPTED by SIGINT: (\d+) of (\d+) windows", page).groups())
    assert measured == r["sampled"]["windows"] and windows == measured + r["sampled"]["failed"]
    if r["sampled"]["failed"]:
        assert "The numbers are no estimate of the whole run, and have no intervals." in page
        assert r["sampled"]["cpi"] == [None, None]


def test_choice_of_points_is_interrupted(cli, forever):
    process = cli.spawn(cli.command("stat", "--points", "auto", forever), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not os.path.exists(f"/proc/{process.pid}/task/{process.pid}/children") or not open(
            f"/proc/{process.pid}/task/{process.pid}/children").read():
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    err = process.communicate(timeout=300)[1].decode()
    assert process.returncode == 130 and re.fullmatch("cyclescope: interrupted [^\n]*: there is no estimate\n", err), err


@pytest.mark.parametrize("subject", [[], ["counters"], ["stalls"], ["overhead"], ["what-if"]], ids=lambda s: (s or ["stacks"])[0])
def test_validation_has_no_report(cli, forever, subject):
    words = cli.command("validate", *subject, "--json", "json", "--jobs", "2", forever)
    process = cli.spawn(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    children = f"/proc/{process.pid}/task/{process.pid}/children"
    while not open(children).read():
        assert process.poll() is None
    os.kill(process.pid, signal.SIGINT)
    err = process.communicate(timeout=300)[1].decode()
    assert process.returncode == 130 and "interrupted by SIGINT after 0 of " in err and "there is no report" in err
    assert list(cli.work.iterdir()) == []


def test_checkpoint_is_not_saved(cli, forever):
    status, err = interrupt(cli, "checkpoint", "--at", "1000G", "-o", "x", forever)
    assert status == 130 and "interrupted after" in err and "nothing is saved" in err
    assert list(cli.work.iterdir()) == []


def test_program_that_handles_the_interruption(cli, guests):
    """Its exit status is its own, as always, but the report says what happened."""
    status, page = interrupt(cli, "stat", "--json", "json", guests("handles", HANDLES, "-static"))
    assert status == 7 and cli.json()["interrupted"] is True and "INTERRUPTED by SIGINT" in page


def test_ignored_signal_interrupts_nothing(cli, work):
    ignore = lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)
    process = cli.spawn(cli.command("stat", "--json", "json", work, "200000"), stdout=-1, stderr=-1, preexec_fn=ignore)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=300)
    assert process.returncode == 3 and cli.json()["interrupted"] is False
