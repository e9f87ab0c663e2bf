#include "sampler/slice_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/random.h"

enum { CYCLES, INSNS, COUNTS }; /* columns of a row; counts of events begin at COUNTS */

int slice_table_add(struct slice_table *t, const struct slice *s, const uint64_t *counts, struct error *err)
{
    size_t row = COUNTS + t->events;
    uint64_t *grown = array_grow(t->cell, t->count, &t->room, row * sizeof *grown);
    if (grown == NULL)
        return error_set(err, -ENOMEM, "out of memory for the counts of %zu slices", t->count + 1);
    t->cell = grown;
    uint64_t *to = t->cell + t->count++ * row;
    to[CYCLES] = s->cycles;
    to[INSNS] = s->insns;
    memcpy(to + COUNTS, counts, t->events * sizeof *to);
    return 0;
}

void slice_table_free(struct slice_table *t)
{
    free(t->cell);
    *t = (struct slice_table){0};
}

/* ---- replay */

struct replay {
    const struct slice_table *table;
    const struct plan *plan;
    struct random random;
    uint32_t order[PLAN_SLOTS_MOST]; /* group of each slot of the round, or SLICE_IDLE */
    uint64_t *sum;                   /* sum of the rows of one slice of the replay */
};

/* Groups in the order of the plan, each as often as it has slots, then idle slots. */
static void fill_order(struct replay *r)
{
    const struct plan *p = r->plan;
    uint32_t slot = 0;
    for (size_t g = 0; g < p->group_count; g++)
        for (uint32_t n = p->group[g].share; n > 0 && slot < p->slots; n--)
            r->order[slot++] = (uint32_t)g;
    while (slot < p->slots)
        r->order[slot++] = SLICE_IDLE;
}

/* The group of this slot: one step of a Fisher-Yates shuffle, unless the plan has a fixed order. */
static uint32_t next_group(struct replay *r, uint32_t slot)
{
    if (!r->plan->fixed_order) {
        uint32_t drawn = slot + (uint32_t)(random_u64(&r->random) % (r->plan->slots - slot));
        uint32_t group = r->order[drawn];
        r->order[drawn] = r->order[slot];
        r->order[slot] = group;
    }
    return r->order[slot];
}

/* Sums `merged` rows of the table from `first` on. */
static void sum_rows(struct replay *r, size_t first, unsigned merged)
{
    size_t row = COUNTS + r->table->events;
    memset(r->sum, 0, row * sizeof *r->sum);
    for (size_t i = first; i < first + merged; i++)
        for (size_t k = 0; k < row; k++)
            r->sum[k] += r->table->cell[i * row + k];
}

/* The slice of `group` with the sums of sum_rows. */
static struct slice make_slice(const struct replay *r, uint32_t round, uint32_t group)
{
    const struct plan *p = r->plan;
    struct slice s = {.group = group, .round = round, .cycles = r->sum[CYCLES], .insns = r->sum[INSNS]};
    for (size_t i = 0; i < p->event_count; i++)
        if (p->event[i].group == group)
            s.count[p->event[i].place] = r->sum[COUNTS + i];
    return s;
}

int slice_table_replay(const struct slice_table *t, const struct plan *p, unsigned merged, slice_table_sink *sink,
                       void *context, struct error *err)
{
    struct replay r = {.table = t, .plan = p};
    int code = 0;
    if (p->slots == 0 || p->slots > PLAN_SLOTS_MOST || p->event_count != t->events || merged == 0)
        return error_set(err, -EINVAL, "the plan to replay does not fit the table of slices");
    r.sum = calloc(COUNTS + t->events, sizeof *r.sum);
    if (r.sum == NULL)
        return error_set(err, -ENOMEM, "out of memory for a slice");
    random_seed(&r.random, p->seed);
    fill_order(&r);
    for (size_t i = 0; code == 0 && i < t->count / merged; i++) {
        uint32_t group = next_group(&r, (uint32_t)(i % p->slots));
        sum_rows(&r, i * merged, merged);
        struct slice s = make_slice(&r, (uint32_t)(i / p->slots), group);
        code = sink(context, &s, r.sum + COUNTS, err);
    }
    free(r.sum);
    return code;
}
