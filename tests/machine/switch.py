#!/usr/bin/env python3
"""Programs that share a core: what goes from one to the next, and what must not.

usage: switch.py [--long] CYCLESCOPE [NAME...]   all tests, or those named: `ok NAME` or `not ok NAME: what went wrong`;
                                                 --long adds cases that take seconds

divide.S tells a row of 12 numbers: which program it is, hpmcounter3 to 10, instret, cycle and 0.
"""

import os
import pathlib
import signal
import subprocess
import sys
import time

import run
from run import Failure, expect

GUESTS = run.HERE.parent.parent / "build" / "guest"
ROUNDS = 5000
DIVIDES, ADDS = "fdiv.d fa2, fa0, fa1", "add t2, t1, t1"
QUANTUM = ["--quantum", 3000]
FIRST, SECOND, INSTRET, CYCLE = 1, 2, 9, 10  # places in a row
OVERFLOWS, CAME, WRONG, SWITCHES = 5, 6, 7, 8


def divider(b, number, work=DIVIDES, rounds=ROUNDS, death="nop"):
    return b.assemble("divide.S", NUMBER=number, ROUNDS=rounds, WORK=work, DEATH=death)


def contexts(b, **macros):
    event = f"({b.numbers['fp_instructions']}|4<<12)"  # divisions
    return b.firmware("contexts.S", EVENT=event, COMMITTED=b.numbers["instructions"], CYCLES=b.numbers["cycles"], **macros)


def together(b, *words, programs, events=(), status=0):
    """Rows reported, by program; reports of all programs, and their counters by event."""
    others = [w for p in programs[1:] for w in ("--with", p)]
    reported, _, whole = b.stat(*words, *others, programs[0], events=events, status=status)
    rows = {reported[i]: reported[i : i + 12] for i in range(0, len(reported), 12)}
    reports = [whole, *whole.get("with", [])]
    return rows, reports, [{c["event"]: c["value"] for c in r.get("counters", [])} for r in reports]


def alone(b, *words, program, events=(), status=0):
    rows, reports, counters = together(b, *words, programs=[program], events=events, status=status)
    return next(iter(rows.values()), None), reports[0], counters[0]


# ---- counts


def no_count_leaks_by_stat(b):
    """Only one of two divides; each has the counts of its own."""
    events = ["fp_instructions:fpdiv", "fp_instructions", "instructions", "loads", "branches:conditional", "system_calls"]
    programs = [divider(b, 1), divider(b, 2, ADDS)]
    for core in run.MODELS:
        own = [alone(b, "--core", core, program=p, events=events)[2] for p in programs]
        expect(own[0]["fp_instructions:fpdiv"], ROUNDS, "divisions of the first, alone")
        for order in (programs, programs[::-1]):
            _, reports, counters = together(b, "--core", core, *QUANTUM, programs=order, events=events)
            for p, r, c in zip(order, reports, counters):
                expect(c, own[programs.index(p)], f"counts of {p.name} on {core}")
                expect(r["program"], str(p), "whose page that is")
    walks = b.assemble("walk.S", BYTES=8192, ROUNDS=400, WAIT="nop")
    _, own, _ = alone(b, program=programs[1])
    _, reports, _ = together(b, *QUANTUM, programs=[walks, programs[1]])
    for event in ("l1d_accesses", "bus_transactions"):
        one, other, plain = reports[0]["events"][event], reports[1]["events"][event], own["events"][event]
        if not (plain <= other <= plain + 100 and (event != "l1d_accesses" or one > 50000)):
            raise Failure(f"{event}: {one} of a program that walks, {other} of one that does not, {plain} when alone")


