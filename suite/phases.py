#!/usr/bin/env python3
"""Parts of a run that stand for all of it, on suite programs that run to completion: what each way of choosing them
says of CPI, its components and other metrics, beside the full detailed run.

Runs `cyclescope stack` and `stat` on all of each program, `cyclescope phases`, and the sampled runs, and writes a
section of docs/RESULTS.md; reproduce.py writes it with the rest of the page.
"""

import argparse
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import folder    # noqa: E402  (these four lie beside this file)
import guest     # noqa: E402
import programs  # noqa: E402
import sampling  # noqa: E402
from sampling import mean, table  # noqa: E402

HERE = Path(__file__).resolve().parent
HEADING = "## Phases: a few parts for the whole run"
# Programs whose runs have 0.5 to 5 G instructions, and the size at which they do.
PROGRAMS = {"arachne": "small", "gap": "small", "bart-nufft": "big", "perl-tidy": "small", "stockfish": "big",
            "sqlite": "big", "tachyon": "big", "gzip": "big", "meep": "big"}
INTERVAL = 1000000
BUDGET = 0.05  # of the run
# One stretch of the run each: the name in the JSON of `phases`, and on the page.
STRETCHES = {"best_period": "best period", "budgeted": "budgeted", "naive": "naive"}
# Sampled runs: the name of the kept file, the words on the page, options.
SAMPLED = {"points": "clustered", "systematic": "systematic"}
ARGUMENTS = {"points": ("--points", "auto"), "systematic": ("--systematic",)}
WAYS = STRETCHES | SAMPLED
# Metrics besides CPI: a name, and which counts make it, as in `stat --interval`.
RATES = {"ROB occupancy": ("rob_occupancy", "cycles"), "branch mispredictions": ("mispredictions", "branches"),
         "L1 I-cache misses": ("l1i_access_misses", "l1i_accesses"),
         "L1 D-cache misses": ("l1d_access_misses", "l1d_accesses")}
# Of the loads, those that are off stride: a name, and the event.  They are the program's, the same on every core, and
# counted soonest on one on which nothing misses.
STRIDES = {"load addresses": "load-address-mispredictions", "load values": "load-value-mispredictions"}
STRIDE_EVENTS = ("-e", ",".join(["loads", *STRIDES.values()]))
SOONEST = [word for part in ("branch", "l1i", "l2i", "itlb", "l1d", "l2d", "dtlb", "units")
           for word in ("--set", f"perfect.{part}=yes")]
NEAR_CPI, NEAR_PERCENT = 0.02, 3  # of components: either is near enough
LEAST_COMPONENT = 0.01            # CPI of those whose intervals are judged
LEAST_COUNT = 0.0001              # the same of counts, in an instruction
END_WITHOUT = 0.1                 # of a run, without a window, is told


class Failed(Exception):
    """A run that did not give what it should; the text says what."""


# ---- measuring


def measured(options, suite, case, part, command, *arguments):
    """The JSON of a run, with its times; taken from what is kept, and kept."""
    kept = Path(options.keep) / f"{case.program}.{part}.json" if options.keep else None
    if kept and kept.exists():
        return json.loads(kept.read_text())
    result = guest.run(guest.on_core(suite.sysroot, options.cyclescope, *arguments, command=command), case,
                       suite.sysroot, options.timeout)
    if result.status != 0 or not result.report:
        raise Failed(f"{part}: status {result.status}: " + result.outputs["stderr"].decode(errors="replace")[-300:])
    report = json.loads(result.report)
    report["measured"] = {"seconds": result.seconds, "cpu_seconds": result.cpu_seconds}
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        fresh = kept.with_suffix(".new")
        fresh.write_text(json.dumps(report))
        fresh.rename(kept)
    print(f"{case.program}: {part}, {result.seconds:.0f} s", flush=True)
    return report


