"""What the scripts that write one section of docs/RESULTS.md share: their options, and how the section is replaced."""

import argparse
import os
import re
import sys
from pathlib import Path

import folder
import guest
import programs

HERE = Path(__file__).resolve().parent


def parser(description, jobs="programs", timeout=7200):
    """A parser with the options of all these scripts. `jobs` is what --jobs counts, `timeout` the usual time limit."""
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--jobs", type=int, default=os.cpu_count(), help=f"{jobs} at a time")
    options.add_argument("--timeout", type=float, default=timeout, help="time limit of a run in seconds")
    options.add_argument("--output", type=Path, default=HERE.parent / "docs" / "RESULTS.md",
                         help="page in which the section is replaced")
    options.add_argument("--keep", metavar="FOLDER", help="save reports in FOLDER, and reuse those that are there")
    options.add_argument("--cyclescope", type=os.path.abspath, default=guest.CYCLESCOPE)
    options.add_argument("--suite", help="folder of the suite, as for run.py")
    return options


def add_window_options(options):
    """Options of scripts that measure a window of each program."""
    options.add_argument("--skip", type=float, default=0.5,
                         help="share of the program that runs functionally before the window and its warm-up")
    options.add_argument("--size", choices=programs.SIZES, default="big")


def add_programs(options):
    options.add_argument("programs", nargs="*", metavar="PROGRAM", help="run these only, and print the section")


def replaced(page, text, heading):
    """The page with the section under a heading replaced at its place, or added at the end."""
    old = re.search(rf"^{re.escape(heading)}\n.*?(?=^## |\Z)", page, flags=re.MULTILINE | re.DOTALL)
    before, after = (page[:old.start()], page[old.end():]) if old else (page, "")
    parts = (part.strip("\n") for part in (before.rstrip(), text.rstrip(), after))
    return "\n\n".join(part for part in parts if part) + "\n"


def write(output, text, heading):
    """Replaces the section in a file, which need not exist."""
    page = output.read_text() if output.exists() else ""
    output.write_text(replaced(page, text, heading))


def measure_and_write(options, run, sections):
    """Measures all programs, or those named in `options.programs`; writes the sections, given by heading, into the page,
    or prints those of named programs; ends the script, with status 1 if there were problems.  `run` and each section are
    functions of the scripts: run(options, suite, names), section(options, found, problems)."""
    suite = folder.Suite(options.suite)
    suite.prepare()
    found, problems = run(options, suite, options.programs)
    for heading, section in sections.items():
        text = "\n".join(section(options, found, problems))
        if options.programs:
            print(text)
        else:
            write(options.output, text, heading)
    sys.exit(bool(problems))
