/* cyclescope validate counters: compares multiplexed counts with exact counts of the same run. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "cmd/command.h"
#include "cmd/validate.h"
#include "sampler/core_sampler.h"
#include "sampler/slice_table.h"
#include "sampler/slice_truth.h"
#include "report/validate_sampling_report.h"

/* The events of the paper's table 2, in its order. The paper's TLB is our second-level TLB, in which a miss causes a
 * page walk; the paper's ERATs are our first-level TLBs. */
#define TABLE2_EVENTS                                                                                                  \
    "instructions,loads,stores,l1d_misses,l1i_misses,page_walks,tlb_access_misses,l2d_misses,mispredictions"

enum { RATIO = 10, SWEEP_SLICE = 20000, SWEEP_LONG = 500000, SWEEP_POINTS = 9, SWEEP_DRAWS = 20 };

/* Figure 6 of the paper: first several slices at the ratio of --ratio (0 here), then several ratios at a long slice. */
static const struct {
    uint64_t slice;
    uint32_t ratio;
} sweep_points[SWEEP_POINTS] = {{SWEEP_SLICE, 0}, {40000, 0},       {100000, 0},      {200000, 0},     {SWEEP_LONG, 0},
                                {SWEEP_LONG, 5},  {SWEEP_LONG, 10}, {SWEEP_LONG, 20}, {SWEEP_LONG, 40}};

struct counters_options {
    struct validate_options common;
    struct option_list events;
    uint64_t slice, ratio, order_seed, seeds;
    bool sweep;
};

/* The results of a run, in shared memory. */
struct counters_slot {
    struct program_run run;
    size_t rounds;   /* number of rounds */
    uint64_t cycles; /* cycles in all slices */
    struct counter_checked event[PLAN_EVENTS_MOST];
    size_t columns;                                                /* length of each `column` */
    struct checked_column column[PLAN_EVENTS_MOST][CHECK_COLUMNS]; /* by event: its rounds */
    struct replayed replayed[PLAN_EVENTS_MOST][CHECK_ESTIMATORS];
    struct sweep_point sweep[SWEEP_POINTS];
};

enum { RUN_MAIN, RUN_SWEEP };

struct validation {
    struct counters_options *options;
    struct event_specs specs;
    struct plan plan[2]; /* by run: the main run, and the run with short slices for --sweep */
    struct program_runs runs;
    /* Used in the process of a run. */
    struct core_sampler sampler;
    struct slice_truth *truth;   /* exact counts of the current slice */
    struct slice_table table;    /* exact counts of all slices, for replays */
    struct counter_check *check; /* compares estimates with exact counts */
    int code;                    /* code of the first error in take_slice */
    struct error err;            /* message of that error */
};

/* ---- a run, in its own process */

static void take_slice(void *context, const struct slice *s)
{
    struct validation *v = context;
    const uint64_t *counts = slice_truth_next(v->truth);
    if (v->code == 0)
        v->code = slice_table_add(&v->table, s, counts, &v->err);
    if (v->code == 0)
        v->code = counter_check_add(v->check, s, counts, &v->err);
}

static int prepare(void *context, unsigned i, struct simulation *s, struct error *err)
{
    struct validation *v = context;
    const struct plan *p = &v->plan[i];
    v->table.events = p->event_count;
    if ((v->truth = slice_truth_new(p, err)) == NULL || (v->check = counter_check_new(p, err)) == NULL)
        return -ENOMEM;
    s->observer = slice_truth_observer(v->truth);
    return core_sampler_init(&v->sampler, p, s, 1, v->runs.guest->quantum_insns, take_slice, v, err);
}

/* ---- replays of a run */

static int add_replayed(void *context, const struct slice *s, const uint64_t *counts, struct error *err)
{
    return counter_check_add(context, s, counts, err);
}

/* Replays the slices of a run with another plan; `merged` slices become one. Returns the comparison with exact counts,
 * which the caller frees, or NULL if that fails. */
static struct counter_check *replay(const struct slice_table *t, const struct plan *p, unsigned merged,
                                    struct error *err)
{
    struct counter_check *c = counter_check_new(p, err);
    if (c && (slice_table_replay(t, p, merged, add_replayed, c, err) != 0 || counter_check_finish(c, err) != 0)) {
        counter_check_free(c);
        c = NULL;
    }
    return c;
}

static void add_mean(double *sum, double value, uint64_t of)
{
    *sum += value / (double)of;
}

