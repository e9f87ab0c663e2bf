"""Manners on a terminal: colors, control sequences, the line of progress; numbers that cannot be 0, suggestions."""
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
    """NO_COLOR is about colors only: a run that takes long still has a line of progress, and erases it."""
    color = re.compile(rb"\x1b\[[0-9;]*m")
    assert color.search(shown(cli, words, silent))
    assert color.search(shown(cli, words, silent, env={"NO_COLOR": ""}))
    assert not color.search(shown(cli, words, silent, env={"NO_COLOR": "1"}))
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


# Waits busily for a byte of its input before each of three outputs: a whole line, the first half of a line in two pieces to
# two streams, the second half. With an argument a forked process writes them.
TALKER = r"""
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void spin(unsigned n) { for (volatile unsigned i = 0; i < n; i++) ; }
static void await_byte(void)
{
    struct pollfd in = {.fd = 0, .events = POLLIN};
    char c;
    while (poll(&in, 1, 0) == 0)
        spin(20000);
    read(0, &c, 1);
}
static void say(int forks, int fd, const char *text)
{
    if (!forks || fork() == 0) {
        write(fd, text, strlen(text));
        if (forks)
            _exit(0);
    }
    if (forks)
        wait(NULL);
}
int main(int argc, char **argv)
{
    await_byte();
    say(argc > 1, 1, "a line\n");
    await_byte();
    say(argc > 1, 2, "a ques");
    say(argc > 1, 1, "tion: ");
    spin(300000);
    await_byte();
    say(argc > 1, 1, "an answer\n");
    return 0;
}
"""
TALKS = {"stat": "stat", "forks": "stat", "stack": "stack", "record": "record -o prof", "stalls": "stalls --live=no",
         "skip": "stat --skip 1000G", "warm": "stat --skip 1000G --warm", "phases": "phases", "checkpoint": "checkpoint --at 1000G -o x",
         "systematic": "stat --systematic --window 1K --period 1M"}


@pytest.mark.parametrize("kind", TALKS)
def test_progress_never_mixes_with_output(cli, guests, kind):
    talker = guests("talker", TALKER, "-static")
    with Terminal(cli, 24, 80, cli.command(*TALKS[kind].split(), talker, *["forks"][:kind == "forks"])) as t:
        lines = lambda: t.screen.text().split("\n")
        shows_progress = lambda: any("million instructions" in line for line in lines())
        t.wait_until(shows_progress)
        t.send(b"x")
        t.wait_until(lambda: "a line" in t.screen.text())
        assert lines()[0] == "a line"
        t.wait_until(shows_progress)  # below the line
        assert lines()[0] == "a line"
        t.send(b"x")
        t.wait_until(lambda: "a question:" in t.screen.text())
        t.send(b"x")
        t.end()
    assert t.screen.text(True).split("\n")[:2] == ["a line", "a question: an answer"]


# Prints a line after each of four long stretches.
STEADY = r"""
#include <stdio.h>
int main(void)
{
    for (int i = 0; i < 4; i++) {
        for (volatile unsigned n = 0; n < STRETCH; n++) ;
        printf("line %d\n", i);
        fflush(stdout);
    }
    return 0;
}
"""
STEADY_RUNS = {"points": ("8000000", "stat --points auto --window 20K --lead 200K"),
               "systematic": ("8000000", "stack --systematic --window 2K --period 1M"),
               "validate": ("100000", "validate --jobs 1"), "validate-counters": ("100000", "validate counters --jobs 2")}


@pytest.mark.parametrize("stretch, words", STEADY_RUNS.values(), ids=STEADY_RUNS)
def test_progress_of_several_processes_never_mixes_with_output(cli, guests, stretch, words):
    steady = guests("steady" + stretch, STEADY.replace("STRETCH", stretch), "-static")
    with Terminal(cli, 24, 80, cli.command(*words.split(), steady)) as t:
        assert t.end() == 0
    lines = t.screen.text(True).split("\n")
    assert [line for line in lines if "line" in line][:4] == [f"line {i}" for i in range(4)]
    assert not [line for line in lines if re.search("looking for|of [0-9]+ runs?,|windows,", line)]


def test_progress_fits_a_narrow_terminal(cli, guests):
    talker = guests("talker", TALKER, "-static")
    with Terminal(cli, 24, 20, cli.command("stat", talker)) as t:
        t.wait_until(lambda: re.search(r"^[0-9.]+ million instr", t.screen.text(), re.M))
        t.send(b"xxx")
        t.end()
    assert t.screen.text(True).startswith("a line\na question: an answe\nr\n")


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
    ("stack --itnerval 1", "--interval"), ("record --percise", "--precise"), ("--vesion", "'--version'"),
    ("stack --method fmtt x", "'fmt'"), ("stack --stage isue x", "'issue'"), ("list events laods", "'loads'"),
])
def test_suggestions(cli, words, meant):
    cli.complains(f".*did you mean {re.escape(meant)}\\?", *words.split())


def test_an_event_gets_a_suggestion_as_well(cli, silent):
    result = cli.run("stat", "-e", "laods", silent, status=125)
    assert result.err.splitlines()[0].endswith("did you mean 'loads'?") and result.out == ""


def test_one_interval(cli, silent):
    assert cli.run("stack", "--interval", "1G", silent).says("by graph, 1 interval:$")
    assert cli.run("stat", "--interval", "1G", silent).says("^ 1 interval of 1,000,000,000 instructions:$")
    assert cli.run("phases", "--interval", "1G", silent).says("^1 interval of 1.0G instructions")


def test_one_point(cli, silent):
    (cli.work / "points").write_text("3 0\n")
    (cli.work / "weights").write_text("1 0\n")
    page = cli.run("stat", "--points", "points", "--weights", "weights", "--window", "10K", silent)
    assert page.says("Estimated from 1 point of 10,000 instructions in 1 phase, ")


def test_one_sample(cli, silent):
    assert cli.run("record", "-c", "100000000", "--no-jitter", "-o", "none", silent).says(": 0 samples of ")
    cycles = cli.report("stat", silent)["cycles"]
    assert cli.run("record", "-c", cycles * 2 // 3, "--no-jitter", "-o", "prof", silent).says("^prof: 1 sample of ")
    assert re.search(": 1 sample$", cli.run("report", "prof").out, re.M)
