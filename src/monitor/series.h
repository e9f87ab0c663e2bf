/* A run in intervals of instructions, and what counters grew by in each of them.
 *
 * An interval ends with the cycle in which its last instruction retires, so it may have a few more than were asked for;
 * the next one ends at the next multiple. The last one is as long as the rest of the run. Intervals sum to the whole
 * run exactly, since each is the difference of two readings of the same counters, and cutting changes no count.
 *
 * Limits: of processes that the program forks nothing is in the intervals; series_sum has their counts. Without memory
 * for one more interval, the last one goes on to the end. */
#ifndef CYCLESCOPE_MONITOR_SERIES_H
#define CYCLESCOPE_MONITOR_SERIES_H

#include "core/simulate.h"
#include "pmu/event_spec.h"

struct series;

/* The specs stay the caller's, as long as the series is used. */
struct series *series_new(const struct event_specs *specs, uint64_t interval_insns, struct error *err) MUST_CHECK;
void series_free(struct series *s);

const struct core_observer *series_observer(struct series *s);
const struct simulation_sum *series_sum(struct series *s); /* a number for each event */

/* ---- when the simulation is over */

/* Columns of a series: instructions, cycles, and then the events in the order of their specs. */
enum { SERIES_INSNS, SERIES_CYCLES, SERIES_EVENTS };

size_t series_count(const struct series *s);
size_t series_columns(const struct series *s);
uint64_t series_interval(const struct series *s); /* as asked for */
/* What a column grew by from the beginning of interval `from` to that of `to`, or to the end with the count of them. */
uint64_t series_growth(const struct series *s, unsigned column, size_t from, size_t to);

#endif
