/* What every instruction asks the judge of a single lane. Included by judges.h. */
#ifndef CYCLESCOPE_GRAPH_JUDGES_ONE_H
#define CYCLESCOPE_GRAPH_JUDGES_ONE_H

#include "graph/lanes_rows.h"

INLINE unsigned judge_at(unsigned i)
{
    return i;
}

/* An instruction enters its queue at the time in `d`, or later. Returns whether `d` may have changed. */
INLINE bool enter_queues(struct lanes *l, const struct contention_need *need, struct row *d)
{
    struct contention *c = &l->judge[0];
    uint64_t passed = time_of(l, d, 0) - c->now;
    if (__builtin_expect((c->queues & need->queue_full) != 0 || (int64_t)passed > CONTENTION_LAG, 0))
        return judges_enter_late(l, need, d);
    c->queues += need->queue;
    return false;
}

/* An instruction issues, at the time in `t` or later. */
INLINE void issue(struct lanes *l, const struct contention_need *need, struct row *t)
{
    uint64_t when = time_of(l, t, 0), lap = when / CONTENTION_CYCLES << LAP_SHIFT;
    uint64_t *slot = &l->judge[0].slot[when % CONTENTION_CYCLES], use = contention_fresh(*slot, &l->limits, lap);
    if (__builtin_expect((use & need->full) != 0 || need->interval > 1, 0))
        judges_issue_late(l, need, t, &when, &use);
    else
        *slot = use + need->issue;
}

/* An instruction leaves its queue at the time in `t`. */
INLINE void leave_queues(struct lanes *l, const struct contention_need *need, const struct row *t)
{
    contention_leave(&l->judge[0], need, time_of(l, t, 0), l->insns);
}

#endif
