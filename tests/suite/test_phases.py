#!/usr/bin/env python3
"""Facts about what is made of full and sampled runs: errors, where they come from, which bars are met, the section."""

import copy
import json
import sys
import unittest
from argparse import Namespace
from unittest import mock

import test_suite  # puts suite/ into the path

import guest     # noqa: E402
import phases    # noqa: E402
import results_page  # noqa: E402
import sampling  # noqa: E402

OPTIONS = Namespace(core="eyerman2006", jobs=1)
STACK = {"base": 0.5, "branch": 0.3, "l2d": 0.195, "itlb": 0.005}
EVENTS = {"rob_occupancy": 400000, "cycles": 10000, "mispredictions": 2000, "branches": 20000, "l1i_access_misses": 3000,
          "l1i_accesses": 300000, "l1d_access_misses": 3000, "l1d_accesses": 30000}


def full(cpis=(1.0,) * 10):
    """A run of intervals of a million instructions."""
    intervals = [{"instructions": 1000000, "cycles": cpi * 1000000,
                  "stack_cycles": {"fmt": {name: cpi * value * 1000000 for name, value in STACK.items()}}}
                 for cpi in cpis]
    cpi = sampling.mean(cpis)
    return {"instructions": 1000000 * len(cpis), "cpi": cpi, "cut": False, "exit_status": 0, "intervals": intervals,
            "stacks": {"fmt": {name: cpi * value for name, value in STACK.items()}}, "events": dict(EVENTS),
            "host": {"seconds": 900, "cpu_seconds": 400}}


def sampled(cpi=1.0, width=0.1, detailed=400000, clock=20, cpu=16):
    stack = {name: cpi * value for name, value in STACK.items()}
    return {"cpi": cpi, "stacks": {"fmt": stack}, "events": dict(EVENTS),
            "stack_intervals": {"fmt": {name: [value - width, value + width] for name, value in stack.items()}},
            "event_intervals": {name: [0.9 * n, 1.1 * n] for name, n in EVENTS.items()},
            "sampled": {"cpi": [cpi - width, cpi + width], "detailed_instructions": detailed,
                        "points": [{"start": 1000000, "length": 1000000, "weight": 0.5, "cpi": cpi},
                                   {"start": 5000000, "length": 1000000, "weight": 0.5, "cpi": cpi},
                                   {"start": 9500000, "length": 20000, "cpi": 9}]},
            "measured": {"seconds": clock, "cpu_seconds": cpu}}


def analysis():
    choice = {"start": 2000000, "length": 2000000, "difference": 0.25, "periods": 1}
    return {"phases": {"init_end": 1000000, "period": 2000000, "periods": [2000000], "correlated_period": 0},
            "best_period": choice, "budgeted": choice, "naive": None, "host": {"seconds": 1, "cpu_seconds": 1}}


def strides(**changes):
    """Loads, and those off stride; in the full run, of three in each interval the number of the interval."""
    names = ("loads", *phases.STRIDES.values())
    intervals = [{"from": 1000000 * k, "counts": {"loads": 3, names[1]: k % 3, names[2]: 2}} for k in range(10)]
    way = {"counters": [{"name": name, "value": n, "interval": [n - 1, n + 1]} for name, n in zip(names, (30, 9, 20))]}
    return {"full": way | {"intervals": intervals}, "points": way, "systematic": way, **changes}


def parts(**changes):
    return {"full": full(), "phases": analysis(), "points": sampled(), "systematic": sampled(),
            "best_period": sampled(), "budgeted": sampled(), "strides": strides(), **changes}


def found(**changes):
    """All programs; the first with changes."""
    first, *others = phases.PROGRAMS
    return {first: parts(**changes), **{name: parts() for name in others}}


