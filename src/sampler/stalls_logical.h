/* The stall breakdown from logical counters: the estimates of each round become an interval that adds up.
 *
 * The nine counts of a round (completion and eight sources) are estimates, so their sum differs from the round's
 * cycles, which are known. The difference is distributed in proportion to the variance of each estimate (least
 * squares), so exact counts do not change. Errors stay those of the estimates. */
#ifndef CYCLESCOPE_SAMPLER_STALLS_LOGICAL_H
#define CYCLESCOPE_SAMPLER_STALLS_LOGICAL_H

#include "sampler/estimate.h"
#include "sampler/stalls.h"

enum { STALL_EVENTS = STALL_SOURCES + 1 }; /* the sources in their order, then completion */

/* Parses the events that the breakdown needs, in this order. The caller frees `specs`. */
int stalls_logical_specs(struct event_specs *specs, struct error *err) MUST_CHECK;

struct stalls_logical {
    stall_sink *sink;            /* NULL: none */
    void *context;               /* argument of `sink` */
    struct stall_interval total; /* sum of all rounds */
};

/* An estimate_round_ready for estimates of these events; its context is a struct stalls_logical. */
void stalls_logical_round(void *context, const struct estimate_round *r);

/* Sets completion, stalls and errors of an interval, the cycles of which are set, from estimates and their half widths,
 * such that completion and stalls sum to the cycles. */
void stalls_adjust(struct stall_interval *i, const double value[STALL_EVENTS], const double half[STALL_EVENTS]);

#endif
