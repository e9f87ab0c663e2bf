/* Totals of events that were counted for part of a run, with 95 % confidence intervals.
 *
 * The input is the slices of one context, in order (slice.h). What a group counted in its own slices is certain. For
 * all other slices the counts of the group are predicted, and the confidence interval covers the error of these
 * predictions alone. Cycles and instructions of every slice are known, so predictions may use them. Each estimator has
 * its own prediction; all derive confidence intervals in the same way (docs/MODEL.md, "Estimates and their intervals").
 *
 * Only sums are stored: memory does not grow with the run, except for rounds that wait for the next slice of a group.
 *
 * Limits: the intervals rely on a random order of groups in each round. They are meaningless if the order is fixed and
 * the behavior of the program repeats with the length of a round. A slice that is shorter than half the length planned
 * for its round adds its counts to the total, but predicts nothing. */
#ifndef CYCLESCOPE_SAMPLER_ESTIMATE_H
#define CYCLESCOPE_SAMPLER_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "sampler/plan.h"
#include "sampler/slice.h"

struct estimator_ops;

/* A way to predict counts, as --estimator and `list estimators` name it. */
struct estimator {
    const char *name, *help;
    const struct estimator_ops *ops; /* the prediction itself (estimate_priv.h) */
};

extern const struct estimator estimators[]; /* the first one is the default */
extern const size_t estimator_count;

const struct estimator *estimator_find(const char *name); /* NULL: no estimator has this name */

/* The estimated total of an event, from the slices so far. */
struct estimate {
    double value;     /* estimated number of events in all slices, counted or not */
    double low, high; /* 95 % confidence interval; `high` is INFINITY while the event has fewer than two slices */
    uint64_t counted; /* events that were counted, which is certain */
    double share;     /* fraction of the slice clock during which the event was counted, 0 to 1 */
    uint64_t slices;  /* slices in which the event was counted */
    double variation; /* standard deviation of the rate of slices in a round, without the part that the estimator
                         predicts, divided by the mean rate */
    bool bursty;      /* `variation` exceeds 1: the event is too bursty for rounds of this length */
};

/* Half the width of the confidence interval. */
double estimate_half(const struct estimate *e);

/* The estimates of one round, after its last prediction. Arrays have an element for each event of the plan. */
struct estimate_round {
    uint32_t round;
    uint64_t first_cycle, first_insn; /* position in the context at which the round begins */
    uint64_t cycles, insns;           /* length of the round */
    const double *value;              /* estimated counts, never negative. A prediction below 0, which `regression` can
                                         make, counts as 0 here and as it is in estimates_total. */
    const double *half; /* half widths of the 95 % intervals, from the variation of the last 64 or so slices */
};

typedef void estimate_round_ready(void *context, const struct estimate_round *r);

struct estimates;

/* Returns NULL with a message in `err` if the plan is inconsistent or memory runs out. The plan belongs to the caller
 * and must outlive the estimates. `ready` (NULL: none) is called for each round, in order, after its last prediction:
 * at the end of the round with `linear`, else as soon as every group has had a slice after the round, or at the end of
 * the run. The arrays of the round are valid during the call only. */
struct estimates *estimates_new(const struct plan *p, const struct estimator *by, estimate_round_ready *ready,
                                void *context, struct error *err) MUST_CHECK;
void estimates_free(struct estimates *e);

/* Adds the next slice. -EINVAL: the group is not in the plan, or the round is earlier than that of the slice before;
 * -ENOMEM. */
int estimates_add(struct estimates *e, const struct slice *s, struct error *err) MUST_CHECK;
/* Call when the run has ended: predicts the remaining slices and calls `ready` for the remaining rounds. */
void estimates_finish(struct estimates *e);

/* The total so far; may be called at any time. `event` is an index of plan.event. */
struct estimate estimates_total(const struct estimates *e, size_t event);

#endif
