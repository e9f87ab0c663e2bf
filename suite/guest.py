"""Runs guest programs of a sysroot: under qemu-riscv64, which is the reference, or under the emulator to test.

With every runner a program sees the same command line, the same environment, the same inputs at the same absolute paths
(the folder suite/ of the sysroot is /suite to the guest) and an empty working folder.  It writes all output to the
working folder by relative names.  The place of the sysroot therefore changes neither the command line nor its results.
"""

import fcntl
import os
import re
import select
import shlex
import shutil
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# The environment of every guest.  One OpenMP thread: with more, results would depend on the machine.
ENVIRONMENT = {
    "LC_ALL": "C",
    "HOME": "/nonexistent",
    "PATH": "/usr/bin:/bin",
    "OMP_NUM_THREADS": "1",
}

PROJECT = Path(__file__).resolve().parent.parent
# Options with which a guest sees what it sees under qemu: this environment, and the user who runs the suite.
AS_QEMU = ["--env-pass", "--host-user"]
CYCLESCOPE = PROJECT / "build" / "cyclescope"
EMULATOR = f"{shlex.quote(str(CYCLESCOPE))} run --summary={{count}} {shlex.join(AS_QEMU)} --sysroot {{root}} --"


class Unavailable(Exception):
    """Something that a run needs is missing on this machine; the text names it."""


class Qemu:
    """qemu-riscv64 with the sysroot as the guest's root folder.

    qemu's option -L does not redirect faccessat (as of version 7.2), so some programs do not find their files.  A
    chroot has no such gap; root can use it, and other users where user namespaces are allowed.  Without a chroot, qemu
    runs with -L, and `complete` is false.
    """

    def __init__(self, sysroot):
        self.sysroot = sysroot
        program = shutil.which("qemu-riscv64-static") or shutil.which("qemu-riscv64")
        if not program:
            raise Unavailable("no qemu-riscv64 (package qemu-user-static)")
        answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
        self.version = answer.stdout.splitlines()[0]
        self._prefix = next(filter(self._works, self._chroots(program)), None)
        self.complete = self._prefix is not None
        self._program = program

    def _chroots(self, program):
        """Command prefixes that run qemu, which has to be static, in a chroot, the best first.  Those without
        randomized addresses are best: programs that hash addresses then do the same in every run."""
        unshare, setarch = shutil.which("unshare"), shutil.which("setarch")
        if not unshare or not program.endswith("-static"):
            return
        inside = self.sysroot / "suite" / "qemu-riscv64"
        if not inside.exists() or inside.stat().st_mtime < os.stat(program).st_mtime:
            inside.parent.mkdir(exist_ok=True)
            part = inside.with_suffix(f".{os.getpid()}")
            shutil.copy(program, part)
            part.rename(inside)
        for fixed in ([[setarch, "-R"]] if setarch else []) + [[]]:
            for namespace in ([[]] if os.geteuid() == 0 else []) + [["--map-root-user"]]:
                yield fixed + [unshare] + namespace

    def _in_chroot(self, prefix, folder):
        return prefix + [f"--root={self.sysroot}", f"--wd={folder}", "/suite/qemu-riscv64"]

    def _works(self, prefix):
        probe = self._in_chroot(prefix, "/") + ["--version"]
        return subprocess.run(probe, capture_output=True, check=False).returncode == 0

    def command(self, folder, argv):
        """The command line of the host for a guest's `argv`, to be started in `folder`."""
        if not self.complete:  # -L does not apply to the program itself
            program = str(self.sysroot) + argv[0]
            return [self._program, "-L", str(self.sysroot), "-0", argv[0], program, *argv[1:]]
        inside = "/" + str(folder.relative_to(self.sysroot))
        return [*self._in_chroot(self._prefix, inside), "-seed", "1", *argv]

    def count_file(self, _folder):
        return None


