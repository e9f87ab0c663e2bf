#include "phases/phases.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "phases/run_signal.h"
#include "phases/stretch.h"

struct buffers {
    struct stretches stretches;
    double *difference, *graph; /* one number per interval */
    float *sample;              /* the difference graph in single precision */
};

/* ---- stretches */

/* Differences that are less than this apart count as equal, so that a few more entries of a block do not move a choice
 * to another place, or to another length. */
static const double ALIKE = 0.01;

/* Finds the stretch of `length` intervals that differs least from the run after initialization. Of those that differ
 * about as little it takes the one closest to the middle of that run: where data grow, the same code costs less before
 * it and more behind it. Leaves the differences of all stretches in the buffer. Returns the least difference. */
static double best_point(const struct phases *p, double length, struct buffers *buffers, struct phase_point *to)
{
    length = fmin(length, (double)p->count);
    const double *difference = buffers->difference;
    size_t count = stretches_count(buffers->stretches.set, length), best = 0;
    double middle = ((double)(p->init_end + p->count) - length) / 2, least = INFINITY;
    stretches_compare(&buffers->stretches, length, buffers->difference);
    for (size_t k = 0; k < count; k++)
        least = fmin(least, difference[k]);
    while (difference[best] > least + ALIKE)
        best++;
    for (size_t k = best + 1; k < count; k++)
        if (difference[k] <= least + ALIKE && fabs((double)k - middle) < fabs((double)best - middle))
            best = k;
    *to = (struct phase_point){best, length, difference[best]};
    return least;
}

/* The length of which stretches are whole multiples, in intervals: the longest period, or as many periods as an
 * interval needs; without a period, an interval. */
static double unit_of(const struct phases *p, double interval)
{
    const struct structure *found = &p->structure;
    if (found->periods == 0)
        return 1;
    double period = found->period[found->periods - 1].insns / interval;
    return period * fmax(1, ceil(1 / period));
}

/* Finds the best stretch. If a single period resembles the run, that is the best period. Otherwise stretches of 1, 2, 3
 * ... units are compared: short ones are unlike the run; from some length on, longer ones gain little. The shortest
 * one, of at most a quarter of the run after initialization, that differs about as little as any of them is taken. */
static void best_stretch(const struct phases *p, double unit, struct buffers *buffers, struct phase_point *to)
{
    enum { MOST_LENGTHS = 128 };
    const double growth = 1.189207115; /* lengths grow by the fourth root of 2 */
    struct phase_point point[MOST_LENGTHS];
    double differs[MOST_LENGTHS], least = best_point(p, unit, buffers, &point[0]);
    double longest = (double)((p->count - p->init_end) / 4);
    unsigned count = 1, shortest = 0;
    differs[0] = least;
    bool enough = p->structure.periods > 0 && least <= PHASE_RESEMBLES;
    for (double units = 2; !enough && count < MOST_LENGTHS && units * unit <= longest; count++) {
        differs[count] = best_point(p, units * unit, buffers, &point[count]);
        least = fmin(least, differs[count]);
        units = fmax(units + 1, round(units * growth));
    }
    while (differs[shortest] > least + ALIKE)
        shortest++;
    *to = point[shortest];
}

/* The stretch that starts one period after the end of initialization and is a period long; without a period, both
 * lengths are those of the best stretch. */
static void naive_point(const struct phases *p, double unit, struct buffers *buffers, struct phase_point *to)
{
    double length = p->structure.periods ? fmin(unit, (double)p->count) : p->best.length;
    size_t start = p->init_end + (size_t)(length + 0.5);
    if (start >= stretches_count(buffers->stretches.set, length))
        return;
    stretches_compare(&buffers->stretches, length, buffers->difference);
    *to = (struct phase_point){start, length, buffers->difference[start]};
}

/* Stretches are compared with the run after initialization. One stretch cannot represent both: initialization has code
 * and a CPI of its own. A stretch that lies across its end can have the blocks of the whole run in their proportions,
 * but it has the last part of initialization only, which costs other cycles than the whole of it. */
static int find_points(struct phases *p, size_t budget, struct buffers *buffers)
{
    const struct bbv_set *s = buffers->stretches.set;
    const struct structure *found = &p->structure;
    double interval = (double)s->interval, unit = unit_of(p, interval);
    stretches_end(&buffers->stretches);
    int code = stretches_begin(&buffers->stretches, s, p->init_end);
    if (code)
        return code;
    best_stretch(p, unit, buffers, &p->best);
    if (found->periods)
        p->best_periods = (size_t)(p->best.length * interval / found->period[found->periods - 1].insns + 0.5);
    naive_point(p, unit, buffers, &p->naive);
    if (budget)
        best_point(p, (double)budget, buffers, &p->budgeted);
    return 0;
}

