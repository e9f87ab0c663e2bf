/* What the events of a plan really did in every slice, counted fully beside the sampling engine in the same run.
 *
 * A simulated core has as many counters as one likes that nobody sees. Their values are noted whenever the engine gets
 * the core, which is where slices end; they are asked for in that order.
 *
 * Limits: of one program that shares the core with no other. */
#ifndef CYCLESCOPE_MONITOR_SLICE_TRUTH_H
#define CYCLESCOPE_MONITOR_SLICE_TRUTH_H

#include "core/simulate.h"
#include "monitor/plan.h"

struct slice_truth;

struct slice_truth *slice_truth_new(const struct plan *plan, struct error *err) MUST_CHECK;
void slice_truth_free(struct slice_truth *t);

const struct core_observer *slice_truth_observer(struct slice_truth *t);

/* Counts of the plan's events in the slice that follows the one asked for before, until the next call. To be asked for
 * every slice, when it comes from the engine. */
const uint64_t *slice_truth_next(struct slice_truth *t);

const uint64_t *slice_truth_total(struct slice_truth *t); /* of all slices so far */
bool slice_truth_failed(const struct slice_truth *t);     /* for want of memory */

#endif
