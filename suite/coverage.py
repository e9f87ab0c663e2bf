#!/usr/bin/env python3
"""How often the 95 % intervals of sampled runs contain the true values, and how far estimates are off, on programs that
had no part in the development of the method; and how well the best single stretch represents them.

Each program runs in full detail and in two sampled ways (`cyclescope stack`, `--points auto`, `--systematic`), and
`cyclescope phases` chooses a stretch.  This script writes two sections of docs/RESULTS.md.
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import guest     # noqa: E402  (these are in the folder of this file)
import phases    # noqa: E402
import programs  # noqa: E402
import results_page  # noqa: E402
import sampling  # noqa: E402

HEADING = "## Intervals of sampled runs: programs that had no part in development"
STRETCHES_HEADING = "## The best single stretch of a run"
WAYS = {"points": ("--points", "auto"), "systematic": ("--systematic",)}
# Programs of the suite with which this version of the method or an earlier one was developed; small size.
DEVELOPMENT = ("cc1", "sqlite", "perl-pod", "gzip", "python", "nextpnr", "linkparser", "tachyon", "stockfish", "bart-nufft",
               "liblinear", "yorick-mesh")
# Programs that were held out until their errors led to a change of the method.
LED_TO_A_CHANGE = ("jq", "tcl", "gnugo", "relax", "interpreter", "mruby", "bart-rof", "xz", "cadical")
# Programs of workloads/phase_programs with which the choice of a stretch was developed, besides DEVELOPMENT.
STRETCH_DEVELOPMENT = ("relax", "interpreter", "levels", "irregular", "chance", "collecting", "growing", "sorting")
RESEMBLES = 0.2  # largest difference between a stretch and the run that it represents
OF_THE_SUITE = ("lemon", "hoichess", "povray", "bzip2", "gawk", "yorick-rad", "bart-rof", "lapack", "raster3d")
FURTHER = ("zstd", "xz", "brotli", "cadical", "glpsol", "z3", "gnugo", "gp", "fasttree", "clustalw", "lua", "quickjs", "tcl",
           "mruby", "jq", "dot", "flac", "lame", "cjpeg")
# Programs that run at their big size as well, with 0.3 to 1.4 G instructions.
LONG = ("brotli", "glpsol", "dot", "flac", "cjpeg", "lame", "tcl")
# Programs of workloads/phase_programs, and repetitions with which they run for 40 to 250 million instructions.
REPEATED = {"relax": 20, "interpreter": 20, "levels": 3, "irregular": 12, "chance": 20, "collecting": 12, "growing": 20,
            "sorting": 40, "stepwise": 20, "steady": 40, "seldom": 3, "often": 20}
# Other programs of the sysroot, with inputs of the suite: name, command line.
COMMANDS = {
    "sha256sum": ["/usr/bin/sha256sum", "/suite/in/corpus.small"],
    "sort": ["/usr/bin/sort", "/suite/in/words.big"],
    "md5sum": ["/usr/bin/md5sum", "/suite/in/corpus.big"],
    "wc": ["/usr/bin/wc", "/suite/in/words.big"],
    "fold": ["/usr/bin/fold", "-sw", "30", "/suite/in/words.big"],
    "perl-sort": ["/usr/bin/perl", "-e", "my @a = map { $_ * 7919 % 30011 } 1 .. 30000; print +(sort { $a <=> $b } @a)[77]"],
    "base64": ["/usr/bin/base64", "/suite/in/corpus.big"],
    "cksum": ["/usr/bin/cksum", "-a", "blake2b", "/suite/in/corpus.big"],
    "od": ["/usr/bin/od", "-An", "-tx1", "/suite/in/words.small"],
    "bash-loop": ["/usr/bin/bash", "-c", "s=0; for ((i = 0; i < 4000; i++)); do s=$((s + i * i % 7)); done; echo $s"],
    "bash-words": ["/usr/bin/bash", "-c", "declare -A n; while read -r -a w; do for x in ${w[@]}; do ((n[_${x//[^a-z]/}]++)); "
                   "done; done < /suite/in/cc1.big.c; echo ${#n[@]}; for ((i = 0; i < 9000; i++)); do a[i]=$((i * 7919 % 9001)); "
                   "done; echo ${a[17]}"],
    "dash-loop": ["/usr/bin/dash", "-c", "i=0; while [ $i -lt 8000 ]; do i=$((i + 1)); done; echo $i"],
    "perl-hash": ["/usr/bin/perl", "-e", "my %h; $h{$_ * 7919 % 10007} .= $_ for 1 .. 60000; print scalar keys %h"],
    "perl-regex": ["/usr/bin/perl", "-ne", "$n++ while /\\b(\\w+)ing\\b/g; END { print $n }", "/suite/in/words.big"],
    "python-primes": ["/usr/bin/python3.13", "-S", "-c", "n = 300000; s = bytearray([1]) * n\nfor i in range(2, 600):\n"
                      "    if s[i]: s[i*i::i] = bytes(len(range(i*i, n, i)))\nprint(sum(s))\nprint(sum(i * i for i in range(100000)))"],
    "python-sort": ["/usr/bin/python3.13", "-S", "-c", "print(len(sorted(open('/suite/in/words.small').read().split())))\n"
                    "print(sum(map(hash, range(200000))) % 97)"],
    "awk-matrix": ["/usr/bin/gawk", "BEGIN { for (i = 0; i < 60; i++) for (j = 0; j < 60; j++) for (k = 0; k < 12; k++) "
                   "s[i, j] += i * k + j; print s[7, 9] }"],
    "sqlite-recursive": ["/usr/bin/sqlite3", ":memory:", "with recursive c(x) as (select 1 union all select x + 1 from c "
                         "where x < 60000) select sum(x * x % 17), count(distinct x % 1009) from c"],
}


class Failed(Exception):
    """A run that failed or gave no result; the text says why."""


def command_case(name, argv):
    return programs.Case(program=name, size="coverage", argv=argv, stdin=None, env={"PYTHONHASHSEED": "0", "PERL_HASH_SEED": "0"},
                         mask={}, ignore=[], like="", does="", threads=False, minsns=0)


def group_of(name):
    return "development" if name in DEVELOPMENT + LED_TO_A_CHANGE else "held out"


def all_cases(build):
    """(group, case) of every run."""
    cases = programs.load("small", OF_THE_SUITE + FURTHER + DEVELOPMENT) + programs.load("big", LONG)
    cases += [command_case(name, [str(build / "workloads" / "phase_programs"), name, str(repeats)])
              for name, repeats in REPEATED.items()]
    cases += [command_case(name, argv) for name, argv in COMMANDS.items()]
    return [(group_of(case.program), case) for case in cases]


def measured(options, suite, case, part, *arguments, command="stack"):
    """The JSON of a run, with its times.  Reuses a saved result, or saves a new one."""
    kept = Path(options.keep) / f"{case.program}.{case.size}.{part}.json" if options.keep else None
    if kept and kept.exists():
        return json.loads(kept.read_text())
    result = guest.run(guest.on_core(suite.sysroot, options.cyclescope, *arguments, command=command), case, suite.sysroot,
                       options.timeout)
    if not result.report:
        raise Failed(f"{part}: status {result.status}: " + result.outputs["stderr"].decode(errors="replace")[-300:])
    report = json.loads(result.report)
    report["measured"] = {"seconds": result.seconds, "cpu_seconds": result.cpu_seconds}
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(report))
    return report


def measure(options, suite, case):
    """The reports of a program: "full", those of the sampled ways, and "phases"."""
    core = ("--core", options.core, "--method", "fmt")
    found = {"full": measured(options, suite, case, "full", *core, "--interval", phases.INTERVAL)}
    for way, words in WAYS.items():
        found[way] = measured(options, suite, case, way, *core, "--jobs", 1, *words)
    found["phases"] = measured(options, suite, case, "phases", "--interval", phases.INTERVAL, command="phases")
    print(f"{name_of(case)}: {found['full']['instructions'] / 1e6:.0f} M, " +
          ", ".join(f"{way} {error(found, way):+.2f} %" for way in WAYS), flush=True)
    return found


def name_of(case):
    return f"{case.program}, big" if case.size == "big" else case.program


def run(options, suite, names=None):
    """By name: group and reports; and problems.  A program has the name name_of."""
    jobs = [(group, case) for group, case in all_cases(Path(options.cyclescope).parent) if not names or case.program in names]
    found, problems = {}, {}

    def one(job):
        try:
            return measure(options, suite, job[1])
        except Failed as problem:
            return problem

    with ThreadPoolExecutor(options.jobs) as pool:
        for (group, case), result in zip(jobs, pool.map(one, jobs)):
            if isinstance(result, dict):
                found[name_of(case)] = group, result
            else:
                problems[name_of(case)] = result
                print(f"{name_of(case)}: {result}", flush=True)
    return found, problems


# ---- evaluation


def error(parts, way):
    """The error of the CPI, in percent."""
    return 100 * (parts[way]["cpi"] / parts["full"]["cpi"] - 1)


def is_sampled(parts, way):
    """Whether the run was sampled.  A short one is simulated whole."""
    return parts[way]["sampled"]["method"] != "whole"


def count_cases(parts, way):
    """By count: whether its interval contains the true value.  Rare counts, counts without an interval and instructions
    are left out."""
    full = parts["full"]
    return {name: phases.holds(interval, full["events"][name]) for name, interval in parts[way]["event_intervals"].items()
            if None not in interval and name != "instructions"
            and full["events"][name] > phases.LEAST_COUNT * full["instructions"]}


def speed(parts, way):
    """How many times less processor time the sampled run took."""
    return parts["full"]["measured"]["cpu_seconds"] / parts[way]["measured"]["cpu_seconds"]


def half(parts, way):
    low, high = parts[way]["sampled"]["cpi"]
    return None if None in (low, high) else 50 * (high - low) / parts[way]["cpi"]


def share(held):
    return f"{100 * sum(held) / len(held):.1f} % of {len(held)}" if held else ""


# ---- the section


def summary(found):
    """The ways one by one, and together: of about thirty runs, the share that holds is uncertain by some percent."""
    for group in "held out", "development":
        for label, ways in [*((way, (way,)) for way in WAYS), ("both", tuple(WAYS))]:
            runs = [(parts, way) for way in ways for of, parts in found.values() if of == group and is_sampled(parts, way)]
            if not runs:
                continue
            cases = [phases.cases(*run) for run in runs]
            errors = [abs(error(*run)) for run in runs]
            yield [f"{group}, {label}", str(len(runs)), share([c["CPI"] for c in cases]),
                   share([held for c in cases for name, held in c.items() if name != "CPI"]),
                   share([held for run in runs for held in count_cases(*run).values()]),
                   f"{sampling.mean(errors):.2f}", f"{max(errors):.2f}"]


def program_rows(found):
    for program, (group, parts) in found.items():
        if not any(is_sampled(parts, way) for way in WAYS):
            continue
        row = [program, group, f"{parts['full']['instructions'] / 1e6:.0f}", f"{parts['full']['cpi']:.3f}"]
        missed = []
        for way in WAYS:
            of, counts = phases.cases(parts, way), count_cases(parts, way)
            row += [f"{error(parts, way):+.2f} ±{half(parts, way):.2f}", f"{sum(counts.values())} of {len(counts)}",
                    f"{speed(parts, way):.1f}"]
            missed += [f"{name} ({way})" for name, held in of.items() if not held]
        yield row + [", ".join(missed)]


def wholes(found):
    """The programs that are so short that they were simulated whole, and their largest error in percent."""
    runs = {program: parts for program, (_, parts) in found.items() if not any(is_sampled(parts, way) for way in WAYS)}
    return list(runs), max((abs(error(parts, way)) for parts in runs.values() for way in WAYS), default=0)


def section(options, found, problems):
    """The section as lines of Markdown."""
    yield HEADING + "\n"
    yield (f"`suite/coverage.py` runs programs of the suite, of `workloads/` and of the sysroot on the core `{options.core}`: in "
           "full detail, by `stack --points auto` and by `stack --systematic`, with the usual `--precision` of 1 %. Programs of the "
           "suite have their small size unless the table says *big*. *CPI*, *components* and *counts* are the shares of 95 % "
           f"intervals that contain the value of the full run, of components of more than {phases.LEAST_COMPONENT} CPI and counts "
           f"of more than {phases.LEAST_COUNT:.4f} per instruction. *Error* is that of the CPI, in percent. *Times faster* "
           "compares the processor time of all processes of a run with that of full detail.\n")
    for name, problem in problems.items():
        yield f"**{name}:** {problem}\n"
    yield from sampling.table(["", "runs", "CPI", "components", "counts", "mean error", "largest error"], summary(found))
    names, largest = wholes(found)
    if names:
        yield (f"Runs of up to 100 million instructions are simulated whole; their largest error is {largest:.2f} %, and the table "
               "above does not count them: " + ", ".join(names) + ".\n")
    yield ("Programs that took part in the development of this method or an earlier one: " + ", ".join(DEVELOPMENT) + "; and, "
           "held out until their errors led to a change: " + ", ".join(LED_TO_A_CHANGE) + ".\n")
    yield from sampling.table(["program", "", "M instructions", "CPI", "points: error ± half width, %", "counts", "times faster",
                               "systematic: error ± half width, %", "counts", "times faster", "missed: CPI and components"],
                              program_rows(found))


# ---- the section on stretches


def stretches(options, found, _problems=()):
    """The section as lines of Markdown."""
    yield STRETCHES_HEADING + "\n"
    yield ("`suite/coverage.py` compares the stretch that `cyclescope phases --interval 1M` names *best single period* with "
           f"the run in full detail, on the core `{options.core}`; programs have their small size. The CPI of a stretch comes "
           "from the intervals of the full run. Stretches represent the run after initialization (*steady*). "
           "Initialization has a CPI of its own, so the error to the *whole* run is another one; *initialization and "
           "best* is the estimate if initialization is simulated as well. *Periods* is how many the best stretch has, and "
           "*naive* the period after initialization. *Difference* is between the basic blocks of the stretch and of the "
           f"run after initialization, from 0 to 2; where it is above {RESEMBLES}, no stretch of at most a quarter of the "
           "run resembles the run, and the page of `phases` says so.\n")
    yield ("Which programs no single stretch represents:\n\n"
           "- Those whose initialization is long and has another CPI (hoichess, yorick-mesh, sha256sum, often): see the "
           "last column.\n"
           "- Those that do one thing after the other (dot, gp, cc1, raster3d, bzip2): the difference is large.\n"
           "- Those in which the same code becomes slower or faster as data grow (sort, python-sort, linkparser, lua): the "
           "difference is small, and `phases` cannot know. Points and systematic windows see such changes, since they "
           "are spread over the run.\n")
    small = {name: parts for name, (_, parts) in found.items() if not name.endswith(", big")}
    development = set(DEVELOPMENT + STRETCH_DEVELOPMENT)
    for label, of in (("had no part in development", set(small) - development), ("took part in development", development)):
        for resembles in True, False:
            rows = {name: parts for name, parts in small.items() if name in of and
                    (parts["phases"]["best_period"]["difference"] <= RESEMBLES) == resembles}
            if rows:
                yield (f"Programs that {label}, {len(rows)} of {len(of & set(small))}: the best stretch " +
                       ("resembles the run:" if resembles else "does not resemble the run:") + "\n")
                yield from phases.stretches_table(rows)


def main():
    parser = results_page.parser(__doc__, timeout=3600)
    results_page.add_programs(parser)
    parser.add_argument("--core", default="eyerman2006")
    results_page.measure_and_write(parser.parse_args(), run, {HEADING: section, STRETCHES_HEADING: stretches})


if __name__ == "__main__":
    main()
