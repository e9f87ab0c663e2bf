/* Average penalties per event, as three ways of counting see them: what interval analysis says was lost, which is what
 * the front-end miss event table counts; a manual's fixed number; and the completion stalls of POWER5. Events are those
 * of instructions that retire. */
#ifndef CYCLESCOPE_STACKS_PENALTY_H
#define CYCLESCOPE_STACKS_PENALTY_H

#include "stacks/stacks.h"

struct penalty {
    const char *key, *label;
    enum component component;
    uint64_t events;
    double interval_analysis, naive, power5; /* cycles per event; the first and the last are 0 without events */
};

enum { PENALTIES = 3 };

/* L1 I-misses that the L2 cache serves, mispredictions, L2 D-misses. `fmt` and `power5` have been accounted for. */
void penalties(const struct core_config *core, const struct core_counts *counts, const struct stack_interval *total,
               struct penalty p[PENALTIES]);

#endif
