#!/usr/bin/env python3
"""Runs random instruction sequences under Cyclescope and under qemu-riscv64 and compares what they leave behind:
registers, fcsr and memory. The first differences are named, shrunk and disassembled. Fails if there is any.

    differential.py [--seed S] [--sequences N] [--jobs J] [--cyclescope FILE] [--core NAME]

With --core the sequences run on that simulated core (`cyclescope stat`) instead of under `cyclescope run`.

The sequences of a seed are always the same. generate.c makes the programs; it is built here unless `make` has done so.
"""
import argparse
import concurrent.futures
import os
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
PER_PROGRAM = 2000   # sequences, so that starting processes does not matter
TIME_LIMIT = 1800    # seconds for one program: more is a hang
SHRINK_LIMIT = 60    # the same for a single sequence
SHOWN = 3            # differences that are shrunk and printed

# Not in sequences: they end or trap the program, write two registers or round their address (tests/guest/extensions.c).
NEVER_GENERATED = {"ecall", "ebreak", "c.ebreak", "mret", "wfi", "amocas.q", "cbo.zero"}
# qemu 7.2 does not know Zicond (tests/guest/zicond.c), Zcb and Zacas (tests/guest/extensions.c) and Zfa (test_softfp_half.c).
# --newer generates them, for a newer qemu as --reference.
UNKNOWN_TO_QEMU = {"czero.eqz", "czero.nez", "amocas.w", "amocas.d", "fcvtmod.w.d"}
UNKNOWN_TO_QEMU |= {f"c.{t}" for t in "lbu lhu lh sb sh zext.b sext.b zext.h sext.h zext.w not mul".split()}
UNKNOWN_TO_QEMU |= {f"{t}.{f}" for t in "fli fminm fmaxm fround froundnx fleq fltq".split() for f in "hsd"}
ENOUGH_TO_COVER = 500  # sequences that contain every row, whatever the seed

X_NAMES = ("zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 "
           "t3 t4 t5 t6").split()
F_NAMES = ("ft0 ft1 ft2 ft3 ft4 ft5 ft6 ft7 fs0 fs1 fa0 fa1 fa2 fa3 fa4 fa5 fa6 fa7 fs2 fs3 fs4 fs5 fs6 fs7 fs8 fs9 "
           "fs10 fs11 ft8 ft9 ft10 ft11").split()
SCRATCH_BYTES = 512
FIELDS = ["number"] + X_NAMES + F_NAMES + ["fcsr"] + [f"scratch+{i}" for i in range(0, SCRATCH_BYTES, 8)]
RECORD = struct.Struct(f"<{len(FIELDS)}Q")  # struct record in sequence.h


def find_generator(work):
    """What `make` has built, if that is up to date, or else a fresh one."""
    sources = [os.path.join(HERE, f + ".c") for f in ("generate", "program", "sequence", "units", "encode", "values")]
    sources += [os.path.join(ROOT, "src", f) for f in ("base/random.c", "riscv/decode.c", "riscv/disasm.c", "riscv/softfp_zfa.c",
                                                        "riscv/softfp_convert.c", "riscv/softfp_round.c")]
    tables = [os.path.join(ROOT, "src/riscv", f) for f in ("insn.def", "insn.h")]
    built = os.path.join(ROOT, "build/fuzz/generate")
    if os.path.exists(built) and all(os.path.getmtime(f) < os.path.getmtime(built) for f in sources + tables):
        return built
    path = os.path.join(work, "generate")
    subprocess.run([os.environ.get("CC", "cc"), "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-I" + os.path.join(ROOT, "src"),
                    "-o", path, *sources, "-lpthread"], check=True)
    return path


