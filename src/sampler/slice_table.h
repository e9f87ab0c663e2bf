/* Full counts of every event in every slice of a run, and replays of the run under other plans.
 *
 * Full counts of short slices sum to those of longer slices, and give what any group would have counted in any slice.
 * So one run serves to evaluate many orders of groups, shares and lengths of slices.
 *
 * Limits: the effect of the sampler on caches and predictors stays that of the run's own length of slices. */
#ifndef CYCLESCOPE_SAMPLER_SLICE_TABLE_H
#define CYCLESCOPE_SAMPLER_SLICE_TABLE_H

#include "base/error.h"
#include "sampler/plan.h"
#include "sampler/slice.h"

struct slice_table {
    size_t events;      /* number of events */
    uint64_t *cell;     /* a row of 2 + events numbers for each slice: cycles, instructions, counts */
    size_t count, room; /* rows used and allocated */
};

/* Appends a slice; only its cycles and instructions are used. `counts` has the full count of each event. 0 or -ENOMEM.
 */
int slice_table_add(struct slice_table *t, const struct slice *s, const uint64_t *counts, struct error *err) MUST_CHECK;
void slice_table_free(struct slice_table *t);

/* Receives a slice as the plan would have made it, and the full counts of all events in it. A negative return value
 * ends the replay. */
typedef int slice_table_sink(void *context, const struct slice *s, const uint64_t *counts, struct error *err);

/* Replays the run under another plan, which must have the same events: calls the sink for each slice. A slice of the
 * replay is `merged` slices of the table long; an incomplete one at the end is left out. The order of groups is random
 * from the plan's seed, though not the one that the sampler would draw from this seed. Returns 0 or the sink's code. */
int slice_table_replay(const struct slice_table *t, const struct plan *p, unsigned merged, slice_table_sink *sink,
                       void *context, struct error *err) MUST_CHECK;

#endif
