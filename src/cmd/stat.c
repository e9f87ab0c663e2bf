/* cyclescope stat: events of a program on a simulated core. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/core_options.h"
#include "cmd/guest_options.h"
#include "cmd/guest_run.h"
#include "cmd/multiplex.h"
#include "cmd/points_options.h"
#include "cmd/sampled_simulation.h"
#include "cmd/simulation_run.h"
#include "cmd/stat_log.h"
#include "cmd/stat_series.h"
#include "cmd/warm_state.h"
#include "pmu/fit.h"
#include "pmu/pmu.h"
#include "report/counter_report.h"
#include "report/pipeview.h"
#include "report/stat_report.h"

struct stat_options {
    struct guest_options guest;
    struct core_options core;
    struct with_options with;
    struct option_list events; /* lists of them */
    const char *json, *csv;    /* NULL, "-" or a file */
    const char *from;          /* a log to report, instead of running anything */
    const char *pipeview;
    uint64_t pipeview_from, pipeview_insns;
    bool counters;  /* only what the core's PMU can count at once */
    bool multiplex; /* all of them, by turns */
    struct multiplex turns;
    struct points_options points;
    struct stat_series series; /* counts over time */
    bool quiet;
    bool help;
};

/* The events that -e names. */
struct stat_events {
    struct event_specs specs;
    struct pmu *pmu;   /* NULL without events */
    bool *fits;        /* by event; NULL without --counters */
    unsigned *counter; /* likewise */
};

enum { PIPEVIEW_INSNS = 10000 }; /* 2 MB */
#define NOT_GIVEN UINT64_MAX

struct stat_output {
    struct own_output own;
    struct own_file json, csv, log;
    struct pipeview *pipeview;
    struct stat_events events;
};

/* ---- options */

static int choose_events(struct stat_events *e, struct stat_options *o, struct error *err)
{
    int code = pmu_check_rules(&o->core.config, err);
    for (size_t i = 0; code == 0 && i < o->events.count; i++)
        code = event_specs_parse(&e->specs, o->events.value[i], err);
    for (size_t i = 0; code == 0 && i < e->specs.count; i++)
        if (e->specs.of[i].period || (e->specs.of[i].share && !o->multiplex))
            code = error_set(err, -EINVAL, "'%s': %s", e->specs.of[i].text,
                             e->specs.of[i].period ? "a period is for samples, stat counts"
                                                   : "a share needs --multiplex, without which all count all the time");
    if (code == 0)
        code = stat_series_events(&o->series, &e->specs, err);
    if (code != 0 || e->specs.count == 0 || o->multiplex)
        return code;
    if (stat_series_asked(&o->series))
        return stat_series_begin(&o->series, &e->specs, &o->core.simulation, err);
    if (o->counters) {
        e->fits = calloc(e->specs.count, sizeof *e->fits);
        e->counter = calloc(e->specs.count, sizeof *e->counter);
        if (e->fits == NULL || e->counter == NULL)
            return error_set(err, -ENOMEM, "out of memory for events");
        code = pmu_fit(&e->specs, &o->core.config, e->fits, e->counter, err);
    }
    if (code != 0 || (e->pmu = pmu_new(&e->specs, NULL, NULL, err)) == NULL)
        return code != 0 ? code : -EINVAL;
    o->core.simulation.observer = pmu_observer(e->pmu);
    o->core.simulation.sum = pmu_sum(e->pmu);
    return 0;
}

static void free_events(struct stat_events *e)
{
    pmu_free(e->pmu);
    free(e->fits);
    free(e->counter);
    event_specs_free(&e->specs);
}

