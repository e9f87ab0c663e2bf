#!/usr/bin/env python3
"""Facts about the evaluation of runs with multiplexed counters: which bars are met, and the section of the page."""

import sys
import unittest
from argparse import Namespace

import test_suite  # puts suite/ into the path

import results_page  # noqa: E402
import sampling      # noqa: E402

OPTIONS = Namespace(sampling_warmup=5000000, rounds_insns=400000000)


def counted(distance, error, held, rare=False):
    """What an estimator made of an event."""
    return {"value": 1, "low": 0, "high": 2, "distance": None if rare else distance, "error_percent": error,
            "holds": held >= 10, "variation": 0.5,
            "replayed": {"distance": None if rare else distance, "error_percent": error, "held": held}}


def counters(names, distance=0.1, error=1, held=19, rare=()):
    rows = [{"event": name, "name": name, "true_value": 1000, "rare": name in rare, "bursty": False,
             "busiest_percent": 12, **{way: counted(distance, error, held, name in rare)
                                       for way in ("linear", "regression")}} for name in names]
    points = [(n, 10) for n in (20000, 40000, 100000, 200000, 500000)] + [(500000, n) for n in (5, 10, 20, 40)]
    sweep = [{"slice": s, "ratio": r, "rounds": 9, "distance": [{"event": name, "linear": distance} for name in names]}
             for s, r in points]
    return {"counters": rows, "sweep": sweep,
            "multiplexing": {"rounds": 100, "user_cycles": 1000000, "replayed_orders": 20}}


def parts(at_20=1.0, **changes):
    percent = {1: 0.1, 2: 0.2, 5: 0.3, 20: at_20, 100: 5, 200: 10, 1000: 50}
    paper = {1: 0.2, 2: 0.5, 5: 0.8, 20: 2, 100: 12, 200: 22, 1000: 63}
    stalls = {source: {"kl_single": 0.1, "kl_inorder": None} for source in sampling.TABLE3}
    return {"table2": counters(sampling.TABLE2), "ten": counters(sampling.TEN), "sixteen": counters(sampling.SIXTEEN),
            "stalls": {"intervals": 200, "stalls": stalls, "cpi_by_run": {"real": 1, "single": 2, "inorder": 4}},
            "overhead": {"overhead": [{"khz": khz, "percent": percent[khz], "paper_percent": paper[khz],
                                       "cycles_per_sample": 900} for khz in paper]}, **changes}


def found(**changes):
    """All programs; the first with changes."""
    first, *others = sampling.STANDS_FOR
    return {first: parts(**changes), **{name: parts() for name in others}}


class Bars(unittest.TestCase):
    def missed(self, **changes):
        return [name for name, _ in sampling.bars_missed(found(**changes))]

    def test_all_are_met(self):
        self.assertEqual(self.missed(), [])

    def test_the_papers_numbers_are_complete(self):
        for table, columns in ((sampling.PAPER_TABLE2, 8), (sampling.PAPER_TABLE3, 16)):
            self.assertEqual({len(row.split()) for row in table.values()}, {columns})
        self.assertEqual(list(sampling.PAPER_TABLE2), list(sampling.TABLE2))
        self.assertEqual(list(sampling.PAPER_TABLE3), list(sampling.TABLE3))

    def test_too_many_large_distances(self):
        self.assertEqual(len(self.missed(table2=counters(sampling.TABLE2, distance=0.3))), 1)

    def test_rare_events_have_no_entry(self):
        rows = found(table2=counters(sampling.TABLE2, rare=("loads", "stores")))
        self.assertEqual(len(list(sampling.table2_entries(rows, "linear"))), 8 * 9 - 2)

    def test_errors_and_coverage(self):
        self.assertEqual(len(self.missed(ten=counters(sampling.TEN, error=50))), 1)
        self.assertEqual(len(self.missed(sixteen=counters(sampling.SIXTEEN, error=50))), 0)
        self.assertEqual(len(self.missed(sixteen=counters(sampling.SIXTEEN, error=90))), 1)
        self.assertEqual(len(self.missed(sixteen=counters(sampling.SIXTEEN, held=0))), 1)

    def test_rare_events_do_not_count_unless_asked_for(self):
        rows = found(ten=counters(sampling.TEN, error=50, rare=sampling.TEN))
        self.assertEqual(sampling.error(rows, "ten", "linear")[0], 1)
        self.assertEqual(sampling.error(rows, "ten", "linear", rare=True)[0], (7 + 50) / 8)

    def test_overhead(self):
        self.assertEqual(len(self.missed(at_20=2.1)), 1)
        self.assertEqual(len(self.missed(at_20=20)), 2)

    def test_cases(self):
        real, held, replays, replayed = sampling.coverage(found(), "regression")
        self.assertEqual((real, held, replays, replayed), (8 * 26, 100, 8 * 26 * 20, 95))


class Page(unittest.TestCase):
    def text(self, results, problems=()):
        return "\n".join(sampling.section(OPTIONS, results, dict(problems)))

    def test_it_has_all_tables(self):
        text = self.text(found(table2=counters(sampling.TABLE2, distance=0.3)))
        for part in ("table 2", "up to 400 million instructions", "figure 5", "images/multiplexed.svg", "figure 6",
                     "Totals", "table 3", "table 4", "0.30 / 0.30 / 1.21", "0.10 / N/A; 0.36 / 0.36", "gzip `loads` | 1000 | 12 | 0.30"):
            self.assertIn(part, text)
        self.assertEqual(text.count("\n## "), 0)

    def test_a_program_that_failed_is_named_and_left_out(self):
        text = self.text({"cc1": parts()}, {"gzip": "status 1"})
        self.assertIn("**gzip:** status 1", text)
        self.assertIn("| event | cc1 (gcc) |", text)
        self.assertIn("0.10 / 0.10 / 0.06", text)

    def test_it_is_replaced_on_a_page(self):
        page = results_page.replaced("# Results\n\n## A\n\na\n", sampling.HEADING + "\n\nb\n", sampling.HEADING)
        again = results_page.replaced(page, sampling.HEADING + "\n\nc\n", sampling.HEADING)
        self.assertEqual(again, "# Results\n\n## A\n\na\n\n" + sampling.HEADING + "\n\nc\n")
        behind = results_page.replaced(again + "\n## D\n\nd\n", sampling.HEADING + "\n\ne\n", sampling.HEADING)
        self.assertEqual(behind, "# Results\n\n## A\n\na\n\n" + sampling.HEADING + "\n\ne\n\n## D\n\nd\n")


if __name__ == "__main__":
    sys.exit(test_suite.main())
