#!/usr/bin/env python3
"""tree.py [ROOT]: every file of the project is one that a rule names. Prints `ok` or `not ok` lines.

A stray file (a temporary one, the output of a mistyped command) matches no rule. Files that git ignores are not looked at.
"""
import re
import subprocess
import sys
from pathlib import Path

NAME = r"[a-z0-9][a-z0-9_-]*"
RULES = [
    r"README\.md|CONTRIBUTING\.md|CHANGELOG\.md|LICENSE|Makefile",
    r"\.gitignore|\.clang-format|\.clang-tidy|\.editorconfig|\.ci/run",
    rf"bench/{NAME}\.py",
    rf"cores/{NAME}\.ini",
    r"debian/[a-z0-9.-]+(/[a-z]+)?",
    rf"docs/([A-Z]+\.md|{NAME}\.md|(stories|guide)/{NAME}\.md|(stories|guide)/README\.md|images/{NAME}\.(svg|png)|{NAME}\.[13])",
    rf"examples/{NAME}\.c",
    rf"firmware/{NAME}\.[chS]",
    r"include/cyclescope/[a-z_]+\.h",
    r"src/[a-z]+(/[a-z]+)?/[a-z0-9_]+\.(c|h|def)|src/lib/cyclescope\.(map|pc\.in)",
    rf"suite/({NAME}\.(py|sh|toml|list|md)|README\.md)",
    rf"tests/{NAME}\.(py|sh|md)",
    rf"tests/({NAME})(/{NAME})*\.(c|h|S|py|sh|inc|ld|cc|toml|list)",
    rf"tools/{NAME}(\.(sh|py))?",
    rf"workloads/({NAME}\.c|README\.md)",
]


def files(root):
    listed = subprocess.run(["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, text=True)
    if listed.returncode == 0:
        return [f for f in listed.stdout.splitlines() if (root / f).exists()]
    return [str(f.relative_to(root)) for f in root.rglob("*") if f.is_file() and "build" not in f.parts]


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2])
    rule = re.compile("|".join(f"(?:{r})" for r in RULES))
    strays = [f for f in files(root) if not rule.fullmatch(f)]
    for stray in strays:
        print(f"not ok tree: {stray} is a file that no rule of tests/style/tree.py names")
    if not strays:
        print("ok tree")
    return bool(strays)


if __name__ == "__main__":
    sys.exit(main())
