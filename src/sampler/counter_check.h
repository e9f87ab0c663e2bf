/* Compares the estimates of a multiplexed run with full counts of the same run, per round and in total.
 *
 * The input is slices with the true counts of all events in each slice: those of a simulated run (slice_truth.h) or of
 * slice_table_replay. Distances cover complete rounds only; totals cover the whole run, an incomplete first or last
 * round included. */
#ifndef CYCLESCOPE_SAMPLER_COUNTER_CHECK_H
#define CYCLESCOPE_SAMPLER_COUNTER_CHECK_H

#include "sampler/estimate.h"

enum { CHECK_LINEAR, CHECK_DEFAULT, CHECK_ESTIMATORS }; /* the estimator of the paper, and the default one */

const struct estimator *check_estimator(unsigned i); /* `i` is CHECK_LINEAR or CHECK_DEFAULT */

/* Estimates of an event beside the truth. */
struct counter_checked {
    uint64_t truth; /* full count of the whole run */
    bool rare;      /* by is_rare of distance.h: the event has no distance */
    double busiest; /* average fraction of a round's events that its busiest slice has; NAN if `truth` is 0 */
    struct {
        double distance; /* of estimated rounds from true rounds; NAN if `rare` or without a complete round */
        struct estimate total;
        double error; /* of the total: |value - truth| / truth; NAN if `truth` is 0 */
        bool holds;   /* the confidence interval of the total contains the truth */
    } by[CHECK_ESTIMATORS];
};

/* The rounds of an event as a row of columns: each is the mean of one or more successive rounds. Counts per round. */
enum { CHECK_COLUMNS = 400 };
struct checked_column {
    double truth;
    double value[CHECK_ESTIMATORS];
    double half; /* half width of the 95 % interval of CHECK_DEFAULT in one round; INFINITY: unknown */
};

struct counter_check;

/* The plan belongs to the caller and must outlive the check. NULL with a message on failure. */
struct counter_check *counter_check_new(const struct plan *p, struct error *err) MUST_CHECK;
void counter_check_free(struct counter_check *c);

/* Adds a slice. `truth` has the full count of each event of the plan in this slice. */
int counter_check_add(struct counter_check *c, const struct slice *s, const uint64_t *truth,
                      struct error *err) MUST_CHECK;
/* Call when the run has ended. -ENOMEM if memory ran out for a round. */
int counter_check_finish(struct counter_check *c, struct error *err) MUST_CHECK;

/* The following are valid after counter_check_finish. */
size_t counter_check_rounds(const struct counter_check *c);   /* complete rounds */
uint64_t counter_check_cycles(const struct counter_check *c); /* of all slices */
void counter_check_event(const struct counter_check *c, size_t event, struct counter_checked *to);
/* The complete rounds in at most CHECK_COLUMNS columns. Returns the number of columns. */
size_t counter_check_columns(const struct counter_check *c, size_t event, struct checked_column to[CHECK_COLUMNS]);

#endif
