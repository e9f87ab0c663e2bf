"""Output files: an existing file stays until the new one is complete, and no output destroys another file of the command."""
import json
import os
import resource
import shutil
import signal
import stat
import time

import pytest

from conftest import PROJECT

# Runs until it is killed; prints a line first.
FOREVER = r"""
#include <unistd.h>
int main(void) { write(1, "begun\n", 6); for (volatile long i = 0;; i++); }
"""

# Each command with one output file: the words before the program, with NAME for the file.
COMMANDS = {
    "run-json": ["run", "--json", "NAME"],
    "run-summary": ["run", "--summary=NAME"],
    "stat-json": ["stat", "--json", "NAME"],
    "stat-csv": ["stat", "-e", "loads", "--csv", "NAME"],
    "stat-svg": ["stat", "--interval", "1K", "--svg", "NAME"],
    "stat-pipeview": ["stat", "--pipeview", "NAME"],
    "stack-json": ["stack", "--json", "NAME"],
    "stack-csv": ["stack", "--csv", "NAME"],
    "stack-svg": ["stack", "--svg", "NAME"],
    "stalls-json": ["stalls", "--json", "NAME"],
    "validate-json": ["validate", "--json", "NAME"],
    "stat-page": ["stat", "-o", "NAME"],
    "stat-series-page": ["stat", "--interval", "10K", "-o", "NAME"],
    "stack-page": ["stack", "-o", "NAME"],
    "stalls-page": ["stalls", "--output", "NAME"],
    "phases-page": ["phases", "--interval", "1K", "-o", "NAME"],
    "validate-page": ["validate", "overhead", "-o", "NAME"],
    "validate-overhead": ["validate", "overhead", "--csv", "NAME"],
    "validate-what-if": ["validate", "what-if", "--what-if", "rob.size=x2", "--csv", "NAME"],
    "phases-bb": ["phases", "--interval", "1K", "--write-bb", "NAME"],
    "phases-simpoints": ["phases", "--interval", "1K", "--simpoints", "NAME"],
    "phases-weights": ["phases", "--interval", "1K", "--weights", "NAME"],
    "phases-json": ["phases", "--interval", "1K", "--json", "NAME"],
    "phases-csv": ["phases", "--interval", "1K", "--csv", "NAME"],
    "phases-svg": ["phases", "--interval", "1K", "--svg", "NAME"],
    "phases-dot": ["phases", "--interval", "1K", "--dot", "NAME"],
    "checkpoint": ["checkpoint", "--at", "1K", "-o", "NAME"],
}
STREAMS = {
    "record": ["record", "-o", "NAME"],
    "stat-log": ["stat", "--multiplex", "-e", "loads", "--log", "NAME"],
    "stat-keep": ["stat", "--systematic", "--window", "1K", "--period", "10K", "--keep", "NAME"],
}
rows = lambda table: [pytest.param(words, id=name) for name, words in table.items()]


def with_name(words, name):
    return [w.replace("NAME", str(name)) for w in words]


@pytest.fixture(scope="module")
def forever(guests):
    return guests("forever", FOREVER, "-static")


@pytest.fixture
def old(cli):
    """A file that exists already."""
    file = cli.work / "old"
    file.write_text("old contents\n")
    return file


def unharmed(cli, old):
    assert old.read_text() == "old contents\n"
    assert sorted(f.name for f in cli.work.iterdir()) == ["old"]


# ---- failures before and during the run


@pytest.mark.parametrize("words", rows(COMMANDS))
def test_missing_program_leaves_the_old_file(cli, old, words):
    cli.complains("typo", *with_name(words, "old"), "./typo")
    unharmed(cli, old)


@pytest.mark.parametrize("words", rows(COMMANDS))
def test_file_is_replaced_by_the_whole_new_one(cli, old, work, words):
    old.chmod(0o604)
    cli.run(*with_name(words, "old"), work, status=None)
    assert b"old contents" not in old.read_bytes() and old.stat().st_size > 0
    assert stat.S_IMODE(old.stat().st_mode) == 0o604
    assert sorted(f.name for f in cli.work.iterdir()) == ["old"]


def small_files():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))


@pytest.mark.parametrize("words", rows(COMMANDS))
def test_disk_that_is_too_small_leaves_the_old_file(cli, old, silent, words):
    result = cli.run(*with_name(words, "old"), silent, status=125, preexec_fn=small_files)
    assert "File too large" in result.err and result.err.splitlines()[-1].startswith("cyclescope: ")
    unharmed(cli, old)


