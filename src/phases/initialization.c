/* The end of initialization. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "phases/run_signal.h"

/* ---- by the rule of the paper */

/* By how much the slope of the graph drops at `at`: slope over one step before less slope over one step after. Within
 * the first step, the slope at 0 is used for the one before. */
static double corner(const double *graph, size_t at, size_t step)
{
    double before = at >= step ? graph[at] - graph[at - step] : graph[step] - graph[0];
    return before - (graph[at + step] - graph[at]);
}

size_t run_signal_corner(const struct run_signal *s, size_t period, double *graph)
{
    size_t half = s->count / 2, quarter = s->count / 4, step = period ? period : 1, best = 0;
    if (quarter == 0)
        return 0;
    run_signal_slide(s, quarter, graph, half + 1);
    double most = 0;
    for (size_t k = 1; k + step <= half; k++)
        if (corner(graph, k, step) > most * 1.0001) {
            most = corner(graph, k, step);
            best = k;
        }
    return best;
}

/* ---- by samples that do not recur */

/* The sample of the second half that is closest to sample `to`. Looks at no more than about MOST of them. */
static size_t nearest(const struct run_signal *s, size_t to, size_t half)
{
    enum { MOST = 4096 };
    size_t others = s->count - half, step = (others + MOST - 1) / MOST, found = half;
    double least = INFINITY;
    for (size_t k = half; k < s->count && least > 0; k += step) {
        double here = run_signal_distance(s, to, k, 1);
        found = here < least ? k : found;
        least = fmin(least, here);
    }
    return found;
}

/* novelty[k]: distance of sample k of the first half from the closest sample of the second half. */
static void find_novelty(const struct run_signal *s, float *novelty, size_t half)
{
    for (size_t k = 0; k < half; k++)
        novelty[k] = (float)run_signal_distance(s, k, nearest(s, k, half), 1);
}

/* Sum of the absolute values of a sample. */
static double length_of(const struct run_signal *s, size_t sample)
{
    double sum = 0;
    for (unsigned d = 0; d < s->width; d++)
        sum += fabsf(s->at[sample * s->width + d]);
    return sum;
}

/* mismatch[k]: distance of sample k of the first half from the sample a period later. */
static void find_mismatch(const struct run_signal *s, size_t distance, float *mismatch, size_t half)
{
    for (size_t k = 0; k < half; k++)
        mismatch[k] = (float)run_signal_distance(s, k, k + distance, 1);
}

static double mean_of(const float *x, size_t count)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += x[k];
    return count ? sum / (double)count : 0;
}

/* The end of the samples that are unlike others. The running sum of `unlike` rises during initialization and hardly
 * afterwards; its corner is where it is farthest above the straight line from its start to its end. The mean after the
 * corner must be less than a quarter of the mean before, else 0. If initialization is a single interval, that interval
 * is compared with `single`, the value of a sample that has nothing in common with others. */
static size_t last_unlike(const float *unlike, size_t half, double single)
{
    const double negligible = 0.01; /* compared with a vector, which has a length of 1 on average */
    double mean = mean_of(unlike, half), above = 0, most = 0;
    size_t end = 0;
    for (size_t k = 0; k < half; k++) {
        above += unlike[k] - mean;
        if (above > most) {
            most = above;
            end = k + 1;
        }
    }
    double before = mean_of(unlike, end), after = mean_of(unlike + end, half - end);
    if (before <= 4 * fmax(after, negligible))
        return 0;
    /* Initialization may end within an interval; the interval counts as initialization if more than half of it is. */
    double whole = end > 1 ? mean_of(unlike, end - 1) : single;
    return unlike[end - 1] < whole / 2 ? end - 1 : end;
}

/* Start of the last period of samples with a mean mismatch of more than half of `unrelated`; `half`: none. */
static size_t last_mismatch(const float *mismatch, size_t half, size_t period, double unrelated)
{
    double sum = 0;
    for (size_t k = half; k-- > 0;) {
        sum += mismatch[k] - (k + period < half ? mismatch[k + period] : 0);
        if (k + period <= half && sum > (double)period * unrelated / 2)
            return k;
    }
    return half;
}

/* End of initialization in steps: the last sample that does not recur, in the last period that is unlike the next. */
static size_t end_of_steps(const float *novelty, const float *mismatch, size_t half, size_t period, double unrelated)
{
    size_t start = last_mismatch(mismatch, half, period, unrelated);
    if (start == half)
        return 0;
    size_t end = start + period;
    while (end > start && novelty[end - 1] <= unrelated / 2)
        end--;
    return end;
}

/* The last sample that is unlike the one a period later, if the mean of a whole period before is unlike as well. */
static size_t end_of_mismatch(const struct run_signal *s, const float *mismatch, size_t half, size_t period,
                              double unrelated)
{
    size_t last = last_unlike(mismatch, half, length_of(s, period));
    return last >= period && mean_of(mismatch + last - period, period) > unrelated / 2 ? last : 0;
}

int run_signal_initialization(const struct run_signal *s, size_t period, double unrelated, size_t *end)
{
    size_t half = s->count / 2;
    *end = 0;
    if (half < 2)
        return 0;
    float *novelty = calloc(2 * half, sizeof *novelty);
    if (novelty == NULL)
        return -ENOMEM;
    float *mismatch = novelty + half;
    find_novelty(s, novelty, half);
    *end = last_unlike(novelty, half, length_of(s, nearest(s, 0, half)));
    bool in_steps = mean_of(novelty + *end, half - *end) > unrelated / 8;
    if ((*end == 0 || in_steps) && period > 0 && period <= s->count - half) {
        find_mismatch(s, period, mismatch, half);
        size_t last = in_steps ? end_of_steps(novelty, mismatch, half, period, unrelated)
                               : end_of_mismatch(s, mismatch, half, period, unrelated);
        *end = last > *end ? last : *end;
    }
    free(novelty);
    return 0;
}
