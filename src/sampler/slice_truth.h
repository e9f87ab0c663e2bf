/* Full counts of the events of a plan in every slice, in the same run as the sampler.
 *
 * The simulator can observe any number of events without the guest noticing. An observer records the counts whenever
 * the sampler enters machine mode, which is where slices end; the caller fetches them slice by slice, in order.
 *
 * Limits: one program, which does not share the core. */
#ifndef CYCLESCOPE_SAMPLER_SLICE_TRUTH_H
#define CYCLESCOPE_SAMPLER_SLICE_TRUTH_H

#include "sampler/plan.h"

struct slice_truth;

/* NULL with a message on failure. The plan is not used after the call. */
struct slice_truth *slice_truth_new(const struct plan *plan, struct error *err) MUST_CHECK;
void slice_truth_free(struct slice_truth *t);

const struct core_observer *slice_truth_observer(struct slice_truth *t); /* for simulation.observer */

/* The counts of the plan's events in the next slice, valid until the next call. Call it once for every slice that the
 * sampler's sink receives, at that time. */
const uint64_t *slice_truth_next(struct slice_truth *t);

bool slice_truth_failed(const struct slice_truth *t); /* memory ran out: counts are incomplete */

#endif