@pytest.mark.parametrize("words", rows(STREAMS))
def test_missing_program_leaves_the_old_stream(cli, old, words):
    cli.complains("typo", *with_name(words, "old"), "./typo")
    unharmed(cli, old)


STREAMED = rows({k: v for k, v in STREAMS.items() if k != "stat-keep"})  # --keep extends an existing file


@pytest.mark.parametrize("words", STREAMED)
def test_stream_is_replaced_by_the_whole_new_one(cli, old, work, words):
    old.chmod(0o604)
    cli.run(*with_name(words, "old"), work, status=3)
    assert b"old contents" not in old.read_bytes() and stat.S_IMODE(old.stat().st_mode) == 0o604
    assert sorted(f.name for f in cli.work.iterdir()) == ["old"]


@pytest.mark.parametrize("words", STREAMED)
def test_disk_that_is_too_small_leaves_the_old_stream(cli, old, silent, words):
    result = cli.run(*with_name(words, "old"), silent, status=125, preexec_fn=small_files)
    assert "File too large" in result.err
    unharmed(cli, old)


@pytest.mark.parametrize("words", STREAMED)
def test_killed_stream_leaves_the_old_file_and_its_part(cli, old, forever, words):
    assert interrupt(cli, [*with_name(words, "old"), forever], signal.SIGKILL)[1] == -signal.SIGKILL
    assert old.read_text() == "old contents\n"
    partial, = cli.work.glob("old.*.partial")
    assert partial.stat().st_size > 0


@pytest.mark.parametrize("words, reads", [(STREAMS["record"], ["report"]), (STREAMS["stat-log"], ["stat", "--from"])],
                         ids=["record", "stat-log"])
def test_two_commands_that_write_one_stream(cli, forever, silent, words, reads):
    """The second ends while the first goes on: its file is whole, and stays until the first one ends."""
    first = cli.spawn(cli.command(*with_name(words, "x"), forever), stdout=-1, stderr=-1)
    first.stdout.read(1)
    cli.run(*with_name(words, "x"), silent)
    whole = (cli.work / "x").read_bytes()
    cli.run(*reads, "x")
    os.killpg(first.pid, signal.SIGTERM)
    first.communicate(timeout=60)
    assert first.returncode == 128 + signal.SIGTERM and (cli.work / "x").read_bytes() != whole
    cli.run(*reads, "x")
    assert [f.name for f in cli.work.iterdir()] == ["x"]


@pytest.mark.mistake
def test_two_runs_that_keep_windows_in_one_file(cli, forever, silent):
    words = ["stat", "--systematic", "--window", "1K", "--period", "10K", "--keep", "kept"]
    first = cli.spawn(cli.command(*words, forever), stdout=-1, stderr=-1)
    first.stdout.read(1)
    cli.complains("--keep kept: another run uses this file", *words, silent)
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate(timeout=60)


def test_program_that_does_not_reach_the_checkpoint(cli, old, silent):
    cli.complains("ended after [0-9]+ instructions", "checkpoint", "--at", "100G", "-o", "old", silent)
    unharmed(cli, old)


# ---- signals


def interrupt(cli, words, number):
    process = cli.spawn(cli.command(*words), stdout=-1, stderr=-1)
    first = process.stdout.read(1) if words[0] != "validate" else time.sleep(0.5)
    os.killpg(process.pid, number)
    process.communicate(timeout=60)
    return first, process.returncode


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda n: n.name)
@pytest.mark.parametrize("words", [["validate", "--json", "old"], ["validate", "stalls", "--csv", "old"],
                                   ["checkpoint", "--at", "1000G", "-o", "old"]], ids=lambda w: w[0] + w[1])
def test_killed_command_leaves_the_old_file(cli, old, forever, words, number):
    status = interrupt(cli, [*words, forever], number)[1]
    assert status == (-number if number == signal.SIGKILL else 128 + number), status
    unharmed(cli, old)


@pytest.mark.parametrize("words", rows({k: COMMANDS[k] for k in ("run-json", "stat-json", "stack-csv", "phases-csv")}))
def test_kill_leaves_the_old_file(cli, old, forever, words):
    assert interrupt(cli, [*with_name(words, "old"), forever], signal.SIGKILL)[1] == -signal.SIGKILL
    unharmed(cli, old)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda n: n.name)
