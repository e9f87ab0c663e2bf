/* Full counts of every event in every slice of a run; and how plans would have gone that took other turns on it.
 *
 * From true counts of short slices those of longer ones follow, and what a group would have counted in whichever of
 * them. So one run tells of many orders, ratios and lengths; what is not in it is what the engine does to caches at
 * other lengths than the run's. */
#ifndef CYCLESCOPE_MONITOR_SLICE_TABLE_H
#define CYCLESCOPE_MONITOR_SLICE_TABLE_H

#include "base/error.h"
#include "monitor/plan.h"
#include "monitor/slice.h"

struct slice_table {
    size_t events;  /* of each slice */
    uint64_t *cell; /* a row of 2 + events for each: cycles, instructions, counts */
    size_t count, room;
};

/* -ENOMEM without memory for one more. */
int slice_table_add(struct slice_table *t, const struct slice *s, const uint64_t *counts, struct error *err) MUST_CHECK;
void slice_table_free(struct slice_table *t);

/* A slice, with full counts of all events in it. A negative code ends the replay. */
typedef int slice_table_sink(void *context, const struct slice *s, const uint64_t *counts, struct error *err);

/* Slices as the plan, whose events are the table's, would have made them, each `merged` of the table's long; what is
 * left of the table at its end is not used. Orders are drawn from the plan's seed as the engine does, with other
 * numbers. */
int slice_table_replay(const struct slice_table *t, const struct plan *p, unsigned merged, slice_table_sink *sink,
                       void *context, struct error *err) MUST_CHECK;

#endif
