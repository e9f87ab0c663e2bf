/* Where the intervals of a stall breakdown come from: full counts, or logical counters of the sampling engine, in which
 * case an interval is a round and the engine's cost is the program's. Either way only the program's own cycles count.
 */
#ifndef CYCLESCOPE_MONITOR_STALL_MONITOR_H
#define CYCLESCOPE_MONITOR_STALL_MONITOR_H

#include "monitor/logical.h"
#include "monitor/stalls.h"

struct stall_monitor_config {
    bool exact;                         /* full counts */
    uint64_t quantum;                   /* of a thread of the program, in instructions */
    const struct stalls_config *stalls; /* intervals and their sink */
    /* for logical counters: */
    struct plan_options plan;          /* clock and round are set; a slice that is 0 is a tenth of a round */
    const struct estimator *estimator; /* NULL: the default */
    sampler_sink *slice;               /* is told of each slice, or NULL */
    void *slice_context;               /* its own */
};

struct stall_monitor;

/* Makes the simulation one that tells of stalls. Stays until it has ended. */
struct stall_monitor *stall_monitor_new(const struct stall_monitor_config *c, struct simulation *s,
                                        struct error *err) MUST_CHECK;
void stall_monitor_free(struct stall_monitor *s);

/* The simulation has ended well: the last intervals are told. Of exact counts, `total` has those of forked processes as
 * well. */
int stall_monitor_finish(struct stall_monitor *s, struct stall_interval *total, struct error *err) MUST_CHECK;

/* The plan of logical counters, or NULL; and their events. */
const struct plan *stall_monitor_plan(const struct stall_monitor *s);
const struct event_specs *stall_monitor_events(const struct stall_monitor *s);

#endif
