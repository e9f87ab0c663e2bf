#!/usr/bin/env python3
"""suite/what_if.py: what is made of the reports of `validate what-if`."""
import sys
import unittest
from argparse import Namespace
from pathlib import Path
from unittest import mock

import test_suite  # puts suite/ into the path

import guest  # noqa: E402
import what_if  # noqa: E402


def report(cpi, *errors):
    rows = [{"what_if": name, "error_percent": error, "simulated_change_percent": 10 * error}
            for name, error in zip(what_if.WHAT_IFS, errors)]
    return {"cpi": cpi, "what_ifs": rows, "mean_error_percent": sum(map(abs, errors)) / len(errors)}


COUNT = len(what_if.WHAT_IFS)
FOUND = {"eyerman2006": {"gzip": report(1.5, *[0.5] * COUNT), "jq": report(0.5, -2, *[0] * (COUNT - 1))},
         "modern": {"gzip": report(0.4, *[1] * COUNT)}}


class Measuring(unittest.TestCase):
    def test_a_program_that_cannot_be_saved_runs_the_same_subject(self):
        options = Namespace(cyclescope="/bin/true", skip=0.5, timeout=5, what_if_insns=10, what_if_warmup=10, what_if_cores=["modern"])
        case = Namespace(program="xz", minsns=1)
        with mock.patch.object(guest, "run", side_effect=lambda runner, *_: runner.command(Path("/tmp/run"), ["/usr/bin/xz"])):
            words = what_if.runs_of(options)._simulate(options, Namespace(sysroot=Path("/root")), case, "modern")
        self.assertEqual(words[1:3], ["validate", "what-if"])
        self.assertEqual(words[-2:], ["--", "/usr/bin/xz"])


class Section(unittest.TestCase):
    def test_a_row_has_mean_and_worst_error_of_each_core(self):
        first, *_, everything = what_if.what_if_rows(FOUND)
        self.assertEqual(first, ["`l2.latency=-50%`", "12.5", "1.25", "-2.00 jq", "10.0", "1.00", "+1.00 gzip"])
        self.assertEqual(everything[0], "all")
        self.assertEqual(everything[2], f"{(2 + 0.5 * COUNT) / (2 * COUNT):.2f}")

    def test_a_program_that_a_core_lacks_has_empty_cells(self):
        rows = {row[0]: row[1:] for row in what_if.program_rows(FOUND)}
        self.assertEqual(rows["jq"], ["0.500", f"{2 / COUNT:.2f}", "-2.00 l2.latency=-50%", "", "", ""])

    def test_the_section_names_problems(self):
        options = Namespace(skip=0.5, size="big", what_if_insns=1000000, what_if_warmup=1000000)
        text = "\n".join(what_if.section(options, FOUND, {"jq on modern": "status 1"}))
        self.assertTrue(text.startswith(what_if.HEADING))
        self.assertIn("**jq on modern:** status 1", text)
        self.assertIn("\n".join(what_if.section(options, {"modern": {}}, {})), text)


if __name__ == "__main__":
    sys.exit(test_suite.main())