def measure(options, suite, case):
    """All runs of a program, by part."""
    core = ("--core", options.core)
    full = measured(options, suite, case, "full", "stack", *core, "--interval", INTERVAL)
    if full["cut"] or full["exit_status"] != 0:
        raise Failed("full: it did not run to completion")
    found = {"full": full, "phases": measured(options, suite, case, "phases", "phases", "--interval", INTERVAL,
                                              "--budget", int(BUDGET * full["instructions"]))}
    for way in SAMPLED:
        found[way] = measured(options, suite, case, way, "stack", *core, "--jobs", options.jobs, *ARGUMENTS[way])
    for way in STRETCHES:
        chosen = found["phases"][way]
        if chosen:
            found[way] = measured(options, suite, case, way, "stack", *core, "--skip", chosen["start"], "--warm",
                                  "--max-insns", chosen["length"])
    found["strides"] = {"full": measured(options, suite, case, "strides.full", "stat", *core, *SOONEST, *STRIDE_EVENTS,
                                         "--interval", INTERVAL)}
    for way in SAMPLED:
        found["strides"][way] = measured(options, suite, case, f"strides.{way}", "stat", *core, *STRIDE_EVENTS,
                                         "--jobs", options.jobs, *ARGUMENTS[way])
    return found


def run(options, suite, names=PROGRAMS):
    """Measures programs, one after the other, since their times count; what was found, problems by program."""
    found, problems = {}, {}
    for program in names:
        try:
            found[program] = measure(options, suite, programs.load(PROGRAMS.get(program, "big"), [program])[0])
        except Failed as problem:
            problems[program] = problem
            print(f"{program}: failed: {problem}", flush=True)
    return found, problems | dict(bars_missed(found))


# ---- what it comes to


def stretch(full, start, length):
    """CPI and components of a part of the full run, from its intervals; of one that is cut, its share."""
    instructions = cycles = at = 0
    stack = dict.fromkeys(full["stacks"]["fmt"], 0)
    for interval in full["intervals"]:
        n = interval["instructions"]
        share = max(0, min(at + n, start + length) - max(at, start)) / n if n else 0
        at += n
        if share:
            instructions += share * n
            cycles += share * interval["cycles"]
            for name, value in interval["stack_cycles"]["fmt"].items():
                stack[name] += share * value
    return cycles / instructions, {name: value / instructions for name, value in stack.items()}


def said(parts, way):
    """CPI and components that a way of choosing says; None if it chose nothing."""
    if way in SAMPLED:
        return parts[way]["cpi"], parts[way]["stacks"]["fmt"]
    chosen = parts["phases"][way]
    return stretch(parts["full"], chosen["start"], chosen["length"]) if chosen else None


def cpi_error(parts, way):
    """In percent."""
    answer = said(parts, way)
    return 100 * (answer[0] / parts["full"]["cpi"] - 1) if answer else None


def rate(report, metric):
    above, below = (report["events"][name] for name in RATES[metric])
    return above / below if below else 0


def rate_error(parts, way, metric):
    """In percent of the true rate."""
    true = rate(parts["full"], metric)
    return 100 * (rate(parts[way], metric) / true - 1) if way in parts and true else None


def off_stride(parts, way, event):
    """The rate among all loads that a way of choosing says, "full" being all of the run; None if it chose nothing."""
    report, counts = parts["strides"].get(way), {}
    if report:
        counts = {counter["name"]: counter["value"] for counter in report["counters"]}
    elif parts["phases"][way]:
        start, length = (parts["phases"][way][key] for key in ("start", "length"))
        for name in ("loads", event):
            counts[name] = sum(interval["counts"][name] for interval in parts["strides"]["full"]["intervals"]
                               if start <= interval["from"] < start + length)
    return counts[event] / counts["loads"] if counts else None


def off_stride_error(parts, way, event):
    """In percent of the true rate."""
    said_rate, true = off_stride(parts, way, event), off_stride(parts, "full", event)
    return 100 * (said_rate / true - 1) if said_rate is not None else None


def deviations(parts, way):
    """Component: by how much CPI it is off, and whether that is near enough."""
    answer = said(parts, way)
    result = {}
    for name, true in (parts["full"]["stacks"]["fmt"] if answer else {}).items():
        off = answer[1][name] - true
        result[name] = off, abs(off) <= max(NEAR_CPI, NEAR_PERCENT / 100 * true)
    return result


def holds(interval, true):
    low, high = interval
    return low is not None and high is not None and low <= true <= high


