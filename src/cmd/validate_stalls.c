/* cyclescope validate stalls: compares the stall breakdown on cores in which stalls overlap less and less. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/command.h"
#include "cmd/validate.h"
#include "sampler/distance.h"
#include "report/validate_sampling_report.h"

enum { INTERVAL = 200000, INTERVALS_MOST = 1 << 16 };

struct check_options {
    struct validate_options common;
    uint64_t interval;
};

/* The results of a run, in shared memory. */
struct stalls_slot {
    struct program_run run;
    struct stall_interval total;
    size_t intervals;                         /* number of intervals; those beyond INTERVALS_MOST are not stored */
    struct stall_interval of[INTERVALS_MOST]; /* by interval */
};

struct validation {
    struct check_options *options;
    struct core_config core[STALL_RUNS];
    struct program_runs runs;
    struct stalls *stalls; /* used in the process of a run */
};

static const char *const run_names[STALL_RUNS] = {"the run on the real core", "the run with one instruction per bundle",
                                                  "the serial run"};

/* ---- cores */

/* Changes a core to one instruction per bundle, with as many bundles in flight as before. */
static int make_single(struct core_config *c, struct error *err)
{
    char setting[64];
    uint64_t bundle = c->dispatch_bundle ? c->dispatch_bundle : c->dispatch_width;
    snprintf(setting, sizeof setting, "rob.size=%llu",
             (unsigned long long)(c->rob_size / bundle ? c->rob_size / bundle : 1));
    int code = core_config_set(c, "dispatch.bundle=1", err);
    return code == 0 ? core_config_set(c, setting, err) : code;
}

static int make_cores(struct validation *v, struct error *err)
{
    const struct core_config *real = &v->options->common.core.config;
    for (unsigned i = 0; i < STALL_RUNS; i++)
        v->core[i] = *real;
    int code = make_single(&v->core[STALL_RUN_SINGLE], err);
    if (code == 0)
        code = make_single(&v->core[STALL_RUN_INORDER], err);
    if (code == 0)
        code = core_config_set(&v->core[STALL_RUN_INORDER], "issue.order=in_order_serial", err);
    for (unsigned i = 0; code == 0 && i < STALL_RUNS; i++)
        code = core_config_check(&v->core[i], err);
    return code;
}

/* ---- a run, in its own process */

static void take_interval(void *context, const struct stall_interval *i)
{
    struct stalls_slot *slot = context;
    if (slot->intervals < INTERVALS_MOST)
        slot->of[slot->intervals] = *i;
    slot->intervals++;
}

static int prepare(void *context, unsigned i, struct simulation *s, struct error *err)
{
    struct validation *v = context;
    struct stalls_config config = {.clock = CLOCK_INSNS,
                                   .interval = v->options->interval,
                                   .user_only = true,
                                   .sink = take_interval,
                                   .context = program_run_slot(&v->runs, i)};
    v->stalls = stalls_new(&config, err);
    if (v->stalls == NULL)
        return -ENOMEM;
    s->core = &v->core[i];
    s->observer = stalls_observer(v->stalls);
    s->sum = stalls_sum(v->stalls);
    return 0;
}

static int finish(void *context, unsigned i, struct error *err)
{
    struct validation *v = context;
    struct stalls_slot *slot = program_run_slot(&v->runs, i);
    slot->total = *stalls_total(v->stalls);
    if (slot->intervals > INTERVALS_MOST)
        return error_set(err, -E2BIG, "the run has more than %d intervals: use a longer --interval", INTERVALS_MOST);
    return 0;
}

/* ---- the command */

/* Returns the number of intervals that all runs have. A last interval that is less than half complete does not count.
 */
static size_t common_intervals(const struct validation *v)
{
    size_t common = SIZE_MAX;
    for (unsigned i = 0; i < STALL_RUNS; i++) {
        const struct stalls_slot *slot = program_run_slot(&v->runs, i);
        size_t n = slot->intervals;
        if (n && slot->of[n - 1].insns < v->options->interval / 2)
            n--;
        common = n < common ? n : common;
    }
    return common;
}