static int open_output(struct stat_output *to, struct stat_options *o, struct error *err)
{
    int code = own_file_open(&to->json, &to->own, "--json", o->json, err);
    if (code == 0)
        code = own_file_open(&to->csv, &to->own, "--csv", o->csv, err);
    if (code == 0)
        code = stat_series_open(&o->series, &to->own, err);
    if (code == 0)
        code = own_file_open(&to->log, &to->own, "--pipeview", o->pipeview, err);
    if (code != 0 || to->log.to == NULL)
        return code;
    uint64_t from = o->pipeview_from == NOT_GIVEN ? 0 : o->pipeview_from;
    uint64_t insns = o->pipeview_insns == NOT_GIVEN ? PIPEVIEW_INSNS : o->pipeview_insns;
    to->pipeview = pipeview_new(to->log.to, from, insns);
    if (to->pipeview == NULL)
        return error_set(err, -ENOMEM, "out of memory for the pipeline view");
    o->core.simulation.observer = pipeview_observer(to->pipeview);
    return 0;
}

/* What a series cannot be had with. */
static int check_series(const struct stat_options *o, struct error *err)
{
    if (o->multiplex)
        return error_set(err, -EINVAL, "--interval and --multiplex exclude each other: a series counts all the time");
    if (o->counters)
        return error_set(err, -EINVAL, "--interval and --counters exclude each other: a series counts all events");
    if (o->pipeview)
        return error_set(err, -EINVAL, "--interval and --pipeview exclude each other: count and draw in two runs");
    if (o->with.with.count)
        return error_set(err, -EINVAL, "--interval and --with exclude each other: a series is of one program");
    return 0;
}

/* What windows of a run cannot be had with. */
static int check_points(const struct stat_options *o, struct error *err)
{
    if (o->guest.restore)
        return error_set(err, -EINVAL,
                         "--restore excludes --points and --systematic, which cover a run from its start");
    if (o->multiplex || o->pipeview || o->with.with.count || stat_series_asked(&o->series))
        return error_set(
            err, -EINVAL,
            "--multiplex, --pipeview, --with and --interval exclude --points and --systematic, which count "
            "fully in each window and know no time between them");
    return 0;
}

static int check_options(const struct stat_options *o, struct error *err)
{
    int code = stat_series_check(&o->series, err);
    if (code == 0 && stat_series_asked(&o->series))
        code = check_series(o, err);
    if (code == 0 && points_options_given(&o->points))
        code = check_points(o, err);
    if (code != 0)
        return code;
    if (o->pipeview == NULL && o->pipeview_from != NOT_GIVEN)
        return error_set(err, -EINVAL, "--pipeview-from needs --pipeview FILE: there is no view without a file");
    if (o->pipeview == NULL && o->pipeview_insns != NOT_GIVEN)
        return error_set(err, -EINVAL, "--pipeview-insns needs --pipeview FILE: there is no view without a file");
    if (o->pipeview_insns == 0)
        return error_set(err, -EINVAL, "--pipeview-insns must be at least 1");
    if (o->pipeview && o->events.count)
        return error_set(err, -EINVAL, "-e and --pipeview exclude each other: count and draw in two runs");
    if (o->pipeview && o->with.with.count)
        return error_set(err, -EINVAL, "--with and --pipeview exclude each other: a view is of one program");
    if (o->guest.restore && o->with.with.count)
        return error_set(err, -EINVAL, "--with and --restore exclude each other: programs that share begin together");
    if (o->counters && o->events.count == 0)
        return error_set(err, -EINVAL, "--counters needs -e EVENTS: it says which of them fit the core's PMU");
    if (o->csv && o->events.count == 0 && !stat_series_asked(&o->series))
        return error_set(err, -EINVAL, "--csv needs -e EVENTS or --interval N: it has a line for each");
    if (o->multiplex && o->events.count == 0)
        return error_set(err, -EINVAL, "--multiplex needs -e EVENTS: they take turns on the core's counters");
    if (!o->multiplex && (sampling_options_given(&o->turns.sampling) || o->turns.truth || o->turns.log_path))
        return error_set(err, -EINVAL,
                         "--slice, --round, --by, --order, --order-seed, --mode, --estimator, --truth and "
                         "--log need --multiplex: without it everything is counted all the time");
    if (o->multiplex && o->counters)
        return error_set(err, -EINVAL, "--multiplex and --counters exclude each other: by turns all events fit");
    return 0;
}

/* ---- the run */

