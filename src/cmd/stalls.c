/* cyclescope stalls: runs a program on a simulated core and shows over time which stalls keep it from retiring. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cmd/points_options.h"
#include "cmd/program_command.h"
#include "cmd/sampled_simulation.h"
#include "cmd/sampling_options.h"
#include "cmd/simulation_run.h"
#include "cmd/stack_files.h"
#include "cmd/stalls_live.h"
#include "cmd/terminal.h"
#include "sampler/breakdown.h"
#include "sampler/stall_monitor.h"
#include "report/sampled_report.h"
#include "report/stall_report.h"

enum { INTERVAL = 2000000 }; /* cycles, if no interval is given */
#define NOT_GIVEN UINT64_MAX

/* Where intervals go. */
struct consumers {
    struct stall_series series;     /* for the report at the end */
    struct stalls_live live;        /* picture on the terminal while the program runs */
    struct breakdown_report report; /* what the program itself reads from /dev/cyclescope */
};

struct stalls_options {
    struct program_options common;
    uint64_t interval, interval_cycles; /* length of an interval: in instructions, or in cycles */
    const char *live;                   /* text of --live, "" without a value; or NULL */
    struct sampling_options sampling;
    struct points_options points;
    struct stack_files files;
    struct consumers consumers;
    bool exact;
};

/* Called at the end of each interval. */
static void consume(void *context, const struct stall_interval *i)
{
    struct consumers *c = context;
    breakdown_report_add(&c->report, i);
    stall_series_add(&c->series, i);
    stalls_live_note(&c->live, &c->series);
}

/* ---- running */

static int check(void *options, struct error *err)
{
    struct stalls_options *o = options;
    if (o->interval == 0 || o->interval_cycles == 0)
        return error_set(err, -EINVAL, "%s must be at least 1", o->interval ? "--interval-cycles" : "--interval");
    if (o->interval != NOT_GIVEN && o->interval_cycles != NOT_GIVEN)
        return error_set(err, -EINVAL, "--interval and --interval-cycles exclude each other");
    if (o->live && *o->live && strcmp(o->live, "no") != 0)
        return error_set(err, -EINVAL, "--live=%s: it must be --live or --live=no", o->live);
    if (o->exact && (o->sampling.slice || o->sampling.seed || o->sampling.order || o->sampling.estimator))
        return error_set(err, -EINVAL,
                         "--slice, --order, --order-seed and --estimator are for multiplexed counters: leave them out "
                         "with --exact");
    if (points_options_given(&o->points) &&
        (o->sampling.slice || o->sampling.seed || o->sampling.order || o->sampling.estimator ||
         o->interval != NOT_GIVEN || o->interval_cycles != NOT_GIVEN))
        return error_set(
            err, -EINVAL,
            "--interval, --interval-cycles, --slice, --order, --order-seed and --estimator exclude --points and "
            "--systematic, which count exactly in each window and nothing between windows");
    if (o->interval == NOT_GIVEN) {
        o->sampling.unit = "cycles";
        o->interval = o->interval_cycles == NOT_GIVEN ? INTERVAL : o->interval_cycles;
    } else {
        o->sampling.unit = "insns";
    }
    return sampling_options_finish(&o->sampling, err);
}

static int check_points(void *options, struct error *err)
{
    struct stalls_options *o = options;
    return points_options_finish(&o->points, &o->common.core.simulation, err);
}

static int open_files(void *options, const struct own_output *own, struct error *err)
{
    struct stalls_options *o = options;
    breakdown_report_init(&o->consumers.report);
    o->common.guest.config.report = &o->consumers.report.report;
    int code = points_options_names(&o->points, own, err);
    return code == 0 ? stack_files_open(&o->files, own, err) : code;
}

static int write_report(struct stalls_options *o, const struct own_output *own, const struct process *p,
                        const struct stall_report *r)
{
    int status = simulation_status(p, &r->run);
    if (!o->common.quiet) {
        report_death(own, p);
        stall_report_print(r, own_page(own), terminal_shows_colors(own_page(own)), own_columns(own));
    }
    if (o->files.csv.to)
        stall_report_csv(r, o->files.csv.to);
    if (o->files.svg.to)
        stall_report_svg(r, o->files.svg.to);
    return stack_files_close(&o->files, own, o->files.json.to ? stall_report_json(r) : NULL, status);
}

static int run(struct stalls_options *o, const struct own_output *own, struct process *p, struct consumers *c,
               struct stall_report *report, struct stall_interval *total, struct error *err)
{
    struct simulation *s = &o->common.core.simulation;
    struct stalls_config stalls = {
        .clock = o->sampling.plan.clock, .interval = o->interval, .sink = consume, .context = c};
    struct stall_monitor_config config = {.exact = o->exact,
                                          .quantum = o->common.guest.config.quantum_insns,
                                          .stalls = &stalls,
                                          .plan = o->sampling.plan,
                                          .estimator = o->sampling.chosen_estimator};
    struct stall_monitor *monitor = stall_monitor_new(&config, s, err);
    if (monitor == NULL)
        return -EINVAL;
    report->exact = o->exact;
    int code = run_simulation(p, s, own, o->common.quiet || stalls_live_is_on(&c->live), &report->run, err);
    if (code == 0)
        code = stall_monitor_finish(monitor, total, err);
    if (code == 0 && !o->exact) {
        struct core_counts *counts = &report->run.result.counts.core;
        report->sampler_cycles = counts->machine_cycles;
        counts->cycles = total->cycles;
        counts->instructions = total->insns;
    }
    stall_monitor_free(monitor);
    return code;
}

