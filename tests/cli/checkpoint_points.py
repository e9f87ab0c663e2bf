#!/usr/bin/env python3
"""checkpoint_points.py CYCLESCOPE [--points N] [--seed N] [PROGRAM...]: every self-checking guest program (build/guest/*) is
saved after random numbers of instructions, and goes on from there: its output, its exit status and the number of its
instructions must be those of a run in one piece. A point at which it cannot be saved must be refused with a reason that is
known to be one."""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

REASONS = ("is a pipe, whose other end", "is a socket, whose other end", "its child ", "has no name in any folder",
           "which only the kernel knows", "has been deleted or replaced", "it holds a lock", "it is no longer what",
           "it has left the process group", "cannot be saved: it is the folder", "while its working folder is")
# Saved at any point they can be, however few points are drawn.
ALWAYS = ("code_changes", "counters", "ctzw", "hints", "process_hwprobe", "thread_basic", "thread_futex",
          "time_clock", "zicond")
# They go as far as the host's limits, of which the emulator itself takes a part: their instructions do not repeat exactly.
HOST_LIMITS = ("memory_many_maps",)


def run(command, folder):
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def count_of(text):
    found = re.search(r"^cyclescope: (\d+) instructions", text, re.M)
    return int(found.group(1)) if found else None


def whole_run(cyclescope, program):
    with tempfile.TemporaryDirectory() as folder:
        status, out, err = run([cyclescope, "run", "--count", program], folder)
        return status, out, count_of(err)


def own_insns(cyclescope, program):
    """How many instructions it runs itself, without the processes that it forks."""
    with tempfile.TemporaryDirectory() as folder:
        err = run([cyclescope, "checkpoint", "--at", "1000G", "-o", "/dev/null", program], folder)[2]
        return int(re.search(r"ended after (\d+) instructions", err).group(1))


def try_point(cyclescope, program, whole, at):
    """None if it went on as it should, "refused" if it was, or what is wrong."""
    status, out, insns = whole
    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile() as file:
        code, before, err = run([cyclescope, "checkpoint", "--at", str(at), "-o", file.name, program], folder)
        if code != 0:
            return "refused" if code == 125 and any(r in err for r in REASONS) else f"not saved: {code}: {err.strip()}"
        code, after, err = run([cyclescope, "run", "--count", "--restore", file.name], folder)
        if code != status:
            return f"status {code} instead of {status}: {err.strip()[:300]}"
        if before + after != out:
            return f"printed {(before + after)[:200]!r} instead of {out[:200]!r}"
        if count_of(err) != insns and os.path.basename(program) not in HOST_LIMITS:
            return f"{count_of(err)} instructions instead of {insns}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cyclescope")
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--points", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    cyclescope = os.path.abspath(arguments.cyclescope)
    sources = os.listdir(os.path.join(root, "tests", "guest"))
    programs = arguments.programs or sorted(s[:-2] for s in sources if s.endswith(".c"))
    failed = False
    for name in programs:
        program = os.path.realpath(name if "/" in name else os.path.join(root, "build", "guest", name))
        draw = random.Random(f"{arguments.seed} {name}")
        whole = whole_run(cyclescope, program)
        last = own_insns(cyclescope, program)
        problems, refused = [], 0
        for _ in range(arguments.points):
            at = draw.randrange(1, last)
            result = try_point(cyclescope, program, whole, at)
            if result == "refused":
                refused += 1
            elif result:
                problems.append(f"at {at}: {result}")
        if refused and name in ALWAYS:
            problems.append(f"{refused} points were refused")
        if problems:
            print(f"not ok points-{name}: {problems[0]}")
        else:
            print(f"ok points-{name} # {arguments.points - refused} went on, {refused} refused")
        failed |= bool(problems)
        sys.stdout.flush()
    return failed


if __name__ == "__main__":
    sys.exit(main())