def cases(parts, way):
    """Figure: whether its interval holds the truth.  CPI, and the components that matter."""
    full, report = parts["full"], parts[way]
    result = {"CPI": holds(report["sampled"]["cpi"], full["cpi"])}
    for name, true in full["stacks"]["fmt"].items():
        if true > LEAST_COMPONENT:
            result[name] = holds(report["stack_intervals"]["fmt"][name], true)
    return result


def event_cases(parts, way):
    """The same of all counts that have an interval and are not rare, but instructions, which are known."""
    full, report = parts["full"], parts[way]
    of_full, of_way = ({counter["name"]: counter for counter in parts["strides"][which]["counters"]}
                       for which in ("full", way))
    return ({name: holds(interval, full["events"][name]) for name, interval in report["event_intervals"].items()
             if None not in interval and full["events"][name] > LEAST_COUNT * full["instructions"]
             and name != "instructions"} |
            {name: holds(of_way[name]["interval"], of_full[name]["value"]) for name in STRIDES.values()})


def per_window(found, way):
    """By component: of each program, by how many cycles it is off in a window; without programs that lack windows."""
    result = {}
    for parts in found.values():
        if not any(lacks(parts, way)):
            length = mean(point["length"] for point in parts[way]["sampled"]["points"])
            for name, (off, _) in deviations(parts, way).items():
                if parts["full"]["stacks"]["fmt"][name] > LEAST_COMPONENT:
                    result.setdefault(name, []).append(off * length)
    return result


def detail(parts, way):
    """Percent of the instructions that were simulated in detail."""
    return 100 * parts[way]["sampled"]["detailed_instructions"] / parts["full"]["instructions"]


def times(report):
    """Seconds by the clock, and of processors; None where a file that was put among the kept ones does not say."""
    found = report.get("measured") or report["host"]
    return found["seconds"], found.get("cpu_seconds") or None


def speedup(parts, way):
    """How often a sampled run fits into the full one: by the clock, of processors.  The full run is one thread, so its
    processor time is what it takes by the clock on a machine that has nothing else to do."""
    full, (clock, cpu) = times(parts["full"])[1], times(parts[way])
    return full / clock, full / cpu if cpu else None


def idle_speedup(parts, way):
    """A lower bound of how often by the clock, were there nothing else to do: neither time is less then."""
    return max(ratio for ratio in speedup(parts, way) if ratio)


def origins(parts, way):
    """Where the CPI error of weighted points comes from, in percent of the CPI: because other points were not chosen,
    and because a point has another CPI than that place of the full run."""
    points = [point for point in parts[way]["sampled"]["points"] if point.get("weight") and "cpi" in point]
    if not points:
        return None
    true, weight = parts["full"]["cpi"], sum(point["weight"] for point in points)
    there = [stretch(parts["full"], point["start"], point["length"])[0] for point in points]
    choice = sum(p["weight"] * cpi for p, cpi in zip(points, there)) / weight
    warming = sum(p["weight"] * (p["cpi"] - cpi) for p, cpi in zip(points, there)) / weight
    return 100 * (choice / true - 1), 100 * warming / true


def lacks(parts, way):
    """What a sampled run left out: windows that could not be simulated, an end of the run that has none."""
    points = parts[way]["sampled"]["points"]
    reasons = [point["why_not"] for point in points if "why_not" in point]
    if reasons:
        yield (f"{len(reasons)} of {len(points)} windows were not simulated: " +
               ", ".join(f"{reasons.count(reason)} because {reason}" for reason in sorted(set(reasons))))
    there = [point["start"] + point["length"] for point in points if "why_not" not in point]
    behind = 1 - max(there, default=0) / parts["full"]["instructions"]
    if behind > END_WITHOUT:
        yield f"the last {100 * behind:.0f} % of the run have no window"


