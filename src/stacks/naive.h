/* Shared by the two naive methods: numbers of events times the penalties that a manual would state.
 *
 * The events are primary misses, as SimpleScalar counts them: a load that waits for a line or a translation which is
 * already on its way is a hit in SimpleScalar, and has no penalty of its own. Stores count when they reach the cache.
 */
#ifndef CYCLESCOPE_STACKS_NAIVE_H
#define CYCLESCOPE_STACKS_NAIVE_H

#include "stacks/stacks_priv.h"

struct naive_events {
    uint64_t l1i, l2i, itlb, l1d, l2d, dtlb, branch; /* l2i and l2d: lines that came from memory */
};

/* Cycles per event. */
struct naive_penalties {
    uint64_t l2;        /* first-level miss: latency of the second cache */
    uint64_t memory;    /* line from memory: latency of the third cache, if any, and memory */
    uint64_t tlb;       /* page walk */
    uint64_t front_end; /* misprediction: length of the front end */
};

/* The events of a run or an interval: all events if `wrong_path` is set, else only events of the right path, whose
 * instructions retire. */
struct naive_events naive_events(const struct simulation_counts *counts, bool wrong_path);
struct naive_penalties naive_penalties(const struct core_config *core);
/* Adds the events times their penalties to the stack. */
void naive_charge(const struct core_config *core, const struct naive_events *e, struct stack *s);

#endif
