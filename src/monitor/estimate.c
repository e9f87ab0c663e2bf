#include "monitor/estimate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/estimate_priv.h"

const struct estimator estimators[] = {
    {"regression", "between neighbouring slices of the group, by cycles and instructions", &estimating_regression},
    {"interpolation", "between neighbouring slices of the group, by time alone", &estimating_interpolation},
    {"linear", "the group's slices of a round, scaled up to the round", &estimating_linear},
};

const size_t estimator_count = sizeof estimators / sizeof estimators[0];

const struct estimator *estimator_find(const char *name)
{
    for (size_t i = 0; i < estimator_count; i++)
        if (strcmp(estimators[i].name, name) == 0)
            return &estimators[i];
    return NULL;
}

/* ---- rounds that are not ready */

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

static int round_begins(struct estimates *e, uint32_t number, struct error *err)
{
    struct pending_round *r = e->spare;
    if (r)
        e->spare = r->next;
    else if ((r = round_new(e)) == NULL)
        return error_set(err, -ENOMEM, "out of memory for the estimates of a round");
    memset(r->value, 0, e->plan->event_count * sizeof *r->value);
    memset(r->group, 0, e->plan->group_count * sizeof *r->group);
    *r = (struct pending_round){.value = r->value, .group = r->group};
    r->told = (struct estimate_round){
        .round = number, .first_cycle = e->cycles, .first_insn = e->insns, .value = r->value, .half = e->half};
    if (e->last)
        e->last->next = r;
    else
        e->first = r;
    e->last = r;
    e->slots = 0;
    return 0;
}

static bool is_ready(const struct estimates *e, const struct pending_round *r)
{
    for (size_t g = 0; g < e->plan->group_count; g++)
        if (r->group[g].open.weight > 0)
            return false;
    return r->ended;
}

static void tell_round(struct estimates *e, struct pending_round *r)
{
    for (size_t i = 0; i < e->plan->event_count; i++) {
        const struct plan_event *v = &e->plan->event[i];
        if (v->group == PLAN_ALWAYS) {
            r->value[i] = (double)(v->place == CLOCK_CYCLES ? r->told.cycles : r->told.insns);
            e->half[i] = 0;
        } else {
            e->half[i] = estimate_half_of_round(e, i, &r->group[v->group].design);
        }
    }
    e->ready(e->context, &r->told);
}

static void tell_ready(struct estimates *e)
{
    while (e->first && is_ready(e, e->first)) {
        struct pending_round *r = e->first;
        if (e->ready)
            tell_round(e, r);
        e->first = r->next;
        if (e->last == r)
            e->last = NULL;
        r->next = e->spare;
        e->spare = r;
    }
}

static void round_ends(struct estimates *e)
{
    if (e->last == NULL || e->last->ended)
        return;
    if (e->how->round_ended)
        e->how->round_ended(e);
    e->last->ended = true;
}

/* ---- setting up */

static int groups_set_up(struct estimates *e, struct error *err)
{
    const struct plan *p = e->plan;
    if (p->slice == 0)
        return error_set(err, -EINVAL, "a plan of slices without length");
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
        e->group[i].reach = 2.0 * p->slots / (p->group[i].share ? p->group[i].share : 1) + 0.5;
    return 0;
}

struct estimates *estimates_new(const struct plan *p, const struct estimator *by, estimate_round_ready *ready,
                                void *context, struct error *err)
{
    struct estimates *e = calloc(1, sizeof *e);
    if (e) {
        e->plan = p;
        e->how = by->how;
        e->ready = ready;
        e->context = context;
        e->group = calloc(p->group_count + 1, sizeof *e->group);
        e->event = calloc(p->event_count + 1, sizeof *e->event);
        e->half = calloc(p->event_count + 1, sizeof *e->half);
    }
    if (e == NULL || e->group == NULL || e->event == NULL || e->half == NULL)
        error_set(err, -ENOMEM, "out of memory for estimates of %zu events", p->event_count);
    else if (groups_set_up(e, err) == 0)
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
    free(e->slot);
    free(e);
}

/* ---- slices */

static int remember_slot(struct estimates *e, uint32_t group, double weight, struct error *err)
{
    if (e->slots == e->slot_room) {
        size_t room = e->slot_room ? 2 * e->slot_room : 16;
        struct round_slot *grown = realloc(e->slot, room * sizeof *grown);
        if (grown == NULL)
            return error_set(err, -ENOMEM, "out of memory for the slices of a round");
        e->slot = grown;
        e->slot_room = room;
    }
    e->slot[e->slots++] = (struct round_slot){.group = group, .weight = weight};
    return 0;
}

static void add_to_parts(struct pending_round *r, size_t groups, uint32_t counted, double weight, double time,
                         double other)
{
    for (size_t g = 0; g < groups; g++) {
        struct part *p = &r->group[g].open;
        if (g == counted || weight <= 0)
            continue;
        if (p->weight <= 0)
            p->first = time;
        p->weight += weight;
        p->time += weight * time;
        p->other += weight * other;
        p->last = time;
    }
}

static void add_counts(struct estimates *e, const struct slice *s, double weight, struct sample *sample)
{
    struct group_state *g = &e->group[s->group];
    g->slices++;
    g->weight += weight;
    for (size_t i = 0; i < g->counts; i++) {
        struct event_state *v = &e->event[g->event[i]];
        uint32_t place = e->plan->event[g->event[i]].place;
        double count = (double)s->count[place];
        v->counted += s->count[place];
        v->squares += count * count;
        v->nonzero += s->count[place] != 0;
        e->last->value[g->event[i]] += count;
        sample->rate[place] = weight > 0 ? count / weight : 0;
    }
}

int estimates_add(struct estimates *e, const struct slice *s, struct error *err)
{
    if (s->group != SLICE_IDLE && s->group >= e->plan->group_count)
        return error_set(err, -EINVAL, "a slice of group %u, of which the plan has %zu", s->group,
                         e->plan->group_count);
    if (e->last && s->round < e->last->told.round)
        return error_set(err, -EINVAL, "a slice of round %u behind one of round %u", s->round, e->last->told.round);
    if (e->last == NULL || s->round > e->last->told.round) {
        round_ends(e);
        tell_ready(e);
        int code = round_begins(e, s->round, err);
        if (code != 0)
            return code;
    }
    bool by_cycles = e->plan->clock == CLOCK_CYCLES;
    double unit = (double)e->plan->slice, weight = (double)(by_cycles ? s->cycles : s->insns) / unit;
    struct sample sample = {.time = e->time + weight / 2};
    sample.other = weight > 0 ? (double)(by_cycles ? s->insns : s->cycles) / unit / weight : 0;
    int code = remember_slot(e, s->group, weight, err);
    if (code != 0)
        return code;
    e->time += weight;
    e->cycles += s->cycles;
    e->insns += s->insns;
    e->last->told.cycles += s->cycles;
    e->last->told.insns += s->insns;
    e->last->weight += weight;
    add_to_parts(e->last, e->plan->group_count, s->group, weight, sample.time, sample.other);
    if (s->group != SLICE_IDLE) {
        add_counts(e, s, weight, &sample);
        bool predicts = weight >= 0.5;
        if (e->how->counted)
            e->how->counted(e, s->group, predicts ? &sample : NULL);
        if (predicts)
            group_add_sample(e, s->group, &sample);
        tell_ready(e);
    }
    return 0;
}

void estimates_finish(struct estimates *e)
{
    round_ends(e);
    if (e->how->run_ended)
        e->how->run_ended(e);
    tell_ready(e);
}
