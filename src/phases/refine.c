#include "phases/refine.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

/* ---- units that are unlike the windows */

enum { RARE_SHARE = 3 }; /* most rare units: the number of windows divided by this */
/* A rare unit has at least this leverage (a window there would decide this much of its prediction), and at least
 * RARE_TIMES that of an average window. */
static const double RARE_LEVERAGE = 0.05, RARE_TIMES = 3;

struct influence {
    size_t unit;
    double leverage;
};

static int by_leverage(const void *a, const void *b)
{
    double x = ((const struct influence *)a)->leverage, y = ((const struct influence *)b)->leverage;
    return (x < y) - (x > y);
}

static int by_unit(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* Lists the units with the largest leverage in to->rare, in the order of the run. */
static int find_rare(const struct sampled_run *s, uint64_t most, struct refinement *to)
{
    double column[COLUMNS], least = fmax(RARE_LEVERAGE, RARE_TIMES * s->model.columns / (double)s->used);
    size_t found = 0, windows = s->used / RARE_SHARE;
    struct influence *list = s->model.column ? malloc((unit_count(s) + 1) * sizeof *list) : NULL;
    if (s->model.column == NULL)
        return 0;
    if (list == NULL)
        return -ENOMEM;
    for (size_t u = 0; u < unit_count(s) && u < s->units.count; u++)
        if (s->units.phase[u] < s->classes && unit_columns(s, u, column)) {
            list[found] = (struct influence){u, unit_model_leverage(&s->model, column)};
            found += list[found].leverage > least;
        }
    qsort(list, found, sizeof *list, by_leverage);
    most = most < windows ? most : windows;
    to->rares = found < most ? found : most;
    to->rare = malloc((to->rares + 1) * sizeof *to->rare);
    for (size_t i = 0; to->rare && i < to->rares; i++)
        to->rare[i] = list[i].unit;
    free(list);
    if (to->rare == NULL)
        return -ENOMEM;
    qsort(to->rare, to->rares, sizeof *to->rare, by_unit);
    return 0;
}

/* Whether a unit is rare. `*at` is the index of the first rare unit that it may be; units ascend. */
static bool is_rare(const struct refinement *r, size_t unit, size_t *at)
{
    while (*at < r->rares && r->rare[*at] < unit)
        ++*at;
    return *at < r->rares && r->rare[*at] == unit;
}

static bool is_rare_window(const struct sampled_run *s, const struct refinement *r, const struct measured *m)
{
    size_t unit = r->rares && m->window.start >= s->points.head ? unit_of_window(s, &m->window) : SIZE_MAX;
    return r->rares && bsearch(&unit, r->rare, r->rares, sizeof unit, by_unit) != NULL;
}

int refine_separate_rare(struct sampled_run *s, const struct refinement *r)
{
    struct points *p = &s->points;
    if (r->rares == 0)
        return 0;
    struct point_phase *more = realloc(p->phase, (p->phases + 1) * sizeof *more);
    if (more == NULL)
        return -ENOMEM;
    p->phase = more;
    p->phase[p->phases] = (struct point_phase){p->phases, 0, r->rares};
    for (size_t i = 0; i < r->rares; i++) {
        struct point_phase *from = &p->phase[s->units.phase[r->rare[i]]];
        double unit_weight = from->weight / (double)from->intervals;
        from->weight -= unit_weight;
        from->intervals--;
        p->phase[p->phases].weight += unit_weight;
        s->units.phase[r->rare[i]] = (uint8_t)p->phases;
    }
    for (size_t i = 0; i < s->result.count; i++)
        if (is_rare_window(s, r, &s->result.measured[i]))
            s->result.measured[i].phase = p->phases;
    p->phases++;
    return 0;
}

void refinement_free(struct refinement *r)
{
    points_free(&r->points);
    free(r->rare);
    r->rare = NULL;
}

/* ---- how many windows, and which */

/* What is known about a phase. */
struct stratum {
    double weight, deviation; /* share of the run; standard deviation of the CPI among its windows */
    size_t windows, units;    /* windows measured; windows that it could have */
    size_t missing;           /* windows to add */
};

/* The value of a window whose variation decides how many windows its phase needs: its CPI, or the part of it that the
 * model does not predict. */
static double varying_part(const struct sampled_run *s, size_t i, const double coefficient[COLUMNS])
{
    double cpi = combine_rate(s->result.measured[i].number, combine_cycles, NULL);
    bool modelled = s->model.column && s->model.leverage[i] >= 0;
    if (!modelled)
        return cpi;
    return (cpi - unit_model_predict(coefficient, s->model.column[i])) /
           (1 - fmin(s->model.leverage[i], LEVERAGE_MOST));
}

/* Strata of all phases; the head has deviation 0. Rare units are left out: they are measured in any case. */
static struct stratum *make_strata(const struct sampled_run *s, const struct refinement *rare)
{
    const struct points *p = &s->points;
    struct stratum *to = calloc(p->phases + 1, sizeof *to);
    double *mean = calloc(p->phases + 1, sizeof *mean), coefficient[COLUMNS] = {0};
    if (s->model.column)
        unit_model_coefficients(s, combine_cycles, NULL, coefficient);
    for (size_t i = 0; to && mean && i < s->result.count; i++) {
        const struct measured *m = &s->result.measured[i];
        if (!m->done || is_rare_window(s, rare, m))
            continue;
        struct stratum *h = &to[m->phase];
        double y = varying_part(s, i, coefficient), before = y - mean[m->phase];
        mean[m->phase] += before / (double)++h->windows;
        h->deviation += before * (y - mean[m->phase]);
    }
    for (unsigned h = 0; to && mean && h < p->phases; h++) {
        to[h].weight = p->phase[h].weight;
        to[h].units = p->phase[h].intervals;
        to[h].deviation = to[h].windows > 1 ? sqrt(to[h].deviation / (double)(to[h].windows - 1)) : 0;
    }
    for (size_t i = 0; to && mean && i < rare->rares; i++)
        to[s->units.phase[rare->rare[i]]].units--;
    bool whole = mean != NULL;
    free(mean);
    if (!whole) {
        free(to);
        return NULL;
    }
    return to;
}

/* Sets `missing` of all strata for a variance of the estimate. Neyman: with Σ over strata,
 *
 *     n = (Σ w s)² / (variance + Σ w² s² / N),   n_h = n w_h s_h / Σ w s
 *
 * Returns how many windows are missing. */
static uint64_t allot_windows(struct stratum *h, unsigned count, double variance)
{
    double sum = 0, correction = 0;
    uint64_t all = 0;
    for (unsigned i = 0; i < count; i++) {
        sum += h[i].weight * h[i].deviation;
        if (h[i].units)
            correction += h[i].weight * h[i].weight * h[i].deviation * h[i].deviation / (double)h[i].units;
    }
    for (unsigned i = 0; sum > 0 && i < count; i++) {
        double n = sum / (variance + correction) * h[i].weight * h[i].deviation;
        size_t left = h[i].units > h[i].windows ? h[i].units - h[i].windows : 0;
        if (n > (double)h[i].windows)
            h[i].missing = fmin(ceil(n) - (double)h[i].windows, (double)left);
        all += h[i].missing;
    }
    return all;
}

/* Whether a window of the sample is this unit. `*at` is the index of the first window that may be; units ascend. */
static bool is_measured(const struct sampled_run *s, uint64_t start, size_t *at)
{
    const struct pass_result *r = &s->result;
    while (*at < r->count && r->measured[*at].window.start < start)
        ++*at;
    return *at < r->count && r->measured[*at].window.start == start && r->measured[*at].done;
}

/* Draws `missing` units of each phase among those that are no windows yet: every choice is equally likely. Adds the
 * rare units, whose phase will be the one behind all others. */
static void draw_units(const struct sampled_run *s, struct stratum *h, struct refinement *to)
{
    const struct unit_phases *units = &s->units;
    struct random random;
    size_t at = 0, rare_at = 0;
    random_seed(&random, s->points.seed + 1);
    for (unsigned k = 0; k < s->points.phases; k++)
        h[k].units = h[k].units > h[k].windows ? h[k].units - h[k].windows : 0; /* left to draw from */
    for (size_t u = 0; u < units->count; u++) {
        unsigned phase = units->phase[u];
        uint64_t start = s->points.head + u * s->points.insns;
        struct window window = {start, s->points.insns};
        if (phase == UNIT_ALONE || is_measured(s, start, &at))
            continue;
        struct stratum *k = &h[phase];
        if (is_rare(to, u, &rare_at)) {
            to->points.point[to->points.count++] = (struct point){.window = window, .phase = s->points.phases};
            continue;
        }
        if (k->units && random_u64(&random) % k->units < k->missing) {
            to->points.point[to->points.count++] = (struct point){.window = window, .phase = phase};
            k->missing--;
        }
        k->units -= k->units > 0;
    }
}

int refine_plan(const struct sampled_run *s, double precision, uint64_t most_insns, uint64_t warmup_insns,
                struct refinement *to, struct error *err)
{
    struct sampled_rate e = combine(s, combine_cycles, NULL);
    *to = (struct refinement){.points = {.insns = s->points.insns,
                                         .lead = s->points.lead,
                                         .first_stretch = s->points.first_stretch,
                                         .stretch = s->points.stretch,
                                         .one_stretch = s->points.one_stretch}};
    uint64_t most = most_insns / (s->points.insns + warmup_insns);
    most = most < REFINE_MOST ? most : REFINE_MOST;
    struct stratum *h = find_rare(s, most / 2, to) == 0 ? make_strata(s, to) : NULL;
    if (h == NULL)
        return error_set(err, -ENOMEM, "out of memory for estimates");
    /* Two standard deviations make an interval. The fifth that is left is for warming, and since deviations are
     * estimates. */
    double half = 0.8 * precision * e.value / 2;
    uint64_t drawn = allot_windows(h, s->points.phases, half * half), left = most - to->rares;
    double share = drawn > left ? (double)left / (double)drawn : 1;
    for (unsigned i = 0; i < s->points.phases; i++)
        h[i].missing = (size_t)(share * (double)h[i].missing);
    to->wanted = drawn + to->rares;
    to->points.point = calloc((drawn < left ? drawn : left) + to->rares + 1, sizeof *to->points.point);
    if (to->points.point)
        draw_units(s, h, to);
    free(h);
    return to->points.point ? 0 : error_set(err, -ENOMEM, "out of memory for estimates");
}
