#!/usr/bin/env python3
"""Machine mode: firmware and programs of a few instructions, and what both must see.

usage: run.py [--long] CYCLESCOPE [NAME...] all tests, or those named: `ok NAME` or `not ok NAME: what went wrong`;
                                            --long adds cases that take seconds

Programs tell numbers as 8-byte words on standard output: hpmcounter3 to 10 and a checksum, in the case of loop.S.
"""

import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
GCC = shlex.split(os.environ.get("CROSS", "riscv64-linux-gnu-") + "gcc")
NM = shlex.split(os.environ.get("CROSS", "riscv64-linux-gnu-") + "nm")
FLAGS = "-x assembler-with-cpp -march=rv64gc -mno-relax -fno-pie -no-pie -static -nostdlib".split()
FLAGS += "-Wl,--no-relax -Wl,--build-id=none".split() + [f"-I{HERE}"]
FIRMWARE = ["-Wl,-Ttext-segment=0x4000000000"]
MINH, UINH = "MINH", "UINH"
ROUNDS, LOOP_INSNS = 10000, 6
MODELS = ["eyerman2006", "modern", "ppc970", "ppc970-inorder", "pentium-pro"]
HANG_SECONDS = 3600  # whatever takes longer hangs, on the slowest machine
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}  # the guest's, too: its size moves the guest's stack
COUNTERS = "pmu.counters=8"  # as many as the tests use, of every core


class Failure(Exception):
    pass


def expect(got, wanted, what):
    if got != wanted:
        raise Failure(f"{what}: {got} instead of {wanted}")


class Bench:
    """The program under test, and a folder for what is assembled."""

    def __init__(self, cyclescope, folder, long=False):
        self.cyclescope, self.folder, self.long = os.path.abspath(cyclescope), pathlib.Path(folder), long
        self.numbers, self.made = {}, {}
        for line in self.run("list", "events").stdout.decode().splitlines():
            found = re.match(r"  (\S+) +(\S+) +(?:times|cycles|value) +(?:\S+|\S+, \S+) +(\d+)(?:  \S|$)", line)
            if found:
                self.numbers[found[1]] = self.numbers[found[2]] = int(found[3])

    def run(self, *words):
        return subprocess.run([self.cyclescope, *map(str, words)], capture_output=True, timeout=HANG_SECONDS,
                              cwd=self.folder, env=ENVIRONMENT)  # some programs leave files

    def assemble(self, source, *flags, **macros):
        """The program of a source in this folder, for these values of its macros."""
        words = [f"-D{name}={value}" for name, value in macros.items()]
        made = self.folder / f"{source[:-2]}-{len(self.made)}"
        made = self.made.setdefault((source, *words), made)
        if not made.exists():
            command = [*GCC, *FLAGS, *flags, *words, "-o", made, HERE / source]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                raise Failure(f"{source} does not assemble: {done.stderr.strip()}")
        return made

    def firmware(self, source, **macros):
        return self.assemble(source, *FIRMWARE, **macros)

    def address(self, program, label):
        for line in subprocess.run([*NM, program], capture_output=True, text=True).stdout.splitlines():
            if line.split()[-1] == label:
                return int(line.split()[0], 16)
        raise Failure(f"{program} has no {label}")

    def loop(self):
        return self.assemble("loop.S", ROUNDS=ROUNDS)

    def sampling(self, event, period, **macros):
        loop = self.address(self.loop(), "loop")
        return self.firmware("sample.S", EVENT=f"({event}|MINH)", PERIOD=period, LOOP=hex(loop), **macros)

    def stat(self, *words, events=(), status=0):
        """The numbers that the program reported, its counters by event, and the whole report."""
        report = self.folder / "json"
        report.unlink(missing_ok=True)
        words = [*(w for e in events for w in ("-e", e)), "--quiet", "--set", COUNTERS, "--json", report, *words]
        done = self.run("stat", *words)
        if done.returncode != status:
            raise Failure(f"status {done.returncode}: {done.stderr.decode().strip()[:300]}")
        whole = json.loads(report.read_text())
        reported = [int.from_bytes(done.stdout[i : i + 8], "little") for i in range(0, len(done.stdout), 8)]
        return reported, {c["event"]: c["value"] for c in whole.get("counters", [])}, whole


# ---- interrupts


