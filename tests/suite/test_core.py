#!/usr/bin/env python3
"""Facts about what runs the suite on the simulated core.  A script stands in for Cyclescope."""

import importlib.util
import json
import sys
import unittest
from argparse import Namespace

import test_suite
from test_suite import PROJECT, Folder, case

import core      # noqa: E402  (test_suite has put suite/ into the path)
import folder    # noqa: E402
import idealize  # noqa: E402


def bench():
    """bench/core.py; by its path, because suite/ has a module of that name."""
    spec = importlib.util.spec_from_file_location("bench_core", PROJECT / "bench" / "core.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def counts(**changes):
    return {"cycles": 10, "instructions": 7, "skipped": 0, "cut": False, "events": {"loads": 3},
            "cycles_by": {"fetch": {"width": 4, "l1i": 6}}, **changes}


class Counts(unittest.TestCase):
    def test_a_short_check_simulates_the_last_instructions_only(self):
        self.assertEqual(core.skipped(100 * core.MILLION, False, True), 97 * core.MILLION)
        self.assertEqual(core.skipped(core.MILLION, False, True), 0)

    def test_a_short_program_is_simulated_whole_and_of_a_long_one_the_end(self):
        self.assertEqual(core.skipped(150000000, False), 0)
        self.assertEqual(core.skipped(150000001, False), 90000001)
        self.assertEqual(core.skipped(150000001, True), 0)

    def test_cycles_that_do_not_add_up_are_named(self):
        self.assertIsNone(core.wrong_sum(counts()))
        self.assertEqual(core.wrong_sum(counts(cycles=11)), "cycles of fetch add up to 10 of 11")

    def test_a_changed_count_is_named(self):
        self.assertIsNone(core.first_change(counts(), counts()))
        self.assertEqual(core.first_change(counts(events={"loads": 4}), counts()),
                         "events loads is 4, expected 3")
        self.assertEqual(core.first_change(counts(cycles_by={"fetch": {"width": 5, "l1i": 5}}), counts()),
                         "fetch width is 5, expected 4")

    def test_an_idealization_may_cost_half_a_percent(self):
        self.assertEqual(list(idealize.lines(case(), {"l1d": 0.5, "dtlb": 0.51})),
                         ["ok prog.perfect.l1d", "not ok prog.perfect.dtlb: +0.51 % of cycles"])


# Cyclescope as far as the check knows it.  $RUN, $STAT and $STEP are scripts for what happens there.
STAND_IN = """#!/bin/sh
for word; do case $word in --summary=*|--json=*) report=${word#*=} ;; --step) stepped=1 ;; esac; done
case $1 in
list) echo 'eyerman2006 text'; echo 'small text' ;;
run) echo 'cyclescope: 7 instructions' >"$report"; RUN ;;
stat) echo 'COUNTS' >"$report"; STAT; if [ "$stepped" ]; then STEP; fi ;;
esac
"""


class TheCoreCheck(Folder):
    def lines(self, run="echo x", stat="echo x", step="true", **changes):
        suite = folder.Suite(self.path)
        suite.sysroot.mkdir()
        script = self.path / "cyclescope"
        script.write_text(STAND_IN.replace("RUN", run).replace("STAT", stat).replace("STEP", step)
                          .replace("COUNTS", json.dumps(counts(**changes))))
        script.chmod(0o755)
        options = Namespace(cyclescope=script, core="eyerman2006", whole=False, short=False, timeout=30, size="small")
        return core.Check(suite, options).case(case(program="gzip"))

    def test_the_same_output_and_counts_are_ok(self):
        self.assertEqual(self.lines(), [f"ok gzip.core.{fact}" for fact in
                                        ("status", "output", "count", "sums", "step", "step-small")])

    def test_other_output_is_not_ok(self):
        self.assertRegex(self.lines(stat="echo y")[1], "^not ok gzip.core.output: stdout differs at byte 0")

    def test_what_is_skipped_counts(self):
        self.assertEqual(self.lines(instructions=3, skipped=4)[2], "ok gzip.core.count")

    def test_another_count_is_not_ok(self):
        self.assertEqual(self.lines(instructions=8)[2], "not ok gzip.core.count: 8 instructions, expected 7")

    def test_a_bad_end_is_not_ok_and_quotes_the_message(self):
        self.assertEqual(self.lines(stat="echo broken >&2; exit 3"), [
            f"not ok gzip.core.{fact}: exit status 3, expected 0: broken" for fact in ("status", "step", "step-small")])

    def test_a_bad_end_without_a_core_is_said_to_be_that(self):
        self.assertEqual(self.lines(run="exit 3"),
                         ["not ok gzip.emulated: exit status 3, expected 0: no message"])

    def test_a_count_that_changes_when_stepped_is_not_ok(self):
        lines = self.lines(step=r"""sed -i "s/\"loads\": 3/\"loads\": 4/" "$report" """)
        self.assertEqual(lines[-1], "not ok gzip.core.step-small: events loads is 3, expected 4")


SMAPS = """7f0000000000-7f0000002000 rw-p 00000000 00:00 0
Rss:                   8 kB
7f0000002000-7f0000012000 ---p 00000000 00:00 0
Rss:                   0 kB
7f0000012000-7f2000000000 rw-p 00000000 00:00 0          [of the guest]
Rss:                 400 kB
7f2000000000-7f4000012000 ---p 00000000 00:00 0
Rss:                   0 kB
7f4000012000-7f4000015000 r-xp 00000000 fe:00 33         /usr/lib/libc.so.6
Rss:                   4 kB
"""


class Memory(unittest.TestCase):
    def test_what_the_guest_has_does_not_count(self):
        script = bench()
        self.assertEqual(script.besides_guest(script.resident(SMAPS)), 12 * 1024)

    def test_without_the_guests_region_there_is_no_answer(self):
        script = bench()
        holed = SMAPS.replace("7f2000000000 rw-p", "7f1000000000 rw-p")
        self.assertIsNone(script.besides_guest(script.resident(holed)))


if __name__ == "__main__":
    sys.exit(test_suite.main())
