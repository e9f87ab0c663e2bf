/* cyclescope stat: runs a program on a simulated core and counts events. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/multiplex.h"
#include "cmd/points_options.h"
#include "cmd/program_command.h"
#include "cmd/sampled_simulation.h"
#include "cmd/simulation_run.h"
#include "cmd/stat_log.h"
#include "cmd/stat_series.h"
#include "sim/warm_state.h"
#include "pmu/fit.h"
#include "pmu/pmu.h"
#include "report/counter_report.h"
#include "trace/pipeview.h"
#include "report/stat_report.h"

/* The events that -e names. */
struct stat_events {
    struct event_specs specs;
    struct pmu *pmu;   /* NULL without events */
    bool *fits;        /* by event: it fits a counter; NULL without --counters */
    unsigned *counter; /* by event: number of its counter; NULL without --counters */
};

struct stat_output {
    struct own_output own;
    struct output_file json, csv, log;
    struct pipeview *pipeview;
    struct stat_events events;
};

struct stat_options {
    struct program_options common;
    struct with_options with;
    struct option_list events; /* -e: each a list of events */
    const char *json, *csv;    /* NULL, "-" or a file */
    const char *from;          /* --from: log to report, instead of running a program; or NULL */
    const char *pipeview;      /* NULL, "-" or a file */
    uint64_t pipeview_from, pipeview_insns;
    bool counters;          /* count only the events that fit the core's PMU at once */
    bool multiplex;         /* count all events by multiplexing the core's counters */
    struct multiplex turns; /* for `multiplex` */
    struct points_options points;
    struct stat_series series; /* --interval: counts over time */
    struct stat_output output;
};

enum { PIPEVIEW_INSNS = 10000 }; /* default length of a pipeline view; the file has about 2 MB */
#define NOT_GIVEN UINT64_MAX

/* ---- options */

static int choose_events(struct stat_events *e, struct stat_options *o, struct error *err)
{
    int code = pmu_check_rules(&o->common.core.config, err);
    for (size_t i = 0; code == 0 && i < o->events.count; i++)
        code = event_specs_parse(&e->specs, o->events.value[i], err);
    for (size_t i = 0; code == 0 && i < e->specs.count; i++)
        if (e->specs.of[i].period || (e->specs.of[i].share && !o->multiplex))
            code = error_set(err, -EINVAL, "'%s': %s", e->specs.of[i].text,
                             e->specs.of[i].period
                                 ? "a period is for samples, and stat counts"
                                 : "a share needs --multiplex: without it all events are counted all the time");
    if (code == 0)
        code = stat_series_events(&o->series, &e->specs, err);
    if (code != 0 || e->specs.count == 0 || o->multiplex)
        return code;
    if (stat_series_asked(&o->series))
        return stat_series_begin(&o->series, &e->specs, &o->common.core.simulation, err);
    if (o->counters) {
        e->fits = calloc(e->specs.count, sizeof *e->fits);
        e->counter = calloc(e->specs.count, sizeof *e->counter);
        if (e->fits == NULL || e->counter == NULL)
            return error_set(err, -ENOMEM, "out of memory for events");
        code = pmu_fit(&e->specs, &o->common.core.config, e->fits, e->counter, err);
    }
    if (code != 0 || (e->pmu = pmu_new(&e->specs, NULL, NULL, err)) == NULL)
        return code != 0 ? code : -EINVAL;
    o->common.core.simulation.observer = pmu_observer(e->pmu);
    o->common.core.simulation.sum = pmu_sum(e->pmu);
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
    own_input(&to->own, "--phases", o->series.phases_path);
    for (unsigned i = 1; i < o->with.count; i++)
        own_input_program(&to->own, &o->with.config[i]);
    int code = points_options_names(&o->points, &to->own, err);
    if (code == 0)
        code = own_file_open(&to->json, &to->own, "--json", o->json, err);
    if (code == 0)
        code = own_file_open(&to->csv, &to->own, "--csv", o->csv, err);
    if (code == 0)
        code = stat_series_open(&o->series, &to->own, err);
    if (code == 0)
        code = own_file_open(&to->log, &to->own, "--pipeview", o->pipeview, err);
    return code;
}