class Errors(unittest.TestCase):
    def test_a_stretch_is_made_of_the_intervals_it_covers(self):
        run = full([1, 2, 3, 4])
        self.assertAlmostEqual(phases.stretch(run, 1000000, 2000000)[0], 2.5)
        self.assertAlmostEqual(phases.stretch(run, 0, 4000000)[0], run["cpi"])

    def test_an_interval_that_is_cut_counts_by_its_share(self):
        cpi, stack = phases.stretch(full([1, 2, 3, 4]), 500000, 1000000)
        self.assertAlmostEqual(cpi, 1.5)
        self.assertAlmostEqual(stack["branch"], 1.5 * STACK["branch"])

    def test_a_stretch_that_reaches_beyond_the_end(self):
        self.assertAlmostEqual(phases.stretch(full([1, 2]), 1000000, 9000000)[0], 2)

    def test_errors_of_stretches_are_those_of_the_full_runs_intervals(self):
        of = parts(full=full([1, 1, 3, 3, 2]), best_period=sampled(9))
        self.assertAlmostEqual(phases.cpi_error(of, "best_period"), 50)

    def test_initialization_is_no_part_of_what_a_stretch_represents(self):
        """Of the first interval with a CPI of 5 and nine others, the stretch has the two with 2 and 4."""
        of = parts(full=full([5, 1, 2, 4, 3, 3, 3, 3, 3, 3]))
        steady = 25 / 9
        self.assertAlmostEqual(phases.steady_error(of, "best_period"), 100 * (3 / steady - 1))
        self.assertAlmostEqual(phases.joined_error(of, "best_period"), 100 * ((0.1 * 5 + 0.9 * 3) / 3 - 1))
        self.assertIsNone(phases.steady_error(of, "naive"))

    def test_what_was_not_chosen_has_no_error(self):
        self.assertIsNone(phases.cpi_error(parts(), "naive"))
        self.assertIsNone(phases.rate_error(parts(), "naive", "ROB occupancy"))

    def test_rates_are_compared_and_not_counts(self):
        twice = sampled()
        twice["events"] = {name: 2 * n for name, n in EVENTS.items()} | {"branches": EVENTS["branches"]}
        self.assertEqual(phases.rate_error(parts(points=twice), "points", "branch mispredictions"), 100)
        self.assertEqual(phases.rate_error(parts(points=twice), "points", "L1 D-cache misses"), 0)

    def test_loads_off_stride(self):
        addresses, values = phases.STRIDES.values()
        self.assertAlmostEqual(phases.off_stride(parts(), "full", addresses), 0.3)
        self.assertAlmostEqual(phases.off_stride(parts(), "best_period", addresses), (2 + 0) / 6)
        self.assertAlmostEqual(phases.off_stride_error(parts(), "best_period", values), 0)
        half = copy.deepcopy(strides()["points"])
        half["counters"][0]["value"] = 60
        self.assertAlmostEqual(phases.off_stride_error(parts(strides=strides(points=half)), "points", values), -50)
        self.assertIsNone(phases.off_stride_error(parts(), "naive", addresses))

    def test_points_that_were_not_simulated_are_told_and_left_out(self):
        one = sampled(1.1)
        one["sampled"]["points"][2] = {"start": 9000000, "length": 1000000, "weight": 0.0, "why_not": "it ended"}
        of = parts(points=one)
        self.assertEqual(list(phases.lacks(of, "points")), [
            "1 of 3 windows were not simulated: 1 because it ended", "the last 40 % of the run have no window"])

    def test_a_run_with_windows_to_its_end_lacks_none(self):
        self.assertEqual(list(phases.lacks(parts(), "points")), [])

    def test_near_enough_is_one_of_two_limits(self):
        off = phases.deviations(parts(points=sampled(1.05)), "points")
        self.assertEqual({name: near for name, (_, near) in off.items()},
                         {"base": False, "branch": True, "l2d": True, "itlb": True})
        self.assertTrue(all(near for _, near in phases.deviations(
            parts(full=full([10.0] * 3), points=sampled(10.25)), "points").values()))


    def test_what_windows_are_off_by(self):
        one = sampled(1.01)
        one["sampled"]["points"] = [{"start": 9900000, "length": 20000, "cpi": 1.01}]
        left_out = copy.deepcopy(one)
        left_out["sampled"]["points"][0]["start"] = 0
        off = phases.per_window({"gap": parts(systematic=one), "sqlite": parts(systematic=left_out)}, "systematic")
        self.assertEqual(list(off), ["base", "branch", "l2d"])
        self.assertAlmostEqual(off["branch"][0], 0.01 * STACK["branch"] * 20000)
        self.assertEqual(len(off["branch"]), 1)


