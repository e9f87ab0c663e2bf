/* How far estimated counts are from true ones over time: the Kullback–Leibler distance of two distributions.
 *
 * A distribution is the share of an event's total that falls into each interval; the distance of P' from P is
 * Σ P log(P / P'), natural logarithm, 0 if they are the same. It is infinite if P' has nothing in an interval where P
 * has something, of which the paper does not speak (Azimi et al., section 6.2). Here P' has at least half an event in
 * such an interval: a count of 0 may be anything below that. */
#ifndef CYCLESCOPE_MONITOR_DISTANCE_H
#define CYCLESCOPE_MONITOR_DISTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RARE_EVENT = 10000 }; /* an event that is rarer than once in so many cycles or instructions has no distance */

/* Counts of `n` intervals, `stride` doubles apart in both. NAN if nothing is true. */
double kl_distance(const double *true_counts, const double *estimates, size_t n, size_t stride);

/* By the paper's rule. */
static inline bool is_rare(uint64_t count, uint64_t clock)
{
    return count * RARE_EVENT < clock || count == 0;
}

#endif
