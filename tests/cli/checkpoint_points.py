#!/usr/bin/env python3
"""checkpoint_points.py CYCLESCOPE [--points N] [--seed N] [PROGRAM...]: every self-checking guest program
(build/guest/*) is saved after random numbers of instructions, and goes on from there: its output, its exit status and
the number of its instructions must be those of a run in one piece. A point at which it cannot be saved must be refused
with a reason that this program is known to give."""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

PIPE, SOCKET, CHILD = "is a pipe, whose other end", "is a socket, whose other end", "its child "
DELETED, NAMELESS = "has been deleted or replaced", "has no name in any folder"
KERNEL, LOCK, FOLDER = "which only the kernel knows", "it holds a lock", "cannot be saved: it is the folder"
GROUP = "it has left the process group"
REASONS = (PIPE, SOCKET, CHILD, DELETED, NAMELESS, KERNEL, LOCK, FOLDER, GROUP)
# What a program has for some time that cannot be saved. All others can be at every point.
REFUSED = {
    "file_descriptors": (PIPE, CHILD, LOCK, NAMELESS, KERNEL),
    "file_folders": (NAMELESS,),
    "file_names": (NAMELESS,),
    "file_socketpair": (PIPE, SOCKET),
    "file_special": (PIPE, FOLDER),
    "file_wait": (PIPE, KERNEL, LOCK, NAMELESS),
    "fork_exec": (CHILD, NAMELESS),
    "fork_fifo": (PIPE, CHILD),
    "fork_time": (PIPE, CHILD),
    "fork_wait": (PIPE, CHILD, GROUP),
    "memory_lost": (CHILD,),
    "memory_map": (DELETED, NAMELESS),
    "memory_short_file": (DELETED, NAMELESS),
    "signal_basic": (PIPE,),
    "signal_fault": (CHILD, DELETED, NAMELESS),
    "signal_wait": (PIPE, CHILD),
    "thread_robust": (CHILD,),
}
# They go as far as the host's limits, of which the emulator itself takes a part: their instructions do not repeat
# exactly.
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
    """What is wrong, None if nothing is; and why it was refused, None if it was not."""
    status, out, insns = whole
    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile() as file:
        code, before, err = run([cyclescope, "checkpoint", "--at", str(at), "-o", file.name, program], folder)
        if code != 0:
            reason = next((r for r in REASONS if r in err), None) if code == 125 else None
            return (None, reason) if reason else (f"not saved: {code}: {err.strip()}", None)
        code, after, err = run([cyclescope, "run", "--count", "--restore", file.name], folder)
        if code != status:
            return f"status {code} instead of {status}: {err.strip()[:300]}", None
        if before + after != out:
            return f"printed {(before + after)[:200]!r} instead of {out[:200]!r}", None
        if count_of(err) != insns and os.path.basename(program) not in HOST_LIMITS:
            return f"{count_of(err)} instructions instead of {insns}", None
    return None, None


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
        problems, refused = [], []
        for _ in range(arguments.points):
            at = draw.randrange(1, last)
            problem, reason = try_point(cyclescope, program, whole, at)
            if reason and reason not in REFUSED.get(name, ()):
                problem = f"refused: {reason}"
            if problem:
                problems.append(f"at {at}: {problem}")
            refused += [reason] if reason else []
        if problems:
            print(f"not ok points-{name}: {problems[0]}")
        else:
            reasons = f": {', '.join(sorted(set(refused)))}" if refused else ""
            print(f"ok points-{name} # {arguments.points - len(refused)} went on, {len(refused)} refused{reasons}")
        failed |= bool(problems)
        sys.stdout.flush()
    return failed


if __name__ == "__main__":
    sys.exit(main())