@pytest.mark.parametrize("command", ["run", "stat", "stack"])
def test_signal_ends_the_program_and_its_report_is_whole(cli, old, forever, command, number):
    """These commands pass the signal on: the program dies of it, and is reported as always."""
    status = interrupt(cli, [command, "--json", "old", forever], number)[1]
    assert status == 128 + number
    assert cli.json("old")["exit_status"] == 128 + number
    assert sorted(f.name for f in cli.work.iterdir()) == ["old"]


# ---- targets that are not plain files


def test_symbolic_link_stays(cli, old, silent):
    (cli.work / "link").symlink_to("old")
    cli.run("run", "--json", "link", silent)
    assert (cli.work / "link").is_symlink() and cli.json("old")["command"] == "run"


@pytest.mark.parametrize("device", ["/dev/null", "/dev/stdout", "/dev/stderr", "-"])
def test_devices_are_written(cli, silent, device):
    result = cli.run("run", "--json", device, silent)
    if device != "/dev/null":
        assert '"command": "run"' in (result.err if device == "/dev/stderr" else result.out)
    assert list(cli.work.iterdir()) == []


def test_standard_output_that_is_a_file(cli, work):
    """Everything that is written to it stays: /dev/stdout neither empties nor replaces the file."""
    with open(cli.work / "all", "w") as to:
        to.write("before\n")
        to.flush()
        process = cli.spawn(cli.command("run", "--json", "/dev/stdout", work), stdout=to)
        assert process.wait(60) == 3
        os.write(to.fileno(), b"after\n")
    lines = (cli.work / "all").read_text().splitlines()
    assert lines[:2] == ["before", "done"] and lines[-1] == "after" and '  "command": "run",' in lines


