/* Where initialization ends. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "phases/signal.h"

/* ---- by the paper's rule */

/* How much the slope over one step falls at `at`. Before the first step the slope at 0 stands for the one before. */
static double corner(const double *graph, size_t at, size_t step)
{
    double before = at >= step ? graph[at] - graph[at - step] : graph[step] - graph[0];
    return before - (graph[at + step] - graph[at]);
}

size_t signal_corner(const struct signal *s, size_t period, double *graph)
{
    size_t half = s->count / 2, quarter = s->count / 4, step = period ? period : 1, best = 0;
    if (quarter == 0)
        return 0;
    signal_slide(s, quarter, graph, half + 1);
    double most = 0;
    for (size_t k = 1; k + step <= half; k++)
        if (corner(graph, k, step) > most * 1.0001) {
            most = corner(graph, k, step);
            best = k;
        }
    return best;
}

/* ---- by what never comes again */

/* The sample of the second half that is most similar. */
static size_t nearest(const struct signal *s, size_t to, size_t half)
{
    enum { MOST = 4096 };
    size_t others = s->count - half, step = (others + MOST - 1) / MOST, found = half;
    double least = INFINITY;
    for (size_t k = half; k < s->count && least > 0; k += step) {
        double here = signal_distance(s, to, k, 1);
        found = here < least ? k : found;
        least = fmin(least, here);
    }
    return found;
}

static void find_novelty(const struct signal *s, float *novelty, size_t half)
{
    for (size_t k = 0; k < half; k++)
        novelty[k] = (float)signal_distance(s, k, nearest(s, k, half), 1);
}

static double length_of(const struct signal *s, size_t sample)
{
    double sum = 0;
    for (unsigned d = 0; d < s->width; d++)
        sum += fabsf(s->at[sample * s->width + d]);
    return sum;
}

/* How unlike each sample of the first half is to the one that comes a period later. */
static void find_mismatch(const struct signal *s, size_t distance, float *mismatch, size_t half)
{
    for (size_t k = 0; k < half; k++)
        mismatch[k] = (float)signal_distance(s, k, k + distance, 1);
}

static double mean_of(const float *x, size_t count)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += x[k];
    return count ? sum / (double)count : 0;
}

/* The sum of what is unlike rises during initialization, then hardly any more. Its corner is farthest above the line
 * from its start to its end. What is left behind it has to be clearly less. A single interval is held against `single`:
 * what it would be if it had nothing in common with others. */
static size_t last_unlike(const float *unlike, size_t half, double single)
{
    const double negligible = 0.01; /* of a vector */
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
    /* Initialization may end within an interval, which belongs to the side that has more of it. */
    double whole = end > 1 ? mean_of(unlike, end - 1) : single;
    return unlike[end - 1] < whole / 2 ? end - 1 : end;
}

/* The last whole period of samples that is nearer to what unrelated ones differ by than to nothing; or `half`. */
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

/* Initialization in steps, between which is what comes again: it ends in the last period that is unlike the next, with
 * the last sample that is like none of the second half. */
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

/* The last sample that is unlike the one a period later, if a whole period is so. */
static size_t end_of_mismatch(const struct signal *s, const float *mismatch, size_t half, size_t period,
                              double unrelated)
{
    size_t last = last_unlike(mismatch, half, length_of(s, period));
    return last >= period && mean_of(mismatch + last - period, period) > unrelated / 2 ? last : 0;
}

int signal_initialization(const struct signal *s, size_t period, double unrelated, size_t *end)
{
    size_t half = s->count / 2;
    *end = 0;
    if (half < 2)
        return 0;
    float *novelty = calloc(2 * half, sizeof *novelty), *mismatch = novelty + half;
    if (novelty == NULL)
        return -ENOMEM;
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