def bars(found):
    """Name, for each sampled way what came out and whether that is enough, what is asked for."""
    def row(name, asked, text, met, of):
        return name, {way: (text(of[way]), met(of[way])) for way in SAMPLED}, asked

    runs = found.values()
    errors = {way: [abs(cpi_error(parts, way)) for parts in runs] for way in SAMPLED}
    near = {way: [near for parts in runs for _, near in deviations(parts, way).values()] for way in SAMPLED}
    held, counts = ({way: [held for parts in runs for held in of(parts, way).values()] for way in SAMPLED}
                    for of in (cases, event_cases))
    in_detail = {way: max(detail(parts, way) for parts in runs) for way in SAMPLED}
    rows = [row("CPI error, average", "under 1 %", lambda e: f"{mean(e):.2f} %", lambda e: mean(e) < 1, errors),
            row("CPI error, worst", "under 3 %", lambda e: f"{max(e):.2f} %", lambda e: max(e) < 3, errors),
            row("instructions in detail, most", "at most 5 %", "{:.2f} %".format, lambda d: d <= 5, in_detail),
            row(f"components within {NEAR_CPI} CPI or {NEAR_PERCENT} %", "all",
                lambda n: f"{sum(n)} of {len(n)}", all, near),
            *(row(f"95 % intervals of {whose} that hold the truth", "at least 90 %",
                  lambda h: f"{100 * mean(h):.1f} % of {len(h)}", lambda h: mean(h) >= 0.9, of)
              for whose, of in (("CPI and components", held), ("counts", counts)))]
    yield from rows
    yield ("all of these", {way: (f"{sum(of[way][1] for _, of, _ in rows)} of {len(rows)}",
                                  all(of[way][1] for _, of, _ in rows)) for way in SAMPLED}, "by one way")
    longest = max(found, key=lambda program: found[program]["full"]["instructions"])
    faster = {}
    for way in SAMPLED:
        times_faster, whole = idle_speedup(found[longest], way), not any(lacks(found[longest], way))
        faster[way] = f"{times_faster:.1f}" + ("" if whole else ", with windows left out"), whole and times_faster >= 20
    yield f"times faster than full detail, {longest} ({giga(found[longest])} G instructions)", faster, "at least 20"


def bars_missed(found):
    if len(found) == len(PROGRAMS):
        for name, of, asked in bars(found):
            if not any(met for _, met in of.values()):
                came = ", ".join(f"{SAMPLED[way]} {text}" for way, (text, _) in of.items())
                yield name, f"{came}, where {asked} is asked for"


# ---- the section


def giga(parts):
    return f"{parts['full']['instructions'] / 1e9:.2f}"


def millions(n):
    return f"{n / 1e6:.0f}" if n else "none"


def signed(value, form="+.2f"):
    return "" if value is None else format(value, form)


def with_summary(rows, columns, form=".2f"):
    """Rows of a name and a number per column, and what they come to; a column may have numbers missing."""
    for name, values in rows:
        yield [name, *(signed(value, "+" + form) for value in values)]
    for label, pick in (("average", mean), ("worst", max)):
        sizes = [[abs(values[i]) for _, values in rows if values[i] is not None] for i in range(columns)]
        yield [f"**{label}**", *(f"**{format(pick(size), form)}**" if size else "" for size in sizes)]


def choices(found):
    yield "### Initialization, period, and what to simulate\n"
    yield (f"`cyclescope phases --interval 1M --budget` {100 * BUDGET:.0f} % of the run. All in millions of "
           "instructions; a choice is where it starts, + its length, and in parentheses its difference from the whole "
           "run, 0 to 2. Naive is one period, a period after initialization. Without a period, these choices have one "
           "interval.\n")
    rows = []
    for program, parts in found.items():
        p = parts["phases"]["phases"]
        rows.append([program, f"{parts['full']['instructions'] / 1e6:.0f}", millions(p["init_end"]),
                     ", ".join(millions(n) for n in p["periods"]) or "none", millions(p["correlated_period"]),
                     *(f"{c['start'] / 1e6:.0f} + {c['length'] / 1e6:.0f} ({c['difference']:.2f})" if c else "none"
                       for c in (parts["phases"][way] for way in STRETCHES))])
    yield from table(["program", "run", "initialization", "periods", "by autocorrelation", *STRETCHES.values()], rows)


