/* The judges: the sets that find out how long an instruction waits for what others of its cycle want as well. The lanes
 * of a group wait as long as their judge (contention.h). Most instructions find room in all judges, so that one test
 * serves all of them; the others take a slow path. */
#ifndef CYCLESCOPE_GRAPH_JUDGES_H
#define CYCLESCOPE_GRAPH_JUDGES_H

#include "graph/lanes_rows.h"

/* ---- judges.c */

/* Instructions dispatch at the times in `d`, or later if a queue is full. Returns whether `d` may have changed. */
bool judges_enter_late(struct lanes *l, const struct contention_need *need, struct row *d);
/* Instructions issue at the times in `t`, or later because some find no slot. `when`: times of the judges, `use`: the
 * slots at these times; element i is of judge_at(i). */
void judges_issue_late(struct lanes *l, const struct contention_need *need, struct row *t, const uint64_t when[JUDGES],
                       const uint64_t use[JUDGES]);
/* Instructions that have issued at the times in `t` issue again at the times in `again`, or later because some find no
 * slot. Those whose times are equal do not. */
void judges_issue_again(struct lanes *l, const struct contention_need *need, const struct row *t, struct row *again);
/* With real prediction, the wrong path of a branch that resolves at the times in `x` keeps a unit busy. */
void judges_occupy_unit(struct lanes *l, const struct graph_node *n, const struct row *x);
/* A judge finds an MSHR for an access at the times in `t`. */
struct contention_wait judges_find_mshr(struct lanes *l, const struct graph_node *n, unsigned judge,
                                        const struct row *t);
/* Misses begin at the times in `t`, or later if all MSHRs are in use. */
void judges_await_mshr(struct lanes *l, const struct graph_node *n, struct row *t);
/* Misses begin at the times in `t` and end at the times in `x`. */
void judges_add_miss(struct lanes *l, const struct graph_node *n, const struct row *t, const struct row *x);

/* ---- inline, for every instruction */

#ifdef ONE_LANE
#include "graph/judges_one.h"
#else
#include "graph/judges_wide.h"
#endif

/* Whether the access requests a line in the group, so that it takes an MSHR. */
INLINE bool takes_mshr(const struct lanes *l, const struct graph_node *n, unsigned group)
{
    return caches_of(l, group) && n->requests >> prediction_of(l, group) & 1;
}

/* The time until which an access in a lane waits that waits like its judge. */
INLINE lane_time mshr_time(const struct lanes *l, const struct contention_wait *w, unsigned lane)
{
    return w->distance ? after(arrival_before(l, w->distance)->lane[lane], (int)w->delay) : TIME_LEAST;
}

#endif
