#!/usr/bin/env python3
"""How well parts of a run represent the whole run: CPI, its components and other metrics, estimated from parts that are
chosen in several ways, compared with the full detailed run.

For each program, this script runs `cyclescope stack` and `cyclescope stat` to completion, `cyclescope phases`, and the
sampled runs.  It writes one section of docs/RESULTS.md; reproduce.py writes the whole page.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import guest     # noqa: E402  (these are in the folder of this file)
import programs  # noqa: E402
import results_page  # noqa: E402
from sampling import mean, table  # noqa: E402

HEADING = "## Phases: a few parts for the whole run"
# Programs, and the size at which their runs have 0.5 to 5 G instructions.
PROGRAMS = {"arachne": "small", "gap": "small", "bart-nufft": "big", "perl-tidy": "small", "stockfish": "big",
            "sqlite": "big", "tachyon": "big", "gzip": "big", "meep": "big", "cadical": "big", "quickjs": "big",
            "zstd": "big"}
LED_TO_A_CHANGE = ("cadical",)  # kept until its errors led to a change of a method
KEPT = ("quickjs", "zstd")  # kept for validation: no part in the development of any method
INTERVAL = 1000000
BUDGET = 0.05  # share of the run for the stretch `budgeted`
# Ways that choose one stretch of the run: name in the JSON of `phases`, name on the page.
STRETCHES = {"best_period": "best period", "budgeted": "budgeted", "naive": "naive"}
# Sampled runs: name of the saved file, name on the page; below, options.
SAMPLED = {"points": "clustered", "systematic": "systematic"}
ARGUMENTS = {"points": ("--points", "auto"), "systematic": ("--systematic",)}
WAYS = STRETCHES | SAMPLED
# Metrics besides CPI: name, and the two counts whose quotient it is, as in `stat --interval`.
RATES = {"ROB occupancy": ("rob_occupancy", "cycles"), "branch mispredictions": ("mispredictions", "branches"),
         "L1 I-cache misses": ("l1i_access_misses", "l1i_accesses"),
         "L1 D-cache misses": ("l1d_access_misses", "l1d_accesses")}
# Loads off stride: name, and event.  Their number depends on the program only, not on the core, so a core on which
# nothing misses counts them in the shortest time.
STRIDES = {"load addresses": "load_address_mispredictions", "load values": "load_value_mispredictions"}
STRIDE_EVENTS = ("-e", ",".join(["loads", *STRIDES.values()]))
PERFECT = [word for part in ("branch", "l1i", "l2i", "itlb", "l1d", "l2d", "dtlb", "units")
           for word in ("--set", f"perfect.{part}=yes")]
NEAR_CPI, NEAR_PERCENT = 0.02, 3  # limits for the error of a component; one of them has to be met
LEAST_COMPONENT = 0.01            # CPI above which the interval of a component is judged
LEAST_COUNT = 0.0001              # number per instruction above which the interval of a count is judged
LEAST_SPEEDUP = 10                # times that sampled runs are faster than full detail on two processors
END_WITHOUT = 0.1                 # share of the run: a longer end without windows is reported


class Failed(Exception):
    """A run that failed or gave no result; the text says why."""


# ---- measuring


def measured(options, suite, case, part, command, *arguments):
    """The JSON of a run, with its times.  Reuses a saved result, or saves a new one."""
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
    stack = (*core, "--method", "fmt")
    full = measured(options, suite, case, "full", "stack", *stack, "--interval", INTERVAL)
    if full["cut"] or full["exit_status"] != 0:
        raise Failed("full: the program did not run to completion")
    found = {"full": full, "phases": measured(options, suite, case, "phases", "phases", "--interval", INTERVAL,
                                              "--budget", int(BUDGET * full["instructions"]))}
    for way in SAMPLED:
        found[way] = measured(options, suite, case, way, "stack", *stack, "--jobs", options.jobs, *ARGUMENTS[way])
    for way in STRETCHES:
        chosen = found["phases"][way]
        if chosen:
            found[way] = measured(options, suite, case, way, "stack", *stack, "--skip", chosen["start"], "--warm",
                                  "--max-insns", chosen["length"])
    if options.strides:
        found["strides"] = measure_strides(options, suite, case, core)
    return found


def measure_strides(options, suite, case, core):
    """The runs that count loads off stride."""
    found = {"full": measured(options, suite, case, "strides.full", "stat", *core, *PERFECT, *STRIDE_EVENTS,
                              "--interval", INTERVAL)}
    for way in SAMPLED:
        found[way] = measured(options, suite, case, f"strides.{way}", "stat", *core, *STRIDE_EVENTS,
                              "--jobs", options.jobs, *ARGUMENTS[way])
    return found


def run(options, suite, names=()):
    """Measures programs one at a time, since their times are results.  Results by program, and problems by program."""
    found, problems = {}, {}
    for program in names or PROGRAMS:
        try:
            found[program] = measure(options, suite, programs.load(PROGRAMS.get(program, "big"), [program])[0])
        except Failed as problem:
            problems[program] = problem
            print(f"{program}: failed: {problem}", flush=True)
    return found, problems | dict(bars_missed(found))


# ---- evaluation


def stretch(full, start, length):
    """CPI and components of a stretch of the full run, from its intervals.  A cut interval counts by its share."""
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


def estimated(parts, way):
    """CPI and components that a way of choosing estimates; None if it chose nothing."""
    if way in SAMPLED:
        return parts[way]["cpi"], parts[way]["stacks"]["fmt"]
    chosen = parts["phases"][way]
    return stretch(parts["full"], chosen["start"], chosen["length"]) if chosen else None


def cpi_error(parts, way):
    """The error of the CPI in percent; None if the way chose nothing."""
    answer = estimated(parts, way)
    return 100 * (answer[0] / parts["full"]["cpi"] - 1) if answer else None


def rate(report, metric):
    above, below = (report["events"][name] for name in RATES[metric])
    return above / below if below else 0


def rate_error(parts, way, metric):
    """The error of a metric in percent of the true rate; None if the way chose nothing."""
    true = rate(parts["full"], metric)
    return 100 * (rate(parts[way], metric) / true - 1) if way in parts and true else None


def off_stride(parts, way, event):
    """The share of loads off stride by a way of choosing ("full": in the whole run); None if it chose nothing."""
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
    """The error of this share in percent of the true share; None if the way chose nothing."""
    estimate, true = off_stride(parts, way, event), off_stride(parts, "full", event)
    return 100 * (estimate / true - 1) if estimate is not None else None


def deviations(parts, way):
    """By component: the error in CPI, and whether it is within the limits."""
    answer = estimated(parts, way)
    result = {}
    for name, true in (parts["full"]["stacks"]["fmt"] if answer else {}).items():
        off = answer[1][name] - true
        result[name] = off, abs(off) <= max(NEAR_CPI, NEAR_PERCENT / 100 * true)
    return result


def holds(interval, true):
    low, high = interval
    return low is not None and high is not None and low <= true <= high


def cases(parts, way):
    """By figure (CPI, and all components that are not small): whether its interval contains the true value."""
    full, report = parts["full"], parts[way]
    result = {"CPI": holds(report["sampled"]["cpi"], full["cpi"])}
    for name, true in full["stacks"]["fmt"].items():
        if true > LEAST_COMPONENT:
            result[name] = holds(report["stack_intervals"]["fmt"][name], true)
    return result


def event_cases(parts, way):
    """By count: whether its interval contains the true value.  Rare counts, counts without an interval and
    instructions, whose number is known, are left out."""
    full, report = parts["full"], parts[way]
    strides = {}
    if "strides" in parts:
        of_full, of_way = ({counter["name"]: counter for counter in parts["strides"][which]["counters"]}
                           for which in ("full", way))
        strides = {name: holds(of_way[name]["interval"], of_full[name]["value"]) for name in STRIDES.values()}
    return ({name: holds(interval, full["events"][name]) for name, interval in report["event_intervals"].items()
             if None not in interval and full["events"][name] > LEAST_COUNT * full["instructions"]
             and name != "instructions"} | strides)


def per_window(found, way):
    """By component: the error in cycles per window, for each program.  Programs that lack windows are left out."""
    result = {}
    for parts in found.values():
        if not any(lacks(parts, way)):
            length = mean(point["length"] for point in parts[way]["sampled"]["points"])
            for name, (off, _) in deviations(parts, way).items():
                if parts["full"]["stacks"]["fmt"][name] > LEAST_COMPONENT:
                    result.setdefault(name, []).append(off * length)
    return result


def detail(parts, way):
    """Percentage of the instructions that were simulated in detail."""
    return 100 * parts[way]["sampled"]["detailed_instructions"] / parts["full"]["instructions"]


def times(report):
    """Elapsed seconds and processor seconds; the latter is None if an imported result does not contain it."""
    found = report.get("measured") or report["host"]
    return found["seconds"], found.get("cpu_seconds") or None


def speedup(parts, way):
    """Processor time of the full run over the elapsed time, and over the processor time, of a sampled run.  The full
    run has one thread, so its processor time is its elapsed time on an idle machine."""
    full, (clock, cpu) = times(parts["full"])[1], times(parts[way])
    return full / clock, full / cpu if cpu else None


def idle_speedup(parts, way):
    """A lower bound of the speedup in elapsed time on an idle machine, on which neither time would be longer."""
    return max(ratio for ratio in speedup(parts, way) if ratio)


def lacks(parts, way):
    """Sentences on what a sampled run left out: windows that were not simulated, an end of the run without windows."""
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
    """(name, by sampled way the result and whether it meets the target, target) of each bar."""
    def row(name, target, text, met, of):
        return name, {way: (text(of[way]), met(of[way])) for way in SAMPLED}, target

    runs = found.values()
    errors = {way: [abs(cpi_error(parts, way)) for parts in runs] for way in SAMPLED}
    near = {way: [near for parts in runs for _, near in deviations(parts, way).values()] for way in SAMPLED}
    held, counts = ({way: [held for parts in runs for held in of(parts, way).values()] for way in SAMPLED}
                    for of in (cases, event_cases))
    in_detail = {way: max(detail(parts, way) for parts in runs) for way in SAMPLED}
    rows = [row("CPI error, average", "under 0.5 %", lambda e: f"{mean(e):.2f} %", lambda e: mean(e) < 0.5, errors),
            row("CPI error, worst", "under 1.5 %", lambda e: f"{max(e):.2f} %", lambda e: max(e) < 1.5, errors),
            row("most instructions in detail", "at most 5 %", "{:.2f} %".format, lambda d: d <= 5, in_detail),
            row(f"components within {NEAR_CPI} CPI or {NEAR_PERCENT} %", "all",
                lambda n: f"{sum(n)} of {len(n)}", all, near),
            *(row(f"95 % intervals of {whose} that contain the true value", "at least 90 %",
                  lambda h: f"{100 * mean(h):.1f} % of {len(h)}", lambda h: mean(h) >= 0.9, of)
              for whose, of in (("CPI and components", held), ("counts", counts)))]
    yield from rows
    yield ("all of the above", {way: (f"{sum(of[way][1] for _, of, _ in rows)} of {len(rows)}",
                                  all(of[way][1] for _, of, _ in rows)) for way in SAMPLED}, "in one way")
    faster = {}
    for way in SAMPLED:
        slowest = min(found, key=lambda program, way=way: idle_speedup(found[program], way))
        ratio, whole = idle_speedup(found[slowest], way), not any(any(lacks(parts, way)) for parts in runs)
        faster[way] = f"{ratio:.1f} ({slowest})" + ("" if whole else ", with windows left out"), whole and ratio >= LEAST_SPEEDUP
    yield "times faster than full detail on two processors, least", faster, f"at least {LEAST_SPEEDUP}"


def bars_missed(found):
    if len(found) == len(PROGRAMS):
        for name, of, target in bars(found):
            if not any(met for _, met in of.values()):
                results = ", ".join(f"{SAMPLED[way]} {text}" for way, (text, _) in of.items())
                yield name, f"{results}; target: {target}"


# ---- the section


def giga(parts):
    return f"{parts['full']['instructions'] / 1e9:.2f}"


def millions(n):
    return f"{n / 1e6:.0f}" if n else "none"


def signed(value, form="+.2f"):
    return "" if value is None else format(value, form)


def with_summary(rows, columns, form=".2f"):
    """Table rows from (name, a number per column), followed by average and worst.  A number may be None."""
    for name, values in rows:
        yield [name, *(signed(value, "+" + form) for value in values)]
    for label, pick in (("average", mean), ("worst", max)):
        sizes = [[abs(values[i]) for _, values in rows if values[i] is not None] for i in range(columns)]
        yield [f"**{label}**", *(f"**{format(pick(size), form)}**" if size else "" for size in sizes)]


def choices(found):
    yield "### Initialization, period and chosen stretches\n"
    yield (f"`cyclescope phases --interval 1M --budget N`, where N is {100 * BUDGET:.0f} % of the run. All numbers are "
           "millions of instructions. A stretch is given as start + length, followed by its difference from the "
           "run (0 to 2) in parentheses. *Naive* is one period long and starts one period after initialization. "
           "Differences are from the run after initialization. Without a period, and where no single one resembles the "
           "run, *best period* is as short as it can be without a clearly larger difference.\n")
    rows = []
    for program, parts in found.items():
        p = parts["phases"]["phases"]
        rows.append([program, f"{parts['full']['instructions'] / 1e6:.0f}", millions(p["init_end"]),
                     ", ".join(millions(n) for n in p["periods"]) or "none", millions(p["correlated_period"]),
                     *(f"{c['start'] / 1e6:.0f} + {c['length'] / 1e6:.0f} ({c['difference']:.2f})" if c else "none"
                       for c in (parts["phases"][way] for way in STRETCHES))])
    yield from table(["program", "run", "initialization", "periods", "period by autocorrelation",
                      *STRETCHES.values()], rows)


def after_initialization(parts):
    """The share of initialization, and its CPI and that of the run behind it."""
    full, end = parts["full"], parts["phases"]["phases"]["init_end"]
    there = stretch(full, end, full["instructions"] - end)[0]
    return end / full["instructions"], stretch(full, 0, end)[0] if end else there, there


def steady_error(parts, way):
    """The CPI error of a stretch to the run after initialization, in percent; None if the way chose nothing."""
    answer = estimated(parts, way)
    return 100 * (answer[0] / after_initialization(parts)[2] - 1) if answer else None


def joined_error(parts, way):
    """The CPI error to the whole run if initialization is simulated and the stretch stands for the rest."""
    answer, (share, first, _) = estimated(parts, way), after_initialization(parts)
    return 100 * ((share * first + (1 - share) * answer[0]) / parts["full"]["cpi"] - 1) if answer else None


def stretches_table(found):
    """CPI errors of the stretches to the run after initialization, which they represent, and to the whole run."""
    facts, rows = {}, []
    for program, parts in found.items():
        best = parts["phases"]["best_period"]
        facts[program] = [f"{100 * after_initialization(parts)[0]:.0f}", str(best["periods"] or "none"),
                          f"{best['length'] / 1e6:.1f}", f"{best['difference']:.2f}"]
        rows.append((program, [steady_error(parts, "best_period"), steady_error(parts, "naive"),
                               cpi_error(parts, "best_period"), joined_error(parts, "best_period")]))
    yield from table(["program", "initialization, %", "periods", "M instructions", "difference", "best, steady",
                      "naive, steady", "best, whole", "initialization and best, whole"],
                     ([name, *facts.get(name, [""] * 4), *values] for name, *values in with_summary(rows, 4, ".1f")))


def errors_section(found):
    yield "### CPI error, in percent\n"
    yield ("The CPI of a stretch comes from the intervals of the full run, with caches and predictors in the state of "
           "the full run. The CPI of *clustered* and *systematic* is the estimate of the sampled runs.\n")
    rows = [(f"{program} ({parts['full']['cpi']:.3f})",
             [cpi_error(parts, "best_period"), cpi_error(parts, "budgeted"), cpi_error(parts, "naive"),
              cpi_error(parts, "points"), cpi_error(parts, "systematic")])
            for program, parts in found.items()]
    yield from table(["program (CPI)", *WAYS.values()], with_summary(rows, 5))
    yield "### Stretches and initialization: CPI error, in percent\n"
    yield ("Stretches represent the run after initialization (*steady*). Initialization has a CPI of its own, so the "
           "error to the *whole* run is another one; *initialization and best* is the estimate if initialization is "
           "simulated as well. *Periods* is how many the best stretch has.\n")
    yield from stretches_table(found)
    yield "### Errors of other metrics, in percent of the true rate\n"
    yield ("Here each stretch was simulated in a run of its own: `stack --skip START --warm --max-insns LENGTH`, with "
           "functional warming from the start of the program.\n")
    for metric in RATES:
        rows = [(f"{program} ({rate(parts['full'], metric):.4g})", [rate_error(parts, way, metric) for way in WAYS])
                for program, parts in found.items()]
        yield from table([metric, *WAYS.values()], with_summary(rows, len(WAYS)))
    yield from strides_tables({program: parts for program, parts in found.items() if "strides" in parts})


def strides_tables(found):
    """Errors of loads off stride, of programs where these were counted."""
    if not found:
        return
    yield ("Loads off stride are loads whose address or value a stride predictor would have predicted wrongly, as a "
           f"share of all loads. The sampled runs count them with `stat {' '.join(STRIDE_EVENTS)}`. The whole run, "
           "whose intervals give the stretches, was counted with the same events on a core on which nothing misses, "
           "since these counts depend on the program only.\n")
    for metric, event in STRIDES.items():
        rows = [(f"{program} ({off_stride(parts, 'full', event):.4g})",
                 [off_stride_error(parts, way, event) for way in WAYS]) for program, parts in found.items()]
        yield from table([f"{metric} off stride", *WAYS.values()], with_summary(rows, len(WAYS)))


def components(found):
    yield "### Components of the CPI stack (fmt)\n"
    yield (f"The component with the largest error, in CPI. Bold: its error is more than {NEAR_CPI} CPI and more than "
           f"{NEAR_PERCENT} % of the component. The last row counts the components within one of these limits.\n")
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
    rows.append(["within limits", *(f"{sum(near)} of {len(near)}" for near in (
        [near for parts in found.values() for _, near in deviations(parts, way).values()] for way in WAYS))])
    yield from table(["program", *WAYS.values()], rows)


def coverage(found):
    yield "### 95 % intervals\n"
    yield ("The number of intervals that contain the true value. *CPI ±* is the half width of the interval of the "
           f"CPI, in percent. *CPI, components* are the CPI and the components of more than {LEAST_COMPONENT} CPI. "
           f"*Counts* are all counts of at least {LEAST_COUNT:.4f} per instruction that have an interval. *Missed* "
           "names the figures whose interval does not contain the true value.\n")
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
    yield ("Intervals describe the effect of chance. Where a component is off in the same direction in most programs, "
           "there is another cause: what warming does not see, or what happens at the ends of windows. The next table "
           f"has the components of more than {LEAST_COMPONENT} CPI: the number of programs in which systematic samples "
           "overestimate the component, and the error in cycles per window, on average over programs.\n")
    of = per_window(found, "systematic")
    yield from table(["", *of], [["overestimated", *(f"{sum(n > 0 for n in cycles)} of {len(cycles)}"
                                                for cycles in of.values())],
                                 ["cycles per window", *(f"{mean(cycles):+.1f}" for cycles in of.values())]])


def speed(options, found):
    yield "### Speed\n"
    yield (f"Sampled runs simulate {options.jobs} window{'s' * (options.jobs > 1)} at a time. *Speedup* has two "
           "values: the processor time of the full run over the elapsed time of the sampled run, and over its "
           "processor time. The processor time of the full run is its elapsed time on an idle machine. Other load on "
           "the machine lowers the first value, so the larger of the two is a lower bound of the speedup on an idle "
           "machine.\n")
    if any("measured" not in parts[way] for parts in found.values() for way in SAMPLED):
        yield ("*imported*: the result of this run was added to the saved ones. It may come from another build, and "
               "from another number of windows at a time.\n")
    rows = []
    for program, parts in found.items():
        cells = []
        for way in SAMPLED:
            cells += [f"{detail(parts, way):.2f}", *("" if n is None else f"{n:.0f}" for n in times(parts[way])),
                      ", ".join(f"{ratio:.1f}" for ratio in speedup(parts, way) if ratio) +
                      ("" if "measured" in parts[way] else ", *imported*")]
        full, analysis = (times(parts[part])[1] for part in ("full", "phases"))
        rows.append([program, giga(parts), f"{full:.0f}", f"{analysis:.1f}", *cells])
    yield from table(["program", "G instructions", "full, s", "`phases`, s",
                      *(f"{label}: {what}" for label in SAMPLED.values()
                        for what in ("in detail, %", "elapsed s", "processor s", "speedup"))], rows)


def section(options, found, problems):
    """The section as lines of Markdown."""
    yield HEADING + "\n"
    number = "1 program" if len(found) == 1 else f"{len(found)} programs"
    yield (f"{number} of the suite, each run to completion in full detail on the core `{options.core}` (`cyclescope "
           "stack --interval 1M`), and estimates from parts of these runs (`suite/phases.py`):\n")
    yield ("- *best period*, *budgeted*, *naive*: one stretch of the run, chosen by `cyclescope phases` after T. "
           "Sherwood, E. Perelman and B. Calder, *Basic block distribution analysis to find periodic behavior and "
           "simulation points in applications* (PACT 2001).\n"
           "- *clustered*: `stack --points auto`. The first windows lie in clusters of intervals.\n"
           "- *systematic*: `stack --systematic`. The first windows lie in periods. With both, a second pass measures "
           "windows of all kinds.\n")
    if set(KEPT) <= set(found):
        yield f"No method was developed with {', '.join(KEPT)}.\n"
    judged = list(bars(found)) if found else []
    for name, problem in problems.items():
        if name not in [bar for bar, *_ in judged]:
            yield f"**{name}:** {problem}\n"
    if not found:
        return
    rows = []
    for name, of, target in judged:
        met = [SAMPLED[way] for way, (_, good) in of.items() if good]
        rows.append([name, *(text for text, _ in of.values()), target,
                     "yes" if len(met) == len(of) else ", ".join(met) or "**no**"])
    yield from table(["", *SAMPLED.values(), "target", "met by"], rows)
    for program, parts in found.items():
        for way, label in SAMPLED.items():
            yield from (f"{program}, {label}: {text}.\n" for text in lacks(parts, way))
    for part in (choices, errors_section, components, coverage):
        yield from part(found)
    yield from speed(options, found)


def main():
    parser = results_page.parser(__doc__, jobs="windows")
    results_page.add_programs(parser)
    parser.add_argument("--core", default="eyerman2006")
    parser.add_argument("--strides", action="store_true", help="also count loads off stride (three more runs of each program)")
    results_page.measure_and_write(parser.parse_args(), run, {HEADING: section})


if __name__ == "__main__":
    main()