def errors_section(found):
    yield "### CPI error, in percent\n"
    yield ("Stretches: from the intervals of the full run, that is with caches and predictors as they are there. "
           "Clustered and systematic: what the sampled runs say, with their own warm-up. *Choice* and *warm-up* are "
           "where the error of clustered points comes from: the points as the full run has them against all of it, "
           "and as the sampled run has them against the full run.\n")
    rows = [(f"{program} ({parts['full']['cpi']:.3f})",
             [cpi_error(parts, "best_period"), cpi_error(parts, "budgeted"), cpi_error(parts, "naive"),
              cpi_error(parts, "points"), *(origins(parts, "points") or (None, None)), cpi_error(parts, "systematic")])
            for program, parts in found.items()]
    yield from table(["program (CPI)", *STRETCHES.values(), "clustered", "of it choice", "warm-up", "systematic"],
                     with_summary(rows, 7))
    yield "### Errors of other metrics, in percent of the true rate\n"
    yield ("Here stretches were simulated by themselves: `stack --skip START --warm --max-insns LENGTH`, with "
           "functional warming from the start of the program.\n")
    for metric in RATES:
        rows = [(f"{program} ({rate(parts['full'], metric):.4g})", [rate_error(parts, way, metric) for way in WAYS])
                for program, parts in found.items()]
        yield from table([metric, *WAYS.values()], with_summary(rows, len(WAYS)))
    yield ("Loads whose address or value stride predictors would not have foreseen, of all loads: the sampled runs by "
           f"`stat {' '.join(STRIDE_EVENTS)}`; all of the run, and stretches from its intervals, by the same on a core "
           "on which nothing misses, since these counts are the program's own.\n")
    for metric, event in STRIDES.items():
        rows = [(f"{program} ({off_stride(parts, 'full', event):.4g})",
                 [off_stride_error(parts, way, event) for way in WAYS]) for program, parts in found.items()]
        yield from table([f"{metric} off stride", *WAYS.values()], with_summary(rows, len(WAYS)))


def components(found):
    yield "### Components of the CPI stack (fmt)\n"
    yield (f"The component that is farthest off, in CPI; in bold where one is off by more than {NEAR_CPI} CPI and by "
           f"more than {NEAR_PERCENT} % of itself.\n")
    rows = []
    for program, parts in found.items():
        cells = []
        for way in WAYS:
            off = deviations(parts, way)
            beyond = {name: pair for name, pair in off.items() if not pair[1]}
            name = max(beyond or off, key=lambda name, off=off: abs(off[name][0]), default=None)
            text = f"{name} {off[name][0]:+.3f}" if name else "none"
            cells.append(f"**{text}**" if beyond else text)
        rows.append([program, *cells])
    rows.append(["near enough", *(f"{sum(near)} of {len(near)}" for near in (
        [near for parts in found.values() for _, near in deviations(parts, way).values()] for way in WAYS))])
    yield from table(["program", *WAYS.values()], rows)


def coverage(found):
    yield "### 95 % intervals\n"
    yield (f"How many hold the truth: those of the CPI and of components of more than {LEAST_COMPONENT} CPI, and those "
           f"of all counts of at least {LEAST_COUNT:.4f} in an instruction that have one. The CPI's is given with its half "
           "width in percent; figures that are missed are named.\n")
    for way, label in SAMPLED.items():
        rows, held, counts = [], [], []
        for program, parts in found.items():
            of, events = cases(parts, way), event_cases(parts, way)
            held += of.values()
            counts += events.values()
            low, high = parts[way]["sampled"]["cpi"]
            width = "" if None in (low, high) else f"{50 * (high - low) / parts[way]['cpi']:.2f}"
            rows.append([program, width, f"{sum(of.values())} of {len(of)}", f"{sum(events.values())} of {len(events)}",
                         ", ".join(name for name, good in (of | events).items() if not good)])
        rows.append(["**all**", "", f"**{100 * mean(held):.1f} % of {len(held)}**",
                     f"**{100 * mean(counts):.1f} % of {len(counts)}**", ""])
        yield from table([label, "CPI ±, %", "CPI, components", "counts", "missed"], rows)
    yield ("Intervals tell what chance does. Where components are off in the same direction in most programs, "
           "something else does: what warming misses, or what happens at the ends of windows. By component of more "
           f"than {LEAST_COMPONENT} CPI, programs in which systematic samples say too much, and by how many cycles in "
           "a window, on average over programs:\n")
    of = per_window(found, "systematic")
    yield from table(["", *of], [["too much", *(f"{sum(n > 0 for n in cycles)} of {len(cycles)}"
                                                for cycles in of.values())],
                                 ["cycles in a window", *(f"{mean(cycles):+.1f}" for cycles in of.values())]])


