/* The completion stall counters of IBM's POWER5: a cycle in which nothing commits is charged to what the oldest
 * instruction waits for or, if there is none, to what emptied the ROB: the instruction miss that the next one to enter
 * comes from, or else a misprediction. */
#include "stacks/stacks_priv.h"

struct power5 {
    struct books books;
    uint64_t empty_charged; /* TALLY_EMPTY up to which cycles are charged */
    enum component cause;   /* of the cycles since */
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
    if (v->events & EVENTS_OF_FETCH && p->books.tally[TALLY_EMPTY] != p->empty_charged)
        p->cause = miss_of(v->events);
}

static void entered(void *state)
{
    struct power5 *p = state;
    uint64_t empty = p->books.tally[TALLY_EMPTY];
    if (p->cause != COMPONENT_base)
        charge(&p->books, p->cause, TALLY_EMPTY, (struct span){p->empty_charged, empty});
    p->empty_charged = empty;
    p->cause = COMPONENT_base;
}

/* While the head of the ROB waits, nothing commits. */
static void close(const void *state, const uint64_t tally[TALLIES], const struct core_counts *counts, struct stack *s)
{
    (void)state;
    (void)tally;
    for (unsigned w = 0; w < HEAD_WAITS; w++)
        s->parts[component_of_wait((enum head_wait)w)] += (int64_t)counts->head_wait[w];
}

const struct stack_method stack_method_power5 = {.state_bytes = sizeof(struct power5),
                                                 .dispatched = dispatched,
                                                 .mispredicted = mispredicted,
                                                 .entered = entered,
                                                 .close = close};
