/* The stall breakdown from logical counters: what rounds of multiplexing say of completion and stalls, as intervals
 * that add up.
 *
 * The nine counts of a round are estimates and their sum is off by some cycles, while the round's cycles are known. The
 * difference is shared out by how uncertain each is (least squares), so what is certain stays. Errors are those of the
 * counts as estimated. */
#ifndef CYCLESCOPE_MONITOR_STALLS_LOGICAL_H
#define CYCLESCOPE_MONITOR_STALLS_LOGICAL_H

#include "monitor/estimate.h"
#include "monitor/stalls.h"

enum { STALL_EVENTS = STALL_SOURCES + 1 }; /* the sources in their order, then completion */

/* The events that are to be counted. */
int stalls_logical_specs(struct event_specs *specs, struct error *err) MUST_CHECK;

struct stalls_logical {
    stall_sink *sink; /* may be NULL */
    void *context;    /* its own */
    struct stall_interval total;
};

/* For estimates of these events: its context is a struct stalls_logical. */
void stalls_logical_round(void *context, const struct estimate_round *r);

/* Cycles as completion and stalls by their estimates, which need not add up, and half widths. */
void stalls_adjust(struct stall_interval *i, const double value[STALL_EVENTS], const double half[STALL_EVENTS]);

#endif
