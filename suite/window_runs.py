"""`cyclescope validate` on a window in the middle of every program, on several cores: what graph.py and what_if.py share.

A checkpoint of a program is saved where the warm-up of its window begins; each simulation restores it.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import checkpoints
import guest
import programs

GROUPS = ("the twenty-five", "further")


class Failed(Exception):
    """A run that failed or gave no result; the text says why."""


@dataclass
class WindowRuns:
    """One subject of `validate`, and the windows on which it runs."""
    name: str          # of the subject, in the names of saved reports
    subject: tuple     # of `validate`: the word behind it, or none
    words: tuple       # of the command line: the subject's own options
    runs: str          # the key of the JSON that has one entry per simulation
    summary: Callable  # a report as a text of one line
    insns: int         # length of a window
    warmup: int        # uncounted instructions before it
    cores: tuple

    def _simulate(self, options, suite, case, core):
        """The result of `validate`.  Where the program cannot be saved, each simulation runs it from its start."""
        at = max(0, int(case.minsns * 1000000 * options.skip) - self.warmup)
        words = (*self.words, "--core", core, "--warmup", self.warmup, "--max-insns", self.insns, "--jobs", 1)
        if at and case.program not in checkpoints.NEVER:
            runner = checkpoints.Interrupted(suite.sysroot, options.cyclescope, at, "validate", *self.subject, *words, "--quiet", "--json={count}")
            result = guest.run(runner, case, suite.sysroot, options.timeout)
            if result.status != 125 or not checkpoints.REASONS.search(result.outputs["stderr"].decode(errors="replace")):
                return result
        runner = guest.on_core(suite.sysroot, options.cyclescope, *words, "--skip", at,
                                command=" ".join(["validate", *self.subject]))
        return guest.run(runner, case, suite.sysroot, options.timeout)

    def measure(self, options, suite, case, core):
        """The JSON of `validate`.  Reuses a saved one, or saves a new one."""
        kept = Path(options.keep) / f"{case.program}.{core}.{self.name}.json" if options.keep else None
        if kept and kept.exists():
            return json.loads(kept.read_text())
        result = self._simulate(options, suite, case, core)
        if result.status != 0 or not result.report:
            raise Failed(f"status {result.status}: " + result.outputs["stderr"].decode(errors="replace")[-300:])
        report = json.loads(result.report)
        failed = [run["failed"] for run in report[self.runs] if run["failed"]]
        if failed:
            raise Failed(f"{len(failed)} of {len(report[self.runs])} simulations failed: {failed[0]}")
        if report["instructions"] < self.insns:
            raise Failed(f"the program ended after {report['instructions']} instructions of the window")
        if kept:
            kept.parent.mkdir(parents=True, exist_ok=True)
            fresh = kept.with_suffix(".new")
            fresh.write_text(result.report)
            fresh.rename(kept)
        print(f"{case.program}: {core}: {self.summary(report)}; {result.seconds:.0f} s", flush=True)
        return report

    def measure_all(self, options, suite, names=None):
        """By core and program: the program's group, and the report; and problems."""
        cases = [(group, case) for group, further in zip(GROUPS, (False, True))
                 for case in programs.load(options.size, further=further) if not names or case.program in names]
        jobs = [(core, group, case) for core in self.cores for group, case in cases]
        found, problems = {core: {} for core in self.cores}, {}

        def one(job):
            core, _, case = job
            try:
                return self.measure(options, suite, case, core)
            except Failed as problem:
                return problem

        with ThreadPoolExecutor(options.jobs) as pool:
            for (core, group, case), result in zip(jobs, pool.map(one, jobs)):
                if isinstance(result, dict):
                    found[core][case.program] = group, result
                else:
                    problems[f"{case.program} on {core}"] = result
                    print(f"{case.program}: {core}: {result}", flush=True)
        return found, problems
