#!/usr/bin/env python3
"""suite/coverage.py: what counts as an interval that holds, and which runs count."""
import sys
import unittest
from pathlib import Path

import test_suite  # puts suite/ into the path

import coverage  # noqa: E402

PROJECT = Path(__file__).resolve().parents[2]


def full():
    return {"instructions": 1000000, "cpi": 2.0, "stacks": {"fmt": {"base": 1.5, "l2d": 0.495, "itlb": 0.005}},
            "events": {"instructions": 1000000, "loads": 300000, "atomics": 5, "bus_reads": 9000}, "measured": {"cpu_seconds": 6.0}}


def sampled(cpi, **changes):
    return {"cpi": cpi, "sampled": {"method": "points", "cpi": [cpi - 0.02, cpi + 0.02]}, "measured": {"cpu_seconds": 1.5},
            "stack_intervals": {"fmt": {"base": [1.4, 1.6], "l2d": [0.5, 0.6], "itlb": [0, 0]}},
            "event_intervals": {"instructions": [1, 1], "loads": [290000, 310000], "atomics": [1, 2],
                                "bus_reads": [None, None]}, **changes}


def whole(cpi):
    return {"cpi": cpi, "sampled": {"method": "whole"}}


class Coverage(unittest.TestCase):
    def test_error_is_relative_to_the_full_run(self):
        self.assertAlmostEqual(coverage.error({"full": full(), "points": sampled(2.02)}, "points"), 1)

    def test_counts_that_are_rare_or_have_no_interval_are_left_out(self):
        parts = {"full": full(), "points": sampled(2.02)}
        self.assertEqual(coverage.count_cases(parts, "points"), {"loads": True})
        parts["full"]["events"]["loads"] = 311000
        self.assertEqual(coverage.count_cases(parts, "points"), {"loads": False})

    def test_whole_runs_are_listed_and_not_counted(self):
        found = {"long": ("held out", {"full": full(), "points": sampled(2.01), "systematic": sampled(2.05)}),
                 "short": ("held out", {"full": full(), "points": whole(2.0), "systematic": whole(2.002)})}
        points, systematic, both = coverage.summary(found)
        self.assertEqual(points[:4], ["held out, points", "1", "100.0 % of 1", "50.0 % of 2"])
        self.assertEqual(systematic[2], "0.0 % of 1")
        [long] = coverage.program_rows(found)
        self.assertEqual(long[4:7], ["+0.50 ±1.00", "1 of 1", "4.0"])
        self.assertEqual(long[-1], "l2d (points), CPI (systematic), l2d (systematic)")
        names, largest = coverage.wholes(found)
        self.assertEqual(names, ["short"])
        self.assertAlmostEqual(largest, 0.1)

    def test_no_program_is_on_both_sides(self):
        names = [coverage.name_of(case) for _, case in coverage.all_cases(PROJECT / "build")]
        self.assertEqual(len(names), len(set(names)))
        self.assertGreaterEqual(sum(group == "held out" for group, _ in coverage.all_cases(PROJECT / "build")), 40)


if __name__ == "__main__":
    sys.exit(test_suite.main())