/* Replays the main run with other random orders of slices, and averages the results. */
static int replay_orders(struct validation *v, struct counters_slot *slot, struct error *err)
{
    struct plan p = v->plan[RUN_MAIN];
    for (uint64_t seed = 1; seed <= v->options->seeds; seed++) {
        p.seed = seed;
        struct counter_check *c = replay(&v->table, &p, 1, err);
        if (c == NULL)
            return -ENOMEM;
        for (size_t e = 0; e < p.event_count; e++) {
            struct counter_checked checked;
            counter_check_event(c, e, &checked);
            for (unsigned i = 0; i < CHECK_ESTIMATORS; i++) {
                struct replayed *to = &slot->replayed[e][i];
                add_mean(&to->distance, checked.by[i].distance, v->options->seeds);
                add_mean(&to->error, checked.by[i].error, v->options->seeds);
                to->held += checked.by[i].holds;
            }
        }
        counter_check_free(c);
    }
    return 0;
}

/* Replays the run with short slices at one length of slice and one ratio, and averages over random orders. */
static int sweep_point(struct validation *v, struct sweep_point *to, struct error *err)
{
    struct plan p = v->plan[RUN_SWEEP];
    p.slice = to->slice;
    p.slots = to->ratio;
    if (p.slots < p.group_count) /* a round must have a slice for each group */
        return 0;
    for (unsigned draw = 0; draw < SWEEP_DRAWS; draw++) {
        p.seed = draw + 1;
        struct counter_check *c = replay(&v->table, &p, (unsigned)(to->slice / SWEEP_SLICE), err);
        if (c == NULL)
            return -ENOMEM;
        to->rounds = counter_check_rounds(c);
        for (size_t e = 0; e < p.event_count; e++) {
            struct counter_checked checked;
            counter_check_event(c, e, &checked);
            for (unsigned i = 0; i < CHECK_ESTIMATORS; i++)
                add_mean(&to->distance[e][i], checked.by[i].distance, SWEEP_DRAWS);
        }
        counter_check_free(c);
    }
    return 0;
}

static int finish(void *context, unsigned i, struct error *err)
{
    struct validation *v = context;
    struct counters_slot *slot = program_run_slot(&v->runs, i);
    if (v->code != 0) {
        *err = v->err;
        return v->code;
    }
    if (sampler_lost(v->sampler.sampler))
        return error_set(err, -ENOSPC,
                         "the sampler's log was full: use a longer --slice or a shorter --thread-quantum");
    if (slice_truth_failed(v->truth))
        return error_set(err, -ENOMEM, "out of memory for exact counts");
    int code = counter_check_finish(v->check, err);
    slot->rounds = counter_check_rounds(v->check);
    slot->cycles = counter_check_cycles(v->check);
    for (size_t e = 0; e < v->specs.count; e++) {
        counter_check_event(v->check, e, &slot->event[e]);
        slot->columns = counter_check_columns(v->check, e, slot->column[e]);
    }
    if (code == 0 && i == RUN_MAIN)
        code = replay_orders(v, slot, err);
    for (size_t n = 0; code == 0 && i == RUN_SWEEP && n < SWEEP_POINTS; n++) {
        slot->sweep[n].slice = sweep_points[n].slice;
        slot->sweep[n].ratio = sweep_points[n].ratio ? sweep_points[n].ratio : (uint32_t)v->plan[RUN_MAIN].slots;
        code = sweep_point(v, &slot->sweep[n], err);
    }
    return code;
}

/* ---- the command */

static int make_plans(struct validation *v, struct error *err)
{
    const struct counters_options *o = v->options;
    const struct core_config *core = &o->common.core.config;
    int code = 0;
    for (size_t i = 0; code == 0 && i < o->events.count; i++)
        code = event_specs_parse(&v->specs, o->events.value[i], err);
    if (code == 0 && o->events.count == 0)
        code = event_specs_parse(&v->specs, TABLE2_EVENTS, err);
    struct plan_options p = {
        .slice = o->slice, .round = o->slice * o->ratio, .seed = o->order_seed, .idle = true, .all_in_turns = true};
    if (code == 0 && o->ratio > PLAN_SLOTS_MOST)
        code = error_set(err, -EINVAL, "--ratio must be at most %d", PLAN_SLOTS_MOST);
    if (code == 0)
        code = plan_make(&v->specs, core, &p, &v->plan[RUN_MAIN], err);
    p.slice = SWEEP_SLICE;
    p.round = 0;
    if (code == 0 && o->sweep)
        code = plan_make(&v->specs, core, &p, &v->plan[RUN_SWEEP], err);
    return code;
}

