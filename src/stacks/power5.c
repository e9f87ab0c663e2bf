/* The completion stall counters of IBM's POWER5: a cycle in which nothing commits is charged to what the oldest
 * instruction waits for. A cycle with an empty ROB is charged to what emptied the ROB: the instruction miss of the next
 * instruction that enters, or else a misprediction. */
#include "stacks/stacks_priv.h"

struct power5 {
    struct ledger ledger;
    uint64_t empty_charged; /* value of TALLY_EMPTY up to which cycles have been charged */
    enum component cause;   /* what the empty cycles since then are charged to; COMPONENT_base: not known yet */
};

static enum component miss_of(unsigned events)
{
    return events & EVENT_L2I    ? COMPONENT_l2i
           : events & EVENT_L1I  ? COMPONENT_l1i
           : events & EVENT_ITLB ? COMPONENT_itlb
                                 : COMPONENT_branch;
}

static void mispredicted(void *state, const struct insn_view *v)
{
    struct power5 *p = state;
    (void)v;
    p->cause = COMPONENT_branch;
}

static void dispatched(void *state, const struct insn_view *v)
{
    struct power5 *p = state;
    if (v->events & EVENTS_OF_FETCH && p->ledger.tally[TALLY_EMPTY] != p->empty_charged)
        p->cause = miss_of(v->events);
}

static void entered(void *state)
{
    struct power5 *p = state;
    uint64_t empty = p->ledger.tally[TALLY_EMPTY];
    if (p->cause != COMPONENT_base)
        charge(&p->ledger, p->cause, TALLY_EMPTY, (struct span){p->empty_charged, empty});
    p->empty_charged = empty;
    p->cause = COMPONENT_base;
}

/* Nothing commits while the ROB's head waits, so the core's counts of waits are the stall cycles. */
static void close(const void *state, const uint64_t tally[TALLIES], const struct simulation_counts *counts,
                  struct stack *s)
{
    (void)state;
    (void)tally;
    for (unsigned w = 0; w < HEAD_WAITS; w++)
        s->parts[component_of_wait((enum head_wait)w)] += (int64_t)counts->core.head_wait[w];
}

const struct stack_method stack_method_power5 = {.state_bytes = sizeof(struct power5),
                                                 .dispatched = dispatched,
                                                 .mispredicted = mispredicted,
                                                 .entered = entered,
                                                 .close = close};
