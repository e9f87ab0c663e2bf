#!/usr/bin/env python3
"""manuals.py [CYCLESCOPE]: every manual page documents exactly the options of its command. Prints `ok PAGE` or `not ok PAGE: why`.

A page documents an option in a tag (the line after .TP). Options that several commands share have one page that documents
them; the other pages name them in a paragraph `cyclescope-PAGE(1) describes ...`. An option that a page mentions anywhere else
must exist, in the page's own command or in the one that is named before it, such as `record --data`. groff, if it is installed,
must accept every page without a warning.
"""
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PROGRAM = sys.argv[1] if len(sys.argv) > 1 else str(PROJECT / "build/cyclescope")
HEADER = PROJECT / "include/cyclescope/cyclescope.h"
SUBCOMMANDS = {"validate": ["counters", "stalls", "overhead", "what-if"]}
TOP_LEVEL = {"--help", "--version"}  # options of `cyclescope` itself, which its own help names in sentences
OPTION = r"(?<![\w-])--?[A-Za-z][\w-]*"


# ---- what the program has


@cache
def help_text(*command):
    return subprocess.run([PROGRAM, *command, "--help"], capture_output=True, text=True, check=True).stdout


def help_rows(text, heading):
    """Names in the rows of a section of a help text, such as `-e` and `--event` in `  -e, --event EVENTS   count these`."""
    section = text.partition(f"\n{heading}:\n")[2].partition("\n\n")[0]
    names = []
    for row in re.findall(r"^  (\S.*)", section, re.M):
        names += [re.match(r"[\w-]+", name)[0] for name in re.split(r"\s{2,}", row)[0].split(", ")]
    return set(names)


def commands():
    return help_rows(help_text(), "commands")


@cache
def options_of(command):
    texts = [help_text(command)] + [help_text(command, word) for word in SUBCOMMANDS.get(command, [])]
    return set().union(*(help_rows(text, "options") for text in texts))


# ---- what a page has


class Page:
    def __init__(self, path):
        self.path = path
        self.command = path.stem.partition("-")[2]  # empty for cyclescope.1
        self.lines = [plain(line) for line in path.read_text().splitlines()]

    def tags(self, section=None):
        """The text of all tags, or of those in one section."""
        here = section is None
        found = []
        for before, line in zip(self.lines, self.lines[1:]):
            if before.startswith(".SH"):
                here = section is None or before == f".SH {section}"
            if here and before.split(" ")[0] == ".TP":
                found.append(words_of(line))
        return found

    def documented(self):
        """Options in tags."""
        return {o for tag in self.tags() if tag.startswith("-") for o in re.findall(OPTION, tag)}

    def paragraphs(self):
        """Running text, with an example's lines as one paragraph each."""
        text, example = [], False
        for line in self.lines + [".PP"]:
            word = line.split(" ")[0]
            if word in (".EX", ".nf", ".EE", ".fi"):
                example = word in (".EX", ".nf")
            if example or word in (".PP", ".P", ".TP", ".IP", ".SH", ".SS", ".EE", ".fi", ".RS", ".RE", ".br"):
                yield " ".join(text)
                text = []
            text.append(words_of(line))

    def described_elsewhere(self):
        """Pairs of another page's command and an option that this page leaves to it."""
        for paragraph in self.paragraphs():
            other = re.search(r"cyclescope-(\w+)\(1\) describes", paragraph)
            if other:
                yield from ((other[1], option) for option in re.findall(OPTION, paragraph))

    def mentions(self):
        """Pairs of a command and a long option that is mentioned as one of that command."""
        known = "|".join(sorted(commands()))
        for paragraph in self.paragraphs():
            command = self.command
            for word in re.split(r"[\s`()]+", re.sub(r"[|]", " ", paragraph)):
                if word == "--":  # what follows is the guest's
                    break
                if re.fullmatch(known, word):
                    command = word
                elif re.match(r"--[a-z]", word):
                    yield command, re.match(r"[\w-]+", word)[0]
                elif not re.match(r"-", word) and not paragraph.startswith(("cyclescope ", "$ ")):
                    command = self.command


