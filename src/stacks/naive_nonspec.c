/* The naive method with events of instructions that retire only, as counters that tag instructions count them. */
#include "stacks/naive.h"

static void close(const void *state, const uint64_t tally[TALLIES], const struct core_counts *counts, struct stack *s)
{
    (void)tally;
    naive_charge(((const struct books *)state)->core,
                 &(struct naive_events){.l1i = counts->l1i_misses,
                                        .l2i = counts->l2i_misses,
                                        .itlb = counts->itlb_misses,
                                        .l1d = counts->l1d_misses,
                                        .l2d = counts->l2d_misses,
                                        .dtlb = counts->dtlb_misses,
                                        .branch = counts->mispredictions},
                 s);
}

const struct stack_method stack_method_naive_nonspec = {.state_bytes = sizeof(struct books), .close = close};
