/* The source of the intervals of a stall breakdown: full counts of the simulator (`exact`), or logical counters of the
 * sampler. With logical counters an interval is a round, and the sampler slows the program down. Intervals contain
 * cycles of the program only, not those of the sampler. */
#ifndef CYCLESCOPE_SAMPLER_STALL_MONITOR_H
#define CYCLESCOPE_SAMPLER_STALL_MONITOR_H

#include "sampler/logical.h"
#include "sampler/stalls.h"

struct stall_monitor_config {
    bool exact;                         /* full counts instead of logical counters */
    uint64_t quantum;                   /* most instructions of a thread between two switches */
    const struct stalls_config *stalls; /* length of intervals, and their sink */
    /* For logical counters only: */
    struct plan_options plan;          /* `clock` and `round` are ignored: `stalls` sets them; slice 0: round / 10 */
    const struct estimator *estimator; /* NULL: the default */
    sampler_sink *slice;               /* called with each slice; NULL: none */
    void *slice_context;               /* argument of `slice` */
};

struct stall_monitor;

/* Sets the observer, or the firmware, of the simulation. The result must stay until the simulation has ended. NULL with
 * a message on failure. */
struct stall_monitor *stall_monitor_new(const struct stall_monitor_config *c, struct simulation *s,
                                        struct error *err) MUST_CHECK;
void stall_monitor_free(struct stall_monitor *s);

/* Call when the simulation has ended well: the sink receives the last intervals. `total` is the sum of all intervals;
 * with exact counts, it includes processes that the program forked. */
int stall_monitor_finish(struct stall_monitor *s, struct stall_interval *total, struct error *err) MUST_CHECK;

#endif
