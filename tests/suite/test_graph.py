#!/usr/bin/env python3
"""suite/graph.py: how a program is measured, and what is made of the reports."""
import json
import sys
import tempfile
import unittest
from argparse import Namespace
from pathlib import Path
from unittest import mock

import test_suite  # puts suite/ into the path

import graph  # noqa: E402
import window_runs  # noqa: E402
import guest  # noqa: E402

ALL, NONE = ["l1i", "l2i", "itlb", "branch", "l1d", "l2d", "dtlb"], []


def simulated(real, cycles, graph_cycles=None, failed=None):
    more = {} if graph_cycles is None else {"graph_cycles": graph_cycles}
    return {"real": real, "cycles": cycles, "seconds": 1, "failed": failed, **more}


def report(*runs, noise=None, base=1.2, **errors):
    return {"cpi": 1.5, "base_times_width": base, "instructions": 1000000, "max_error": errors, "noise": noise,
            "max_error_component": dict.fromkeys(errors, "l2d"), "runs": list(runs)}


def found():
    first = report(simulated(ALL, 1000, 1010), simulated(NONE, 500, 495), graph=0.5, fmt2=2, fmt=4)
    second = report(simulated(ALL, 1000, 970), simulated(NONE, 500, 500), noise={"percent": 0.034}, graph=1.5, fmt2=1, fmt=9)
    without = report(simulated(ALL, 1000), simulated(NONE, 500), base=1.5, fmt2=3, fmt=5)
    return {"eyerman2006": {"gzip": ("the twenty-five", first), "jq": ("further", second)},
            "ppc970": {"gzip": ("the twenty-five", without)}}


def options(**changes):
    return Namespace(**{"cyclescope": "cyclescope", "skip": 0.5, "size": "big", "jobs": 2, "keep": None, "timeout": 5,
                        "graph_insns": 1000000, "graph_warmup": 1000000, "cores": ["eyerman2006"], **changes})


def result(status=0, text="", **changes):
    return guest.Result(status=status, outputs={"stderr": text.encode()}, instructions=None, seconds=1, cpu_seconds=1,
                        report=json.dumps({**report(simulated(ALL, 1000, 1010), graph=0.5, fmt2=2, fmt=4), **changes}))


class Evaluation(unittest.TestCase):
    def test_interactions_are_compared_by_pair(self):
        """The data caches and the predictor overlap: only both together save 300 cycles.  The graph says the opposite of the
        D-TLB and the predictor."""
        without = {"l1d": ["l1d", "l2d"], "branch": ["branch"], "dtlb": ["dtlb"]}

        def real(*perfect):
            return [c for c in ALL if not any(c in without[p] for p in perfect)]

        runs = [simulated(real(), 1000, 1000), simulated(real("l1d"), 900, 900), simulated(real("branch"), 950, 960),
                simulated(real("l1d", "branch"), 550, 560), simulated(real("dtlb"), 980, 980), simulated(real("dtlb", "branch"), 950, 930)]
        self.assertEqual(graph.interactions(report(*runs)), {("branch", "l1d"): (30, 30), ("branch", "dtlb"): (-2, 1)})
        self.assertEqual(list(graph.interaction_rows({"modern": {"jq": ("further", report(*runs))}})),
                         [["modern, further", "2", "1", "1.50", "+3.00", "jq: branch dtlb"]])
        self.assertEqual(graph.interactions(found()["ppc970"]["gzip"][1]), {})

    def test_cycles_are_compared_by_set(self):
        errors = graph.by_set(found()["eyerman2006"])
        self.assertEqual(list(errors), [frozenset(ALL), frozenset()])
        self.assertAlmostEqual(errors[frozenset(ALL)]["gzip"], 1)
        self.assertAlmostEqual(errors[frozenset(ALL)]["jq"], -3)
        self.assertEqual(graph.by_set(found()["ppc970"]), {})

    def test_the_summary_keeps_groups_and_leaves_out_what_a_core_lacks(self):
        rows = {(row[0], row[1]): row[2:] for row in graph.summary(found())}
        self.assertEqual(rows["eyerman2006, further", "graph"], ["1", "1.50", "1.50", "jq"])
        self.assertEqual([m for core, m in rows if core == "ppc970, the twenty-five"], ["fmt2", "fmt"])

    def test_balanced_runs_are_apart_from_others(self):
        rows = {(row[0], row[1]): row[2:] for row in graph.balance_rows(found())}
        self.assertEqual(rows["up to 1.4", "fmt"], ["2", "6.50", "9.00"])
        self.assertEqual(rows["above 1.4", "fmt"], ["1", "5.00", "5.00"])
        self.assertNotIn(("above 1.4", "graph"), rows)

    def test_a_row_of_a_program_names_the_worst_set(self):
        first, second = graph.program_rows(found()["eyerman2006"])
        self.assertEqual(first, ["gzip", "", "1.500", "0.50 l2d", "2.00 l2d", "4.00 l2d", "1.00", "+1.00", " ".join(ALL), "0"])
        self.assertEqual(second[-4:], ["1.50", "-3.00", " ".join(ALL), "0.03"])
        self.assertEqual(next(graph.program_rows(found()["ppc970"]))[3:9], ["", "3.00 l2d", "5.00 l2d", "", "", ""])

    def test_a_row_of_a_set_names_the_worst_program(self):
        self.assertEqual(list(graph.set_rows({"eyerman2006": found()["eyerman2006"]})),
                         [[" ".join(ALL), "2.00", "-3.00 jq"], ["none", "0.50", "-1.00 gzip"]])

    def test_every_table_of_the_section_has_whole_rows(self):
        text = "\n".join(graph.section(options(), found(), {"xz on modern": "no"}))
        self.assertTrue(text.startswith(graph.HEADING) and "**xz on modern:** no" in text)
        tables = [part.splitlines() for part in text.split("\n\n") if part.strip().startswith("|")]
        self.assertEqual(len(tables), 5)
        for lines in tables:
            self.assertEqual(len({line.count("|") for line in lines if line}), 1)

    def test_a_section_without_results_names_the_problems(self):
        text = "\n".join(graph.section(options(), {"eyerman2006": {}}, {"gzip on eyerman2006": "no"}))
        self.assertIn("**gzip on eyerman2006:** no", text)


