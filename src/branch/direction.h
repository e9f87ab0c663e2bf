/* Shared by the direction predictors: the list of predictors, tables of two-bit counters, and gshare's history and
 * counters, which the hybrid also uses.
 *
 * A two-bit counter predicts taken from 2 on and saturates at 0 and 3 (Smith 1981), so one odd outcome does not flip
 * the prediction of a biased branch. Instructions lie at even addresses: an index drops the lowest bit of the pc.
 *
 * Limits: counters have no tags. Branches with the same index share a counter. */
#ifndef CYCLESCOPE_BRANCH_DIRECTION_H
#define CYCLESCOPE_BRANCH_DIRECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/state_visitor.h"

struct branch_config;

#define DIRECTION(name) extern const struct direction_predictor direction_##name;
#include "branch/direction.def"
#undef DIRECTION

enum { COUNTER_WEAKLY_NOT = 1, COUNTER_WEAKLY_TAKEN = 2, COUNTER_MAX = 3 };

struct counters {
    uint64_t mask;     /* number of counters - 1 */
    uint8_t counter[]; /* one byte per counter: faster than unpacking two bits */
};

struct counters *counters_new(unsigned bits, uint8_t initial); /* NULL: out of memory */
void counters_visit(void *counters, state_visitor *visit, void *context);

static inline bool counter_taken(uint8_t counter)
{
    return counter >= COUNTER_WEAKLY_TAKEN;
}

static inline void counter_train(uint8_t *counter, bool taken)
{
    *counter = (uint8_t)(*counter + (taken & (*counter < COUNTER_MAX)) - (!taken & (*counter > 0)));
}

static inline uint8_t *counters_by_pc(struct counters *c, uint64_t pc)
{
    return &c->counter[pc >> 1 & c->mask];
}

/* Counters indexed by pc and global history (McFarling 1993). A history that is shorter than the index is combined with
 * the index's upper bits, where addresses of neighboring branches differ least. */
struct gshare {
    uint64_t history;      /* speculative outcomes, newest in bit 0 */
    uint64_t history_mask; /* one bit per branch in the history */
    unsigned shift;        /* aligns the history with the upper end of the index */
    struct counters *counters;
};

bool gshare_init(struct gshare *g, const struct branch_config *c); /* false: out of memory */

static inline uint8_t *gshare_counter(const struct gshare *g, uint64_t pc, uint64_t history)
{
    return &g->counters->counter[(pc >> 1 ^ history << g->shift) & g->counters->mask];
}

static inline void gshare_push(struct gshare *g, bool taken)
{
    g->history = (g->history << 1 | taken) & g->history_mask;
}

#endif
