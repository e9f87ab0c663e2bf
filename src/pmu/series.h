/* A run divided into intervals of instructions, with the growth of counters in each interval.
 *
 * An interval ends with the cycle in which its last instruction retires, so it may have a few instructions more than
 * requested. The next interval ends at the next multiple. The last one has the rest of the run. Intervals sum to the
 * whole run exactly, since each is the difference of two readings of the same counters, and cutting changes no count.
 *
 * Limits: intervals do not include processes that the program forks; series_sum includes their counts. If there is no
 * memory for another interval, the last one continues to the end of the run. */
#ifndef CYCLESCOPE_PMU_SERIES_H
#define CYCLESCOPE_PMU_SERIES_H

#include "sim/simulate.h"
#include "pmu/event_spec.h"

struct series;

/* The specs belong to the caller and must outlive the series. */
struct series *series_new(const struct event_specs *specs, uint64_t interval_insns, struct error *err) MUST_CHECK;
void series_free(struct series *s);

const struct core_observer *series_observer(struct series *s);
const struct simulation_sum *series_sum(struct series *s); /* one number per event */

/* ---- results, after the simulation */

/* Columns of a series: instructions, cycles, then the events in the order of their specs. */
enum { SERIES_INSNS, SERIES_CYCLES, SERIES_EVENTS };

/* Number of intervals. */
size_t series_count(const struct series *s);
size_t series_columns(const struct series *s);
uint64_t series_interval(const struct series *s); /* requested length in instructions */
/* Growth of a column from the start of interval `from` to the start of interval `to`; series_count as `to` is the end
 * of the run. */
uint64_t series_growth(const struct series *s, unsigned column, size_t from, size_t to);

#endif
