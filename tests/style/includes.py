#!/usr/bin/env python3
"""includes.py [ROOT]: modules include only what docs/ARCHITECTURE.md allows.

The document has one row per module of src/: the modules whose headers it may include, besides base/ and its own. A header
`*_priv.h` is for its own module. Prints `ok` or `not ok` lines.
"""
import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s+"([a-z_]+)/([a-z_/.]+)"', re.M)
ROW = re.compile(r"^\| `(\w+)/` \| (.*?) \|")


def allowed_includes(document):
    table = {}
    section = document.read_text().split("## Which module may include which", 1)[1].split("\n## ", 1)[0]
    for line in section.splitlines():
        row = ROW.match(line)
        if row:
            table[row[1]] = set(re.findall(r"`(\w+)/`", row[2])) | {"base", row[1]}
    return table


def offenses(root, table):
    """Every include that the table does not allow, as text."""
    for file in sorted([*root.glob("src/**/*.c"), *root.glob("src/**/*.h"), *root.glob("src/**/*.def")]):
        module = file.relative_to(root / "src").parts[0]
        for included, rest in INCLUDE.findall(file.read_text()):
            where = file.relative_to(root)
            if not (root / "src" / included).is_dir():
                continue  # the public header
            if included not in table.get(module, ()):
                yield f"{where} includes {included}/{rest}, which docs/ARCHITECTURE.md does not allow {module}/"
            elif rest.endswith("_priv.h") and included != module:
                yield f"{where} includes {included}/{rest}, which is private to {included}/"


def cycle(table):
    """Modules that include each other in a circle, or none: the rows must describe layers."""
    done = set()
    while len(done) < len(table):
        free = [m for m in table if m not in done and table[m] - {m} - done <= {"base"}]
        if not free:
            return sorted(set(table) - done)
        done.update(free)
    return []


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2])
    table = allowed_includes(root / "docs/ARCHITECTURE.md")
    modules = {m.name for m in (root / "src").iterdir() if m.is_dir()}
    found = list(offenses(root, table))
    found += [f"docs/ARCHITECTURE.md has no row for src/{m}/" for m in sorted(modules - set(table))]
    found += [f"docs/ARCHITECTURE.md has a row for {m}/, which does not exist" for m in sorted(set(table) - modules)]
    if cycle(table):
        found.append(f"the rows of docs/ARCHITECTURE.md form a circle: {', '.join(cycle(table))}")
    for offense in found:
        print(f"not ok includes: {offense}")
    if not found:
        print("ok includes")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