static int report(void *context, const struct own_output *own)
{
    struct validation *v = context;
    struct counters_options *o = v->options;
    const struct counters_slot *first = program_run_slot(&v->runs, RUN_MAIN);
    const struct counters_slot *second = o->sweep ? program_run_slot(&v->runs, RUN_SWEEP) : NULL;
    struct error err;
    if (program_run_check(&v->runs, RUN_MAIN, "the main run", &err) != 0 ||
        (o->sweep && program_run_check(&v->runs, RUN_SWEEP, "the run with short slices", &err) != 0))
        return own_fail(own, &err);
    struct counters_report r = {.run = program_run_report(&v->runs, RUN_MAIN, &o->common.core.simulation),
                                .specs = &v->specs,
                                .plan = &v->plan[RUN_MAIN],
                                .rounds = first->rounds,
                                .cycles = first->cycles,
                                .event = first->event,
                                .column = first->column,
                                .columns = first->columns,
                                .replayed = o->seeds ? first->replayed : NULL,
                                .seeds = o->seeds,
                                .sweep = second ? second->sweep : NULL,
                                .points = second ? SWEEP_POINTS : 0,
                                .draws = SWEEP_DRAWS};
    if (!o->common.quiet)
        counters_report_print(&r, own_page(own), own_columns(own));
    if (o->common.files.csv.to)
        counters_report_csv(&r, o->common.files.csv.to);
    if (o->common.files.svg.to)
        counters_report_svg(&r, o->common.files.svg.to);
    return stack_files_close(&o->common.files, own, o->common.files.json.to ? counters_report_json(&r) : NULL,
                             r.run.status);
}

static int check_options(void *context, char **argv, struct error *err)
{
    struct validation *v = context;
    int code = validate_options_finish(&v->options->common, argv, err);
    return code == 0 ? make_plans(v, err) : code;
}

static int compare(struct counters_options *o, char **argv)
{
    struct validation v = {.options = o,
                           .runs = {.count = o->sweep ? 2 : 1,
                                    .slot_bytes = sizeof(struct counters_slot),
                                    .prepare = prepare,
                                    .finish = finish}};
    v.runs.context = &v;
    int status = validate_program(&o->common, &v.runs, argv, check_options, report);
    slice_table_free(&v.table);
    plan_free(&v.plan[RUN_MAIN]);
    plan_free(&v.plan[RUN_SWEEP]);
    event_specs_free(&v.specs);
    return status;
}

int validate_counters(int argc, char **argv)
{
    struct counters_options o = {.slice = PLAN_SLICE, .ratio = RATIO};
    validate_options_init(&o.common);
    const struct option table[] = {
        {"e,event", OPTION_LIST, &o.events, "EVENTS", "count these instead of the nine of the paper's table 2"},
        {"slice", OPTION_POSITIVE, &o.slice, "N", "cycles of a slice, in which one group has the counters (200K)"},
        {"ratio", OPTION_COUNT, &o.ratio, "N",
         "slices per round; each group has one of them (10; 0: as few as possible)"},
        {"order-seed", OPTION_COUNT, &o.order_seed, "N", "seed of the random order of the run (0)"},
        {"seeds", OPTION_COUNT, &o.seeds, "N", "replay the run in N other random orders (0)"},
        {"sweep", OPTION_FLAG, &o.sweep, NULL, "also replay a run with short slices at other slices and ratios"},
        {"svg", OPTION_STRING, &o.common.files.svg_path, "FILE",
         "draw estimates and exact counts over time as SVG; - is standard output"},
        VALIDATE_OPTION_ROWS(&o.common),
    };
    enum { ROWS = sizeof table / sizeof table[0] };
    int first, status;
    if (command_parse(table, ROWS, argc, argv, &o.common.help,
                      "usage: cyclescope validate counters [options] [--] PROGRAM [ARGUMENTS]\n\n"
                      "Counts events with the sampler, which multiplexes the core's counters, and at the same time\n"
                      "exactly. Shows how far the two are apart: in every round, as a Kullback-Leibler distance, and\n"
                      "in total.\n\noptions:",
                      &first, &status))
        status = compare(&o, argv + first);
    option_list_free(&o.events);
    validate_options_free(&o.common);
    return status;
}