/* Computes the distance between the real core and each core, for each source; NAN if the source is too rare. */
static int find_distances(const struct validation *v, struct stalls_check_report *r, struct error *err)
{
    size_t n = r->intervals;
    double *cycles = calloc(n + 1, 2 * sizeof *cycles);
    if (cycles == NULL)
        return error_set(err, -ENOMEM, "out of memory for %zu intervals", n);
    double *other = cycles + n + 1;
    for (unsigned source = 0; source < STALL_SOURCES; source++)
        for (unsigned run = 0; run < STALL_RUNS; run++) {
            const struct stalls_slot *real = program_run_slot(&v->runs, STALL_RUN_REAL);
            const struct stalls_slot *slot = program_run_slot(&v->runs, run);
            for (size_t i = 0; i < n; i++) {
                cycles[i] = (double)real->of[i].stalls[source];
                other[i] = (double)slot->of[i].stalls[source];
            }
            bool rare = is_rare(real->total.stalls[source], real->total.insns) ||
                        is_rare(slot->total.stalls[source], slot->total.insns);
            r->distance[source][run] = rare ? NAN : kl_distance(cycles, other, n, 1);
        }
    free(cycles);
    return 0;
}

static int report(void *context, const struct own_output *own)
{
    struct validation *v = context;
    struct check_options *o = v->options;
    struct stalls_check_report r = {.run = program_run_report(&v->runs, 0, &o->common.core.simulation),
                                    .interval = o->interval,
                                    .seconds = v->runs.seconds};
    struct error err;
    for (unsigned i = 0; i < STALL_RUNS; i++) {
        const struct stalls_slot *slot = program_run_slot(&v->runs, i);
        if (program_run_check(&v->runs, i, run_names[i], &err) != 0)
            return own_fail(own, &err);
        r.total[i] = slot->total;
    }
    r.intervals = common_intervals(v);
    if (find_distances(v, &r, &err) != 0)
        return own_fail(own, &err);
    if (!o->common.quiet)
        stalls_check_print(&r, own_page(own));
    if (o->common.files.csv.to)
        stalls_check_csv(&r, o->common.files.csv.to);
    return stack_files_close(&o->common.files, own, o->common.files.json.to ? stalls_check_json(&r) : NULL,
                             r.run.status);
}

static int check_options(void *context, char **argv, struct error *err)
{
    struct validation *v = context;
    struct check_options *o = v->options;
    int code = validate_options_finish(&o->common, argv, err);
    if (code == 0 && o->interval == 0)
        code = error_set(err, -EINVAL, "--interval must be at least 1");
    return code == 0 ? make_cores(v, err) : code;
}

static int compare(struct check_options *o, char **argv)
{
    struct validation v = {
        .options = o,
        .runs = {.count = STALL_RUNS, .slot_bytes = sizeof(struct stalls_slot), .prepare = prepare, .finish = finish}};
    v.runs.context = &v;
    return validate_program(&o->common, &v.runs, argv, check_options, report);
}

int validate_stalls(int argc, char **argv)
{
    struct check_options o = {.interval = INTERVAL};
    validate_options_init(&o.common);
    const struct option table[] = {
        {"interval", OPTION_POSITIVE, &o.interval, "N", "compare breakdowns of every N instructions (200K)"},
        VALIDATE_OPTION_ROWS(&o.common),
    };
    enum { ROWS = sizeof table / sizeof table[0] };
    int first, status;
    if (command_parse(
            table, ROWS, argc, argv, &o.common.help,
            "usage: cyclescope validate stalls [options] [--] PROGRAM [ARGUMENTS]\n\n"
            "Breaks the program's stalls down by source on three cores: the core itself; the same with a single\n"
            "instruction per bundle; and that with serial issue, in which an instruction issues only after the\n"
            "previous one has retired, so that stalls cannot overlap. Shows how far the three are apart over\n"
            "time.\n\noptions:",
            &first, &status))
        status = compare(&o, argv + first);
    validate_options_free(&o.common);
    return status;
}
