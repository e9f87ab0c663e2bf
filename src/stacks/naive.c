/* The naive method: events, wrong path included, times a fixed penalty each, as if penalties never overlapped with
 * anything. */
#include "stacks/naive.h"

/* Events of all paths, or of the right path. Element 0 of `paths` counts all events, element 1 those on the wrong path.
 */
static uint64_t events_on(const uint64_t paths[2], bool wrong_path)
{
    return paths[0] - (wrong_path ? 0 : paths[1]);
}

struct naive_events naive_events(const struct simulation_counts *counts, bool wrong_path)
{
    const struct memsys_counts *m = &counts->memory;
    return (struct naive_events){.l1i = events_on(m->primary_i.l1, wrong_path),
                                 .l2i = events_on(m->primary_i.memory, wrong_path),
                                 .itlb = events_on(m->itlb_walks, wrong_path),
                                 .l1d = events_on(m->primary_d.l1, wrong_path),
                                 .l2d = events_on(m->primary_d.memory, wrong_path),
                                 .dtlb = events_on(m->dtlb_walks, wrong_path),
                                 .branch = wrong_path ? counts->core.mispredictions_spec : counts->core.mispredictions};
}

static void close(const void *state, const uint64_t tally[TALLIES], const struct simulation_counts *counts,
                  struct stack *s)
{
    (void)tally;
    struct naive_events events = naive_events(counts, true);
    naive_charge(((const struct ledger *)state)->core, &events, s);
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

const struct stack_method stack_method_naive = {.state_bytes = sizeof(struct ledger), .close = close};
