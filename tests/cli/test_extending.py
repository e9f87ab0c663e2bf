"""What docs/EXTENDING.md shows works: its predictor and its method compile, its core file is read."""
import re
import subprocess

import pytest

from conftest import PROJECT


def block(language, number):
    """One of the blocks of code in this language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", (PROJECT / "docs/EXTENDING.md").read_text(), re.M | re.S)[number]


@pytest.mark.parametrize("number, struct", [(0, b"direction_last"), (1, b"stack_method_oldest")])
def test_an_example_compiles_and_has_its_struct(tmp_path, number, struct):
    (tmp_path / "example.c").write_text(block("c", number))
    words = ["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Wshadow", "-Werror", f"-I{PROJECT}/src", "-c", "example.c"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert struct in (tmp_path / "example.o").read_bytes()


def test_the_example_core_is_read(cli, silent):
    (cli.work / "my.ini").write_text(block("ini", 0))
    params = cli.report("stat", "--max-insns", "1", "--core", "my.ini", silent)["params"]
    assert params["dispatch.width"] == 8 and params["l1i.ways"] == 4
