#!/usr/bin/env python3
"""Facts about the suite's machinery.  They need neither the network nor qemu nor an emulator."""

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import unittest
from argparse import Namespace
from pathlib import Path
from unittest import mock

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "suite"))
import compare         # noqa: E402
import coverage        # noqa: E402
import folder          # noqa: E402
import further_inputs  # noqa: E402
import guest           # noqa: E402
import inputs          # noqa: E402
import phases          # noqa: E402
import profiles        # noqa: E402
import programs        # noqa: E402
import run             # noqa: E402
import sampling        # noqa: E402


def case(script="true", **changes):
    """A case whose program is a shell script of the host."""
    row = dict(program="prog", size="small", argv=["sh", "-c", script], stdin=None, env={}, mask={},
               ignore=[], like="", does="", threads=False, minsns=1)
    return programs.Case(**{**row, **changes})


class Folder(unittest.TestCase):
    """A test with a folder of its own, and /usr/bin/env in the place of an emulator."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.path = Path(holder.name)
        self.emulator = guest.Emulator(self.path, "env")

    def run_case(self, *arguments, timeout=30, **changes):
        return guest.run(self.emulator, case(*arguments, **changes), self.path, timeout)


class TheTable(unittest.TestCase):
    def setUp(self):
        self.cases = [one for size in programs.SIZES for further in (False, True)
                      for one in programs.load(size, further=further)]

    def test_every_program_has_an_absolute_path(self):
        for one in self.cases:
            self.assertTrue(one.argv[0].startswith("/"), one.program)

    def test_every_size_is_filled_in(self):
        for one in self.cases:
            self.assertNotIn("{", " ".join(one.argv) + (one.stdin or ""), one.program)

    def test_every_mask_is_a_regular_expression(self):
        for one in self.cases:
            for expression in one.mask.values():
                re.compile(expression)

    def test_every_input_is_made_and_every_made_input_is_used(self):
        made = {name for name, *_ in inputs.INPUTS + inputs.GUEST_MADE}
        raw = {"cc1.small.c", "cc1.big.c", "gap.save.g"}  # of those that guests make
        used = {name for one in self.cases for name in one.inputs()}
        self.assertEqual(used, made - raw)

    def test_further_programs_run_only_where_they_are_asked_for(self):
        usual, further = ({one.program for one in programs.load("small", further=f)} for f in (False, True))
        self.assertEqual((len(usual), len(further), usual & further), (25, 19, set()))
        self.assertEqual([one.program for one in programs.load("big", ["xz", "gzip"])], ["gzip", "xz"])

    def test_further_programs_have_the_sizes_that_they_are_meant_to_have(self):
        for size, low, high in ("small", 30, 300), ("big", 300, 3000):
            for one in programs.load(size, further=True):
                self.assertTrue(low <= one.minsns <= high, f"{one.program}.{size}: {one.minsns}")

    def test_no_method_is_developed_with_a_further_program(self):
        further = {one.program for one in programs.load("small", further=True)}
        for names in coverage.DEVELOPMENT, sampling.STANDS_FOR, profiles.PROGRAMS:
            self.assertEqual(further & set(names), set())
        self.assertEqual(further & set(phases.PROGRAMS), set(phases.KEPT + phases.LED_TO_A_CHANGE))

    def test_an_unknown_program_is_named_in_the_error(self):
        with self.assertRaisesRegex(ValueError, "no program 'gzap'"):
            programs.load("small", ["gzap"])

    def test_an_unknown_key_is_named_in_the_error(self):
        table = tomllib.loads('[x]\nlike=""\ndoes=""\nrun="/x"\nmaks={}\nminsns={small=1}')
        with self.assertRaisesRegex(ValueError, "unknown key 'maks'"):
            programs._case("x", "small", table["x"])


class Inputs(unittest.TestCase):
    def test_the_generator_gives_known_numbers(self):
        random = inputs.Random(1)
        self.assertEqual([random.below(1000) for _ in range(5)], [268, 17, 837, 102, 379])

    def test_inputs_made_from_nothing_never_change(self):
        for known, digest in {"arachne.small.blif": "4e6929bb8a0fd358",
                              "lemon.small": "5c910d3de75198fc",
                              "liblinear.small": "219132bb53052df4",
                              "nextpnr.small.json": "4e0d2ed8c313d5d0",
                              "sqlite.small.sql": "8db336abbedd5e63",
                              "tachyon.small.dat": "e92784434a88bd7b"}.items():
            maker, *arguments = next(rest for name, *rest in inputs.INPUTS if name == known)
            content = maker(None, *arguments).encode()
            self.assertEqual(hashlib.sha256(content).hexdigest()[:16], digest, known)

    def test_the_supplies_of_a_flow_problem_cancel_out(self):
        rows = [line.split() for line in inputs.flow_problem(None, 400, 2000).splitlines()]
        self.assertEqual(sum(int(row[2]) for row in rows if row[0] == "n"), 0)
        self.assertEqual(sum(row[0] == "a" for row in rows), 2000)

    def test_every_signal_of_a_netlist_is_read(self):
        cells, outputs = inputs.netlist(50, 1)
        read = {signal for cell in cells for signal in cell[1]} | set(outputs)
        self.assertEqual([cell[2] for cell in cells if cell[2] not in read], [])


class FurtherInputs(unittest.TestCase):
    def test_they_never_change(self):
        for known, digest in DIGESTS.items():
            maker, *arguments = next(rest for name, *rest in further_inputs.INPUTS if name == known)
            content = maker(None, *arguments)
            content = content.encode() if isinstance(content, str) else content
            self.assertEqual(hashlib.sha256(content).hexdigest()[:16], digest, known)

    def test_the_factors_satisfy_the_clauses_of_their_product_only(self):
        for product, satisfied in (143, True), (144, False):
            clauses = [[int(word) for word in line.split()[:-1]]
                       for line in further_inputs.factoring(None, 4, product).splitlines()[1:]]
            factors = [wire if 13 * 16 + 11 >> i & 1 else -wire for i, wire in enumerate(range(1, 9))]
            self.assertEqual(propagates(clauses, factors), satisfied)

    def test_every_job_passes_every_machine_once(self):
        text = further_inputs.job_shop(None, 4, 3, 60)
        self.assertEqual(text.count("declare-const"), 12)
        self.assertEqual(text.count("(or "), 3 * 6)  # a pair of jobs on each machine

    def test_a_wave_file_has_the_length_that_it_says(self):
        content = further_inputs.tones(None, 700)
        self.assertEqual((len(content), content[4:8]), (1444, (1436).to_bytes(4, "little")))


DIGESTS = {
    "archive.small": "43393e1fe47c0887",
    "factoring.small.cnf": "dabf80bd98444da2",
    "assignment.small.lp": "c07e25972126cbef",
    "z3.small.smt2": "2b915de15d4a47f4",
    "gnugo.small": "8e07ca3a0f5042c3",
    "fasttree.small.fasta": "4aec4e61ee72ee1f",
    "clustalw.small.fasta": "6b0b006b4965f064",
    "orders.small.json": "61f649b926442229",
    "numbers.small.gp": "3d8cce447c3d55e6",
    "modules.small.dot": "acda687690612670",
    "tones.small.wav": "4c3c0ba2709058c0",
    "picture.small.ppm": "9bf8724c55a99335",
}


def propagates(clauses, literals):
    """Whether unit propagation from these literals assigns all variables and satisfies all clauses."""
    true, changed = set(literals), True
    while changed:
        changed = False
        for clause in clauses:
            free = [literal for literal in clause if -literal not in true]
            if not free:
                return False
            if len(free) == 1 and free[0] not in true:
                true.add(free[0])
                changed = True
    return all(true.intersection(clause) for clause in clauses)


class Comparison(unittest.TestCase):
    def test_a_mask_drops_the_lines_that_contain_it_in_its_output_only(self):
        one = case(mask={"stdout": "time:"})
        text = b"a\nthe time: 5\nb\n"
        self.assertEqual(one.comparable({"stdout": text, "file": text}),
                         {"stdout": b"a\nb\n", "file": text})

    def test_a_mask_keeps_binary_content(self):
        one = case(mask={"file": "^# Date"})
        self.assertEqual(one.comparable({"file": b"P6\n# Date 1\n\r\0\xff"}), {"file": b"P6\n\r\0\xff"})

    def test_an_ignored_output_is_not_compared(self):
        self.assertEqual(case(ignore=["stderr"]).comparable({"stderr": b"x"}), {})

    def test_a_difference_names_output_and_place(self):
        self.assertIn("stdout differs at byte 2", compare.difference({"stdout": b"abx"}, {"stdout": b"abc"}))
        self.assertIn("stdout differs at byte 2", compare.difference({"stdout": b"ab"}, {"stdout": b"abc"}))
        self.assertEqual(compare.difference({}, {"file": b""}), "file is missing")
        self.assertEqual(compare.difference({"file": b""}, {}), "file should not be there")
        self.assertIsNone(compare.difference({"file": b"x"}, {"file": b"x"}))


class ARun(Folder):
    def test_an_emulator_is_found_from_where_it_was_named(self):
        emulator = guest.Emulator(self.path, os.path.relpath("/usr/bin/env"))
        result = guest.run(emulator, case("echo here"), self.path, 30)
        self.assertEqual((result.status, result.outputs["stdout"]), (0, b"here\n"))

    def test_status_and_outputs_are_collected(self):
        result = self.run_case("echo out; echo err >&2; mkdir d; echo file > d/f; exit 3")
        self.assertEqual(result.status, 3)
        self.assertEqual(result.outputs, {"stdout": b"out\n", "stderr": b"err\n", "d/f": b"file\n"})

    def test_a_signal_is_a_negative_status(self):
        self.assertEqual(self.run_case("kill -9 $$").status, -9)

    def test_a_run_out_of_time_has_no_status(self):
        result = self.run_case("exec sleep 3600", timeout=0.2)
        self.assertIsNone(result.status)
        self.assertLess(result.seconds, 3600)

    def test_the_working_folder_is_empty_at_the_start(self):
        self.run_case("touch left")
        self.assertEqual(self.run_case("ls -A").outputs["stdout"], b"")

    def test_the_environment_is_the_suites_own(self):
        with mock.patch.dict(os.environ, {"STRAY": "1"}):
            seen = self.run_case("env", env={"OWN": "2"}).outputs["stdout"].decode().split()
        self.assertNotIn("STRAY=1", seen)
        self.assertIn("OWN=2", seen)
        self.assertIn("LC_ALL=C", seen)

    def test_standard_input_comes_from_the_sysroot(self):
        (self.path / "text").write_text("hello")
        self.assertEqual(self.run_case("cat", stdin="/text").outputs["stdout"], b"hello")

    def test_the_instruction_count_is_read(self):
        self.emulator = guest.Emulator(self.path, "env COUNT={count}")
        result = self.run_case("echo 'cyclescope: 1234 instructions, 0.1 seconds' > $COUNT")
        self.assertEqual(result.instructions, 1234)
        self.assertIsNone(self.run_case("true").instructions, "a count of an earlier run")

    def test_a_watch_sees_the_process(self):
        seen, enough = [], Path(self.path).resolve() / "enough"

        def watch(process):
            seen.append(process)
            if len(seen) == 2:
                enough.touch()

        guest.run(self.emulator, case(f"until [ -e {enough} ]; do sleep 0.02; done"), self.path, 600, watch)
        self.assertEqual(len(set(seen)), 1)

    def test_processor_time_leaves_sleep_out(self):
        result = self.run_case("sleep 0.3")
        self.assertLess(result.cpu_seconds, result.seconds)


class TheCheck(Folder):
    """With an oracle whose result the test chooses."""

    def lines(self, script, expected=None, timeout=30, **changes):
        options = Namespace(timeout=timeout, emulator="env COUNT={count}")
        suite = folder.Suite(self.path)
        suite.sysroot.mkdir(exist_ok=True)
        with mock.patch.object(folder, "Oracle") as oracle:
            if isinstance(expected, Exception):
                oracle.side_effect = expected
            else:
                oracle.return_value.expected.return_value = {"stderr": b"", **(expected or {})}
            checks = run.Check(suite, options)
        count = "echo 'cyclescope: 7 instructions' > $COUNT;"
        return checks.case(case(count + script, **changes))

    def test_the_same_output_and_count_is_ok(self):
        self.assertEqual(self.lines("echo x", {"stdout": b"x\n"}),
                         ["ok prog.status", "ok prog.output", "ok prog.repeat"])

    def test_other_output_than_the_oracles_is_not_ok_and_is_kept(self):
        _, output, repeat = self.lines("echo x", {"stdout": b"y\n"})
        self.assertRegex(output, "^not ok prog.output: stdout differs at byte 0")
        self.assertEqual(repeat, "ok prog.repeat")
        kept = self.path / "failed" / "prog.output"
        self.assertEqual((kept / "got" / "stdout").read_bytes(), b"x\n")
        self.assertEqual((kept / "expected" / "stdout").read_bytes(), b"y\n")

    def test_a_bad_end_is_not_ok_and_quotes_the_message(self):
        self.assertEqual(self.lines("echo no memory >&2; exit 3"),
                         ["not ok prog.status: exit status 3, expected 0: no memory"])

    def test_no_end_is_not_ok(self):
        self.assertEqual(self.lines("exec sleep 60", timeout=0.2),
                         ["not ok prog.status: no end after 0.2 seconds"])

    def test_an_unstable_count_is_not_ok(self):
        counting = "echo 'cyclescope: '$(wc -c < ../../n)' instructions' > $COUNT; echo >> ../../n"
        (self.path / "sysroot" / "suite").mkdir(parents=True)
        (self.path / "sysroot" / "suite" / "n").touch()
        *_, repeat = self.lines(counting, {"stdout": b""})
        self.assertEqual(repeat, "not ok prog.repeat: 0 instructions, then 1")

    def test_a_masked_line_may_differ_from_the_oracle_but_not_between_runs(self):
        mask = {"stdout": "time"}
        _, output, repeat = self.lines("echo time $(date +%N)", {"stdout": b""}, mask=mask)
        self.assertEqual(output, "ok prog.output")
        self.assertRegex(repeat, "^not ok prog.repeat: stdout differs")

    def test_without_an_oracle_the_rest_is_still_checked(self):
        self.assertEqual(self.lines("true", guest.Unavailable("no qemu-riscv64")),
                         ["ok prog.status", "skip prog.output: no qemu-riscv64", "ok prog.repeat"])

    def test_a_program_without_its_input_is_skipped(self):
        line, = self.lines("true", stdin="/suite/in/nothing")
        self.assertRegex(line, "^skip prog: its input nothing")


class TheBuild(Folder):
    def build(self, destination, **environment):
        return subprocess.run([PROJECT / "suite" / "build.sh", destination], text=True, check=False,
                              capture_output=True, env={**os.environ, **environment})

    def test_a_folder_of_the_same_recipe_is_left_alone(self):
        recipe = b"".join((PROJECT / "suite" / name).read_bytes() for name in ("build.sh", "packages.list"))
        (self.path / "recipe").write_text(hashlib.sha256(recipe).hexdigest() + "\n")
        done = self.build(self.path, CYCLESCOPE_KEYRING="/nonexistent")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_folder_that_is_something_else_is_never_touched(self):
        (self.path / "letters").touch()
        done = self.build(self.path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no suite folder", done.stderr)
        self.assertTrue((self.path / "letters").exists())

    def test_without_a_keyring_it_says_so_with_status_3(self):
        done = self.build(self.path / "new", CYCLESCOPE_KEYRING="/nonexistent")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"^suite: no archive keyring at /nonexistent .*\n$")
        self.assertEqual(list(self.path.iterdir()), [])

    def test_python_and_the_shell_agree_on_the_default_folder(self):
        for setting in ({"CYCLESCOPE_SUITE": "/a/b"}, {"XDG_CACHE_HOME": "/c"}, {"HOME": "/d"}):
            script = (PROJECT / "suite" / "build.sh").read_text()
            default = re.search(r"dest=\$\{1:-(.*)\}$", script, re.MULTILINE).group(1)
            told = subprocess.run(["bash", "-c", f"echo {default}"], env=setting, text=True,
                                  capture_output=True, check=True).stdout.strip()
            with mock.patch.dict(os.environ, setting, clear=True):
                self.assertEqual(str(folder.default_path()), told)


class Lines(unittest.TestResult):
    """Prints `ok NAME` or `not ok NAME: why` per test, as all tests of the project do."""

    def addSuccess(self, test):
        print("ok", test._testMethodName)

    def complain(self, test, error):
        self.failed = True
        print(f"not ok {test._testMethodName}: {error[1]}".replace("\n", " "))

    addFailure = addError = complain
    failed = False


def main():
    result = Lines()
    unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]).run(result)
    return result.failed


if __name__ == "__main__":
    sys.exit(main())