class Fuzzer:
    def __init__(self, options, work):
        self.generator = options.generator or find_generator(work)
        self.seed = options.seed
        self.work = work
        command = ["stat", "--quiet", "--core", options.core] if options.core else ["run"]
        subject = shlex.split(options.subject) if options.subject else [os.path.abspath(options.cyclescope), *command]
        self.runners = [subject, shlex.split(options.reference)]
        self.without = sorted(set() if options.newer else UNKNOWN_TO_QEMU)
        self.without = sorted({"amocas.q", "cbo.zero", *self.without, *options.without})

    def command(self, first, count, *more):
        command = ["--seed", str(self.seed), "--first", str(first), "--sequences", str(count), *more]
        for text in self.without:
            command += ["--without", text]
        return command

    def generate(self, name, first, count, *more):
        elf = os.path.join(self.work, name)
        command = [self.generator, *self.command(first, count, *more)]
        return elf, subprocess.run(command + [elf], check=True, capture_output=True, text=True).stdout

    def run(self, elf, which, limit):
        """The status and the output of one side; a side that takes too long has no status."""
        output = f"{elf}.{which}"
        with open(output, "wb") as to:
            try:
                status = subprocess.run([*self.runners[which], elf], stdout=to, stderr=subprocess.DEVNULL,
                                        stdin=subprocess.DEVNULL, timeout=limit).returncode
            except subprocess.TimeoutExpired:
                status = None
        with open(output, "rb") as written:
            return status, written.read()

    def run_both(self, elf, limit=TIME_LIMIT):
        return self.run(elf, 0, limit), self.run(elf, 1, limit)

    def batch(self, first, count):
        """Runs some sequences: coverage, and the numbers of those that differ with what differs."""
        elf, printed = self.generate(f"batch-{first}.elf", first, count, "--coverage")
        coverage = {line.split()[1]: int(line.split()[2]) for line in printed.splitlines()}
        subject, reference = self.run_both(elf)
        for name in (elf, f"{elf}.0", f"{elf}.1"):
            os.unlink(name)
        if subject == reference and subject[0] == 0 and len(subject[1]) == count * RECORD.size:
            return coverage, []
        return coverage, compare(subject, reference, first, count)

    def shrink(self, number):
        """Drops units as long as the sequence still differs; returns the options that do so."""
        dropped = []
        _, listing = self.generate("shrink.elf", number, 1, "--list")
        units = sorted({int(line.split()[1].rstrip(":")) for line in listing.splitlines() if line.startswith("unit ")})
        step = max(1, len(units) // 2)
        while units:
            left = []
            for start in range(0, len(units), step):
                tried = dropped + units[start:start + step]
                if self.differs(number, tried):
                    dropped = tried
                else:
                    left += units[start:start + step]
            if step == 1 and len(left) == len(units):
                break
            step, units = max(1, step // 2), left
        return drop_options(dropped)

    def differs(self, number, dropped):
        elf, _ = self.generate("shrink.elf", number, 1, *drop_options(dropped))
        subject, reference = self.run_both(elf, SHRINK_LIMIT)
        return reference[0] == 0 and subject != reference

    def explain(self, number):
        """What differs in the shrunk sequence, and the sequence."""
        options = self.shrink(number)
        elf, listing = self.generate("shrink.elf", number, 1, "--list", *options)
        lines = []
        for _, what in compare(*self.run_both(elf, SHRINK_LIMIT), number, 1):
            lines.append("alone and shrunk: " + what)
        lines += listing.splitlines()
        return lines + [f"again: generate {' '.join(self.command(number, 1, *options))} x.elf"]


def drop_options(units):
    return [word for unit in units for word in ("--drop", str(unit))]


def status_text(status):
    if status is None:
        return "did not end"
    return f"died by signal {-status}" if status < 0 else f"exited with {status}"


def compare(subject, reference, first, count):
    """[(number, what differs)]: by record, and where one side stopped early."""
    found = []
    for i in range(count):
        at = slice(i * RECORD.size, (i + 1) * RECORD.size)
        ours, theirs = subject[1][at], reference[1][at]
        if len(ours) < RECORD.size or len(theirs) < RECORD.size:
            found.append((first + i, f"subject {status_text(subject[0])} after {len(subject[1]) // RECORD.size} "
                                     f"sequences, reference {status_text(reference[0])} after "
                                     f"{len(reference[1]) // RECORD.size}, of {count}"))
            break
        if ours != theirs:
            pairs = zip(FIELDS, RECORD.unpack(ours), RECORD.unpack(theirs))
            found.append((first + i, "; ".join(f"{name} is 0x{a:x}, reference 0x{b:x}"
                                               for name, a, b in pairs if a != b)))
    if not found:
        found.append((first, f"subject {status_text(subject[0])}, reference {status_text(reference[0])}"))
    return found


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sequences", type=int, default=20000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--first", type=int, default=1, help="number of the first sequence")
    parser.add_argument("--without", action="append", default=[], metavar="TEXT", help="instruction to leave out")
    parser.add_argument("--newer", action="store_true", help="the reference knows what qemu 7.2 does not")
    parser.add_argument("--generator", help="generate.c, built")
    parser.add_argument("--cyclescope", default=os.path.join(ROOT, "build/cyclescope"), metavar="FILE")
    parser.add_argument("--core", metavar="NAME", help="simulate this core")
    parser.add_argument("--subject", metavar="COMMAND", help="instead of Cyclescope")
    parser.add_argument("--reference", default="qemu-riscv64 -cpu rv64,zba=true,zbb=true,zbs=true,zbc=true,zbkb=true,zbkc=true,zbkx=true,Zfh=true",
                        metavar="COMMAND")
    return parser.parse_args()


def main():
    options = parse_options()
    reference = shlex.split(options.reference)[0]
    if not shutil.which(reference):
        print(f"skip fuzz-differential: there is no {reference}")
        return 0
    with tempfile.TemporaryDirectory() as work:
        fuzzer = Fuzzer(options, work)
        coverage, different = {}, []
        end = options.first + options.sequences
        batches = [(k, min(PER_PROGRAM, end - k)) for k in range(options.first, end, PER_PROGRAM)]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for counts, found in pool.map(lambda b: fuzzer.batch(*b), batches):
                different += found
                for row, n in counts.items():
                    coverage[row] = coverage.get(row, 0) + n

        for number, what in different[:SHOWN]:
            print(f"# sequence {number}: {what}")
            for line in fuzzer.explain(number):
                print(f"#   {line}")
        for number, what in different[SHOWN:20]:
            print(f"# sequence {number}: {what}")

    missing = {row for row, n in coverage.items() if n == 0} - NEVER_GENERATED - set(fuzzer.without)
    instructions = sum(coverage.values())
    print(f"# seed {options.seed}: {options.sequences} sequences, {instructions} instructions, "
          f"{sum(n > 0 for n in coverage.values())} of {len(coverage)} rows; "
          f"left out: {' '.join(sorted(NEVER_GENERATED | set(fuzzer.without)))}")
    if different:
        print(f"not ok fuzz-differential: {len(different)} sequences differ")
    elif missing and options.sequences >= ENOUGH_TO_COVER:
        print(f"not ok fuzz-differential: never generated: {' '.join(sorted(missing))}")
    else:
        print("ok fuzz-differential")
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
