"""Manners on a terminal: colors and control sequences, numbers that cannot be 0, suggestions."""
import re
import signal

import pytest

from conftest import PROJECT
from screen import Terminal

COLORED = {"stack": ["stack"], "stalls": ["stalls", "--live=no", "--exact", "--interval-cycles", "10K"], "report": ["report", "--no-pager"],
           "annotate": ["annotate", "--no-pager"]}


def shown(cli, words, program, **environment):
    if words[0] in ("report", "annotate"):
        cli.run("record", "--quiet", "-c", "100", "-o", "prof", program)
        program = "prof"
    with Terminal(cli, 40, 100, cli.command(*words, program), **environment) as t:
        assert t.end() == 0
    return t.raw


@pytest.mark.parametrize("words", COLORED.values(), ids=COLORED)
def test_colors(cli, silent, words):
    assert b"\x1b[" in shown(cli, words, silent)
    assert b"\x1b[" in shown(cli, words, silent, env={"NO_COLOR": ""})
    assert b"\x1b" not in shown(cli, words, silent, env={"NO_COLOR": "1"})
    assert b"\x1b" not in shown(cli, words, silent, term="dumb")


@pytest.mark.parametrize("words", [["stat"], ["stalls"], ["validate", "overhead"],
                                   ["stat", "--systematic", "--window", "1K", "--period", "10K"]],
                         ids=["stat", "stalls", "validate", "sampled"])
def test_dumb_terminal_gets_no_progress(cli, words):
    limit = [] if "--systematic" in words else ["--max-insns", "1M"]
    words = cli.command(*words, *limit, PROJECT / "build/workloads/columns")
    with Terminal(cli, 40, 100, words, term="dumb") as t:
        t.end()
    assert b"\x1b" not in t.raw and b"\r" not in t.raw.replace(b"\r\n", b"\n")


@pytest.mark.parametrize("warm", [[], ["--warm"]], ids=["skip", "warm"])
def test_progress_covers_what_is_skipped(cli, guests, warm):
    endless = guests("endless", "int main(void) { for (volatile unsigned n = 0;; n++) ; }", "-static")
    with Terminal(cli, 24, 80, cli.command("stat", "--skip", "1000G", *warm, endless)) as t:
        t.wait_until(lambda: re.search(r"skipped [1-9][0-9]* of 1000000 million instructions, \d+ s left", t.screen.text()))
        t.process.send_signal(signal.SIGINT)
        assert t.end() == 130
    assert "s left" not in t.screen.text()


@pytest.mark.mistake
@pytest.mark.parametrize("words, option", [
    ("record -c 0", "period"), ("record -F 0", "frequency"), ("record --profileme --pairs 0", "pairs"),
    ("stat --systematic --jobs 0", "jobs"), ("stat --systematic --window 0", "window"),
    ("stat --systematic --period 0", "period"), ("stat --systematic --lead 0", "lead"),
    ("stat --points auto --point-count 0", "point-count"), ("stat --interval 0", "interval"),
    ("stat --multiplex -e loads --slice 0", "slice"), ("stat --multiplex -e loads --round 0", "round"),
    ("stack --interval 0", "interval"), ("stalls --interval 0", "interval"),
    ("stalls --interval-cycles 0", "interval-cycles"), ("phases --interval 0", "interval"), ("validate --jobs 0", "jobs"),
    ("validate counters --jobs 0", "jobs"), ("validate counters --slice 0", "slice"),
    ("validate stalls --interval 0", "interval"), ("checkpoint --points x --interval 0", "interval"),
])
def test_numbers_that_cannot_be_0(cli, silent, words, option):
    cli.complains(f"--{option} must be at least 1", *words.split(), silent)


@pytest.mark.mistake
@pytest.mark.parametrize("words, meant", [
    ("stcak x", "'stack'"), ("reprot", "'report'"), ("help valdiate", "'validate'"), ("help validate conuters", "'counters'"),
    ("stat --jsno x", "--json"), ("stat --sytematic", "--systematic"), ("run --sumary", "--summary"),
    ("stack --itnerval 1", "--interval"), ("record --percise", "--precise"),
])
def test_suggestions(cli, words, meant):
    cli.complains(f".*did you mean {re.escape(meant)}\\?", *words.split())


def test_one_sample(cli, silent):
    assert cli.run("record", "-c", "100000000", "--no-jitter", "-o", "none", silent).says(": 0 samples of ")
    cycles = cli.report("stat", silent)["cycles"]
    assert cli.run("record", "-c", cycles * 2 // 3, "--no-jitter", "-o", "prof", silent).says("^prof: 1 sample of ")
    assert re.search(": 1 sample$", cli.run("report", "prof").out, re.M)
