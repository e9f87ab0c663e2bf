#include "points/combine.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/student.h"

enum { INSTRUCTIONS = offsetof(struct simulation_counts, core.instructions) / sizeof(uint64_t) };

/* A value of a window per instruction: of those that retired in it, a few more or less than were fetched. */
double combine_rate(const struct measured *m, combine_value *of, void *context)
{
    return of(context, m->number) / (double)m->number[INSTRUCTIONS];
}

int combine_prepare(struct sampled_run *s, struct error *err)
{
    const struct points *p = &s->points;
    const struct pass_result *r = &s->result;
    s->missing = p->period ? 0 : 1;
    for (size_t i = 0; i < r->count; i++) {
        const struct measured *m = &r->measured[i];
        if (!m->done)
            continue;
        s->used++;
        s->measured += m->window.insns;
        s->strayed += m->strayed;
    }
    for (unsigned h = 0; h < p->phases; h++)
        for (size_t i = 0; i < r->count; i++)
            if (r->measured[i].done && r->measured[i].phase == h) {
                s->missing -= p->phase[h].weight;
                break;
            }
    if (s->missing < 1e-9)
        s->missing = 0;
    if (s->used == 0)
        return error_set(err, -ENODATA, "no window of the run could be simulated: %s",
                         r->count ? r->measured[0].err.text : "it has none");
    return p->period ? regression_prepare(s, err) : 0;
}

/* ---- points of phases */

/* Variance of an estimate with its degrees of freedom, by Satterthwaite. */
struct spread {
    double variance;
    double squares; /* of parts' variances by their degrees */
};

static void spread_add(struct spread *s, double variance, double degrees)
{
    s->variance += variance;
    s->squares += variance * variance / degrees;
}

static double spread_half(const struct spread *s)
{
    return s->variance > 0 ? student(s->variance * s->variance / s->squares) * sqrt(s->variance) : 0;
}

struct phase_sum {
    size_t count;
    double mean, squares; /* of deviations from the mean */
};

static struct phase_sum sum_phase(const struct pass_result *r, unsigned phase, combine_value *of, void *context)
{
    struct phase_sum s = {0};
    for (size_t i = 0; i < r->count; i++) {
        if (!r->measured[i].done || r->measured[i].phase != phase)
            continue;
        double x = combine_rate(&r->measured[i], of, context), before = x - s.mean;
        s.mean += before / (double)++s.count;
        s.squares += before * (x - s.mean);
    }
    return s;
}

/* Phases that have but one point. */
struct singles {
    size_t count;
    double weight, weight_squares; /* sums */
    double mean, deviation;        /* weighted, of their values: running */
};

static void singles_add(struct singles *s, double weight, double x)
{
    s->count++;
    s->weight += weight;
    s->weight_squares += weight * weight;
    double before = x - s->mean;
    s->mean += before * weight / s->weight;
    s->deviation += weight * before * (x - s->mean);
}

static struct sampled_rate combine_phases(const struct sampled_run *run, combine_value *of, void *context)
{
    const struct points *p = &run->points;
    const struct pass_result *r = &run->result;
    struct spread spread = {0};
    struct singles singles = {0};
    double value = 0, weights = 0;
    size_t used = 0;
    for (unsigned h = 0; h < p->phases; h++) {
        struct phase_sum s = sum_phase(r, h, of, context);
        double w = p->phase[h].weight, whole = (double)p->phase[h].intervals;
        if (s.count == 0)
            continue;
        used += s.count;
        value += w * s.mean;
        weights += w;
        double rest = whole > 0 ? 1 - (double)s.count / whole : 1;
        if (s.count > 1)
            spread_add(&spread, w * w * s.squares / (double)(s.count - 1) / (double)s.count * fmax(rest, 0),
                       (double)(s.count - 1));
        else if (rest > 0)
            singles_add(&singles, w, s.mean);
    }
    /* The variance of a value among them, times the sum of their squared weights. */
    if (singles.count > 1)
        spread_add(&spread,
                   singles.deviation / singles.weight * (double)singles.count / (double)(singles.count - 1) *
                       singles.weight_squares,
                   (double)(singles.count - 1));
    double half = spread_half(&spread);
    if (used < 2 || (singles.count == 1 && used == singles.count))
        half = INFINITY;
    return (struct sampled_rate){value / weights, half / weights};
}

struct sampled_rate combine(const struct sampled_run *s, combine_value *of, void *context)
{
    return s->points.period ? combine_systematic(s, of, context) : combine_phases(s, of, context);
}

static double number_at(void *context, const uint64_t *number)
{
    return (double)(int64_t)number[*(const size_t *)context];
}

void combine_numbers(const struct sampled_run *s, uint64_t *to)
{
    for (size_t i = 0; i < s->result.numbers; i++)
        to[i] = (uint64_t)(int64_t)llround(combine(s, number_at, &i).value * (double)s->result.insns);
}

void sampled_run_free(struct sampled_run *s)
{
    points_free(&s->points);
    pass_result_free(&s->result);
    regression_free(&s->regression);
}
