"""The bash completion that the build makes: what it offers at the end of a command line.

Bash itself calls the function, with the variables that it sets for an interactive command line.
"""
import re
import subprocess
from pathlib import Path

import pytest

from test_help import COMMANDS

# Prints what the completion function leaves, a line each. Words are split at `=` and `:`, as bash does.
DRIVER = r"""
set -u
source "$1"
COMP_LINE=$2 COMP_POINT=${#2} COMP_TYPE=9 COMP_KEY=9
shift 2
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_cyclescope
((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def complete(program, tmp_path_factory):
    """complete(LINE): what is offered where the cursor is at the end of this line."""
    script = Path(program).resolve().parent / "completion/cyclescope"
    folder = tmp_path_factory.mktemp("completion")
    for name in "main", "main.c", "two words", "core.ini":
        (folder / name).touch()
    (folder / "maps").mkdir()

    def offered(line):
        words = re.findall(r"[=:]+|[^\s=:]+", line)
        if not line or line[-1].isspace():
            words.append("")
        done = subprocess.run(["bash", "-c", DRIVER, "bash", script, line, *words], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0 and done.stderr == "", done.stderr
        return done.stdout.splitlines()

    return offered


@pytest.mark.parametrize("line, words", [
    ("cyclescope sta", "stack stat stalls"),
    ("cyclescope --v", "--version"),
    ("cyclescope stack --core mod", "modern"),
    ("cyclescope stack --core=mod", "modern"),
    ("cyclescope stack --core ppc970-", "ppc970-inorder ppc970-single"),
    ("cyclescope stack --core ./co", "./core.ini"),
    ("cyclescope stack --method fmt,power", "fmt,power5"),
    ("cyclescope stack --method naive,fm", "naive,fmt naive,fmt2"),
    ("cyclescope stack --stage ", "dispatch issue commit all"),
    ("cyclescope stack --points ./", "./main ./main.c ./two\0words ./core.ini ./maps"),
    ("cyclescope stack --points au", "auto"),
    ("cyclescope stack --set branch.un", "branch.unit="),
    ("cyclescope stack --what-if rob.", "rob.size="),
    ("cyclescope stack --what-if rob.size=x2+ls", "x2+lsq.size= x2+lsq.loads= x2+lsq.stores= "
                                                  "x2+lsq.forward_latency="),
    ("cyclescope validate what-if --what-if rob.size=+1,wid", "+1,width="),
    ("cyclescope validate what-", "what-if"),
    ("cyclescope stack --set branch.unit=", "alu branch"),
    ("cyclescope stack --set=branch.unit=b", "branch"),
    ("cyclescope stack --set mul.pipelined=y --set div.pip", "div.pipelined="),
    ("cyclescope stack --skip ", ""),
    ("cyclescope stack --skip=", ""),
    ("cyclescope stat -e l1d_m", "l1d_misses"),
    ("cyclescope stat --event cycles,system_", "cycles,system_calls"),
    ("cyclescope stat -e L1-icache-load-", "L1-icache-load-misses"),
    ("cyclescope stat --mode ", "user machine both"),
    ("cyclescope stat --order ", "random fixed"),
    ("cyclescope stat --unit=", "cycles insns"),
    ("cyclescope stat --estimator ", "regression interpolation linear"),
    ("cyclescope stalls --live=", "no"),
    ("cyclescope report --by ", "function line insn tree module data"),
    ("cyclescope report mai", "main main.c"),
    ("cyclescope run mai", "main main.c"),
    ("cyclescope run --summary mai", "main main.c"),
    ("cyclescope run --summary=mai", "main main.c"),
    ("cyclescope run --sysroot ma", "maps"),
    ("cyclescope run --sysroot maps --env A=b -- mai", "main main.c"),
    ("cyclescope run ./main --he", ""),
    ("cyclescope run ./main tw", "two\0words"),
    ("cyclescope run ./main x core", "core.ini"),
    ("cyclescope validate co", "counters core.ini"),
    ("cyclescope validate counters --se", "--seeds --set --seed"),
    ("cyclescope validate counters -e fetche", "fetched"),
    ("cyclescope list ", "cores counts estimators events methods params what-ifs"),
    ("cyclescope list events system_", "system_calls"),
    ("cyclescope list cores ", ""),
    ("cyclescope help che", "checkpoint"),
    ("cyclescope help validate o", "overhead"),
    ("cyclescope help run ", ""),
    ("cyclescope walk --", ""),
    ("cyclescope walk mai", "main main.c"),
])
def test_offers(complete, line, words):
    assert sorted(complete(line)) == sorted(w.replace("\0", " ") for w in words.split())


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_the_help_is_offered(cli, complete, command):
    section = cli.run("help", *command.split()).out.split("options:\n")[1]
    options = re.findall(r"^  (?:(-\w), )?(--[a-z-]+)", section, re.M)
    assert len(options) == len(section.splitlines())
    expected = [name for pair in options for name in pair if name]
    if command == "help":
        expected = ["-h", "--help"]
    assert sorted(complete(f"cyclescope {command} -")) == sorted(expected)


@pytest.mark.parametrize("kind, line", [
    ("cores", "stack --core "), ("estimators", "stat --estimator "), ("events", "record -e "), ("params", "stack --set ")])
def test_every_name_of_a_list_is_offered(cli, complete, kind, line):
    rows = cli.run("list", kind).out.splitlines()
    names = {row.split()[0] for row in rows if re.match("  [^ ]" if kind == "events" else "[^ ]", row)}
    assert len(names) > 2 and names <= {word.rstrip("=") for word in complete("cyclescope " + line)}


def test_the_cursor_may_be_within_a_word(program):
    script = Path(program).resolve().parent / "completion/cyclescope"
    inside = 'source "$1"; COMP_LINE="cyclescope statue x" COMP_POINT=14 COMP_WORDS=(cyclescope statue x) COMP_CWORD=1; ' \
             '_cyclescope; echo "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", inside, "bash", script], capture_output=True, text=True)
    assert sorted(done.stdout.split()) == ["stack", "stalls", "stat"]
