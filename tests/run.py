#!/usr/bin/env python3
"""run.py [--all] [--jobs N] [--list] [GROUP...]: runs groups of tests, several at once, and ends with `N passed, N failed`.

A group is one command that prints `ok NAME`, `not ok NAME: why` or `skip NAME: why` lines. `make check` runs the groups of
the tier `check`; `make check-all` runs all groups, those with a longer form in that form. Named groups run alone, whatever
their tier. Each group's output is in build/log/GROUP. An interrupt ends every group that is running.
"""
import argparse
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
LOG = PROJECT / "build/log"
PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's pytest
PYTEST = f"{PYTHON} -m pytest -p no:terminal -p no:cacheprovider --tap"
GCC, SANITIZED = "build/cyclescope", "build/sanitize/cyclescope"


@dataclass
class Group:
    name: str
    command: str
    long: str = ""  # the command in `check-all`, if it is another one
    tier: str = "check"


def cli(name, **settings):
    """The command-line tests of one file, without those marked `slow`; `check-all` runs these as well."""
    command = f"{PYTEST} tests/cli/test_{name}.py"
    return Group(f"cli-{name.replace('_', '-')}", f"{command} -m 'not slow'", command, **settings)


# Groups that take long come first, so that none of them is left over at the end.
GROUPS = [
    Group("switch", "tests/machine/switch.py build/cyclescope", "tests/machine/switch.py --long build/cyclescope"),
    cli("stalls"),
    Group("guest-core", "tests/guest/core.sh build/cyclescope", "tests/guest/core.sh --long build/cyclescope"),
    Group("unit-sanitized", "tests/unit/run.sh build/sanitize"),
    cli("events"),
    cli("record"),
    cli("stack"),
    cli("stack_and_stalls"),
    cli("graph"),
    cli("what_if"),
    cli("validate"),
    Group("machine", "tests/machine/run.py build/cyclescope", "tests/machine/run.py --long build/cyclescope"),
    Group("suite", "suite/run.py check --up-to 260", "suite/run.py check"),
    Group("suite-core", "suite/run.py core --short --up-to 260", "suite/run.py core"),
    Group("suite-checkpoints", "suite/run.py checkpoints gzip lemon hoichess tachyon python gawk stockfish raster3d"),
    Group("suite-idealized", "suite/idealize.py --insns 1000000 --warmup 1000000 hoichess",
          "suite/idealize.py --insns 1000000 --warmup 1000000 hoichess linkparser tachyon perl-pod"),
    Group("unit", "tests/unit/run.sh build"),
    cli("stat"),
    cli("checkpoint"),
    cli("phases"),
    cli("sampled"),
    cli("copies"),
    cli("sampling"),
    cli("multiplex"),
    cli("stat_series"),
    cli("stories"),
    Group("fuzz-cores", "tests/fuzz/cores.py --seed 1 --draws 600", "tests/fuzz/cores.py --seed 1 --draws 3000"),
    Group("lib", "tests/lib/run.sh build"),
    Group("lib-sanitized", "tests/lib/run.sh build/sanitize"),
    Group("facts-sanitized", "tests/facts/run.py build/sanitize/cyclescope"),
    Group("guest", "tests/guest/run.sh build/cyclescope", "tests/guest/run.sh --qemu build/cyclescope"),
    Group("guest-sanitized", "tests/guest/run.sh build/sanitize/cyclescope"),
    Group("stacks", "tests/stacks/random.py --seed 1 --draws 500 --compare build/stacks/compare",
          "tests/stacks/random.py --seed 1 --draws 3000 --compare build/stacks/compare"),
    Group("stacks-sanitized", "tests/stacks/random.py --seed 2 --draws 100 --compare build/sanitize/stacks/compare"),
    Group("graph", "tests/graph/random.py --seed 1 --draws 150", "tests/graph/random.py --seed 1 --draws 10000"),
    Group("graph-sanitized", "tests/graph/random.py --seed 2 --draws 20 --compare build/sanitize/graph/compare",
          "tests/graph/random.py --seed 2 --draws 500 --compare build/sanitize/graph/compare"),
    Group("facts", "tests/facts/run.py build/cyclescope"),
    Group("facts-coverage", "tests/facts/coverage.py build/cyclescope"),
    Group("fuzz", "tests/fuzz/differential.py --seed 1 --sequences 4000"),
    Group("fuzz-sanitized", "tests/fuzz/differential.py --seed 3 --sequences 1000 --cyclescope build/sanitize/cyclescope"),
    Group("fuzz-syscalls", "tests/fuzz/syscalls.py --runs 12", "tests/fuzz/syscalls.py --runs 200 --seed 2"),
    Group("fuzz-memory", "tests/fuzz/memory.py --rounds 4 && tests/fuzz/memory.py --rounds 2 --command stat --steps 150 --seed 7",
          "tests/fuzz/memory.py --seconds 120 && tests/fuzz/memory.py --seconds 60 --command stat --steps 150 --seed 7"),
    cli("marks"),
    cli("run"),
    cli("repeatable"),
    cli("overlay"),
    cli("help"),
    cli("completion"),
    cli("output_files"),
    cli("interrupted"),
    cli("names"),
    cli("terminal"),
    cli("pages"),
    Group("cli-sanitized", f"{PYTEST} tests/cli --cyclescope {SANITIZED} -m 'mistake or smoke'"),
    cli("extending"),
    cli("documents"),
    Group("style-manuals", "tests/style/manuals.py build/cyclescope"),
    Group("style-lint", "tests/style/lint.sh"),
    Group("style-format", "tests/style/format.sh"),
    Group("style-includes", "tests/style/includes.py"),
    Group("style-tree", "tests/style/tree.py"),
    Group("style-scripts", "tests/style/scripts.sh"),
    Group("isolation", "tests/guest/isolate.sh"),
    Group("roundtrip", "tests/roundtrip/roundtrip.sh build/roundtrip"),
    Group("threaded", "tests/threaded/jumps.sh build/obj"),
    Group("threaded-shared", "tests/threaded/jumps.sh build/pic"),
    Group("threaded-clang", "tests/threaded/jumps.sh build/clang/obj"),
    Group("threaded-clang-shared", "tests/threaded/jumps.sh build/clang/pic"),
    Group("suite-tools", "for t in tests/suite/test_*.py; do $t || exit 1; done"),
    Group("suite-further", "suite/run.py check --further", tier="all"),
    Group("suite-core-further", "suite/run.py core --short --further", tier="all"),
    Group("machine-sanitized", "tests/machine/run.py build/sanitize/cyclescope", tier="all"),
    Group("switch-sanitized", "tests/machine/switch.py build/sanitize/cyclescope", tier="all"),
    Group("programs", "tests/programs/run.sh build/cyclescope", tier="all"),
    Group("kernel61", "tests/kernel61/run.sh build/cyclescope", tier="all"),
    Group("deb", "tests/deb/chroot.sh", tier="all"),
]