class Emulator:
    """The emulator to test: a command line in which {root} stands for the sysroot and {count} for a file into which the
    emulator writes the number of instructions that the guest executed."""

    def __init__(self, sysroot, template=EMULATOR):
        self._sysroot = sysroot
        self._words = shlex.split(template)
        self._counts = "{count}" in template
        found = shutil.which(self._words[0])
        if not found:
            raise ValueError(f"no emulator at {self._words[0]}")
        self._words[0] = os.path.abspath(found)  # programs run in folders of their own

    def command(self, folder, argv):
        words = [word.replace("{root}", str(self._sysroot))
                     .replace("{count}", str(self.count_file(folder))) for word in self._words]
        return words + argv

    def count_file(self, folder):
        return folder.with_name(folder.name + ".count") if self._counts else None


def without_core(sysroot, cyclescope):
    """Plain emulation with a given build of Cyclescope."""
    return Emulator(sysroot, shlex.join([str(cyclescope), "run", "--summary={count}", *AS_QEMU, "--sysroot", "{root}", "--"]))


def on_core(sysroot, cyclescope, *options, command="stat"):
    """The simulated core as an emulator: a command that simulates, with options.  Its report is JSON."""
    return Emulator(sysroot, shlex.join([str(cyclescope), *command.split(), "--quiet", "--json={count}",
                                         *AS_QEMU, "--sysroot", "{root}", *map(str, options), "--"]))


@dataclass
class Result:
    """The result of a run."""
    status: int         # exit status; negative: number of the signal; None: time ran out
    outputs: dict       # contents by name: "stdout", "stderr" and files in the working folder
    instructions: int   # count of the runner; None if it has none
    report: str         # text of the runner's report; None if it has none
    seconds: float      # elapsed time
    cpu_seconds: float  # processor time, user and system


@contextmanager
def exclusive(path):
    """Holds a lock on the file `path`, so that two commands of the suite do not use a folder at the same time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def run(runner, case, sysroot, timeout, watch=None):
    """Runs a case (see programs.py).  The working folder has the same name in every run, because the guest can see the
    name and a longer name takes more instructions.  `watch` is called with the process id ten times a second."""
    folder = sysroot / "suite" / "run" / f"{case.program}.{case.size}"
    beside = {name: folder.with_name(f"{folder.name}.{name}") for name in ("stdout", "stderr", "lock")}
    with exclusive(beside["lock"]):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        count = runner.count_file(folder)
        if count:
            count.unlink(missing_ok=True)
        stdin = sysroot / case.stdin.lstrip("/") if case.stdin else "/dev/null"
        with open(stdin, "rb") as source, \
             open(beside["stdout"], "wb") as out, open(beside["stderr"], "wb") as err:
            status, seconds, usage = _wait(subprocess.Popen(
                runner.command(folder, case.argv), cwd=folder, env={**ENVIRONMENT, **case.env},
                stdin=source, stdout=out, stderr=err), timeout, watch)
        outputs = {name: beside[name].read_bytes() for name in ("stdout", "stderr")}
        outputs.update({str(path.relative_to(folder)): path.read_bytes()
                        for path in sorted(folder.rglob("*")) if path.is_file()})
        report = count.read_text() if count and count.exists() else None
        return Result(status, outputs, _counted(report), report, seconds, usage.ru_utime + usage.ru_stime)


def _wait(process, timeout, watch):
    """Exit status, elapsed seconds and resource usage of a process that was just started."""
    start = time.perf_counter()
    handle = os.pidfd_open(process.pid)
    ended = False
    try:
        ended = _ends(handle, start + timeout, watch and (lambda: watch(process.pid)))
    finally:  # also after KeyboardInterrupt
        os.close(handle)
        if not ended:
            process.kill()
        # wait4 instead of Popen.wait, because it returns the processor time of this process alone.
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode if ended else None, time.perf_counter() - start, usage


def _ends(handle, deadline, watch):
    """Whether the process ends before the deadline."""
    while True:
        left = max(0, deadline - time.perf_counter())
        if select.select([handle], [], [], min(left, 0.1) if watch else left)[0]:
            return True
        if time.perf_counter() >= deadline:
            return False
        watch()


def _counted(report):
    """The number in `cyclescope: 123 instructions, ...`; None if the report has no such line."""
    found = re.search(r"(?m)^cyclescope: (\d+) instructions", report or "")
    return int(found[1]) if found else None
