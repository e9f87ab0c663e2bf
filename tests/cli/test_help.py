"""Help, version, and suggestions for names of commands that are not quite right."""
import re

import pytest

from conftest import PROJECT

COMMANDS = ["run", "stack", "validate", "validate counters", "validate stalls", "validate overhead", "validate what-if", "stat", "stalls", "phases",
            "record", "report", "annotate", "checkpoint", "list", "help"]


@pytest.mark.parametrize("command", COMMANDS)
def test_three_ways_to_the_same_help(cli, command):
    words = command.split()
    help = cli.run("help", *words)
    assert re.match(f"usage: cyclescope {command if command != 'help' else 'COMMAND'} ", help.out)
    assert "  -h, --help  " in help.out and help.err == ""
    for flag in "-h", "--help":
        asked = cli.run(*words, flag)
        assert asked.out == help.out and asked.err == ""


def test_the_list_of_commands_is_complete(cli):
    section = cli.run("help").out.split("commands:\n")[1].split("\n\n")[0]
    listed = [line.split()[0] for line in section.splitlines()]
    assert listed == [c for c in COMMANDS if " " not in c]


@pytest.mark.parametrize("word", ["-h", "--help", "help"])
def test_help_of_the_program(cli, word):
    result = cli.run(word)
    assert result.out.startswith("usage: cyclescope COMMAND") and result.err == ""


def test_without_a_command_help_is_an_error(cli):
    result = cli.run(status=125)
    assert result.out == "" and result.err == cli.run("help").out


def test_list_is_summarized_with_all_its_kinds(cli):
    kinds = re.findall(r"^  (\w+) +", cli.run("help", "list").out.split("kinds:\n")[1].split("\n\n")[0], re.M)
    assert f"list names that options take: {', '.join(kinds)}\n" in cli.run("help").out


def test_every_command_has_a_line_of_help_per_option(cli):
    for command in COMMANDS:
        for line in cli.run(*command.split(), "--help").out.split("options:\n")[1].splitlines():
            assert re.match(r"  (-\w, )?--[a-z][a-z-]+(\[=\S+\]| \S+)? +\S", line), f"{command}: {line}"


@pytest.mark.parametrize("word", ["--version", "-V"])
def test_version(cli, word):
    result = cli.run(word)
    assert re.fullmatch(r"cyclescope \d+\.\d+\.\d+\n", result.out) and result.err == ""


def test_the_changelogs_have_the_version(cli):
    version = cli.run("-V").out.split()[1]
    assert (PROJECT / "debian/changelog").read_text().startswith(f"cyclescope ({version}) ")
    assert re.search(r"^## (\d.*)$", (PROJECT / "CHANGELOG.md").read_text(), re.M)[1] == version


@pytest.mark.mistake
@pytest.mark.parametrize("pattern, words", [
    ("'walk' is not a command: `cyclescope help` lists all", "walk"),
    ("'stak' is not a command: did you mean 'stack'", "stak ./hello"),
    ("'STAT' is not a command: did you mean 'stat'", "STAT"),
    ("'hlep' is not a command: did you mean 'help'", "hlep"),
    ("'--verison' is not an option: did you mean '--version'", "--verison"),
    ("'walk' is not a command: `cyclescope help` lists all", "help walk"),
    ("'recrod' is not a command: did you mean 'record'", "help recrod"),
    ("'counter' is not a subject of validate: did you mean 'counters'", "help validate counter"),
    ("'./hello' is not a subject of validate: `cyclescope help validate` lists all", "help validate ./hello"),
    ("help takes a command such as `help run`: remove './hello'", "help run ./hello"),
    ("help takes a command such as `help validate`: remove './hello'", "help validate stalls ./hello"),
])
def test_a_name_that_is_wrong_gets_a_sentence(cli, pattern, words):
    cli.complains(pattern, *words.split())