def descendants(pid):
    """All processes below this one, whatever session they are in."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue  # it has ended
    below = [pid]
    for process in below:
        below += [child for child, parent in parents.items() if parent == process]
    return below


class Running:
    def __init__(self, group, command):
        self.group, self.started = group, time.monotonic()
        self.log = open(LOG / group.name, "w")
        environment = {**os.environ, "CMOCKA_MESSAGE_OUTPUT": "TAP", "PYTHONDONTWRITEBYTECODE": "1"}
        self.process = subprocess.Popen(["bash", "-c", command], cwd=PROJECT, stdin=subprocess.DEVNULL, stdout=self.log,
                                        stderr=subprocess.STDOUT, env=environment, start_new_session=True)

    def end(self):
        """Ends the group and everything that it started."""
        for process in descendants(self.process.pid):
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.wait()
        self.log.close()


@dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def text(self):
        return f"{self.passed} passed, {self.failed} failed" + (f", {self.skipped} skipped" if self.skipped else "")


def judge(name, status):
    """Counts the lines of a group's log. A group that fails, or says nothing, without a failure counts as one itself."""
    text = (LOG / name).read_text(errors="replace")
    lines = text.splitlines()
    remarks = [f"{name}: {line}" for line in lines if re.match("not ok |skip ", line)]
    counts = Counts(*(sum(line.startswith(word + " ") for line in lines) for word in ("ok", "not ok", "skip")))
    if counts.failed == 0 and (status != 0 or counts.passed + counts.skipped == 0):
        counts.failed = 1
        remarks.append(f"{name}: not ok: status {status}")
        remarks += ["    " + line for line in lines[-20:]]
    return counts, remarks


def run(groups, jobs, long):
    waiting, running, total, remarks = list(groups), [], Counts(), []
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                group = waiting.pop(0)
                running.append(Running(group, group.long if long and group.long else group.command))
            time.sleep(0.05)
            for r in [r for r in running if r.process.poll() is not None]:
                running.remove(r)
                r.log.close()
                counts, more = judge(r.group.name, r.process.returncode)
                total.add(counts)
                remarks += more
                print(f"{r.group.name:24} {time.monotonic() - r.started:6.1f} s  {counts.text()}", flush=True)
    except KeyboardInterrupt:
        for r in running:
            r.end()
        print(f"interrupted in {', '.join(r.group.name for r in running)}", file=sys.stderr)
        sys.exit(130)
    return total, remarks


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("groups", nargs="*", metavar="GROUP")
    parser.add_argument("--all", action="store_true", help="every group, in its long form")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="groups at once (all processors)")
    parser.add_argument("--list", action="store_true", help="print the groups and their tiers")
    options = parser.parse_args()
    if options.list:
        for g in GROUPS:
            print(f"{g.name:24} {g.tier}{' (longer in check-all)' if g.long and g.long != g.command else ''}")
        return 0
    unknown = set(options.groups) - {g.name for g in GROUPS}
    if unknown:
        parser.error(f"there is no group {', '.join(sorted(unknown))}; --list names all")
    chosen = [g for g in GROUPS if (g.name in options.groups if options.groups else options.all or g.tier == "check")]
    LOG.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    total, remarks = run(chosen, options.jobs, options.all)
    print("\n".join(["", *remarks]) if remarks else "")
    print(f"{time.monotonic() - begin:.0f} seconds")
    print(total.text())
    return total.failed > 0


def reset_signals():
    """Undoes what nohup or a shell's background job leaves: tests send signals that must not be ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    for ignored in signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE, signal.SIGCHLD:
        signal.signal(ignored, signal.SIG_DFL)


if __name__ == "__main__":
    reset_signals()
    sys.exit(main())
