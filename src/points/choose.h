/* Points chosen from basic block vectors: intervals that execute the same code make a phase (phases/cluster.h), and
 * each phase is represented by several of its intervals, spread over the time in which it occurs. So the points say how
 * a phase varies, which a single one cannot. */
#ifndef CYCLESCOPE_POINTS_CHOOSE_H
#define CYCLESCOPE_POINTS_CHOOSE_H

#include "phases/bbv.h"
#include "points/points.h"

struct choose_options {
    uint64_t interval; /* instructions of a point */
    size_t points;     /* how many; 0: CHOOSE_SHARE of the run, within bounds */
    uint64_t seed;
};

#define CHOOSE_SHARE 0.04 /* of the run's instructions in detail, if no number is given */
enum { CHOOSE_LEAST = 12, CHOOSE_MOST = 60, CHOOSE_LIMIT = 4096 };

/* Fills all of `p` but the lead. 0 or a negative code. */
int points_choose(const struct bbv_set *s, const struct choose_options *o, struct points *p,
                  struct error *err) MUST_CHECK;

/* The same for a process that has not begun: a copy of it runs to its end without a trace. `insns` receives its
 * instructions. */
int points_choose_for(struct process *process, const struct choose_options *o, struct points *p, uint64_t *insns,
                      struct error *err) MUST_CHECK;

#endif
