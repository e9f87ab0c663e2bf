#!/usr/bin/env python3
"""syscalls.py [--seconds N | --runs N] [--seed N] [--jobs N] [--cyclescope FILE] [--mode MODE...]: a guest makes random
system calls (tests/fuzz/guest/syscalls.c), isolated in a folder of its own: emulated (`run`), on the core (`core`), and in
copies of a sampled run (`copies`). The guest may die. The emulator must not crash or hang, nothing outside of the folder
may change, and no process outside may be signaled. Prints `ok` or `not ok` lines; a failure names its seed.
"""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
CROSS = os.environ.get("CROSS", "riscv64-linux-gnu-")
NOBODY = 65534
HANG_SECONDS = 300  # more is a hang, on the slowest machine

MODES = {
    "run": ("run", 3000),
    "core": ("stat --quiet", 1000),
    "copies": ("stat --quiet --systematic --period 20K --window 2K --lead 20K --jobs 2", 1000),
}
# Messages of the emulator, whole: a guest may print its own program, in which parts of them occur.
CRASH = re.compile(rb"^==\d+== ?ERROR: |\.[ch]:\d+:\d+: runtime error: |: Assertion `.*' failed\.|"
                   rb"^\*\*\* (buffer overflow|stack smashing) detected", re.MULTILINE)


def build_guest(to):
    words = [CROSS + "gcc", "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-w", "-static", "-o", to, PROJECT / "tests/fuzz/guest/syscalls.c"]
    subprocess.run([str(w) for w in words], check=True)


def own(folder):
    """As root, the runs are given to nobody, so that a mistake here can do no harm."""
    if os.geteuid() == 0:
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


def contents(folder):
    return {str(p): (p.lstat().st_mode, p.lstat().st_mtime_ns, p.read_bytes() if p.is_file() else b"") for p in sorted(folder.rglob("*"))}


class Fuzzer:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.cyclescope = work / "cyclescope"
        shutil.copy(options.cyclescope, self.cyclescope)
        build_guest(work / "guest")
        for program in self.cyclescope, work / "guest":
            program.chmod(0o755)
        work.chmod(0o755)
        self.outside = work / "outside"
        self.outside.mkdir()
        for name in "a", "b", "secret":
            (self.outside / name).write_text(name * 100)
        own(self.outside)
        self.before = contents(self.outside)
        self.lock, self.next, self.failures = threading.Lock(), options.seed, []
        self.counts = {mode: 0 for mode in options.mode}
        self.end = time.monotonic() + options.seconds if options.seconds else None

    def user(self):
        return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}

    def bystander(self):
        """A process of the same user, which no guest may signal."""
        return subprocess.Popen(["sleep", "100000"], **self.user())

    def command(self, mode, seed, root):
        words, calls = MODES[mode]
        return [self.cyclescope, *words.split(), "--isolate", "--sysroot", root, "--memory", "256M", "--chdir", "/tmp", "/guest",
                seed, calls]

    def once(self, mode, seed):
        """Why the run failed; None: it did not."""
        with tempfile.TemporaryDirectory(dir=self.work, ignore_cleanup_errors=True) as folder:
            root = Path(folder)
            root.chmod(0o755)
            (root / "tmp").mkdir()
            shutil.copy(self.work / "guest", root / "guest")
            own(root)
            environment = {"PATH": "/usr/bin:/bin", "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1", "TMPDIR": str(root / "tmp")}
            words = [str(w) for w in self.command(mode, seed, root)]
            name = self.work / f"log.{mode}.{seed}"
            with open(name, "wb") as log:
                process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.outside,
                                           env=environment, start_new_session=True, **self.user())
                why = self.wait(process)
            said = name.read_bytes()  # by name: the guest may have changed the flags of its descriptor
            if CRASH.search(said):
                why = "the emulator crashed"
            elif why is None and process.returncode < 0:
                why = f"killed by signal {-process.returncode}"
            if why is None:
                name.unlink()
                return None
            tail = said[-1500:].decode(errors="replace")
            return f"{why}: {' '.join(words[1:])}\n{tail}"

    @staticmethod
    def wait(process):
        """A guest that waits for ever is ended by SIGTERM; an emulator that ignores this hangs."""
        try:
            process.wait(HANG_SECONDS / 10)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(HANG_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                return "hangs"
        try:
            os.killpg(process.pid, signal.SIGKILL)  # what the guest has left behind
        except ProcessLookupError:
            return None
        return None

    def more(self):
        with self.lock:
            done = self.next - self.options.seed
            if self.failures or (time.monotonic() >= self.end if self.end else done >= self.options.runs):
                return None
            self.next += 1
            return self.options.mode[done % len(self.options.mode)], self.next - 1

    def work_off(self):
        while (job := self.more()) is not None:
            bystander = self.bystander()
            try:
                why = self.once(*job)
            except Exception as problem:  # of this script
                why = f"could not be judged: {problem!r}"
            if why is None and bystander.poll() is not None:
                why = "a process outside was signaled"
            if why is None and contents(self.outside) != self.before:
                why = "a file outside has changed"
            bystander.kill()
            bystander.wait()
            with self.lock:
                self.counts[job[0]] += 1
                if why is not None:
                    self.failures.append((job, why))

    def run(self):
        threads = [threading.Thread(target=self.work_off) for _ in range(self.options.jobs)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for (mode, seed), why in self.failures:
            print(f"not ok syscalls-{mode} seed {seed}: {why}")
        for mode, count in self.counts.items():
            if not any(job[0] == mode for job, _ in self.failures):
                print(f"ok syscalls-{mode}: {count} runs")
        return bool(self.failures)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, help="go on for so long")
    parser.add_argument("--runs", type=int, default=12, help="number of runs, in turn of each mode (12)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--cyclescope", default=PROJECT / "build/sanitize/cyclescope")
    parser.add_argument("--mode", nargs="+", choices=list(MODES), default=list(MODES))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work:
        return Fuzzer(options, Path(work)).run()


if __name__ == "__main__":
    sys.exit(main())