class Bars(unittest.TestCase):
    def missed(self, **changes):
        return [name for name, _ in phases.bars_missed(found(**changes))]

    def test_all_are_met(self):
        self.assertEqual(self.missed(), [])

    def test_one_way_that_meets_all_is_enough(self):
        self.assertEqual(self.missed(points=sampled(1.5)), [])

    def test_each_bar_can_be_missed(self):
        def both(**changes):
            return self.missed(points=sampled(**changes), systematic=sampled(**changes))
        self.assertEqual(both(cpi=1.03), ["CPI error, worst", "all of the above"])
        self.assertEqual(both(cpi=1.12, width=0.2), ["CPI error, average", "CPI error, worst",
                                                     "components within 0.02 CPI or 3 %", "all of the above"])
        self.assertEqual(both(detailed=600000), ["most instructions in detail", "all of the above"])
        self.assertEqual(both(clock=50, cpu=45), ["times faster than full detail on two processors, least"])

    def test_a_run_that_leaves_windows_out_is_not_called_fast(self):
        one = sampled()
        del one["sampled"]["points"][1:]
        self.assertEqual([name[:12] for name in self.missed(points=one, systematic=one)], ["times faster"])

    def test_bars_met_by_different_ways_are_not_met_by_one(self):
        self.assertEqual(self.missed(points=sampled(1.035), systematic=sampled(detailed=600000)), ["all of the above"])

    def test_intervals(self):
        results = {name: parts(points=sampled(1.005, 0.001), systematic=sampled(1.005, 0.001))
                   for name in phases.PROGRAMS}
        name = "95 % intervals of CPI and components that contain the true value"
        self.assertEqual([missed for missed, _ in phases.bars_missed(results)], [name, "all of the above"])

    def test_intervals_of_counts(self):
        one = sampled()
        one["event_intervals"]["branches"] = one["event_intervals"]["cycles"] = [0, 1]
        results = {name: parts(points=one, systematic=one) for name in phases.PROGRAMS}
        name = "95 % intervals of counts that contain the true value"
        self.assertEqual([missed for missed, _ in phases.bars_missed(results)], [name, "all of the above"])

    def test_rare_counts_and_those_without_an_interval_are_not_judged(self):
        one = sampled()
        one["event_intervals"]["branches"] = [None, None]
        one["event_intervals"] |= {"rare": [0, 1], "instructions": [0, 1]}
        changed = parts(points=one)
        changed["full"]["events"] |= {"rare": 900, "instructions": 10000000}
        self.assertEqual(set(phases.event_cases(changed, "points")),
                         set(EVENTS) - {"branches"} | set(phases.STRIDES.values()))

    def test_small_components_and_unknown_intervals(self):
        one = sampled()
        one["sampled"]["cpi"] = [None, None]
        self.assertEqual(phases.cases(parts(points=one), "points"),
                         {"CPI": False, "base": True, "branch": True, "l2d": True})

    def test_a_loaded_machine_does_not_make_the_full_run_slow(self):
        self.assertEqual(phases.speedup(parts(), "points"), (20, 25))
        self.assertEqual(phases.idle_speedup(parts(), "points"), 25)
        self.assertEqual(phases.speedup(parts(points=sampled(cpu=0)), "points"), (20, None))

    def test_a_few_programs_are_not_judged(self):
        self.assertEqual(list(phases.bars_missed({"gap": parts(points=sampled(2), systematic=sampled(2))})), [])


