/* The naive method with only the events of instructions that retire, as counted by hardware that tags instructions. */
#include "stacks/naive.h"

static void close(const void *state, const uint64_t tally[TALLIES], const struct simulation_counts *counts,
                  struct stack *s)
{
    (void)tally;
    struct naive_events events = naive_events(counts, false);
    naive_charge(((const struct ledger *)state)->core, &events, s);
}

const struct stack_method stack_method_naive_nonspec = {.state_bytes = sizeof(struct ledger), .close = close};