static int begin_pipeview(struct stat_output *to, struct stat_options *o, struct error *err)
{
    if (to->log.to == NULL)
        return 0;
    uint64_t from = o->pipeview_from == NOT_GIVEN ? 0 : o->pipeview_from;
    uint64_t insns = o->pipeview_insns == NOT_GIVEN ? PIPEVIEW_INSNS : o->pipeview_insns;
    to->pipeview = pipeview_new(to->log.to, from, insns);
    if (to->pipeview == NULL)
        return error_set(err, -ENOMEM, "out of memory for the pipeline view");
    o->common.core.simulation.observer = pipeview_observer(to->pipeview);
    return 0;
}

/* Checks the options that cannot be combined with --interval. */
static int check_series(const struct stat_options *o, struct error *err)
{
    if (o->multiplex)
        return error_set(err, -EINVAL,
                         "--interval and --multiplex exclude each other: a series counts all events all the time");
    if (o->counters)
        return error_set(err, -EINVAL, "--interval and --counters exclude each other: a series counts all events");
    if (o->pipeview)
        return error_set(err, -EINVAL, "--interval and --pipeview exclude each other: count and draw in two runs");
    if (o->with.with.count)
        return error_set(err, -EINVAL, "--interval and --with exclude each other: a series shows one program");
    return 0;
}

/* Checks the options that cannot be combined with --points and --systematic. */
static int check_points(const struct stat_options *o, struct error *err)
{
    if (o->common.guest.restore)
        return error_set(err, -EINVAL,
                         "--restore excludes --points and --systematic, which cover a run from its start");
    if (o->multiplex || o->pipeview || o->with.with.count || stat_series_asked(&o->series))
        return error_set(
            err, -EINVAL,
            "--multiplex, --pipeview, --with and --interval exclude --points and --systematic, which count "
            "exactly in each window and nothing between windows");
    return 0;
}

static int check_options(void *options, struct error *err)
{
    const struct stat_options *o = options;
    int code = stat_series_check(&o->series, err);
    if (code == 0 && stat_series_asked(&o->series))
        code = check_series(o, err);
    if (code == 0 && points_options_given(&o->points))
        code = check_points(o, err);
    if (code != 0)
        return code;
    if (o->pipeview == NULL && o->pipeview_from != NOT_GIVEN)
        return error_set(err, -EINVAL, "--pipeview-from needs --pipeview FILE, the file for the view");
    if (o->pipeview == NULL && o->pipeview_insns != NOT_GIVEN)
        return error_set(err, -EINVAL, "--pipeview-insns needs --pipeview FILE, the file for the view");
    if (o->pipeview_insns == 0)
        return error_set(err, -EINVAL, "--pipeview-insns must be at least 1");
    if (o->pipeview && o->events.count)
        return error_set(err, -EINVAL, "-e and --pipeview exclude each other: count and draw in two runs");
    if (o->pipeview && o->with.with.count)
        return error_set(err, -EINVAL, "--with and --pipeview exclude each other: a view shows one program");
    if (o->common.guest.restore && o->with.with.count)
        return error_set(err, -EINVAL,
                         "--with and --restore exclude each other: programs that share the core must start together");
    if (o->counters && o->events.count == 0)
        return error_set(err, -EINVAL, "--counters needs -e EVENTS: it selects the events that fit the core's PMU");
    if (o->csv && o->events.count == 0 && !stat_series_asked(&o->series))
        return error_set(err, -EINVAL,
                         "--csv needs -e EVENTS or --interval N: it has a line for each event or interval");
    if (o->multiplex && o->events.count == 0)
        return error_set(err, -EINVAL, "--multiplex needs -e EVENTS: the core's counters are multiplexed between them");
    if (!o->multiplex && (sampling_options_given(&o->turns.sampling) || o->turns.truth || o->turns.log_path))
        return error_set(err, -EINVAL,
                         "--slice, --round, --unit, --order, --order-seed, --mode, --estimator, --truth and "
                         "--log need --multiplex: without it all events are counted all the time");
    if (o->multiplex && o->counters)
        return error_set(err, -EINVAL,
                         "--multiplex and --counters exclude each other: with --multiplex all events fit");
    return 0;
}

