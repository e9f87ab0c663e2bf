"""Every command that the README and the guide show runs, and prints what the document says it prints.

A command is a line `$ ...` of a fenced block; a backslash or an open here-document continues it. The lines behind it are its
output: `...` stands for any lines, all others must come in this order. Numbers may differ by 5 % or 0.05; lines about
seconds, MIPS and estimates (`±`) may have any numbers. The commands of a document run from top to bottom in a folder that has
the project's build/, workloads/, examples/, cores/ and include/, and nothing else. Its path has the same length on every
machine, since a program keeps its path on its stack and heap, where the length moves what it allocates later.
"""
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from conftest import PATIENCE_SECONDS, PROJECT, WORK_SOURCE

SYSROOT = Path(os.environ.get("CYCLESCOPE_SUITE", Path.home() / ".cache/cyclescope/suite")) / "sysroot"
DOCUMENTS = [PROJECT / "README.md", *sorted((PROJECT / "docs/guide").glob("*.md"))]
NUMBER = re.compile(r"[+-]?[0-9][0-9,]*(?:\.[0-9]+)?")
BY_CHANCE = re.compile(r", (outside the interval|bursty)|\b(yes|no)\b")
OF_THIS_RUN = re.compile(r"\b(seconds|MIPS)\b|±")


def commands(document):
    """Pairs of a command and the output that the document shows for it."""
    found, fenced, has_command, open_text = [], False, False, False
    for line in document.read_text().splitlines():
        if line.startswith("```"):
            fenced, has_command, open_text = not fenced, False, False
        elif fenced and open_text:
            found[-1][0] += "\n" + line
            open_text = is_open(found[-1][0])
        elif fenced and line.startswith("$ "):
            found.append([line[2:], []])
            has_command, open_text = True, is_open(line)
        elif has_command:
            found[-1][1].append(line.rstrip())
    return found


def is_open(command):
    """Whether the next line continues the command."""
    if command.endswith("\\"):
        return True
    here = re.search(r"<<-?\s*'?(\w+)'?", command)
    return bool(here) and command.split("\n")[-1] != here[1]


def same_number(shown, real):
    x, y = (float(n.replace(",", "")) for n in (shown, real))
    return abs(x - y) <= max(0.05 * max(abs(x), abs(y)), 0.0501)


def same_line(shown, real):
    """Whether a line of output is the one that the document shows, but for small changes of its figures."""
    squeeze = lambda text: re.sub(r"\s+", " ", NUMBER.sub("#", BY_CHANCE.sub("", text))).strip()
    if squeeze(shown) != squeeze(real):
        return False
    return bool(OF_THIS_RUN.search(shown)) or all(map(same_number, NUMBER.findall(shown), NUMBER.findall(real)))


def first_missing(shown, output):
    """The first line of a document that the output lacks, or None."""
    at, gap = 0, False
    for line in shown:
        if line.strip() == "...":
            gap = True
            continue
        if not line.strip():
            continue
        while at < len(output) and (not output[at].strip() or (gap and not same_line(line, output[at]))):
            at += 1
        if at == len(output) or not same_line(line, output[at]):
            return line
        at, gap = at + 1, False
    return None


@pytest.fixture
def folder():
    """A folder like a clone with its build, below a path of fixed length."""
    path = Path(tempfile.mkdtemp(prefix="cyclescope-", dir="/tmp"))
    for name in "workloads", "examples", "cores", "include":
        (path / name).symlink_to(PROJECT / name)
    (path / "sysroot").symlink_to(SYSROOT)
    (path / "build").mkdir()
    for entry in (PROJECT / "build").iterdir():
        (path / "build" / entry.name).symlink_to(entry)
    (path / "build/workloads").unlink()
    shutil.copytree(PROJECT / "build/workloads", path / "build/workloads")
    yield path
    shutil.rmtree(path)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: str(d.relative_to(PROJECT)))
def test_commands_print_what_the_document_shows(document, folder):
    environment = {"PATH": "/usr/bin:/bin", "R": str(folder / "sysroot"), "LC_ALL": "C.UTF-8"}
    found = commands(document)
    assert found, "the document shows no command"
    for command, shown in found:
        if "$R" in command and not SYSROOT.is_dir():
            continue
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE_SECONDS)
        output = done.stdout.decode("utf-8", "replace").splitlines()
        shows_error = bool(shown) and shown[0].startswith("cyclescope: ")
        assert shows_error or done.returncode < 125, f"{command}: status {done.returncode}: {output[-5:]}"
        missing = first_missing(shown, output)
        assert missing is None, f"{command}: the document shows\n{missing}\nand the program printed\n" + "\n".join(output)


def test_commands_of_the_table_run(cli, guests):
    """The README's table of questions, with a program of a million instructions."""
    program = guests("program", WORK_SOURCE.replace("1000)", "100000)"), "-static")
    (cli.work / "program").symlink_to(program)
    inline = re.findall(r"`(cyclescope [^`]*)`", (PROJECT / "README.md").read_text())
    table = [c for c in inline if "COMMAND" not in c]
    assert len(table) >= 12
    for command in table:
        words = command.split()[1:]
        done = cli.execute(cli.command(*words))
        assert done.status in (0, 3), f"{command}: status {done.status}: {done.err[-400:]}"