/* The report with the events of -e in it; NULL if a name is not UTF-8. */
static json_t *make_json(const struct run_report *run, const struct counter_report *counters)
{
    json_t *root = stat_report_json(run), *array = root && counters ? counter_report_json(counters) : NULL;
    if (root && counters && (array == NULL || json_object_set_new(root, "counters", array) != 0)) {
        json_decref(root);
        return NULL;
    }
    return root;
}

/* A program's page and lines, and its JSON, which may be NULL. */
static json_t *report_counters(const struct stat_options *o, struct stat_output *to, const struct run_report *report,
                               const uint64_t *values)
{
    const struct stat_events *e = &to->events;
    struct counter_report counters = {
        .run = report, .specs = &e->specs, .value = values, .fits = e->fits, .counter = e->counter};
    if (!o->quiet) {
        if (e->pmu)
            counter_report_print(&counters, to->own.err);
        else
            stat_report_print(report, to->own.err);
    }
    if (to->csv.to)
        counter_report_csv(&counters, to->csv.to);
    return to->json.to ? make_json(report, e->pmu ? &counters : NULL) : NULL;
}

/* The same of counters that took turns. */
static json_t *report_turns(struct stat_options *o, struct stat_output *to, const struct run_report *report,
                            const uint64_t *values)
{
    struct logical_report r;
    struct error err;
    json_t *root = NULL;
    if (multiplex_report(&o->turns, &to->events.specs, report, o->turns.truth ? values : NULL, &r, &err) != 0) {
        own_fail(&to->own, &err);
        return NULL;
    }
    if (!o->quiet)
        logical_report_print(&r, to->own.err);
    if (to->csv.to)
        logical_report_csv(&r, to->csv.to);
    if (to->json.to && (root = stat_report_json(report)) != NULL && !logical_report_json(&r, root)) {
        json_decref(root);
        root = NULL;
    }
    multiplex_log_program(&o->turns, &r);
    multiplex_report_free(&r);
    return root;
}

/* The same over time. */
static json_t *report_series(const struct stat_options *o, struct stat_output *to, const struct run_report *report,
                             const uint64_t *values)
{
    const struct stat_events *e = &to->events;
    struct series_report r = stat_series_report(&o->series, report, &e->specs);
    struct counter_report counters = {.run = report, .specs = &e->specs, .value = values};
    json_t *root = NULL;
    if (!o->quiet)
        series_report_print(&r, to->own.err, own_columns(&to->own));
    if (to->csv.to)
        series_report_csv(&r, to->csv.to);
    if (o->series.svg.to)
        series_report_svg(&r, o->series.svg.to);
    if (to->json.to && (root = make_json(report, &counters)) != NULL && !series_report_json(&r, root)) {
        json_decref(root);
        root = NULL;
    }
    return root;
}

static json_t *report_program(struct stat_options *o, struct stat_output *to, const struct run_report *report,
                              const uint64_t *values, int signal)
{
    if (!o->quiet)
        tell_death_by(&to->own, report->program, signal);
    return o->multiplex                    ? report_turns(o, to, report, values)
           : stat_series_asked(&o->series) ? report_series(o, to, report, values)
                                           : report_counters(o, to, report, values);
}

/* All files are complete. */
static int finish_output(struct stat_options *o, struct stat_output *to, json_t *root, int status)
{
    struct error err;
    if (multiplex_log_close(&o->turns, &err) != 0)
        status = own_fail(&to->own, &err);
    if (own_file_close(&to->csv, &err) != 0)
        status = own_fail(&to->own, &err);
    if (own_file_close(&o->series.svg, &err) != 0)
        status = own_fail(&to->own, &err);
    if (to->pipeview)
        pipeview_finish(to->pipeview);
    if (own_file_close(&to->log, &err) != 0)
        status = own_fail(&to->own, &err);
    if (own_file_write_json(&to->json, root, &err) != 0)
        status = own_fail(&to->own, &err);
    fflush(to->own.err);
    return status;
}

