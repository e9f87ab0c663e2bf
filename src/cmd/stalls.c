/* cyclescope stalls: what keeps instructions from retiring, over time. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/core_options.h"
#include "cmd/guest_options.h"
#include "cmd/guest_run.h"
#include "cmd/points_options.h"
#include "cmd/sampled_simulation.h"
#include "cmd/sampling_options.h"
#include "cmd/simulation_run.h"
#include "cmd/stack_files.h"
#include "cmd/stalls_live.h"
#include "monitor/breakdown.h"
#include "monitor/stall_monitor.h"
#include "report/sampled_report.h"
#include "report/stall_report.h"

enum { INTERVAL = 2000000 }; /* if none is given */
#define NOT_GIVEN UINT64_MAX

struct stalls_options {
    struct guest_options guest;
    struct core_options core;
    uint64_t interval;
    const char *live; /* as given, or NULL */
    struct sampling_options sampling;
    struct points_options points;
    struct stack_files files;
    bool exact, quiet, help;
};

/* ---- what becomes of intervals, wherever they come from */

struct consumers {
    struct stall_series series;
    struct stalls_live live;
    struct breakdown_report report; /* for the program itself */
};

static void consume(void *context, const struct stall_interval *i)
{
    struct consumers *c = context;
    breakdown_report_add(&c->report, i);
    stall_series_add(&c->series, i);
    stalls_live_note(&c->live, &c->series);
}

/* ---- running */

static int check(struct stalls_options *o, struct error *err)
{
    if (o->interval == 0)
        return error_set(err, -EINVAL, "--interval must be at least 1");
    if (o->live && *o->live && strcmp(o->live, "no") != 0)
        return error_set(err, -EINVAL, "--live=%s: --live or --live=no", o->live);
    if (o->exact && (o->sampling.slice || o->sampling.seed || o->sampling.order || o->sampling.estimator))
        return error_set(err, -EINVAL,
                         "--slice, --order, --order-seed and --estimator are for counters that take turns, "
                         "--exact has no turns");
    if (points_options_given(&o->points) && (o->sampling.slice || o->sampling.seed || o->sampling.order ||
                                             o->sampling.estimator || o->sampling.by || o->interval != NOT_GIVEN))
        return error_set(err, -EINVAL,
                         "--interval, --by, --slice, --order, --order-seed and --estimator exclude --points and "
                         "--systematic, which count fully in each window and know no time between them");
    if (o->interval == NOT_GIVEN)
        o->interval = INTERVAL;
    return sampling_options_finish(&o->sampling, err);
}