def plain(line):
    """A line without escapes for fonts and special characters."""
    return re.sub(r"\\f(\[\w*\]|.)", "", line).replace(r"\-", "-").replace(r"\&", "")


def words_of(line):
    """The text of a line, without the macro; the arguments of .BR and its like stand together, as they are printed."""
    macro = re.match(r"\.(B|I|BR|RB|BI|IB|IR|RI)\s+(.*)", line)
    if macro is None:
        return "" if line.startswith(".") else line
    words = re.findall(r'"([^"]*)"|(\S+)', macro[2])
    return ("" if len(macro[1]) == 2 else " ").join(a or b for a, b in words)


# ---- the checks; each yields sentences


def check_options(page):
    exist = options_of(page.command)
    documented = page.documented()
    left = set()
    for other, option in page.described_elsewhere():
        left.add(option)
        if option not in Page(page.path.with_name(f"cyclescope-{other}.1")).documented():
            yield f"cyclescope-{other}(1) does not describe {option}"
    for option in sorted(exist - documented - left):
        yield f"{option} is missing"
    for option in sorted((documented | left) - exist):
        yield f"`cyclescope {page.command}` has no option {option}"
    for option in sorted(documented & left):
        yield f"{option} is described here and left to another page"


def check_mentions(page):
    foreign = {"--tool", "--bb-out-file", "--interval-size", "--cflags", "--libs"}  # of valgrind and pkg-config, in examples
    anywhere = set().union(*(options_of(c) for c in commands())) | TOP_LEVEL
    for command, option in sorted(set(page.mentions())):
        if option in foreign:
            continue
        if option not in (options_of(command) if command not in ("", "list") else anywhere):
            yield f"mentions {option}, which `cyclescope {command}` does not have" if command else f"mentions {option}"


def check_names(page):
    """The tags of a section are the rows of a section of the help text."""
    section, heading = {"": ("COMMANDS", "commands"), "list": ("KINDS", "kinds")}[page.command]
    rows = help_rows(help_text(*page.command.split()), heading)
    for name in sorted(rows ^ set(page.tags(section))):
        yield f"{name} is {'missing' if name in rows else 'not in the help text'}"


def check_library(page):
    """The names of the header are in the page, and the page has no others."""
    pattern = r"\bcyclescope_\w+(?=\()|\bCYCLESCOPE_[A-Z]+\b(?=[ ,]*(?:/\*|$))"
    declared = set(re.findall(pattern, HEADER.read_text(), re.M))
    text = "\n".join(page.lines)
    for name in sorted(declared):
        if not re.search(rf"\b{name}\b", text):
            yield f"{name} is missing"
    for name in sorted(set(re.findall(r"\bcyclescope_\w+|\bCYCLESCOPE_\w+", text))):
        if not re.search(rf"\b{name}\b", HEADER.read_text()):
            yield f"{name} is not in the header"


def check_groff(page):
    if shutil.which("groff"):
        made = subprocess.run(["groff", "-man", "-ww", "-z", "-Tutf8", "-K", "utf8", page.path], capture_output=True, text=True)
        yield from made.stderr.splitlines()


def checks(page):
    if page.path.suffix == ".3":
        return [check_library, check_groff]
    if page.command == "":
        return [check_names, check_mentions, check_groff]
    return ([check_names] if page.command == "list" else []) + [check_options, check_mentions, check_groff]


def main():
    failed = False
    paths = sorted(PROJECT.glob("docs/*.[13]"))
    for path in paths:
        page = Page(path)
        wrong = [sentence for check in checks(page) for sentence in check(page)]
        print(f"not ok {path.stem}: {'; '.join(wrong)}" if wrong else f"ok {path.stem}")
        failed |= bool(wrong)
    for command in sorted(commands() - {"help"} - {p.stem.partition("-")[2] for p in paths}):
        print(f"not ok cyclescope-{command}: docs/cyclescope-{command}.1 is missing")
        failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