/* ---- vectors of several durations */

/* The difference graph of vectors of `length` intervals, from the end of initialization on, at every `step`th of them.
 */
static struct run_signal duration_signal(const struct phases *p, size_t length, size_t step, struct buffers *buffers)
{
    struct run_signal made = {buffers->sample, 1, 0};
    stretches_compare(&buffers->stretches, (double)length, buffers->difference);
    for (size_t k = p->init_end; k + length <= p->count; k += step)
        buffers->sample[made.count++] = (float)buffers->difference[k];
    return made;
}

/* Periods of vectors of 1, 2, 4 ... intervals: longer vectors average short periods out and leave the long ones. */
static int by_duration(struct phases *p, struct buffers *buffers)
{
    enum { MOST_SAMPLES = 8192 };
    for (size_t length = 1; p->duration_count < PHASE_DURATIONS && 8 * length <= p->count; length *= 2) {
        size_t period = 0, shifts, coarse = p->count / MOST_SAMPLES + 1, step = coarse < length ? coarse : length;
        struct run_signal samples = duration_signal(p, length, step, buffers);
        int code = run_signal_periods(&samples, buffers->graph, &shifts, &period, 1);
        if (code < 0)
            return code;
        p->duration[p->duration_count++] = (struct phase_duration){length, period * step};
    }
    return 0;
}

/* ---- the difference graph alone, as in the paper */

/* The period of the second half of the difference graph, which is past initialization. */
static int period_of_second_half(const struct run_signal *s, double *graph, size_t *period)
{
    struct run_signal half = run_signal_from(s, s->count - s->count / 2);
    size_t shifts;
    *period = 0;
    int found = run_signal_periods(&half, graph, &shifts, period, 1);
    return found < 0 ? found : 0;
}

static int analyse_difference(struct phases *p, struct buffers *buffers)
{
    struct run_signal difference = {buffers->sample, 1, p->count}, steady = run_signal_from(&difference, p->init_end);
    size_t period, periods[STRUCTURE_PERIODS];
    for (size_t k = 0; k < p->count; k++)
        buffers->sample[k] = (float)p->difference[k];
    int code = period_of_second_half(&difference, buffers->graph, &period);
    if (code)
        return code;
    p->initialization_count = p->count / 4 ? p->count / 2 + 1 : 0;
    p->corner = run_signal_corner(&difference, period, p->initialization);
    int found = run_signal_periods(&steady, p->match, &p->match_count, periods, STRUCTURE_PERIODS);
    p->difference_period = found > 0 ? periods[found - 1] : 0;
    return found < 0 ? found : 0;
}

/* ---- the whole analysis */

static int analyse(const struct fine_signal *fine, size_t budget, struct phases *p, struct buffers *buffers)
{
    int code = structure_find(fine, &p->structure);
    if (code)
        return code;
    double init = p->structure.init.insns / (double)buffers->stretches.set->interval;
    p->init_end = (size_t)fmin(init + 0.5, (double)p->count - 1);
    stretches_compare(&buffers->stretches, 1, p->difference);
    code = analyse_difference(p, buffers);
    code = code ? code : by_duration(p, buffers);
    return code ? code : find_points(p, budget, buffers);
}

int phases_analyse(const struct bbv_set *s, const struct fine_signal *fine, size_t budget, struct phases *p,
                   struct error *err)
{
    *p = (struct phases){.count = s->count};
    struct buffers buffers = {.difference = calloc(s->count + 1, sizeof *buffers.difference),
                              .graph = calloc(s->count + 1, sizeof *buffers.graph),
                              .sample = calloc(s->count + 1, sizeof *buffers.sample)};
    p->difference = calloc(s->count + 1, sizeof *p->difference);
    p->initialization = calloc(s->count + 1, sizeof *p->initialization);
    p->match = calloc(s->count + 1, sizeof *p->match);
    int code = stretches_begin(&buffers.stretches, s, 0);
    bool made = code == 0 && buffers.difference && buffers.graph && buffers.sample && p->difference &&
                p->initialization && p->match;
    code = made ? analyse(fine, budget, p, &buffers) : -ENOMEM;
    stretches_end(&buffers.stretches);
    free(buffers.difference);
    free(buffers.graph);
    free(buffers.sample);
    if (code == 0)
        return 0;
    phases_free(p);
    return error_set(err, code, "out of memory for the analysis of phases");
}

void phases_free(struct phases *p)
{
    free(p->difference);
    free(p->initialization);
    free(p->match);
    *p = (struct phases){0};
}
