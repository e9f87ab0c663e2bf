#include "sampler/distance.h"

#include <math.h>

/* The estimate, but at least half an event where the true count is not 0. */
static double at_least(double estimate, double truth)
{
    double least = truth > 0 ? 0.5 : 0;
    return estimate < least ? least : estimate;
}

double kl_distance(const double *true_counts, const double *estimates, size_t n, size_t stride)
{
    double all = 0, all_estimated = 0, distance = 0;
    for (size_t i = 0; i < n; i++) {
        all += true_counts[i * stride];
        all_estimated += at_least(estimates[i * stride], true_counts[i * stride]);
    }
    if (all <= 0)
        return NAN;
    for (size_t i = 0; i < n; i++) {
        double p = true_counts[i * stride] / all,
               q = at_least(estimates[i * stride], true_counts[i * stride]) / all_estimated;
        if (p > 0)
            distance += p * log(p / q);
    }
    return distance < 0 ? 0 : distance; /* negative by rounding only */
}