/* ---- the run */

/* Makes the JSON document of a run, with the events of -e. Returns NULL if a name is not UTF-8. */
static json_t *make_json(const struct run_report *run, const struct counter_report *counters)
{
    json_t *root = stat_report_json(run), *array = root && counters ? counter_report_json(counters) : NULL;
    if (root && counters && (array == NULL || json_object_set_new(root, "counters", array) != 0)) {
        json_decref(root);
        return NULL;
    }
    return root;
}

/* Prints the page and CSV lines of a program. Returns its JSON document; NULL if it is not wanted or a name is not
 * UTF-8. */
static json_t *report_counters(const struct stat_options *o, struct stat_output *to, const struct run_report *report,
                               const uint64_t *values)
{
    const struct stat_events *e = &to->events;
    struct counter_report counters = {
        .run = report, .specs = &e->specs, .value = values, .fits = e->fits, .counter = e->counter};
    if (!o->common.quiet) {
        if (e->pmu)
            counter_report_print(&counters, own_page(&to->own), own_columns(&to->own));
        else
            stat_report_print(report, own_page(&to->own), own_columns(&to->own));
    }
    if (to->csv.to)
        counter_report_csv(&counters, to->csv.to);
    return to->json.to ? make_json(report, e->pmu ? &counters : NULL) : NULL;
}