class Measuring(unittest.TestCase):
    def test_programs_that_led_to_a_change_are_a_group_of_their_own(self):
        measured = {"modern": {"z3": ("further", report()), "jq": ("further", report()), "gzip": ("the twenty-five", report())}}
        with mock.patch.object(window_runs.WindowRuns, "measure_all", return_value=(measured, {})):
            results, _ = graph.run(options(), Namespace())
        self.assertEqual([group for group, _ in results["modern"].values()], ["led to a change", "further", "the twenty-five"])

    def measure(self, *results, **changes):
        """What `measure` returns, and the command lines that it ran."""
        suite, commands = Namespace(sysroot=Path("/root")), []

        def run(runner, case, *_):
            commands.append(" ".join(runner.command(Path("/root/suite/run/prog.big"), case.argv)))
            return results[len(commands) - 1]

        with mock.patch("guest.run", run), mock.patch("shutil.which", lambda name: name), mock.patch("builtins.print"):
            return graph.runs_of(options()).measure(options(**changes), suite, test_suite.case(minsns=8), "modern"), commands

    def test_the_program_is_saved_where_its_warm_up_begins(self):
        report_, (command,) = self.measure(result())
        self.assertEqual(report_["cpi"], 1.5)
        self.assertIn("checkpoint --quiet --at 3000000 ", command)
        self.assertRegex(command, "validate --core modern --warmup 1000000 --max-insns 1000000 .*--restore")

    def test_a_program_that_cannot_be_saved_is_skipped_to_the_place(self):
        _, commands = self.measure(result(125, "cannot be saved: it is a pipe"), result())
        self.assertEqual(len(commands), 2)
        self.assertIn("--skip 3000000", commands[1])

    def test_failures_are_problems(self):
        short = result(instructions=5)
        for bad in result(125, "no"), result(runs=[simulated(ALL, 0, failed="killed")]), short:
            with self.assertRaises(window_runs.Failed):
                self.measure(bad)

    def test_results_are_kept(self):
        with tempfile.TemporaryDirectory() as kept:
            first, _ = self.measure(result(), keep=kept)
            again, commands = self.measure(keep=kept)
            self.assertEqual(first, again)
            self.assertEqual(commands, [])

    def test_problems_do_not_end_the_others(self):
        def measured(_runs, _options, _suite, case, core):
            if case.program == "gzip" and core == "modern":
                raise window_runs.Failed("no")
            return {"core": core}

        with mock.patch("window_runs.WindowRuns.measure", measured), mock.patch("builtins.print"):
            results, problems = graph.run(options(cores=["eyerman2006", "modern"]), None, ["gzip", "jq"])
        self.assertEqual(results["eyerman2006"], {"gzip": ("the twenty-five", {"core": "eyerman2006"}),
                                                  "jq": ("further", {"core": "eyerman2006"})})
        self.assertEqual(list(results["modern"]), ["jq"])
        self.assertEqual([str(problem) for problem in problems.values()], ["no"])


if __name__ == "__main__":
    sys.exit(test_suite.main())