static int stat_process(struct stat_options *o, struct stat_output *to, struct process *p)
{
    struct run_report report;
    struct sampled_run sampled = {0};
    struct error err;
    int code = warm_state_use(o->guest.checkpoint, &o->core.simulation, &err);
    if (code == 0)
        code = points_options_given(&o->points)
                   ? run_sampled(p, &o->points, &o->core.simulation, &to->own, o->quiet, &report, &sampled, &err)
                   : run_simulation(p, &o->core.simulation, &to->own, o->quiet, &report, &err);
    if (code != 0)
        return own_fail(&to->own, &err);
    if (o->multiplex && logical_finish(o->turns.logical, &err) != 0)
        return own_fail(&to->own, &err);
    const struct simulation_sum *sum = o->core.simulation.sum;
    json_t *root = report_program(o, to, &report, sum ? sum->numbers : NULL, process_signal(p));
    sampled_run_free(&sampled);
    return finish_output(o, to, root, simulation_status(p, &report));
}

static int stat_sharing(struct stat_options *o, struct stat_output *to)
{
    struct shared_run run;
    struct error err;
    if (run_sharing(&o->with, &o->core.simulation, &to->own, o->quiet, &run, &err) != 0)
        return own_fail(&to->own, &err);
    if (o->multiplex && logical_finish(o->turns.logical, &err) != 0) {
        shared_run_free(&run);
        return own_fail(&to->own, &err);
    }
    const struct stat_events *e = &to->events;
    json_t *root = NULL;
    for (unsigned i = 0; i < run.count; i++)
        root = run_report_join(
            root, i, report_program(o, to, &run.report[i], run.sums + i * e->specs.count, run.result[i].signal));
    int status = run.result[0].loader_failed ? STATUS_OWN_ERROR : run.report[0].status;
    status = finish_output(o, to, root, status);
    shared_run_free(&run);
    return status;
}

/* ---- a log */

static int stat_from(struct stat_options *o)
{
    struct stat_output to = {0};
    struct stat_log_output output = {.own = &to.own, .csv = &to.csv, .json = &to.json, .quiet = o->quiet};
    struct error err;
    own_output_open(&to.own);
    if (stat_series_asked(&o->series)) {
        error_set(&err, -EINVAL, "--interval and --from exclude each other: a log has rounds of its own");
        return own_fail(&to.own, &err);
    }
    int code = sampling_options_finish(&o->turns.sampling, &err);
    if (code == 0)
        code = own_file_open(&to.json, &to.own, "--json", o->json, &err);
    if (code == 0)
        code = own_file_open(&to.csv, &to.own, "--csv", o->csv, &err);
    if (code == 0)
        code = stat_log(o->from, o->turns.sampling.estimator ? o->turns.sampling.estimating : NULL, &output, &err);
    fflush(to.own.err);
    return code == 0 ? 0 : own_fail(&to.own, &err);
}

/* ---- a program */

/* Events that are to take turns do so. */
static int begin_turns(struct stat_options *o, const struct stat_events *e, struct error *err)
{
    unsigned programs = o->with.count ? o->with.count : 1;
    const char *names[ENGINE_CONTEXTS];
    struct logical_config c = {.programs = programs, .quantum = o->guest.config.quantum_insns};
    if (!o->multiplex)
        return 0;
    if (programs > ENGINE_CONTEXTS)
        return error_set(err, -E2BIG, "--multiplex counts for at most %d programs", ENGINE_CONTEXTS);
    for (unsigned i = 0; i < programs; i++)
        names[i] = o->with.count ? o->with.config[i].argv[0] : o->guest.config.argv[0];
    return multiplex_begin(&o->turns, &e->specs, names, &o->core.simulation, &c, err);
}

