/* Estimates of a multiplexed run beside full counts of the same run, in all rounds and in total.
 *
 * Slices come with the true counts of all events in them, from the engine or from slice_table_replay. Distances are
 * over whole rounds; totals over everything, first and last rounds that are not whole included. */
#ifndef CYCLESCOPE_MONITOR_COUNTER_CHECK_H
#define CYCLESCOPE_MONITOR_COUNTER_CHECK_H

#include "monitor/estimate.h"

enum { CHECK_LINEAR, CHECK_DEFAULT, CHECK_ESTIMATORS }; /* the paper's, and the default one */

const struct estimator *check_estimator(unsigned i);

/* What came out for an event. */
struct counter_checked {
    uint64_t truth;
    bool rare;      /* by the rule of distance.h: it has no distances */
    double busiest; /* what the busiest slice of a round has of its events, on average; NAN if nothing is true */
    struct {
        double distance; /* NAN if it is rare, or of fewer than two rounds */
        struct estimate total;
        double error; /* of the total: |value - truth| / truth; NAN if nothing is true */
        bool holds;   /* the interval has the truth in it */
    } by[CHECK_ESTIMATORS];
};

struct counter_check;

/* The plan stays the caller's. */
struct counter_check *counter_check_new(const struct plan *p, struct error *err) MUST_CHECK;
void counter_check_free(struct counter_check *c);

/* `truth` is by event of the plan. */
int counter_check_add(struct counter_check *c, const struct slice *s, const uint64_t *truth,
                      struct error *err) MUST_CHECK;
/* The run has ended. 0, or a negative code for what went wrong on the way. */
int counter_check_finish(struct counter_check *c, struct error *err) MUST_CHECK;

size_t counter_check_rounds(const struct counter_check *c); /* whole ones */
uint64_t counter_check_cycles(const struct counter_check *c);
void counter_check_event(const struct counter_check *c, size_t event, struct counter_checked *to);

#endif