def every_period_is_an_interrupt(b):
    """As many interrupts as events / period, wherever the loads are counted, and each finds the program."""
    for period in (1000, 200, 125):
        for core in MODELS:
            firmware = b.sampling(b.numbers["loads"], period)
            reported, v, _ = b.stat("--core", core, "--firmware", firmware, b.loop(), events=["loads:u", "loads:m"])
            expect(reported[5], ROUNDS // period, f"interrupts, period {period} on {core}")
            expect(reported[7], reported[5], f"interrupts in the histogram, period {period} on {core}")
            expect(v["loads:u"], ROUNDS, f"loads:u, period {period} on {core}")
            expect(reported[0], (v["loads:u"] - period * (reported[5] + 1)) % 2**64, f"the counter, period {period} on {core}")
            if reported[6] < reported[5] - 1:
                raise Failure(f"only {reported[6]} of {reported[5]} interrupts hit the loop, period {period} on {core}")


def every_event_can_interrupt(b):
    """Instructions, cycles, edges, thresholds, the wrong path and what only instructions tell."""
    _, plain, _ = b.stat(b.loop(), events=["cycles", "instructions", "fetched", "branches:conditional"])
    shapes = {
        "instructions": ("instructions", 0, 60000),
        "cycles": ("cycles", 0, plain["cycles"]),
        "four a cycle": ("instructions", 4 << 28, None),
        "begins of loads": ("loads", 1 << 40, None),
        "no load for some cycles": ("loads", 1 << 28 | 1 << 41, None),
        "fetched": ("fetched", 0, None),
        "loads of a double word": ("loads", 8 << 12, ROUNDS),
        "completed": ("completed", 0, None),
        "cycles by reason": ("fetch_stops", 7 << 12, None),
        "occupancy": ("rob_occupancy", 0, None),
    }
    for name, (event, more, least) in shapes.items():
        period = 20000 if event == "rob_occupancy" else 500  # much passes before the handler is there
        firmware = b.sampling(f"{b.numbers[event]}|{more}", period)
        reported, _, _ = b.stat("--firmware", firmware, b.loop())
        stepped, _, _ = b.stat("--step", "--firmware", firmware, b.loop())
        expect(stepped, reported, f"{name}: reported with --step")
        counted = (reported[0] + period * (reported[5] + 1)) % 2**64
        if reported[5] == 0 or counted // period != reported[5]:
            raise Failure(f"{name}: {reported[5]} interrupts for {counted} events")
        if least and not least <= counted <= 1.6 * least:
            raise Failure(f"{name}: {counted} events where {least} were expected")


def program_is_not_changed(b):
    """Whatever interrupts it: its results, instructions and exit."""
    _, alone, _ = b.stat(b.loop(), events=["instructions", "loads", "stores", "branches"])
    for period in (5000, 500, 3):
        firmware = b.sampling(b.numbers["instructions"], period)
        reported, v, _ = b.stat("--firmware", firmware, b.loop(), events=[e + ":u" for e in alone])
        expect(reported[8], sum(((n & 56) >> 3) + 1 for n in range(1, ROUNDS + 1)), f"the sum, period {period}")
        expect(v, {e + ":u": n for e, n in alone.items()}, f"counts of user mode, period {period}")


def runs_repeat(b):
    firmware = b.sampling(b.numbers["cycles"], 333)
    runs = [b.stat("--firmware", firmware, b.loop()) for _ in range(2)]
    runs.append(b.stat("--step", "--firmware", firmware, b.loop()))
    for reported, _, whole in runs[1:]:
        expect(reported, runs[0][0], "reported")
        expect(whole["events"], runs[0][2]["events"], "counts")
        expect(whole["cycles_by"], runs[0][2]["cycles_by"], "cycles by reason")


def skid_is_short(b):
    """Between overflow and interrupt no more retires than was in flight."""
    firmware = b.sampling(b.numbers["instructions"], 2000)
    for core in MODELS:
        reported, _, whole = b.stat("--core", core, "--firmware", firmware, b.loop())
        size = {key: int(whole["params"][key]) for key in ("rob.size", "fetch.buffer", "decode.width", "frontend.stages")}
        most = size["rob.size"] + size["fetch.buffer"] + size["decode.width"] * size["frontend.stages"]
        most += int(whole["params"]["commit.width"]) - 1  # others of the cycle in which it overflows
        if not 0 < reported[4] <= most:
            raise Failure(f"{reported[4]} instructions on {core}, whose window and front end hold {most}")


# ---- modes


def modes_are_counted_apart(b):
    """What each mode executes is known by construction."""
    for core in MODELS:
        firmware = b.firmware("modes.S", COMMITTED=b.numbers["instructions"], BEFORE=17)
        reported, _, _ = b.stat("--core", core, "--firmware", firmware, b.loop())
        user = user_insns_before_reading(b)
        expect(reported[0], 18, f"instructions of machine mode on {core}")
        expect(reported[1], user + 2, f"instructions of user mode on {core}")
        expect(reported[2], user + 4 + 18, f"instructions of both on {core}")
        expect(reported[3], 0, f"instructions of neither on {core}")
        expect(reported[4], user + 8 + 18 + 5, f"a counter that was stopped on {core}")
        expect(reported[5], 5, f"a counter between start and stop on {core}")
        expect(reported[6], 1000, f"minstret while it stands still on {core}")
        expect(reported[7], 1000, f"mcycle while it stands still on {core}")


def user_insns_before_reading(b):
    """Up to the read of hpmcounter3: it and what it stands behind are 6 per round and those before and after."""
    head = (b.address(b.loop(), "loop") - b.address(b.loop(), "_start")) // 4
    return head + ROUNDS * LOOP_INSNS + 1


def modes_add_up(b):
    """Every event, plain and shaped: user and machine mode sum to both."""
    names = [n for n in dict.fromkeys(b.numbers) if n != "-"]
    specs = [(n, more) for n in names for more in ("", ":thresh=0", ":edge")]
    events = [f"{n}{more}{mode}" for n, more in specs for mode in ("", ":u", ":m")]
    firmware = b.sampling(b.numbers["instructions"], 700)
    for core in ("eyerman2006", "modern"):
        reported, v, whole = b.stat("--core", core, "--firmware", firmware, b.loop(), events=events)
        wrong = [f"{n}{m}" for n, m in specs if v[f"{n}{m}:u"] + v[f"{n}{m}:m"] != v[f"{n}{m}"]]
        expect(wrong, [], f"events whose modes do not add up on {core}")
        expect(v["cycles"], whole["cycles"], "cycles")
        if v["instructions:m"] < 40 * reported[5] or v["cycles:m"] < v["instructions:m"] / 8:
            raise Failure(f"{reported[5]} interrupts, and only {v['instructions:m']} instructions in {v['cycles:m']} cycles")
        alone, cheap, _ = b.stat("--core", core, "--firmware", firmware, b.loop(), events=[f"{n}:m" for n in names])
        expect({n: cheap[f"{n}:m"] for n in names}, {n: v[f"{n}:m"] for n in names}, f"counted cheaply on {core}")


def handler_has_its_instructions(b):
    """Each interrupt costs the firmware the same instructions, but for the branch between loop and elsewhere."""
    runs = {}
    for period in (2000, 1000, 500):
        firmware = b.sampling(b.numbers["loads"], period)
        reported, v, _ = b.stat("--firmware", firmware, b.loop(), events=["instructions:m"])
        runs[reported[5]] = v["instructions:m"] + 3 * (reported[5] - reported[6])
    (n1, i1), (n2, i2), (n3, i3) = sorted(runs.items())
    expect((i3 - i2) * (n2 - n1), (i2 - i1) * (n3 - n2), "instructions by interrupts are no straight line")


# ---- CSRs


def selftest(b):
    for core in MODELS:
        program = b.loop()
        entry = b.address(program, "_start")
        word = program.read_bytes()[entry - 0x10000 :][:4]
        firmware = b.firmware(
            "selftest.S",
            PROGRAM=hex(entry),
            FIRST_WORD=hex(int.from_bytes(word, "little", signed=True)),
            COMMITTED=b.numbers["instructions"],
            LOADS=b.numbers["loads"],
        )
        reported, _, _ = b.stat("--core", core, "--firmware", firmware, program)
        expect(reported[5], 0, f"the first check that failed on {core}")
        text = (HERE / "selftest.S").read_text().partition("    start")[2]
        made = text.count("    check ") + 3 * text.count("    traps ")
        expect(reported[6], made, f"checks made on {core}")


def counters_are_open_or_not(b):
    for opened, csr, status in (
        (-1, "hpmcounter3", 0),
        ("~8", "hpmcounter3", 132),
        ("~8", "hpmcounter4", 0),
        ("~1", "cycle", 132),
        ("~2", "time", 132),
        ("~4", "instret", 132),
        ("0x80000000", "hpmcounter31", 0),
        (0, "hpmcounter31", 132),
    ):
        firmware = b.firmware("open.S", OPENED=f"({opened})")
        program = b.assemble("exit.S", WRONG=f"csrr t0, {csr}")
        expect(b.run("stat", "--firmware", firmware, program).returncode, status, f"{csr} with mcounteren {opened}")


def program_has_no_privilege(b):
    firmware = b.firmware("open.S", OPENED="(-1)")
    for wrong, status in (
        ("nop", 0),
        ("ld t0, 0(s0)", 139),
        ("sd t0, 0(s0)", 139),
        ("lbu t0, 0x100(s0)", 139),
        ("jr s0", 139),
        ("mret", 132),
        ("wfi", 132),
        ("csrr t0, mstatus", 132),
        ("csrw mie, t0", 132),
        ("csrr t0, mhpmcounter3", 132),
        ("csrr t0, 0xda0", 132),
        ("ebreak", 133),
        (".word 0xffffffff", 132),
    ):
        program = b.assemble("exit.S", WRONG=wrong)
        expect(b.run("stat", "--firmware", firmware, program).returncode, status, wrong)
        if "s0" not in wrong:
            expect(b.run("run", program).returncode, status, f"{wrong} without firmware")


def without_firmware_all_counters_are_open(b):
    for csr in ("cycle", "time", "instret", "hpmcounter3", "hpmcounter31"):
        expect(b.run("stat", b.assemble("exit.S", WRONG=f"csrr t0, {csr}")).returncode, 0, csr)


# ---- real programs


def c_programs(b):
    """Threads, signals, forks, exec and a dynamic number of system calls do what they do without firmware."""
    guests = HERE.parent.parent / "build" / "guest"
    firmware = b.sampling(b.numbers["cycles"], 2000)
    for name in ("fork_wait", "fork_exec", "thread_basic", "thread_futex", "signal_basic", "signal_fault", "code_changes"):
        for extra in ([], ["--skip", "20000", "--warmup", "3000"]):
            done = b.run("stat", "--quiet", "--firmware", firmware, *extra, guests / name)
            expect((done.returncode, done.stderr), (0, b""), f"{name} {extra}")


def forked_programs_have_a_copy(b):
    """Counters, interrupts and the firmware's memory go on in both processes from where they were."""
    program = b.assemble("fork.S", ROUNDS=5000)
    firmware = b.firmware("sample.S", EVENT=f"({b.numbers['loads']}|MINH)", PERIOD=400, LOOP=hex(b.address(program, "loop")))
    reported, v, _ = b.stat("--firmware", firmware, program, events=["loads:u", "instructions:u", "instructions:m", "instructions"])
    expect(len(reported), 18, "numbers reported by two processes")
    for process in (reported[:9], reported[9:]):
        expect(process[5], 25, "interrupts")
        expect(process[7], 25, "the histogram's sum")
        expect(process[0], (10000 - 400 * 26) % 2**64, "the counter")
    expect(v["loads:u"], 15000, "loads of both")
    expect(v["instructions:u"] + v["instructions:m"], v["instructions"], "instructions of both")


def counters_agree_with_stat(b):
    """What the program reads from a counter is what `stat -e` counts, but for what comes before and after: the firmware's
    start, and the program's last instructions, among which there may be one more interrupt."""
    events = {
        "cycles": "", "instructions": "", "fetched": "", "completed": "", "loads": "", "loads:spec": 2 << 42, "branches": "",
        "l1d_accesses": "", "fetch_stops:group": 2 << 12, "head_stalls": "", "rob_occupancy": "", "issued": "",
        "instructions:thresh=3": 4 << 28, "loads:edge": 1 << 40, "cycles:thresh=0": 1 << 28, "loads:double": 8 << 12,
    }  # fmt: skip
    for name, more in events.items():
        code = f"{b.numbers[name.partition(':')[0]]}|{more or 0}"
        for mode, letter in (("MINH", "u"), ("UINH", "m"), (0, "um")):
            firmware = b.sampling(b.numbers["instructions"], 1000, OTHER=f"({code}|{mode})")
            reported, v, _ = b.stat("--firmware", firmware, b.loop(), events=[f"{name}:{letter}"])
            read, total = reported[1], v[f"{name}:{letter}"]
            rest = 0 if name.startswith("loads") and letter == "u" else 60000 if name == "rob_occupancy" else 2500
            if not 0 <= total - read <= rest:
                raise Failure(f"{name}:{letter}: the program reads {read}, stat counts {total}")


def other_commands(b):
    firmware = b.sampling(b.numbers["instructions"], 1000)
    for words in (
        ["stack", "--method", "all"],
        ["stat", "--pipeview", b.folder / "view"],
        ["record", "-o", b.folder / "profile"],
        ["record", "--precise", "-e", "loads:u", "-o", b.folder / "profile"],
        ["record", "--profileme", "-o", b.folder / "profile"],
    ):
        done = b.run(*words, "--firmware", firmware, b.loop())
        expect(done.returncode, 0, " ".join(map(str, words)) + ": " + done.stderr.decode()[:300])
        reported = [int.from_bytes(done.stdout[i : i + 8], "little") for i in range(0, 72, 8)]
        counted = (reported[0] + 1000 * (reported[5] + 1)) % 2**64
        expect(counted, user_insns_before_reading(b), f"{words}: instructions of the program")


def skipped_programs_keep_their_registers(b):
    reported, _, whole = b.stat("--skip", 30001, "--firmware", b.sampling(b.numbers["loads"], 100), b.loop())
    expect(reported[8], sum(((n & 56) >> 3) + 1 for n in range(1, ROUNDS + 1)), "the sum")
    if not 40 <= reported[5] <= 51:
        raise Failure(f"{reported[5]} interrupts in the second half")


# ---- mistakes


def mistakes_have_a_sentence(b):
    empty, text, short = b.folder / "empty", b.folder / "text", b.folder / "short"
    empty.write_bytes(b"")
    text.write_text("no firmware\n" * 10)
    good = b.firmware("open.S", OPENED="(-1)").read_bytes()
    short.write_bytes(good[:100])
    (b.folder / "other").write_bytes(good[:18] + b"\x3e" + good[19:])
    stuck = b.firmware("stuck.S", STUCK="j ."), "did not return to the program within 100000000 instructions"
    for file, pattern in (
        (b.folder / "nowhere", "nowhere cannot be opened: No such file"),
        (b.folder, "is not an ELF file"),
        (empty, "empty is not an ELF file"),
        (text, "text is not an ELF file"),
        (short, "short is truncated"),
        (b.folder / "other", "other is not for 64-bit little-endian RISC-V"),
        (b.loop(), "has a segment at 0x10000: link it between 0x4000000000 and 0x4004000000"),
        (b.firmware("stuck.S", STUCK="ebreak"), "has no trap handler that works: exception 1"),
        *([stuck] if b.long else []),
    ):
        done = b.run("stat", "--set", "perfect.l1i=yes", "--firmware", file, b.loop())
        said = done.stderr.decode()
        if done.returncode != 125 or not re.search(pattern, said) or said.count("\n") != 1:
            raise Failure(f"{file.name}: status {done.returncode}, says {said[:300]}")


def corrupt_files_do_no_harm(b):
    good = b.firmware("open.S", OPENED="(-1)").read_bytes()
    file = b.folder / "corrupt"
    for at in list(range(4, 64)) + list(range(64, 64 + 3 * 56, 3)):
        for change in (0x01, 0x80, 0xFF):
            file.write_bytes(good[:at] + bytes([good[at] ^ change]) + good[at + 1 :])
            done = b.run("stat", "--quiet", "--firmware", file, b.loop())
            if done.returncode not in (0, 125):
                raise Failure(f"byte {at} changed by {change:#x}: status {done.returncode}")


TESTS = [
    every_period_is_an_interrupt,
    every_event_can_interrupt,
    program_is_not_changed,
    runs_repeat,
    skid_is_short,
    modes_are_counted_apart,
    modes_add_up,
    handler_has_its_instructions,
    selftest,
    counters_are_open_or_not,
    program_has_no_privilege,
    without_firmware_all_counters_are_open,
    c_programs,
    forked_programs_have_a_copy,
    counters_agree_with_stat,
    other_commands,
    skipped_programs_keep_their_registers,
    mistakes_have_a_sentence,
    corrupt_files_do_no_harm,
]


def main(arguments, tests=TESTS, usage=__doc__):
    if not arguments or arguments == ["--long"]:
        sys.exit(usage.strip())
    for number in (signal.SIGHUP, signal.SIGQUIT):  # guests inherit what is ignored, and die of them on purpose
        signal.signal(number, signal.SIG_DFL)
    long = arguments[0] == "--long"
    cyclescope, *chosen = arguments[long:]
    good = True
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(cyclescope, folder, long)
        for test in tests:
            name = test.__name__.replace("_", "-")
            if chosen and name not in chosen and test.__name__ not in chosen:
                continue
            try:
                test(bench)
                print(f"ok {name}", flush=True)
            except (Failure, subprocess.TimeoutExpired) as failure:
                print(f"not ok {name}: {failure}", flush=True)
                good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
