/* A program that is multiplexed: what its slots hold is made up, the order of groups is drawn, estimates are made. */
#ifndef TEST_ESTIMATE_WORLD_H
#define TEST_ESTIMATE_WORLD_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "sampler/estimate.h"

enum { WORLD_GROUPS = 6, WORLD_SLICE = 1000 };

/* One slot. */
struct world_slot {
    uint64_t insns, cycles, count; /* `count`: of every event */
};

struct world {
    unsigned groups, idle;        /* slots of a round that no group has */
    unsigned share[WORLD_GROUPS]; /* 0: 1 */
    size_t slots;                 /* of the run */
    bool fixed;                   /* order */
    enum slice_clock clock;
    void (*slot)(const struct world *w, size_t number, struct random *r, struct world_slot *to);
    uint64_t seed;
    estimate_round_ready *ready;
    void *context;
    /* what came of it */
    struct plan plan;
    struct plan_event event[WORLD_GROUPS + 2]; /* one per group, then cycles and instructions */
    struct plan_group group[WORLD_GROUPS];
    struct estimates *estimates;
    double truth; /* of an event */
    uint64_t cycles, insns;
};

static inline double world_uniform(struct random *r)
{
    return (double)(random_u64(r) >> 11) / 9007199254740992.0;
}

static inline double world_normal(struct random *r)
{
    double u = 1 - world_uniform(r), v = world_uniform(r);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static inline void world_plan(struct world *w)
{
    w->plan = (struct plan){.event = w->event, .group = w->group, .group_count = w->groups, .slots = w->idle};
    w->plan.event_count = w->groups + 2;
    w->plan.slice = WORLD_SLICE;
    w->plan.clock = w->clock;
    for (unsigned g = 0; g < w->groups; g++) {
        w->event[g] = (struct plan_event){.group = g, .place = g % 3};
        w->group[g] = (struct plan_group){.share = w->share[g] ? w->share[g] : 1, .counts = 1};
        w->plan.slots += w->group[g].share;
    }
    w->event[w->groups] = (struct plan_event){.group = PLAN_ALWAYS, .place = CLOCK_CYCLES};
    w->event[w->groups + 1] = (struct plan_event){.group = PLAN_ALWAYS, .place = CLOCK_INSNS};
}

/* The groups of a round's slots. */
static inline void world_order(const struct world *w, struct random *r, uint32_t *order)
{
    unsigned n = 0;
    for (unsigned g = 0; g < w->groups; g++)
        for (unsigned i = 0; i < w->group[g].share; i++)
            order[n++] = g;
    while (n < w->plan.slots)
        order[n++] = SLICE_IDLE;
    for (unsigned i = n - 1; !w->fixed && i > 0; i--) {
        unsigned j = (unsigned)(random_u64(r) % (i + 1));
        uint32_t swapped = order[i];
        order[i] = order[j];
        order[j] = swapped;
    }
}

static inline void world_begin(struct world *w, const char *estimator)
{
    struct error err = {""};
    world_plan(w);
    w->truth = 0;
    w->cycles = w->insns = 0;
    w->estimates = estimates_new(&w->plan, estimator_find(estimator), w->ready, w->context, &err);
    if (w->estimates == NULL)
        fail_msg("%s", err.text);
}

static inline void world_add(struct world *w, const struct slice *s)
{
    struct error err = {""};
    if (estimates_add(w->estimates, s, &err) != 0)
        fail_msg("%s", err.text);
}

/* All slices; the run is not finished yet. */
static inline void world_run(struct world *w, const char *estimator)
{
    struct random order_drawn, drawn;
    uint32_t order[64] = {0};
    random_seed(&order_drawn, w->seed);
    random_seed(&drawn, w->seed + 1000003);
    world_begin(w, estimator);
    for (size_t i = 0; i < w->slots; i++) {
        struct world_slot slot = {.cycles = WORLD_SLICE, .insns = WORLD_SLICE};
        if (i % w->plan.slots == 0)
            world_order(w, &order_drawn, order);
        w->slot(w, i, &drawn, &slot);
        struct slice s = {.group = order[i % w->plan.slots], .round = (uint32_t)(i / w->plan.slots)};
        s.cycles = slot.cycles;
        s.insns = slot.insns;
        if (s.group != SLICE_IDLE)
            s.count[s.group % 3] = slot.count;
        w->truth += (double)slot.count;
        w->cycles += slot.cycles;
        w->insns += slot.insns;
        world_add(w, &s);
    }
}

static inline void world_end(struct world *w)
{
    estimates_free(w->estimates);
    w->estimates = NULL;
}

static inline double off_by(double is, double should)
{
    return fabs(is - should) / fmax(fabs(should), 1e-300);
}

static const char *const estimator_names[] = {"linear", "interpolation", "regression"};

#define FOR_EACH_ESTIMATOR(name)                                                                                       \
    for (const char *const *at = estimator_names, *name = *at; at < estimator_names + 3;                               \
         name = ++at < estimator_names + 3 ? *at : NULL)

static inline void expect_near(double is, double should, double most_off)
{
    if (!(off_by(is, should) <= most_off))
        fail_msg("%g instead of %g", is, should);
}

/* A slot has about 110 events. */
static inline void noisy(const struct world *w, size_t i, struct random *r, struct world_slot *to)
{
    (void)w, (void)i;
    to->count = 100 + random_u64(r) % 21;
}

#endif
