/* Events times a fixed penalty each, wrong path included, as if no penalty ever overlapped with anything. */
#include "stacks/naive.h"

static void close(const void *state, const uint64_t tally[TALLIES], const struct core_counts *counts, struct stack *s)
{
    (void)tally;
    naive_charge(((const struct books *)state)->core,
                 &(struct naive_events){.l1i = counts->l1i_misses_spec,
                                        .l2i = counts->l2i_misses_spec,
                                        .itlb = counts->itlb_misses_spec,
                                        .l1d = counts->l1d_misses_spec,
                                        .l2d = counts->l2d_misses_spec,
                                        .dtlb = counts->dtlb_misses_spec,
                                        .branch = counts->mispredictions_spec},
                 s);
}

void naive_charge(const struct core_config *core, const struct naive_events *e, struct stack *s)
{
    struct naive_penalties p = naive_penalties(core);
    s->parts[COMPONENT_l1i] += (int64_t)(e->l1i * p.l2);
    s->parts[COMPONENT_l2i] += (int64_t)(e->l2i * p.memory);
    s->parts[COMPONENT_itlb] += (int64_t)(e->itlb * p.tlb);
    s->parts[COMPONENT_l1d] += (int64_t)(e->l1d * p.l2);
    s->parts[COMPONENT_l2d] += (int64_t)(e->l2d * p.memory);
    s->parts[COMPONENT_dtlb] += (int64_t)(e->dtlb * p.tlb);
    s->parts[COMPONENT_branch] += (int64_t)(e->branch * p.front_end);
}

struct naive_penalties naive_penalties(const struct core_config *core)
{
    uint64_t l3 = core->l3_size ? core->l3_latency : 0, l2 = core->l2_size ? core->l2_latency : 0;
    return (struct naive_penalties){.l2 = l2,
                                    .memory = l3 + core->memory_latency,
                                    .tlb = core->tlb_walk_latency,
                                    .front_end = core->frontend_stages};
}

const struct stack_method stack_method_naive = {.state_bytes = sizeof(struct books), .close = close};
