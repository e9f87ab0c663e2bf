"""Names that contain control characters: none of them reaches the terminal, in pages, messages and drawings."""
import os
import shutil

import pytest

from conftest import PROJECT
from screen import Terminal

NAME = "pro\x1b[2Jgram\u009b31m\x07\x7f"  # clears the screen; a second form of escape [; rings
HARMFUL = [b"\x1b[2J", "\u009b".encode(), b"\x07", b"\x7f"]

PAGES = {
    "stat": ["stat"],
    "stat-events": ["stat", "-e", "loads"],
    "stat-series": ["stat", "--interval", "10K"],
    "stat-multiplexed": ["stat", "--multiplex", "-e", "loads"],
    "stack": ["stack"],
    "stalls": ["stalls", "--live=no"],
    "phases": ["phases", "--interval", "10K"],
    "validate-overhead": ["validate", "overhead"],
    "checkpoint": ["checkpoint", "--at", "1K", "-o", "ckpt"],
    "record": ["record", "-o", NAME + ".prof"],
    "stack-core": ["stack", "--core", NAME + ".ini"],
}
FILES = {
    "dot": ["phases", "--interval", "10K", "--dot", "NAME"],
    "svg": ["phases", "--interval", "10K", "--svg", "NAME"],
    "stack-svg": ["stack", "--svg", "NAME"],
    "stalls-svg": ["stalls", "--svg", "NAME"],
    "counters-svg": ["validate", "counters", "--slice", "2K", "--svg", "NAME"],
    "functions": ["phases", "--interval", "10K", "--functions", "NAME"],
    "json": ["stat", "--json", "NAME"],
    "csv": ["stat", "--with", f"'./{NAME}'", "-e", "loads", "--csv", "NAME"],
}
ERRORS = {
    "program": ["run", "./missing" + NAME],
    "command": ["r" + NAME],
    "option": ["run", "--r" + NAME],
    "event": ["stat", "-e", "loads" + NAME, "./silent"],
    "core": ["stat", "--core", NAME, "./silent"],
    "set": ["stat", "--set", NAME, "./silent"],
    "profile": ["report", NAME],
    "output": ["run", "--json", NAME + "/x", "./silent"],
    "log": ["stat", "--from", NAME],
    "bb": ["phases", "--bb", NAME],
    "checkpoint": ["run", "--restore", NAME],
    "sysroot": ["run", "--sysroot", NAME, "./silent"],
    "list": ["list", NAME],
    "help": ["help", NAME],
}
rows = lambda table: [pytest.param(words, id=name) for name, words in table.items()]


@pytest.fixture
def here(cli, silent):
    shutil.copy(silent, cli.work / NAME)
    shutil.copy(silent, cli.work / "silent")
    shutil.copy(PROJECT / "cores/small.ini", cli.work / (NAME + ".ini"))
    return cli


def harmless(data):
    assert not [h for h in HARMFUL if h in data], data


@pytest.mark.parametrize("words", rows(PAGES))
def test_page(here, words):
    with Terminal(here, 40, 100, here.command(*words, "./" + NAME)) as t:
        assert t.end() == 0, t.raw
    harmless(t.raw)


@pytest.mark.parametrize("words", rows(FILES))
def test_file(here, words):
    here.run(*[w.replace("NAME", "file") for w in words], "./" + NAME)
    harmless((here.work / "file").read_bytes())


@pytest.mark.mistake
@pytest.mark.parametrize("words", rows(ERRORS))
def test_message(here, words):
    result = here.execute(here.command(*words))
    assert result.status == 125 and result.err.startswith("cyclescope: ")
    harmless(os.fsencode(result.err))


def test_program_that_is_killed(here, abort):
    shutil.copy(abort, here.work / NAME)
    result = here.run("run", "./" + NAME, status=134)
    assert "was killed by SIGABRT" in result.err
    harmless(os.fsencode(result.err))


def test_profile(here):
    here.run("record", "--quiet", "-o", "prof", "./" + NAME, NAME)
    for words in ["report"], ["report", "--by", "module"], ["report", "--by", "insn"], ["annotate"]:
        with Terminal(here, 40, 100, here.command(*words, "--no-pager", "prof")) as t:
            assert t.end() == 0
        harmless(t.raw.replace(b"\x1b[m", b""))
