/* What the two naive methods share: penalties that a manual would give, times events. */
#ifndef CYCLESCOPE_STACKS_NAIVE_H
#define CYCLESCOPE_STACKS_NAIVE_H

#include "stacks/stacks_priv.h"

struct naive_events {
    uint64_t l1i, l2i, itlb, l1d, l2d, dtlb, branch;
};

/* In cycles. */
struct naive_penalties {
    uint64_t l2;        /* of a first-level miss */
    uint64_t memory;    /* of a miss of the second level: what lies behind it */
    uint64_t tlb;       /* of a page walk */
    uint64_t front_end; /* of a misprediction */
};

struct naive_penalties naive_penalties(const struct core_config *core);
void naive_charge(const struct core_config *core, const struct naive_events *e, struct stack *s);

#endif
