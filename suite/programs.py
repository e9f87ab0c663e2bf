"""The table of programs, programs.toml, as objects."""

import re
import shlex
import tomllib
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).resolve().parent / "programs.toml"
SIZES = ("small", "big")
FIELDS = {"like", "does", "run", "stdin", "env", "mask", "ignore", "threads", "minsns", "further", *SIZES}


@dataclass
class Case:
    """One program at one size: what a run needs, and how to compare its outputs."""
    program: str
    size: str
    argv: list
    stdin: str       # a guest path, or None
    env: dict
    mask: dict       # by output: regular expression of lines that vary
    ignore: list     # outputs that are not compared
    like: str
    does: str
    threads: bool
    minsns: int

    def inputs(self):
        """The names of the input files on the command line or at the standard input."""
        return re.findall(r"/suite/in/([\w.-]+)", " ".join([*self.argv, self.stdin or ""]))

    def comparable(self, outputs):
        """The outputs of a run without everything that may vary from run to run."""
        return {name: self._masked(name, content)
                for name, content in outputs.items() if name not in self.ignore}

    def _masked(self, name, content):
        if name not in self.mask:
            return content
        varies = re.compile(self.mask[name].encode())
        return b"".join(line for line in content.splitlines(keepends=True)
                        if not varies.search(line))


def _case(name, size, row):
    unknown = set(row) - FIELDS
    if unknown:
        raise ValueError(f"{TABLE.name}: [{name}] has an unknown key '{min(unknown)}'")
    row = {**row, **row.get(size, {})}
    if "run" not in row:
        raise ValueError(f"{TABLE.name}: [{name}] has no key 'run' for size {size}")
    stdin = row.get("stdin")
    return Case(
        program=name, size=size,
        argv=[word.replace("{size}", size) for word in shlex.split(row["run"])],
        stdin=stdin and stdin.replace("{size}", size),
        env=row.get("env", {}), mask=row.get("mask", {}), ignore=row.get("ignore", []),
        like=row["like"], does=row["does"], threads=row.get("threads", False),
        minsns=row["minsns"][size])


def load(size, names=None, further=False):
    """The cases of a size in the order of the table: those named, or else all further ones, or all others."""
    with open(TABLE, "rb") as file:
        table = tomllib.load(file)
    for name in names or ():
        if name not in table:
            raise ValueError(f"no program '{name}' in the suite; it has {', '.join(table)}")
    return [_case(name, size, row) for name, row in table.items()
            if (name in names if names else row.get("further", False) == further)]