static int stat_program(struct stat_options *o, char **argv)
{
    struct stat_output to = {0};
    struct process *p = NULL;
    struct error err;
    bool ready = false;
    own_output_open(&to.own);
    offer_to_be_killed_first();
    if (check_options(o, &err) == 0 && core_options_finish(&o->core, &err) == 0 &&
        points_options_finish(&o->points, &o->core.simulation, &err) == 0 && choose_events(&to.events, o, &err) == 0 &&
        guest_options_finish(&o->guest, argv, &err) == 0 &&
        with_options_finish(&o->with, &o->guest.config, &o->core.simulation, &err) == 0 &&
        begin_turns(o, &to.events, &err) == 0 && open_output(&to, o, &err) == 0) {
        ready = true;
        if (o->with.count == 0)
            p = guest_options_start(&o->guest, &err);
    }
    int status = ready && o->with.count ? stat_sharing(o, &to) : p ? stat_process(o, &to, p) : own_fail(&to.own, &err);
    process_free(p);
    pipeview_free(to.pipeview);
    free_events(&to.events);
    return status;
}

int command_stat(int argc, char **argv)
{
    struct stat_options o = {.pipeview_from = NOT_GIVEN, .pipeview_insns = NOT_GIVEN, .series = STAT_SERIES_INIT};
    guest_options_init(&o.guest);
    core_options_init(&o.core);
    with_options_init(&o.with);
    multiplex_init(&o.turns);
    const struct option table[] = {
        {"e,event", OPTION_LIST, &o.events, "EVENTS", "count these instead; `list events` has them"},
        {"counters", OPTION_FLAG, &o.counters, NULL, "with -e: only as many as the core's PMU can count at once"},
        {"multiplex", OPTION_FLAG, &o.multiplex, NULL, "with -e: all, by turns on the core's counters, with intervals"},
        SAMPLING_OPTION_ROWS(&o.turns.sampling),
        {"by", OPTION_STRING, &o.turns.sampling.by, "UNIT", "what slices and rounds are of: cycles or insns (cycles)"},
        {"truth", OPTION_FLAG, &o.turns.truth, NULL, "with --multiplex: count fully as well, and compare"},
        {"log", OPTION_STRING, &o.turns.log_path, "FILE", "with --multiplex: write every slice; `--from` reads it"},
        {"from", OPTION_STRING, &o.from, "LOG", "report this log of --multiplex again, and run nothing"},
        STAT_SERIES_ROWS(&o.series),
        {"csv", OPTION_STRING, &o.csv, "FILE", "with -e or --interval: write the counts as CSV; - is standard output"},
        {"json", OPTION_STRING, &o.json, "FILE", "write the counts as JSON; - is standard output"},
        {"pipeview", OPTION_STRING, &o.pipeview, "FILE", "write a pipeline view for Konata; - is standard output"},
        {"pipeview-from", OPTION_COUNT, &o.pipeview_from, "N", "first instruction of the view (0)"},
        {"pipeview-insns", OPTION_COUNT, &o.pipeview_insns, "N", "instructions of the view (10000)"},
        {"quiet", OPTION_FLAG, &o.quiet, NULL, "print nothing"},
        {"help", OPTION_FLAG, &o.help, NULL, "print this"},
        POINTS_OPTION_ROWS(&o.points),
        CORE_OPTION_ROWS(&o.core),
        WITH_OPTION_ROWS(&o.with),
        RESTORE_OPTION_ROW(&o.guest),
        GUEST_OPTION_ROWS(&o.guest),
    };
    enum { ROWS = sizeof table / sizeof table[0] };
    int first, status;
    if (command_begins(
            table, ROWS, argc, argv, &o.help,
            "usage: cyclescope stat [options] [--] PROGRAM [ARGUMENTS]\n\n"
            "Runs a 64-bit RISC-V Linux program on a simulated out-of-order core, counts what happens there, prints\n"
            "the counts to standard error and passes the program's exit status through (128 + n for death by\n"
            "signal n, 125 for an error of Cyclescope's own, 0 when --max-insns ends the run).\n\noptions:",
            &first, &status))
        status = o.from ? stat_from(&o) : stat_program(&o, argv + first);
    multiplex_free(&o.turns);
    stat_series_free(&o.series);
    option_list_free(&o.events);
    core_options_free(&o.core);
    with_options_free(&o.with);
    guest_options_free(&o.guest);
    return status;
}