static int write_report(struct stalls_options *o, const struct own_output *own, const struct process *p,
                        const struct stall_report *r)
{
    int status = simulation_status(p, &r->run);
    if (!o->quiet) {
        tell_death(own, p);
        stall_report_print(r, own->err, isatty(fileno(own->err)), own_columns(own));
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
    struct simulation *s = &o->core.simulation;
    struct stalls_config stalls = {
        .clock = o->sampling.plan.clock, .interval = o->interval, .sink = consume, .context = c};
    struct stall_monitor_config config = {.exact = o->exact,
                                          .quantum = o->guest.config.quantum_insns,
                                          .stalls = &stalls,
                                          .plan = o->sampling.plan,
                                          .estimator = o->sampling.estimating};
    struct stall_monitor *monitor = stall_monitor_new(&config, s, err);
    if (monitor == NULL)
        return -EINVAL;
    report->exact = o->exact;
    int code = run_simulation(p, s, own, o->quiet || stalls_live_is_on(&c->live), &report->run, err);
    if (code == 0)
        code = stall_monitor_finish(monitor, total, err);
    if (code == 0 && !o->exact) {
        struct core_counts *counts = &report->run.result.counts.core;
        report->engine_cycles = counts->machine_cycles;
        counts->cycles = total->cycles;
        counts->instructions = total->insns;
    }
    stall_monitor_free(monitor);
    return code;
}

/* Windows of the run instead of all of it; estimates of the whole with their errors. */
static int run_windows(struct stalls_options *o, const struct own_output *own, struct process *p,
                       struct stall_report *report, struct stall_interval *total, struct sampled_run *sampled,
                       struct error *err)
{
    struct simulation *s = &o->core.simulation;
    struct stalls *stalls = stalls_new(&(struct stalls_config){.clock = CLOCK_CYCLES}, err);
    if (stalls == NULL)
        return -ENOMEM;
    s->observer = stalls_observer(stalls);
    s->sum = stalls_sum(stalls);
    int code = run_sampled(p, &o->points, s, own, o->quiet, &report->run, sampled, err);
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

static int stalls_process(struct stalls_options *o, const struct own_output *own, struct process *p,
                          struct consumers *c)
{
    struct error err;
    struct stall_interval total = {0};
    struct stall_report report = {
        .total = &total, .series = &c->series, .clock = o->sampling.plan.clock, .interval = o->interval};
    struct sampled_run sampled = {0};
    bool windows = points_options_given(&o->points);
    stalls_live_begin(&c->live, own->err, !windows && !o->quiet && !(o->live && *o->live));
    int code =
        windows ? run_windows(o, own, p, &report, &total, &sampled, &err) : run(o, own, p, c, &report, &total, &err);
    stalls_live_end(&c->live);
    if (code == 0)
        stall_report_find_phases(&report);
    int status = code == 0 ? write_report(o, own, p, &report) : own_fail(own, &err);
    stall_series_free(&c->series);
    sampled_run_free(&sampled);
    return status;
}

static int stalls_program(struct stalls_options *o, char **argv)
{
    struct own_output own;
    struct consumers c = {0};
    struct process *p = NULL;
    struct error err;
    own_output_open(&own);
    breakdown_report_init(&c.report);
    offer_to_be_killed_first();
    if (check(o, &err) == 0 && core_options_finish(&o->core, &err) == 0 &&
        points_options_finish(&o->points, &o->core.simulation, &err) == 0 &&
        guest_options_finish(&o->guest, argv, &err) == 0 && stack_files_open(&o->files, &own, &err) == 0) {
        o->guest.config.report = &c.report.report;
        p = process_new(&o->guest.config, &err);
    }
    int status = p ? stalls_process(o, &own, p, &c) : own_fail(&own, &err);
    process_free(p);
    return status;
}

int command_stalls(int argc, char **argv)
{
    struct stalls_options o = {.interval = NOT_GIVEN};
    guest_options_init(&o.guest);
    core_options_init(&o.core);
    sampling_options_init(&o.sampling);
    const struct option table[] = {
        {"interval", OPTION_COUNT, &o.interval, "N", "a breakdown for every N cycles or instructions (2M)"},
        {"by", OPTION_STRING, &o.sampling.by, "UNIT", "what N counts: cycles (the default) or insns"},
        {"exact", OPTION_FLAG, &o.exact, NULL, "from full counts, instead of counters that take turns"},
        {"slice", OPTION_COUNT, &o.sampling.slice, "N", "of one turn (a tenth of an interval)"},
        {"order", OPTION_STRING, &o.sampling.order, "ORDER", "of turns in an interval: random (the default) or fixed"},
        {"order-seed", OPTION_COUNT, &o.sampling.seed, "N", "another random order (0)"},
        {"estimator", OPTION_STRING, &o.sampling.estimator, "NAME", "how counts are made whole; `list estimators`"},
        {"live", OPTION_OPTIONAL, &o.live, "no", "a picture while the program runs, as always on a terminal"},
        {"json", OPTION_STRING, &o.files.json_path, "FILE", "write everything as JSON; - is standard output"},
        {"csv", OPTION_STRING, &o.files.csv_path, "FILE", "write the intervals as CSV; - is standard output"},
        {"svg", OPTION_STRING, &o.files.svg_path, "FILE", "draw them over instructions; - is standard output"},
        {"quiet", OPTION_FLAG, &o.quiet, NULL, "print nothing"},
        {"help", OPTION_FLAG, &o.help, NULL, "print this"},
        POINTS_OPTION_ROWS(&o.points),
        CORE_OPTION_ROWS(&o.core),
        GUEST_OPTION_ROWS(&o.guest),
    };
    enum { ROWS = sizeof table / sizeof table[0] };
    int first, status;
    if (command_begins(
            table, ROWS, argc, argv, &o.help,
            "usage: cyclescope stalls [options] [--] PROGRAM [ARGUMENTS]\n\n"
            "Runs a 64-bit RISC-V Linux program on a simulated out-of-order core and says over time in which\n"
            "cycles instructions retired, and what kept them from it in the others: CPI as completion and\n"
            "stalls by source, which add up, counted on the core's counters by turns. Prints to standard error and "
            "passes the program's exit status\n"
            "through (128 + n for death by signal n, 125 for an error of Cyclescope's own, 0 when --max-insns\n"
            "ends the run).\n\noptions:",
            &first, &status))
        status = stalls_program(&o, argv + first);
    core_options_free(&o.core);
    guest_options_free(&o.guest);
    return status;
}
