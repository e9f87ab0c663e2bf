/* Totals of events that were counted part of the time, with 95 % confidence intervals.
 *
 * Slices of one context come in, in their order (slice.h). What a group counted in its own slices is certain; for all
 * other slices its counts are predicted, and the interval is that of the predictions alone. Clock and instructions are
 * known of every slice, so a prediction may lean on them. How it is made is the estimator's; all have intervals made in
 * the same way (docs/MODEL.md).
 *
 * Sums only are kept: memory does not grow with the run, save for rounds that wait for a group's next slice.
 *
 * Limits: intervals rest on the order of groups being drawn anew in each round; with a fixed order, and a program whose
 * behaviour beats with the round, they say nothing. A slice of less than half a slot counts, but predicts nothing. */
#ifndef CYCLESCOPE_MONITOR_ESTIMATE_H
#define CYCLESCOPE_MONITOR_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "monitor/plan.h"
#include "monitor/slice.h"

struct estimating;

struct estimator {
    const char *name, *help;
    const struct estimating *how; /* estimate_priv.h */
};

extern const struct estimator estimators[]; /* the first is the default */
extern const size_t estimator_count;

const struct estimator *estimator_find(const char *name); /* or NULL */

/* A total, so far. */
struct estimate {
    double value;     /* events of the whole run */
    double low, high; /* 95 %; `high` is INFINITY while fewer than two slices have counted the event */
    uint64_t counted; /* events that were counted: certain */
    double share;     /* of the slice clock in which they were, 0 to 1 */
    uint64_t slices;  /* in which they were */
    double variation; /* standard deviation of slices within a round over their mean, beyond what is predicted */
    bool bursty;      /* `variation` is more than 1: too bursty for rounds of this length */
};

/* Half of the interval. */
double estimate_half(const struct estimate *e);

/* A round of which all is known that will be. Arrays are in the order of the plan's events. */
struct estimate_round {
    uint32_t round;
    uint64_t first_cycle, first_insn; /* of the context, where it begins */
    uint64_t cycles, insns;
    const double *value; /* never negative; where a rate that follows the clock would be, totals have less */
    const double *half;  /* of the 95 % interval, as variable as slices were lately */
};

typedef void estimate_round_ready(void *context, const struct estimate_round *r);

struct estimates;

/* The plan stays the caller's. `ready`, which may be NULL, is called for every round in order, as soon as each group
 * has had a slice behind it, or the run ended. */
struct estimates *estimates_new(const struct plan *p, const struct estimator *by, estimate_round_ready *ready,
                                void *context, struct error *err) MUST_CHECK;
void estimates_free(struct estimates *e);

/* 0, -EINVAL for a slice that is not of the plan or of a round that has passed, or -ENOMEM. */
int estimates_add(struct estimates *e, const struct slice *s, struct error *err) MUST_CHECK;
/* The run has ended: the rounds that are left are ready. */
void estimates_finish(struct estimates *e);

/* At any time; `event` is its number in the plan. */
struct estimate estimates_total(const struct estimates *e, size_t event);

#endif