def speed(options, found):
    yield "### Speed\n"
    yield (f"Sampled runs simulate {options.jobs} window{'s' * (options.jobs > 1)} at once. *Times* is the full run's "
           "processor time, which is what it takes by the clock on an idle machine, over the time of the sampled run "
           "by the clock, and over its processor time. Other work on the machine makes the first of these smaller, so "
           "the larger one is the bound.\n")
    if any("measured" not in parts[way] for parts in found.values() for way in SAMPLED):
        yield ("*not from here*: the run's file was put among the kept ones; it may be of another build, with another "
               "number of windows at once.\n")
    rows = []
    for program, parts in found.items():
        cells = []
        for way in SAMPLED:
            cells += [f"{detail(parts, way):.2f}", *("" if n is None else f"{n:.0f}" for n in times(parts[way])),
                      ", ".join(f"{ratio:.1f}" for ratio in speedup(parts, way) if ratio) +
                      ("" if "measured" in parts[way] else ", *not from here*")]
        full, analysis = (times(parts[part])[1] for part in ("full", "phases"))
        rows.append([program, giga(parts), f"{full:.0f}", f"{analysis:.1f}", *cells])
    yield from table(["program", "G instructions", "full, s", "`phases`, s",
                      *(f"{label}: {what}" for label in SAMPLED.values()
                        for what in ("in detail, %", "s", "processor s", "times"))], rows)


def section(options, found, problems):
    """Markdown."""
    yield HEADING + "\n"
    number = "1 program" if len(found) == 1 else f"{len(found)} programs"
    yield (f"{number} of the suite, run to completion on the core `{options.core}` in full detail "
           "(`cyclescope stack --interval 1M`), and what parts of them say instead: one stretch, chosen by "
           "`cyclescope phases` as in the paper; clustered points, `stack --points auto`; samples at equal distance, "
           "`stack --systematic`. Written by `suite/phases.py`.\n")
    judged = list(bars(found)) if found else []
    for name, problem in problems.items():
        if name not in [bar for bar, *_ in judged]:
            yield f"**{name}:** {problem}\n"
    if not found:
        return
    rows = []
    for name, of, asked in judged:
        met = [SAMPLED[way] for way, (_, good) in of.items() if good]
        rows.append([name, *(text for text, _ in of.values()), asked,
                     "yes" if len(met) == len(of) else ", ".join(met) or "**no**"])
    yield from table(["", *SAMPLED.values(), "asked for", "met by"], rows)
    for program, parts in found.items():
        for way, label in SAMPLED.items():
            yield from (f"{program}, {label}: {text}.\n" for text in lacks(parts, way))
    for part in (choices, errors_section, components, coverage):
        yield from part(found)
    yield from speed(options, found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=list(PROGRAMS), metavar="PROGRAM",
                        help="default: " + " ".join(PROGRAMS))
    parser.add_argument("--core", default="eyerman2006")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="windows at once")
    parser.add_argument("--timeout", type=float, default=7200, help="seconds for a run")
    parser.add_argument("--output", type=Path, default=HERE.parent / "docs" / "RESULTS.md",
                        help="the page whose section it writes")
    parser.add_argument("--keep", metavar="FOLDER", help="keep what was found there, and take what is there already")
    parser.add_argument("--cyclescope", type=os.path.abspath, default=guest.CYCLESCOPE)
    parser.add_argument("--suite", help="the suite's folder")
    options = parser.parse_args()
    suite = folder.Suite(options.suite)
    suite.prepare()
    found, problems = run(options, suite, options.programs)
    page = options.output.read_text() if options.output.exists() else ""
    options.output.write_text(sampling.replaced(page, "\n".join(section(options, found, problems)), HEADING))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
