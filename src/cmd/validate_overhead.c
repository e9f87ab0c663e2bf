/* cyclescope validate overhead: measures what the sampler costs at several sampling frequencies. */
#include <errno.h>

#include "cmd/command.h"
#include "cmd/validate.h"
#include "sampler/core_sampler.h"
#include "sampler/stalls_logical.h"
#include "report/validate_sampling_report.h"

/* The paper's table 4: overhead by sampling frequency. */
static const struct {
    uint64_t khz;
    double percent;
} table4[] = {{1, 0.2}, {2, 0.5}, {5, 0.8}, {20, 2}, {100, 12}, {200, 22}, {1000, 63}};
enum { FREQUENCIES = sizeof table4 / sizeof table4[0], RUNS = 1 + FREQUENCIES };

/* The results of a run, in shared memory. Run 0 is without the sampler; run i has frequency i - 1. */
struct overhead_slot {
    struct program_run run;
    uint64_t slices;
};

struct validation {
    struct validate_options *options;
    struct event_specs specs;
    struct plan plan;
    struct program_runs runs;
    struct core_sampler sampler; /* used in the process of a run */
};

/* Returns the length of a slice in cycles. */
static uint64_t slice_of(const struct validation *v, unsigned frequency)
{
    return v->options->core.config.clock_mhz * 1000 / table4[frequency].khz;
}

/* ---- a run, in its own process */

static void take_slice(void *context, const struct slice *s)
{
    (void)s;
    ((struct overhead_slot *)context)->slices++;
}

static int prepare(void *context, unsigned i, struct simulation *s, struct error *err)
{
    struct validation *v = context;
    if (i == 0)
        return 0;
    v->plan.slice = slice_of(v, i - 1);
    return core_sampler_init(&v->sampler, &v->plan, s, 1, v->runs.guest->quantum_insns, take_slice,
                             program_run_slot(&v->runs, i), err);
}

static int finish(void *context, unsigned i, struct error *err)
{
    struct validation *v = context;
    if (i > 0 && sampler_lost(v->sampler.sampler))
        return error_set(err, -ENOSPC, "the sampler's log was full: use a shorter --thread-quantum");
    return 0;
}

/* ---- the command */

static int report(void *context, const struct own_output *own)
{
    struct validation *v = context;
    struct validate_options *o = v->options;
    struct overhead_row row[FREQUENCIES];
    struct overhead_report r = {.run = program_run_report(&v->runs, 0, &o->core.simulation),
                                .groups = v->plan.group_count,
                                .row = row,
                                .rows = FREQUENCIES,
                                .seconds = v->runs.seconds};
    struct error err;
    for (unsigned i = 0; i < RUNS; i++) {
        const struct overhead_slot *slot = program_run_slot(&v->runs, i);
        if (program_run_check(&v->runs, i, i ? "a run with the sampler" : "the run without the sampler", &err) != 0)
            return own_fail(own, &err);
        if (i > 0)
            row[i - 1] = (struct overhead_row){.khz = table4[i - 1].khz,
                                               .slice = slice_of(v, i - 1),
                                               .cycles = slot->run.result.counts.core.cycles,
                                               .slices = slot->slices,
                                               .paper = table4[i - 1].percent};
    }
    if (!o->quiet)
        overhead_report_print(&r, own_page(own));
    if (o->files.csv.to)
        overhead_report_csv(&r, o->files.csv.to);
    return stack_files_close(&o->files, own, o->files.json.to ? overhead_report_json(&r) : NULL, r.run.status);
}

static int check_options(void *context, char **argv, struct error *err)
{
    struct validation *v = context;
    int code = validate_options_finish(v->options, argv, err);
    if (code == 0)
        code = stalls_logical_specs(&v->specs, err);
    if (code == 0)
        code = plan_make(&v->specs, &v->options->core.config, &(struct plan_options){0}, &v->plan, err);
    return code;
}

static int measure(struct validate_options *o, char **argv)
{
    struct validation v = {
        .options = o,
        .runs = {.count = RUNS, .slot_bytes = sizeof(struct overhead_slot), .prepare = prepare, .finish = finish}};
    v.runs.context = &v;
    int status = validate_program(o, &v.runs, argv, check_options, report);
    plan_free(&v.plan);
    event_specs_free(&v.specs);
    return status;
}

int validate_overhead(int argc, char **argv)
{
    struct validate_options o = {0};
    validate_options_init(&o);
    const struct option table[] = {VALIDATE_OPTION_ROWS(&o)};
    enum { ROWS = sizeof table / sizeof table[0] };
    int first, status;
    if (command_parse(
            table, ROWS, argc, argv, &o.help,
            "usage: cyclescope validate overhead [options] [--] PROGRAM [ARGUMENTS]\n\n"
            "Runs the program alone, and with the sampler, which counts the events of the stall breakdown, at\n"
            "seven frequencies from 1 kHz to 1 MHz of the core's clock. Shows how much slower the program gets.\n\n"
            "options:",
            &first, &status))
        status = measure(&o, argv + first);
    validate_options_free(&o);
    return status;
}
