#!/usr/bin/env python3
"""Random memory calls of a guest program against a model of Linux, with failures of the host's memory functions.

    memory.py [--seed S] [--rounds N] [--seconds T] [--steps K] [--command run|stat] [--cyclescope FILE]

A round runs tests/fuzz/memory_guest.c for K steps, with a seed of its own; every second round without failures. The sanitized
build injects them (src/guest/region_fault.c): one host call in six fails, before it has done anything or after a part of
its work. That build also compares the table of areas with the host's mappings after every call. Rounds go on until N are
done and T seconds have passed. Prints `ok` and `not ok` lines; the rounds of a seed are always the same.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GCC = os.environ.get("CROSS", "riscv64-linux-gnu-") + "gcc"
PATIENCE_SECONDS = 3600  # more is a hang, on the slowest machine
SHOWN = 5                # failures that are printed


def play(cyclescope, command, guest, seed, steps):
    """One round. Returns what is wrong, or None."""
    fails = seed % 2
    environment = {"PATH": "/usr/bin:/bin"}
    if fails:
        environment["CYCLESCOPE_FAIL_MEMORY"] = f"{seed},6,40"
    words = [cyclescope, command, "--quiet", guest, str(seed), str(steps), *(["fails"] if fails else [])]
    done = subprocess.run(words, cwd=guest.parent, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    if done.returncode == 0 and not done.stderr:
        return None
    setting = f"CYCLESCOPE_FAIL_MEMORY={environment.get('CYCLESCOPE_FAIL_MEMORY', '')}"
    return f"{setting} {' '.join(map(str, words[1:]))}: status {done.returncode}: {done.stderr[:600]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--command", choices=["run", "stat"], default="run")
    parser.add_argument("--cyclescope", type=Path, default=ROOT / "build/sanitize/cyclescope")
    options = parser.parse_args()
    end, done, wrong = time.monotonic() + options.seconds, 0, []
    with tempfile.TemporaryDirectory() as work:
        guest = Path(work) / "memory_guest"
        subprocess.run([GCC, *"-std=gnu11 -O2 -Wall -Wextra -D_GNU_SOURCE -static -o".split(), guest,
                        ROOT / "tests/fuzz/memory_guest.c"], check=True)
        while len(wrong) < SHOWN and (done < options.rounds or time.monotonic() < end):
            what = play(options.cyclescope.resolve(), options.command, guest, options.seed + done, options.steps)
            wrong += [what] if what else []
            done += 1
    for what in wrong:
        print(f"not ok memory-{options.command}: {what}")
    if not wrong:
        print(f"ok memory-{options.command}: {done} rounds of {options.steps} steps from seed {options.seed}")
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