def no_count_leaks_by_firmware(b):
    """The same by counters of the hardware, which firmware saves and restores at every switch."""
    programs = [divider(b, 1), divider(b, 2, ADDS), divider(b, 3, DIVIDES, ROUNDS // 4)]
    divisions = {1: ROUNDS, 2: 0, 3: ROUNDS // 4}
    for core in run.MODELS:
        firmware = ["--core", core, "--firmware", contexts(b)]
        own = {n: alone(b, *firmware, program=p)[0] for n, p in enumerate(programs, 1)}
        rows, reports, _ = together(b, *firmware, *QUANTUM, programs=programs)
        expect(sorted(rows), [1, 2, 3], f"programs that reported on {core}")
        for n, row in rows.items():
            expect(own[n][FIRST], divisions[n], f"divisions of program {n}, alone on {core}")
            expect(row[FIRST], divisions[n], f"divisions of program {n} on {core}")
            expect(row[SECOND], own[n][SECOND], f"instructions of program {n} on {core}")
            expect(row[INSTRET], own[n][INSTRET], f"instret of program {n} on {core}")
            expect(row[WRONG], 0, f"interrupts that were wrong, reported by {n} on {core}")
            if not own[n][CYCLE] * 0.9 <= row[CYCLE] <= reports[n - 1]["cycles"]:
                raise Failure(f"program {n} on {core} reads {row[CYCLE]} cycles, {own[n][CYCLE]} when it is alone")
            if row[CAME] < 2:
                raise Failure(f"program {n} came {row[CAME]} times on {core}")


def every_switch_is_an_interrupt(b):
    """As many as there are turns, and they come before overflows."""
    programs = [divider(b, 1), divider(b, 2)]
    for quantum in (2000, 10000):
        rows, reports, _ = together(b, "--firmware", contexts(b), "--quantum", quantum, programs=programs)
        first, second = rows[1], rows[2]
        if not abs(first[CAME] - second[CAME]) <= 1 or second[SWITCHES] != first[CAME] + second[CAME]:
            raise Failure(f"they came {first[CAME]} and {second[CAME]} times, in {second[SWITCHES]} switches")
        turns = reports[0]["cycles"] / quantum
        if not 0.5 * turns <= first[CAME] <= turns:
            raise Failure(f"{first[CAME]} switches to the first program, whose cycles are {turns} turns")
        rows, _, _ = together(b, "--firmware", contexts(b, PERIOD=700), "--quantum", quantum, programs=programs)
        for n, row in rows.items():
            expect(row[WRONG], 0, f"what went wrong with overflows, reported by {n}")
            expect(row[FIRST], ROUNDS, f"divisions of program {n} with overflows")
            if row[OVERFLOWS] < 20:
                raise Failure(f"only {row[OVERFLOWS]} overflows")


def firmware_need_not_know(b):
    """Without MSIE nothing comes: its handler would never return."""
    firmware = b.firmware("open.S", OPENED="(-1)")
    _, reports, _ = together(b, "--firmware", firmware, *QUANTUM, programs=[divider(b, 1), divider(b, 2)])
    expect([r["exit_status"] for r in reports], [0, 0], "statuses")


# ---- programs


def programs_do_what_they_do_alone(b):
    """Threads, signals, forks and exec: the same instructions, however often the core is taken away."""
    names = ["thread_basic", "fork_wait", "signal_basic", "fork_exec", "thread_futex", "code_changes"]
    programs = [GUESTS / n for n in names]
    plain, firmware = [], ["--firmware", contexts(b)]
    cases = [([], [firmware]), (["--skip", 20000, "--warm", "--warmup", 3000], [plain])]
    if b.long:
        cases = [(skip, [plain, firmware]) for skip in (*(skip for skip, _ in cases), ["--skip", 200000])]
    for skip, extras in cases:
        own = [b.stat(*skip, p, events=["instructions:u"])[1] for p in programs]
        for extra in extras:
            words = [*skip, *extra, "--quantum", 20000]
            _, reports, counters = together(b, *words, programs=programs, events=["instructions:u"])
            expect([r["exit_status"] for r in reports], [0] * len(names), f"statuses {words}")
            expect(counters, own, f"instructions {words}")


def one_exits_early(b):
    """And one is killed; the others go on, and the last has the core for itself."""
    long, short = divider(b, 1, rounds=20000), divider(b, 2, rounds=10)
    dies = divider(b, 3, death="ld zero, 0(zero)")
    events = ["instructions"]
    own = {p: alone(b, program=p, events=events, status=139 if p == dies else 0) for p in (long, short, dies)}
    for order in ([long, short, dies], [short, dies, long], [dies, long, short]):
        status = 139 if order[0] == dies else 0
        rows, reports, counters = together(b, *QUANTUM, programs=order, events=events, status=status)
        expect(sorted(rows), [1, 2], "programs that reported")
        expect([r["exit_status"] for r in reports], [139 if p == dies else 0 for p in order], "statuses")
        expect(counters, [own[p][2] for p in order], "instructions")
        slow, fast = reports[order.index(long)]["cycles"], own[long][1]["cycles"]
        if not fast <= slow <= 1.2 * fast:
            raise Failure(f"{slow} cycles of the long one, {fast} when it is alone")


def alone_a_quantum_changes_nothing(b):
    program = divider(b, 1)
    _, plain, _ = alone(b, program=program)
    _, turned, _ = alone(b, *QUANTUM, program=program)
    for key in ("events", "cycles_by", "cycles"):
        expect(turned[key], plain[key], key)


def limits_hold_for_each(b):
    programs = [divider(b, 1), divider(b, 2, ADDS)]
    _, reports, _ = together(b, "--skip", 1000, "--warmup", 500, "--max-insns", 6000, *QUANTUM, programs=programs)
    expect([(r["instructions"], r["skipped"], r["cut"]) for r in reports], [(6000, 1000, True)] * 2, "limits")


def runs_repeat(b):
    programs = [divider(b, 1), divider(b, 2, ADDS), GUESTS / "fork_wait"]
    for extra in ([], ["--firmware", contexts(b)]):
        runs = [together(b, *extra, *QUANTUM, *step, programs=programs) for step in ([], [], ["--step"])]
        for rows, reports, _ in runs[1:]:
            expect(rows, runs[0][0], f"reported {extra}")
            for key in ("events", "cycles_by", "cycles"):
                expect([r[key] for r in reports], [r[key] for r in runs[0][1]], f"{key} {extra}")


# ---- hardware


def caches_are_shared(b):
    """A program that walks through much memory costs the other one its lines, and its pages."""
    small = b.assemble("walk.S", BYTES=8192, ROUNDS=400, WAIT="add s0, s0, t0")
    large = b.assemble("walk.S", BYTES=1 << 20, ROUNDS=3, WAIT="nop")
    quiet = divider(b, 2, ADDS, 50000)
    events = ["l1d_misses", "dtlb_misses"]
    cost = {}
    for other in (quiet, large):
        _, reports, counters = together(b, "--quantum", 4000, programs=[small, other], events=events)
        cost[other] = (reports[0]["cycles"], counters[0]["l1d_misses"])
    if not (cost[large][1] > 4 * cost[quiet][1] and cost[large][0] > 1.1 * cost[quiet][0]):
        raise Failure(f"cycles and misses: {cost[large]} beside the large one, {cost[quiet]} beside the quiet one")


def the_same_address_is_two_lines(b):
    """Two of a kind have the same addresses: neither finds what the other one brought."""
    program = b.assemble("walk.S", BYTES=65536, ROUNDS=1, WAIT="nop")
    events = ["l2d_misses", "dtlb_misses"]
    _, _, own = alone(b, program=program, events=events)
    if own["l2d_misses"] < 1000 or own["dtlb_misses"] < 5:
        raise Failure(f"alone it has {own}")
    _, _, counters = together(b, *QUANTUM, programs=[program] * 3, events=events)
    for c in counters:
        if any(c[e] < own[e] for e in events) or c["l2d_misses"] > 1.1 * own["l2d_misses"]:
            raise Failure(f"{c} of one, {own} alone")


def predictors_are_shared(b):
    """A program of the same code finds its branches known, as they have no address space."""
    program = divider(b, 1, ADDS, 300)
    _, reports, _ = together(b, "--quantum", 1000000, programs=[program, divider(b, 2, ADDS, 300)])
    first, second = (r["events"]["misfetches"] for r in reports)
    if not second < first:
        raise Failure(f"{first} misfetches of the first, {second} of the second")


# ---- the host's processes


def state_of(pid):
    """The fields of /proc/PID/stat from the third on, `Z` if there is no such process."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ["Z"]


def simulates(pid):
    """Whether a process has begun: it has used some processor time of its own."""
    state = state_of(pid)
    return state[0] != "Z" and int(state[11]) >= 3


def wait_for(condition, what):
    """Until the condition is true; its value."""
    end = time.monotonic() + run.HANG_SECONDS
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise Failure(what)


def programs_that_run(waiting):
    """The processes of the two programs, once both simulate."""
    if waiting.poll() is not None:
        raise Failure(f"ended with status {waiting.returncode}: {waiting.stderr.read().decode()}")
    children = pathlib.Path(f"/proc/{waiting.pid}/task/{waiting.pid}/children").read_text().split()
    return [int(c) for c in children] if len(children) == 2 and all(map(simulates, children)) else None


def nobody_is_left_over(b):
    cases = (("waiting", signal.SIGKILL, -9), ("program", signal.SIGKILL, 125), ("waiting", signal.SIGTERM, 143))
    program = divider(b, 1, rounds=1000000000)
    words = [b.cyclescope, "stat", "--quiet", "--with", program, *map(str, QUANTUM), program]
    for victim, sent, status in cases:
        with subprocess.Popen(words, stderr=subprocess.PIPE, env=run.ENVIRONMENT) as waiting:
            try:
                programs = wait_for(lambda: programs_that_run(waiting), "there are no two programs")
                os.kill(waiting.pid if victim == "waiting" else programs[1], sent)
                said = waiting.communicate(timeout=run.HANG_SECONDS)[1].decode()
            finally:
                waiting.kill()
        expect(waiting.returncode, status, f"status after {sent} to {victim}: {said}")
        if status == 125 and "was killed" not in said:
            raise Failure(f"says {said}")
        wait_for(lambda: all(state_of(p)[0] == "Z" for p in programs), f"one of {programs} is left over")


# ---- mistakes


def mistakes_have_a_sentence(b):
    program = divider(b, 1)
    for words, pattern in (
        (["--with", "/nowhere/there"], "/nowhere/there"),
        (["--with", ""], "--with needs a program"),
        (["--with", "a 'b"], "a quotation mark is not closed"),
        (["--with", program, "--quantum", 999], "--quantum must be at least 1000"),
        (["--with", program, "--pipeview", "-"], "--with and --pipeview exclude each other"),
        (["--with", program, "--firmware", "/nowhere/there"], "the firmware /nowhere/there cannot be opened"),
        (["--with", program, "--firmware", b.firmware("stuck.S", STUCK="ebreak")], "no trap handler that works"),
        (["--with", program] * 64, "at most 64 programs"),
    ):
        done = b.run("stat", *words, program)
        said = done.stderr.decode()
        if done.returncode != 125 or pattern not in said or said.count("\n") != 1:
            raise Failure(f"{words[:4]}: status {done.returncode}, says {said[:300]}")


def words_are_those_of_a_shell(b):
    shell = b.folder / "echo me"
    shell.write_bytes((GUESTS / "process_facts").read_bytes())
    shell.chmod(0o755)
    for line in (f"'{shell}'", f'"{shell}"', str(shell).replace(" ", "\\ "), f" '{str(shell)[:-3]}'\" me\" "):
        rows, reports, _ = together(b, programs=[divider(b, 1), line])
        expect(reports[1]["program"], str(shell), line)


TESTS = [
    no_count_leaks_by_stat,
    no_count_leaks_by_firmware,
    every_switch_is_an_interrupt,
    firmware_need_not_know,
    programs_do_what_they_do_alone,
    one_exits_early,
    alone_a_quantum_changes_nothing,
    limits_hold_for_each,
    runs_repeat,
    caches_are_shared,
    the_same_address_is_two_lines,
    predictors_are_shared,
    nobody_is_left_over,
    mistakes_have_a_sentence,
    words_are_those_of_a_shell,
]

if __name__ == "__main__":
    sys.exit(run.main(sys.argv[1:], TESTS, __doc__))