/* Simulates windows of the run and estimates the stalls of the whole run, with their errors. */
static int run_windows(struct stalls_options *o, const struct own_output *own, struct process *p,
                       struct stall_report *report, struct stall_interval *total, struct sampled_run *sampled,
                       struct error *err)
{
    struct simulation *s = &o->common.core.simulation;
    struct stalls *stalls = stalls_new(&(struct stalls_config){.clock = CLOCK_CYCLES}, err);
    if (stalls == NULL)
        return -ENOMEM;
    s->observer = stalls_observer(stalls);
    s->sum = stalls_sum(stalls);
    int code = run_sampled(p, &o->points, s, own, o->common.quiet, &report->run, sampled, err);
    if (code == 0) {
        *total = *stalls_total(stalls);
        total->insns = sampled->result.insns;
        for (unsigned i = 0; i < STALL_SOURCES; i++) {
            size_t number = offsetof(struct stall_interval, stalls[i]) / sizeof(uint64_t);
            double half = sampled_cycles_half(&report->run, SIMULATION_NUMBERS + number, 1);
            total->error[i] = (uint64_t)(half < (double)total->cycles ? half + 0.5 : (double)total->cycles);
        }
    }
    stalls_free(stalls);
    return code;
}

static int stalls_process(void *options, const struct own_output *own, struct process *p)
{
    struct stalls_options *o = options;
    struct consumers *c = &o->consumers;
    struct error err;
    struct stall_interval total = {0};
    struct stall_report report = {
        .total = &total, .series = &c->series, .clock = o->sampling.plan.clock, .interval = o->interval};
    struct sampled_run sampled = {0};
    bool windows = points_options_given(&o->points);
    stalls_live_begin(&c->live, own->err, !windows && !o->common.quiet && !(o->live && *o->live));
    int code =
        windows ? run_windows(o, own, p, &report, &total, &sampled, &err) : run(o, own, p, c, &report, &total, &err);
    stalls_live_end(&c->live);
    if (code == 0)
        stall_report_find_phases(&report);
    int status = code == 0 ? write_report(o, own, p, &report)
                           : own_fail_interrupted(own, code == -EINTR ? process_interruption(p) : 0, &err);
    stall_series_free(&c->series);
    sampled_run_free(&sampled);
    return status;
}

int command_stalls(int argc, char **argv)
{
    struct stalls_options o = {.interval = NOT_GIVEN, .interval_cycles = NOT_GIVEN};
    program_options_init(&o.common);
    sampling_options_init(&o.sampling);
    const struct option table[] = {
        {"interval", OPTION_POSITIVE, &o.interval, "N", "a breakdown for every N instructions"},
        {"interval-cycles", OPTION_POSITIVE, &o.interval_cycles, "N",
         "a breakdown for every N cycles (the default, 2M)"},
        {"exact", OPTION_FLAG, &o.exact, NULL, "count exactly, instead of multiplexing the core's counters"},
        {"slice", OPTION_POSITIVE, &o.sampling.slice, "N",
         "length of a slice, in the unit of intervals (a tenth of one)"},
        {"order", OPTION_STRING, &o.sampling.order, "ORDER",
         "order of slices in an interval: random (default) or fixed"},
        {"order-seed", OPTION_COUNT, &o.sampling.seed, "N", "seed of the random order (0)"},
        {"estimator", OPTION_STRING, &o.sampling.estimator, "NAME",
         "how totals are estimated from slices; see `list estimators`"},
        {"live", OPTION_OPTIONAL, &o.live, "no", "show a picture while the program runs (default on a terminal)"},
        {"json", OPTION_STRING, &o.files.json_path, "FILE", "write everything as JSON; - is standard output"},
        {"csv", OPTION_STRING, &o.files.csv_path, "FILE", "write the intervals as CSV; - is standard output"},
        {"svg", OPTION_STRING, &o.files.svg_path, "FILE", "draw the intervals as SVG; - is standard output"},
        PAGE_OPTION_ROW(&o.common.page),
        PROGRAM_OPTION_ROWS(&o.common),
        POINTS_OPTION_ROWS(&o.points),
        CORE_OPTION_ROWS(&o.common.core),
        GUEST_OPTION_ROWS(&o.common.guest),
    };
    enum { ROWS = sizeof table / sizeof table[0] };
    static const struct program_steps steps = {
        .check = check, .simulates = true, .configure = check_points, .open = open_files, .run = stalls_process};
    int first, status;
    if (command_parse(
            table, ROWS, argc, argv, &o.common.help,
            "usage: cyclescope stalls [options] [--] PROGRAM [ARGUMENTS]\n\n"
            "Runs a 64-bit RISC-V Linux program on a simulated out-of-order core and shows its CPI over time:\n"
            "cycles in which instructions retired (completion), and stalls by source, which add up. The numbers\n"
            "come from the core's counters, which are multiplexed. Prints to standard error. Exits with the\n"
            "program's exit status (128 + n: killed by signal n, 125: error of Cyclescope, 0: --max-insns ended\n"
            "the run).\n\noptions:",
            &first, &status))
        status = run_program(&o.common, argv + first, &steps, &o);
    program_options_free(&o.common);
    return status;
}
