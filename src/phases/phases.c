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

/* Finds the stretch of `length` intervals with the least difference. Of stretches whose differences are less than ALIKE
 * above the least it takes the first, so that a few more entries of a block do not move the choice to another place.
 * Leaves the differences of all stretches in the buffer. */
static void best_point(const struct phases *p, double length, struct buffers *buffers, struct phase_point *to)
{
    const double ALIKE = 1e-3;
    length = fmin(length, (double)p->count);
    const double *difference = buffers->difference;
    size_t count = stretches_count(buffers->stretches.set, length), first = 0;
    stretches_compare(&buffers->stretches, length, buffers->difference);
    double least = difference[0];
    for (size_t k = 1; k < count; k++)
        least = fmin(least, difference[k]);
    while (difference[first] > least + ALIKE)
        first++;
    *to = (struct phase_point){first, length, difference[first]};
}

/* The length of the best stretch of a program without a period. Short stretches are unlike the run; from some length
 * on, longer ones gain little. This is the shortest one, of 1, 2, 4 ... intervals and at most a quarter of the run,
 * whose difference is at most `near` above the least of them. */
static void best_length(const struct phases *p, struct buffers *buffers, struct phase_point *to)
{
    const double near = 0.02;
    struct phase_point point[64];
    unsigned count = 0;
    double least = 2;
    for (double length = 1; count == 0 || length <= (double)(p->count / 4); length *= 2) {
        best_point(p, length, buffers, &point[count]);
        least = fmin(least, point[count++].difference);
    }
    for (unsigned k = count; k-- > 0;)
        if (point[k].difference <= least + near)
            *to = point[k];
    best_point(p, to->length, buffers, to); /* its differences are needed in the buffer */
}

/* The stretch that is as long as the best one and starts that length after the end of initialization. The buffer has
 * the differences of all stretches of this length. */
static void naive_point(const struct phases *p, const struct buffers *buffers, struct phase_point *to)
{
    size_t start = p->init_end + (size_t)(p->best.length + 0.5);
    if (start < stretches_count(buffers->stretches.set, p->best.length))
        *to = (struct phase_point){start, p->best.length, buffers->difference[start]};
}

/* Stretches are compared with the run after initialization. One stretch cannot have the proportions of both: if
 * initialization is a third of the run, a whole period differs from the run by 0.67 at least, and the stretch that
 * differs least is one that lies across the end of initialization, by chance. */
static int find_points(struct phases *p, size_t budget, struct buffers *buffers)
{
    const struct bbv_set *s = buffers->stretches.set;
    const struct structure *found = &p->structure;
    double interval = (double)s->interval;
    stretches_end(&buffers->stretches);
    int code = stretches_begin(&buffers->stretches, s, p->init_end);
    if (code)
        return code;
    if (found->periods)
        best_point(p, found->period[found->periods - 1].insns / interval, buffers, &p->best);
    else
        best_length(p, buffers, &p->best);
    naive_point(p, buffers, &p->naive);
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