/* Does for multiplexed counters what report_counters does for exact ones. */
static json_t *report_multiplexed(struct stat_options *o, struct stat_output *to, const struct run_report *report,
                                  const uint64_t *values)
{
    struct logical_report r;
    struct error err;
    json_t *root = NULL;
    if (multiplex_report(&o->turns, &to->events.specs, report, o->turns.truth ? values : NULL, &r, &err) != 0) {
        own_fail(&to->own, &err);
        return NULL;
    }
    if (!o->common.quiet)
        logical_report_print(&r, own_page(&to->own), own_columns(&to->own));
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

/* Does for a series over time what report_counters does for totals. */
static json_t *report_series(const struct stat_options *o, struct stat_output *to, const struct run_report *report,
                             const uint64_t *values)
{
    const struct stat_events *e = &to->events;
    struct series_report r = stat_series_report(&o->series, report, &e->specs);
    struct counter_report counters = {.run = report, .specs = &e->specs, .value = values};
    json_t *root = NULL;
    if (!o->common.quiet)
        series_report_print(&r, own_page(&to->own), own_columns(&to->own));
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
    if (!o->common.quiet)
        report_death_by(&to->own, report->program, signal);
    return o->multiplex                    ? report_multiplexed(o, to, report, values)
           : stat_series_asked(&o->series) ? report_series(o, to, report, values)
                                           : report_counters(o, to, report, values);
}

/* Writes the JSON document and closes all files. Returns `status`, or STATUS_OWN_ERROR if a file cannot be written. */
static int finish_output(struct stat_options *o, struct stat_output *to, json_t *root, int status)
{
    struct error err;
    if (multiplex_log_close(&o->turns, &err) != 0)
        status = own_fail(&to->own, &err);
    if (output_file_close(&to->csv, &err) != 0)
        status = own_fail(&to->own, &err);
    if (output_file_close(&o->series.svg, &err) != 0)
        status = own_fail(&to->own, &err);
    if (to->pipeview)
        pipeview_finish(to->pipeview);
    if (output_file_close(&to->log, &err) != 0)
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
    int code = warm_state_use(o->common.guest.checkpoint, &o->common.core.simulation, &err);
    if (code == 0)
        code = points_options_given(&o->points)
                   ? run_sampled(p, &o->points, &o->common.core.simulation, &to->own, o->common.quiet, &report,
                                 &sampled, &err)
                   : run_simulation(p, &o->common.core.simulation, &to->own, o->common.quiet, &report, &err);
    if (code != 0)
        return own_fail_interrupted(&to->own, code == -EINTR ? process_interruption(p) : 0, &err);
    if (o->multiplex && logical_finish(o->turns.logical, &err) != 0)
        return own_fail(&to->own, &err);
    const struct simulation_sum *sum = o->common.core.simulation.sum;
    json_t *root = report_program(o, to, &report, sum ? sum->numbers : NULL, process_signal(p));
    sampled_run_free(&sampled);
    return finish_output(o, to, root, simulation_status(p, &report));
}

static int stat_sharing(struct stat_options *o, struct stat_output *to)
{
    struct shared_run run;
    struct error err;
    if (run_sharing(&o->with, &o->common.core.simulation, &to->own, o->common.quiet, &run, &err) != 0)
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

/* ---- reporting a log */

static int stat_from(struct stat_options *o)
{
    struct stat_output to = {0};
    struct stat_log_output output = {.own = &to.own, .csv = &to.csv, .json = &to.json, .quiet = o->common.quiet};
    struct error err;
    if (stat_series_asked(&o->series))
        return command_fail("--interval and --from exclude each other: a log has no counts by interval");
    own_output_open(&to.own);
    own_input(&to.own, "--from", o->from);
    int code = sampling_options_finish(&o->turns.sampling, &err);
    if (code == 0)
        code = own_file_open(&to.json, &to.own, "--json", o->json, &err);
    if (code == 0)
        code = own_file_open(&to.csv, &to.own, "--csv", o->csv, &err);
    if (code == 0)
        code = own_page_open(&to.own, o->common.page, &err);
    if (code == 0)
        code =
            stat_log(o->from, o->turns.sampling.estimator ? o->turns.sampling.chosen_estimator : NULL, &output, &err);
    fflush(to.own.err);
    int status = code == 0 ? own_page_close(&to.own, 0) : own_fail(&to.own, &err);
    own_output_close(&to.own);
    return status;
}

/* ---- running a program */

/* Adds the sampler to the simulation, if --multiplex was given. */
static int begin_multiplex(struct stat_options *o, const struct stat_events *e, struct error *err)
{
    unsigned programs = o->with.count ? o->with.count : 1;
    const char *names[SAMPLER_CONTEXTS];
    struct logical_config c = {.programs = programs, .quantum = o->common.guest.config.quantum_insns};
    if (!o->multiplex)
        return 0;
    if (programs > SAMPLER_CONTEXTS)
        return error_set(err, -E2BIG, "--multiplex counts for at most %d programs", SAMPLER_CONTEXTS);
    for (unsigned i = 0; i < programs; i++)
        names[i] = o->with.count ? o->with.config[i].argv[0] : o->common.guest.config.argv[0];
    return multiplex_begin(&o->turns, &o->output.own, &e->specs, names, &o->common.core.simulation, &c, err);
}

static int configure(void *options, struct error *err)
{
    struct stat_options *o = options;
    int code = points_options_finish(&o->points, &o->common.core.simulation, err);
    return code == 0 ? choose_events(&o->output.events, o, err) : code;
}

static int open_files(void *options, const struct own_output *own, struct error *err)
{
    struct stat_options *o = options;
    o->output.own = *own;
    int code = with_options_finish(&o->with, &o->common.guest.config, &o->common.core.simulation, err);
    if (code == 0)
        code = open_output(&o->output, o, err);
    if (code == 0)
        code = begin_multiplex(o, &o->output.events, err);
    return code == 0 ? begin_pipeview(&o->output, o, err) : code;
}

/* `p` is NULL with --with: several programs share the core. */
static int stat_run(void *options, const struct own_output *own, struct process *p)
{
    struct stat_options *o = options;
    (void)own;
    return p ? stat_process(o, &o->output, p) : stat_sharing(o, &o->output);
}

static int stat_program(struct stat_options *o, char **argv)
{
    const struct program_steps steps = {.check = check_options,
                                        .simulates = true,
                                        .configure = configure,
                                        .open = open_files,
                                        .starts_programs = o->with.with.count > 0,
                                        .run = stat_run};
    return run_program(&o->common, argv, &steps, o);
}

int command_stat(int argc, char **argv)
{
    struct stat_options o = {.pipeview_from = NOT_GIVEN, .pipeview_insns = NOT_GIVEN, .series = STAT_SERIES_INIT};
    program_options_init(&o.common);
    with_options_init(&o.with);
    multiplex_init(&o.turns);
    const struct option table[] = {
        {"e,event", OPTION_LIST, &o.events, "EVENTS",
         "count these events instead of the usual ones; see `list events`"},
        {"counters", OPTION_FLAG, &o.counters, NULL, "with -e: count only events that fit the core's PMU at once"},
        {"multiplex", OPTION_FLAG, &o.multiplex, NULL,
         "with -e: multiplex the core's counters, estimate with 95 % intervals"},
        SAMPLING_OPTION_ROWS(&o.turns.sampling),
        {"unit", OPTION_STRING, &o.turns.sampling.unit, "UNIT", "unit of slices and rounds: cycles (default) or insns"},
        {"truth", OPTION_FLAG, &o.turns.truth, NULL, "with --multiplex: also count exactly, and compare"},
        {"log", OPTION_STRING, &o.turns.log_path, "FILE", "with --multiplex: write all slices to a log for --from"},
        {"from", OPTION_STRING, &o.from, "LOG", "report a log of --multiplex again instead of running a program"},
        STAT_SERIES_ROWS(&o.series),
        {"csv", OPTION_STRING, &o.csv, "FILE", "with -e or --interval: write the counts as CSV; - is standard output"},
        {"json", OPTION_STRING, &o.json, "FILE", "write the counts as JSON; - is standard output"},
        PAGE_OPTION_ROW(&o.common.page),
        {"pipeview", OPTION_STRING, &o.pipeview, "FILE", "write a pipeline view for Konata; - is standard output"},
        {"pipeview-from", OPTION_COUNT, &o.pipeview_from, "N", "first instruction of the view (0)"},
        {"pipeview-insns", OPTION_COUNT, &o.pipeview_insns, "N", "number of instructions in the view (10000)"},
        PROGRAM_OPTION_ROWS(&o.common),
        POINTS_OPTION_ROWS(&o.points),
        CORE_OPTION_ROWS(&o.common.core),
        WITH_OPTION_ROWS(&o.with),
        RESTORE_OPTION_ROW(&o.common.guest),
        GUEST_OPTION_ROWS(&o.common.guest),
    };
    enum { ROWS = sizeof table / sizeof table[0] };
    int first, status;
    if (command_parse(
            table, ROWS, argc, argv, &o.common.help,
            "usage: cyclescope stat [options] [--] PROGRAM [ARGUMENTS]\n\n"
            "Runs a 64-bit RISC-V Linux program on a simulated out-of-order core, counts events and prints the\n"
            "counts to standard error. Exits with the program's exit status (128 + n: killed by signal n, 125:\n"
            "error of Cyclescope, 0: --max-insns ended the run).\n\noptions:",
            &first, &status))
        status = o.from ? stat_from(&o) : stat_program(&o, argv + first);
    pipeview_free(o.output.pipeview);
    free_events(&o.output.events);
    multiplex_free(&o.turns);
    stat_series_free(&o.series);
    option_list_free(&o.events);
    with_options_free(&o.with);
    program_options_free(&o.common);
    return status;
}
