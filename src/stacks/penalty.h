/* Average penalties per event, in three ways: by interval analysis, which is what the front-end miss event table
 * counts; the fixed number of a manual; and by the completion stalls of POWER5. Events are those of the right path,
 * counted as the naive methods count them (naive.h): misses that share a line are one event. */
#ifndef CYCLESCOPE_STACKS_PENALTY_H
#define CYCLESCOPE_STACKS_PENALTY_H

#include "stacks/stacks.h"

struct penalty {
    const char *key, *label;
    enum component component;
    uint64_t events;
    double interval_analysis, naive, power5; /* cycles per event; without events only the naive penalty is not 0 */
};

enum { PENALTIES = 3 };

/* Fills in the penalties of L1 I-misses that the L2 cache serves, of mispredictions, and of lines of data from memory.
 * `total` must have the stacks of `fmt` and `power5`. */
void penalties(const struct core_config *core, const struct simulation_counts *counts,
               const struct stack_interval *total, struct penalty p[PENALTIES]);

#endif