def test_pipe(cli, silent):
    os.mkfifo(cli.work / "pipe")
    reader = os.open(cli.work / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    cli.run("run", "--json", "pipe", silent)
    assert b'"command": "run"' in os.read(reader, 10000)
    os.close(reader)


# ---- one file for two purposes


@pytest.mark.mistake
@pytest.mark.parametrize("words, options", [
    (["stat", "--json", "x", "--pipeview", "./x"], "--pipeview ./x: --json"),
    (["stack", "--svg", "x", "--csv", "x"], "--svg x: --csv"),
    (["stalls", "--json", "x", "--csv", "x"], "--csv x: --json"),
    (["validate", "--json", "x", "--csv", "x"], "--csv x: --json"),
    (["run", "--json", "x", "--summary=x"], "--json x: --summary"),
    (["phases", "--simpoints", "x", "--weights", "x"], "--weights x: --simpoints"),
    (["stat", "--multiplex", "-e", "loads", "--log", "x", "--csv", "x"], "--log x: --csv"),
    (["stat", "--systematic", "--keep", "x", "--json", "x"], "--json x: --keep"),
], ids=lambda w: w[0] if isinstance(w, list) else "")
def test_two_outputs_with_one_name(cli, silent, words, options):
    cli.complains(f"{options} writes the same file: give each its own", *words, silent)
    assert list(cli.work.iterdir()) == []


def test_two_outputs_to_standard_output_or_a_device(cli, silent):
    cli.run("stack", "--json", "-", "--csv", "-", silent)
    cli.run("stack", "--json", "/dev/null", "--csv", "/dev/null", silent)


@pytest.mark.mistake
@pytest.mark.parametrize("words", rows({**COMMANDS, **STREAMS}))
def test_output_that_is_the_program(cli, silent, words):
    program = cli.work / "program"
    program.write_bytes(silent.read_bytes())
    program.chmod(0o755)
    cli.complains("program: this is the program ./program", *with_name(words, "program"), "./program")
    assert program.read_bytes() == silent.read_bytes()


@pytest.mark.mistake
def test_output_that_is_the_program_in_another_folder(cli, silent):
    (cli.work / "bin").mkdir()
    program = cli.work / "bin/program"
    program.write_bytes(silent.read_bytes())
    cli.complains("this is the program", "run", "--sysroot", ".", "--json", "bin/program", "/bin/program")
    cli.complains("this is the program", "run", "--chdir", "bin", "--json", "bin/program", "./program")
    cli.complains("this is the program", "stat", "--with", "bin/program", "--json", "bin/program", silent)
    assert program.read_bytes() == silent.read_bytes()


@pytest.mark.mistake
def test_output_that_is_the_program_in_path(cli, silent):
    (cli.work / "bin").mkdir()
    shutil.copy(silent, cli.work / "bin/program")
    cli.complains("this is the program", "run", "--env", f"PATH={cli.work}/bin", "--json", "bin/program", "program")
    assert (cli.work / "bin/program").read_bytes() == silent.read_bytes()


@pytest.mark.mistake
@pytest.mark.parametrize("words", rows({"run": COMMANDS["run-json"], "record": STREAMS["record"]}))
def test_output_that_is_a_file_of_the_program(cli, old, silent, words):
    """A script, or standard input; and the file that standard output or standard error goes to."""
    cli.complains("old: this is the program's argument old", *with_name(words, "old"), silent, "old")
    with open(old) as file:
        cli.check_complaint("old: this is standard input",
                            cli.execute(cli.command(*with_name(words, "./old"), silent), stdin=None, preexec_fn=lambda: os.dup2(file.fileno(), 0)))
    unharmed(cli, old)
    with open(cli.work / "all", "w") as to:
        process = cli.spawn(cli.command(*with_name(words, "all"), silent), stdout=to, stderr=-1)
        assert b"all: this is standard output" in process.communicate(timeout=60)[1] and process.returncode == 125


# ---- names that are not UTF-8


@pytest.mark.parametrize("words", rows({**COMMANDS, **STREAMS}))
def test_names_that_are_not_utf8(cli, silent, words):
    """Of the output, of the program and of an argument."""
    output, program = os.fsencode(cli.work) + b"/out\xff", cli.work / os.fsdecode(b"pr\xfe\x1b[2Jg")
    shutil.copy(silent, program)
    encode = lambda w: os.fsencode(w).replace(b"NAME", output)
    words = [os.fsencode(cli.program), *map(encode, words), b"./" + os.fsencode(program.name), b"arg\xfd"]
    process = cli.spawn_bytes(words, stdout=-1, stderr=-1)
    err = process.communicate(timeout=120)[1]
    assert process.returncode == 0, err
    assert os.path.getsize(output) > 0 and b"\x1b" not in err
    if b"--json" in words:
        report = json.loads(open(output, encoding="utf-8").read())
        assert report["program"].endswith("/pr\ufffd\x1b[2Jg") and report["argv"][1:] == ["arg\ufffd"]


@pytest.mark.mistake
def test_output_that_is_an_input(cli, work):
    cli.run("checkpoint", "--quiet", "--at", "1K", "-o", "ckpt", work)
    cli.run("phases", "--quiet", "--interval", "1K", "--write-bb", "bb", "--simpoints", "points", "--weights", "weights",
            "--csv", "csv", work, status=3)
    cli.run("record", "--quiet", "-o", "prof", work, status=3)
    cli.run("stat", "--quiet", "--multiplex", "-e", "loads", "--log", "log", work, status=3)
    shutil.copy(PROJECT / "cores/ppc970.ini", cli.work / "core.ini")
    before = {f: f.read_bytes() for f in cli.work.iterdir()}
    for what, words in {
        "--restore ckpt": ["run", "--json", "ckpt", "--restore", "ckpt"],
        "--bb bb": ["phases", "--csv", "bb", "--bb", "bb"],
        "--points points": ["stat", "--points", "points", "--window", "1K", "--json", "points", work],
        "--weights weights": ["stat", "--points", "points", "--weights", "weights", "--window", "1K", "--json", "weights",
                              work],
        "--phases csv": ["stat", "--interval", "1K", "--phases", "csv", "--csv", "csv", work],
        "the profile prof": ["report", "--json", "prof", "prof"],
        "--from log": ["stat", "--from", "log", "--json", "log"],
        "--core core.ini": ["stack", "--core", "core.ini", "--json", "core.ini", work],
    }.items():
        cli.complains(f"this is {what}: give the name of another file", *words)
    assert {f: f.read_bytes() for f in cli.work.iterdir()} == before


@pytest.mark.mistake
def test_two_exports_with_one_name(cli, work):
    cli.run("record", "--quiet", "-o", "prof", work, status=3)
    cli.complains("--csv x: --json writes the same file", "report", "--json", "x", "--csv", "x", "prof")
    assert not (cli.work / "x").exists()


# ---- pages


@pytest.mark.parametrize("words", rows({k: v for k, v in COMMANDS.items() if k.endswith("-page")}))
def test_page_goes_to_the_file(cli, silent, words):
    page = cli.run(*with_name(words, "page"), silent)
    assert page.err == "" and page.out == "" and "silent" in (cli.work / "page").read_text()
    assert "silent" in cli.run(*with_name(words, "-"), silent).out
