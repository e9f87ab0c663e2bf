/* Adds slices and reports rounds: the part of the estimates that is the same for all estimators (estimate.h).
 *
 * A slice is the time in which one group of events had the counters; a round is a sequence of slices in which every
 * group has its turns. Time is measured in slots, one slot being the nominal length of a slice. The weight of a slice
 * is its length in slots, and a rate is a count per slot.
 *
 * estimates_add adds a slice to the sums of its round, and lets the estimator predict (estimate_gaps.c,
 * estimate_linear.c). A round is pending until each of its slices has either a count or a prediction for every group;
 * then the round is reported. Variances and confidence intervals are in estimate_interval.c. */
#include "sampler/estimate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sampler/estimate_priv.h"

const struct estimator estimators[] = {
    {"regression", "between neighboring slices of the group, by cycles and instructions", &regression_ops},
    {"interpolation", "between neighboring slices of the group, by time alone", &interpolation_ops},
    {"linear", "the group's slices of a round, scaled up to the round", &linear_ops},
};

const size_t estimator_count = sizeof estimators / sizeof estimators[0];

const struct estimator *estimator_find(const char *name)
{
    for (size_t i = 0; i < estimator_count; i++)
        if (strcmp(estimators[i].name, name) == 0)
            return &estimators[i];
    return NULL;
}

/* ---- pending rounds */

/* Allocates a round. NULL: out of memory. */
static struct pending_round *round_new(const struct estimates *e)
{
    struct pending_round *r = calloc(1, sizeof *r);
    if (r && ((r->value = calloc(e->plan->event_count + 1, sizeof *r->value)) == NULL ||
              (r->group = calloc(e->plan->group_count + 1, sizeof *r->group)) == NULL)) {
        free(r->value);
        free(r);
        r = NULL;
    }
    return r;
}

static void rounds_free(struct pending_round *r)
{
    while (r) {
        struct pending_round *next = r->next;
        free(r->value);
        free(r->group);
        free(r);
        r = next;
    }
}

/* Appends an empty round to the pending ones and makes it the current round. */
static int begin_round(struct estimates *e, uint32_t number, struct error *err)
{
    struct pending_round *r = e->spare;
    if (r)
        e->spare = r->next;
    else if ((r = round_new(e)) == NULL)
        return error_set(err, -ENOMEM, "out of memory for the estimates of a round");
    memset(r->value, 0, e->plan->event_count * sizeof *r->value);
    memset(r->group, 0, e->plan->group_count * sizeof *r->group);
    *r = (struct pending_round){.value = r->value, .group = r->group};
    r->result = (struct estimate_round){
        .round = number, .first_cycle = e->cycles, .first_insn = e->insns, .value = r->value, .half = e->half};
    if (e->last)
        e->last->next = r;
    else
        e->first = r;
    e->last = r;
    e->round_slices = 0;
    return 0;
}

/* Whether the round has all its slices and all its predictions. */
static bool is_ready(const struct estimates *e, const struct pending_round *r)
{
    for (size_t g = 0; g < e->plan->group_count; g++)
        if (r->group[g].unpredicted.weight > 0)
            return false;
    return r->ended;
}

/* Calls `ready` for the round. The events that are counted always, cycles and instructions, have the exact length of
 * the round as their value, and an interval of width 0. */
static void report_round(struct estimates *e, struct pending_round *r)
{
    for (size_t i = 0; i < e->plan->event_count; i++) {
        const struct plan_event *v = &e->plan->event[i];
        if (v->group == PLAN_ALWAYS) {
            r->value[i] = (double)(v->place == CLOCK_CYCLES ? r->result.cycles : r->result.insns);
            e->half[i] = 0;
        } else {
            e->half[i] = estimate_half_of_round(e, i, &r->group[v->group].coefficients);
        }
    }
    e->ready(e->context, &r->result);
}

/* Reports rounds in order, up to the first that is not ready, and moves them to the free list. */
static void report_ready_rounds(struct estimates *e)
{
    while (e->first && is_ready(e, e->first)) {
        struct pending_round *r = e->first;
        if (e->ready)
            report_round(e, r);
        e->first = r->next;
        if (e->last == r)
            e->last = NULL;
        r->next = e->spare;
        e->spare = r;
    }
}

/* Ends the current round, if it has not ended yet. */
static void end_round(struct estimates *e)
{
    if (e->last == NULL || e->last->ended)
        return;
    if (e->ops->round_ended)
        e->ops->round_ended(e);
    e->last->ended = true;
}

/* ---- creation */

/* Lists the events of each group, and sets up to which lag samples of a group are compared: twice their average
 * distance, which is slots / share. That is two rounds for a group with one slot per round. */
static int set_up_groups(struct estimates *e, struct error *err)
{
    const struct plan *p = e->plan;
    if (p->slice == 0)
        return error_set(err, -EINVAL, "the slices of the plan have no length");
    for (size_t i = 0; i < p->event_count; i++) {
        const struct plan_event *v = &p->event[i];
        if (v->group == PLAN_ALWAYS)
            continue;
        if (v->group >= p->group_count || v->place >= SLICE_COUNTS)
            return error_set(err, -EINVAL, "event %zu is in group %u, place %u, which the plan does not have", i,
                             v->group, v->place);
        struct group_state *g = &e->group[v->group];
        if (g->counts == SLICE_COUNTS)
            return error_set(err, -EINVAL, "group %u has more events than a slice has counts", v->group);
        g->event[g->counts++] = i;
    }
    for (size_t i = 0; i < p->group_count; i++)
        e->group[i].max_lag = 2.0 * p->slots / (p->group[i].share ? p->group[i].share : 1) + 0.5;
    return 0;
}