class Measuring(test_suite.Folder):
    def measure(self, answer, status=0):
        """What is made of runs that all say the same, and their command lines."""
        def run(runner, case, _sysroot, _timeout):
            commands.append(" ".join(runner.command(self.path, case.argv)))
            return guest.Result(status, {"stderr": b"no"}, None, json.dumps(answer), 3.0, 2.0)
        commands = []
        options = Namespace(keep=self.path / "keep", cyclescope="/bin/true", core="eyerman2006", jobs=1, timeout=9, strides=True)
        with mock.patch.object(guest, "run", run), mock.patch("builtins.print"):
            return phases.run(options, Namespace(sysroot=self.path), ["gap"]), commands

    def test_runs_and_that_kept_ones_are_not_repeated(self):
        (results, problems), commands = self.measure(full() | analysis() | sampled())
        self.assertEqual(problems, {})
        self.assertEqual(sorted(results["gap"]), ["best_period", "budgeted", "full", "phases", "points", "strides",
                                                  "systematic"])
        self.assertEqual(results["gap"]["full"]["measured"], {"seconds": 3, "cpu_seconds": 2})
        expected = ("--interval 1000000 -- ", "phases --quiet --json", "--jobs 1 --points auto",
                    "--jobs 1 --systematic", *["--skip 2000000 --warm --max-insns 2000000"] * 2,
                    f"perfect.units=yes {' '.join(phases.STRIDE_EVENTS)} --interval 1000000",
                    "mispredictions --jobs 1 --points auto", "mispredictions --jobs 1 --systematic")
        self.assertEqual(len(commands), len(expected))
        for command, words in zip(commands, expected):
            self.assertIn(words, command)
        self.assertIn("--budget 500000", commands[1])
        again, commands = self.measure({})
        self.assertEqual((again[0], commands), (results, []))

    def test_a_run_that_fails_is_a_problem_of_the_program(self):
        (results, problems), _ = self.measure({}, status=125)
        self.assertEqual((results, str(problems["gap"])), ({}, "full: status 125: no"))

    def test_a_run_that_was_cut_is_no_truth(self):
        (results, problems), _ = self.measure(full() | {"cut": True})
        self.assertEqual((results, list(problems)), ({}, ["gap"]))


class Page(unittest.TestCase):
    def text(self, results, problems=()):
        return "\n".join(phases.section(OPTIONS, results, dict(problems)))

    def test_it_has_all_tables(self):
        text = self.text(found(points=sampled(1.05)))
        for words in ("Initialization", "| arachne | 10 | 1 | 2 | none | 2 + 2 (0.25) | 2 + 2 (0.25) | none |",
                      "| arachne (1.000) | +0.00 | +0.00 |  | +5.00 | +0.00 |",
                      "| **worst** | **0.00** | **0.00** |  | **5.00** |", "**base +0.025**", "47 of 48",
                      "| arachne | 9.52 | 4 of 4 | 10 of 10 |  |", "| load values off stride |", "20.0, 25.0",
                      "simulate 1 window at a time",
                      "| CPI error, worst | 5.00 % | 0.00 % | under 1.5 % | systematic |"):
            self.assertIn(words, text)
        self.assertEqual(text.count("\n## "), 0)

    def test_runs_that_others_made_are_marked(self):
        one = sampled()
        one["host"] = one.pop("measured") | {"cpu_seconds": 0}
        self.assertIn("| 20 |  | 20.0, *imported* |", self.text(found(points=one)))
        self.assertNotIn("imported", self.text(found()))

    def test_what_no_interval_holds_is_named(self):
        one = sampled(width=0.1)
        one["event_intervals"]["rob_occupancy"] = [0, 1]
        one["stack_intervals"]["fmt"]["branch"] = [0, 0.1]
        self.assertIn("| 3 of 4 | 9 of 10 | branch, rob_occupancy |", self.text(found(points=one)))

    def test_a_program_that_failed_is_named_and_left_out(self):
        text = self.text({"gap": parts()}, {"sqlite": "status 1"})
        self.assertIn("**sqlite:** status 1", text)
        self.assertIn("1 program of the suite", text)

    def test_a_bar_that_is_missed_stands_in_the_table_only(self):
        results = found(points=sampled(1.035), systematic=sampled(1.035))
        text = self.text(results, phases.bars_missed(results))
        self.assertEqual(text.count("CPI error, worst"), 1)

    def test_results_do_not_change_by_being_shown(self):
        results = found()
        before = copy.deepcopy(results)
        self.text(results)
        self.assertEqual(results, before)

    def test_it_is_replaced_on_a_page(self):
        page = results_page.replaced("# Results\n\n## A\n\na\n", phases.HEADING + "\n\nb\n", phases.HEADING)
        again = results_page.replaced(page, phases.HEADING + "\n\nc\n", phases.HEADING)
        self.assertEqual(again, "# Results\n\n## A\n\na\n\n" + phases.HEADING + "\n\nc\n")


if __name__ == "__main__":
    sys.exit(test_suite.main())
