/* How far estimated counts are from true counts over time: the Kullback–Leibler distance of two distributions.
 *
 * A distribution is the share of an event's total in each interval. The distance of the estimate P' from the truth P is
 * Σ P log(P / P') with the natural logarithm; it is 0 if both are equal. By the formula it is infinite if P' is 0 in an
 * interval where P is not, a case that the paper does not treat (Azimi et al., section 6.2). Here P' counts as at least
 * half an event in such an interval, since an estimate of 0 may stand for any number below one half. */
#ifndef CYCLESCOPE_SAMPLER_DISTANCE_H
#define CYCLESCOPE_SAMPLER_DISTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RARE_EVENT = 10000 }; /* rarer than one event in 10,000 ticks of the clock: too rare for a distance */

/* The distance over `n` intervals. Elements of both arrays are `stride` doubles apart. NAN if all true counts are 0. */
double kl_distance(const double *true_counts, const double *estimates, size_t n, size_t stride);

/* The paper's rule for events that have no distance; `clock` is the number of cycles or instructions. */
static inline bool is_rare(uint64_t count, uint64_t clock)
{
    return count * RARE_EVENT < clock || count == 0;
}

#endif