struct estimates *estimates_new(const struct plan *p, const struct estimator *by, estimate_round_ready *ready,
                                void *context, struct error *err)
{
    struct estimates *e = calloc(1, sizeof *e);
    if (e) {
        e->plan = p;
        e->ops = by->ops;
        e->ready = ready;
        e->context = context;
        e->group = calloc(p->group_count + 1, sizeof *e->group);
        e->event = calloc(p->event_count + 1, sizeof *e->event);
        e->half = calloc(p->event_count + 1, sizeof *e->half);
    }
    if (e == NULL || e->group == NULL || e->event == NULL || e->half == NULL)
        error_set(err, -ENOMEM, "out of memory for estimates of %zu events", p->event_count);
    else if (set_up_groups(e, err) == 0)
        return e;
    estimates_free(e);
    return NULL;
}

void estimates_free(struct estimates *e)
{
    if (e == NULL)
        return;
    rounds_free(e->first);
    rounds_free(e->spare);
    free(e->group);
    free(e->event);
    free(e->half);
    free(e->round_slice);
    free(e);
}

/* ---- slices */

/* Appends a slice to the list of slices of the current round. */
static int remember_slice(struct estimates *e, uint32_t group, double weight, struct error *err)
{
    struct round_slice *grown = array_grow(e->round_slice, e->round_slices, &e->round_slice_room, sizeof *grown);
    if (grown == NULL)
        return error_set(err, -ENOMEM, "out of memory for the slices of a round");
    e->round_slice = grown;
    e->round_slice[e->round_slices++] = (struct round_slice){.group = group, .weight = weight};
    return 0;
}

/* Adds a slice to the unpredicted slots of all groups but the one that it counted. */
static void add_unpredicted(struct pending_round *r, size_t groups, uint32_t counted, double weight, double time,
                            double other_rate)
{
    for (size_t g = 0; g < groups; g++) {
        struct unpredicted_slots *u = &r->group[g].unpredicted;
        if (g == counted || weight <= 0)
            continue;
        if (u->weight <= 0)
            u->first_time = time;
        u->weight += weight;
        u->count++;
        u->time += weight * time;
        u->other += weight * other_rate;
        u->last_time = time;
    }
}

/* Adds the counts of a slice to its group, its events and the current round, and sets the rates of `sample`: count
 * divided by the length of the slice in slots. */
static void add_counts(struct estimates *e, const struct slice *s, double weight, struct sample *sample)
{
    struct group_state *g = &e->group[s->group];
    g->slices++;
    g->late_slices += !sample->early;
    g->weight += weight;
    for (size_t i = 0; i < g->counts; i++) {
        struct event_state *v = &e->event[g->event[i]];
        uint32_t place = e->plan->event[g->event[i]].place;
        double count = (double)s->count[place];
        v->counted += s->count[place];
        if (!sample->early) {
            v->late_counted += s->count[place];
            v->squares += count * count;
            v->nonzero += s->count[place] != 0;
        }
        e->last->value[g->event[i]] += count;
        sample->rate[place] = weight > 0 ? count / weight : 0;
    }
}

/* A slice that is shorter than half the length planned for its round is no sample: its rate is too uncertain to predict
 * other slices. */
int estimates_add(struct estimates *e, const struct slice *s, struct error *err)
{
    if (s->group != SLICE_IDLE && s->group >= e->plan->group_count)
        return error_set(err, -EINVAL, "a slice belongs to group %u, but the plan has only %zu groups", s->group,
                         e->plan->group_count);
    if (e->last && s->round < e->last->result.round)
        return error_set(err, -EINVAL, "a slice of round %u follows a slice of round %u", s->round,
                         e->last->result.round);
    if (e->last == NULL || s->round > e->last->result.round) {
        end_round(e);
        report_ready_rounds(e);
        int code = begin_round(e, s->round, err);
        if (code != 0)
            return code;
    }
    bool by_cycles = e->plan->clock == CLOCK_CYCLES;
    double unit = (double)e->plan->slice, weight = (double)(by_cycles ? s->cycles : s->insns) / unit;
    double planned = (double)plan_slice_in_round(e->plan, s->round) / unit;
    struct sample sample = {.time = e->time + weight / 2, .early = planned < 1};
    sample.other_rate = weight > 0 ? (double)(by_cycles ? s->insns : s->cycles) / unit / weight : 0;
    int code = remember_slice(e, s->group, weight, err);
    if (code != 0)
        return code;
    e->time += weight;
    e->cycles += s->cycles;
    e->insns += s->insns;
    e->last->result.cycles += s->cycles;
    e->last->result.insns += s->insns;
    e->last->weight += weight;
    add_unpredicted(e->last, e->plan->group_count, s->group, weight, sample.time, sample.other_rate);
    if (s->group != SLICE_IDLE) {
        add_counts(e, s, weight, &sample);
        bool is_sample = weight >= 0.5 * planned;
        if (e->ops->slice_counted)
            e->ops->slice_counted(e, s->group, is_sample ? &sample : NULL);
        if (is_sample)
            group_add_sample(e, s->group, &sample);
        report_ready_rounds(e);
    }
    return 0;
}

void estimates_finish(struct estimates *e)
{
    end_round(e);
    if (e->ops->run_ended)
        e->ops->run_ended(e);
    report_ready_rounds(e);
}
