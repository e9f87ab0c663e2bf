#include "phases/refine.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/random.h"

/* What is known about a phase. */
struct stratum {
    double weight, deviation; /* share of the run; standard deviation among its units, in any measure */
    double units, windows;    /* units, and those that are measured */
    size_t missing;           /* windows to add */
};

/* ---- how many windows */

/* Windows of a stratum for a scale: in proportion to units and deviation. Those that are measured stay. */
static double windows_at(const struct stratum *h, double scale)
{
    double least = fmin(fmax(h->windows, REFINE_PER_STRATUM), h->units);
    return fmax(least, fmin(floor(scale * h->units * h->deviation), h->units));
}

/* Windows of all strata for a scale. `*variance`: of the mean. */
static double all_windows(const struct stratum *h, unsigned count, double scale, double *variance)
{
    double all = 0;
    *variance = 0;
    for (unsigned i = 0; i < count; i++) {
        double n = windows_at(&h[i], scale), part = h[i].weight * h[i].deviation;
        all += n;
        if (n > 0)
            *variance += part * part / n * (1 - n / h[i].units);
    }
    return all;
}

/* Sets `missing` of all strata: as few windows as make the variance of the mean at most `variance`, or about `most` in
 * all if that is fewer. Returns the number of windows, measured ones included. */
static double allot(struct stratum *h, unsigned count, double variance, double most)
{
    double low = 0, high = 1, found, all;
    for (unsigned i = 0; i < count; i++)
        high = fmax(high, h[i].deviation > 0 ? 2 / h[i].deviation : 0); /* all units are windows */
    for (unsigned step = 0; step < 64; step++) {
        double scale = (low + high) / 2;
        all = all_windows(h, count, scale, &found);
        *(found <= variance || all >= most ? &high : &low) = scale;
    }
    all = 0;
    for (unsigned i = 0; i < count; i++) {
        double n = windows_at(&h[i], high);
        h[i].missing = n > h[i].windows ? (size_t)(n - h[i].windows) : 0;
        all += n;
    }
    return all;
}

/* ---- which windows */

/* The units of a run, from which windows are drawn. */
struct drawing {
    const struct sampled_run *sampled;
    bool *measured; /* by unit: whether it is or was a window */
    struct stratum stratum[UNIT_ALONE + 1];
};

/* Counts units and windows of the phases. The caller sets deviations, and frees `measured`. False: out of memory. */
static bool begin(struct drawing *d, const struct sampled_run *s)
{
    const struct unit_phases *units = &s->units;
    *d = (struct drawing){.sampled = s, .measured = calloc(units->count + 1, sizeof *d->measured)};
    if (d->measured == NULL)
        return false;
    for (size_t i = 0; i < s->result.count; i++) {
        const struct window *w = &s->result.measured[i].window;
        size_t unit = w->start >= s->points.head ? unit_of_window(s, w) : units->count;
        if (unit < units->count)
            d->measured[unit] = true;
    }
    for (unsigned h = 0; h < s->points.phases; h++)
        d->stratum[h].weight = s->points.phase[h].weight;
    for (size_t u = 0; u < units->count; u++) {
        d->stratum[units->phase[u]].units++;
        d->stratum[units->phase[u]].windows += d->measured[u];
    }
    return true;
}

/* Draws `missing` units of each phase among those that are no windows yet: every choice is equally likely. */
static int draw(struct drawing *d, struct refinement *to, struct error *err)
{
    const struct points *p = &d->sampled->points;
    const struct unit_phases *units = &d->sampled->units;
    struct random random;
    size_t all = 0, left[UNIT_ALONE + 1] = {0};
    random_seed(&random, p->seed + d->sampled->result.count);
    for (unsigned h = 0; h < p->phases; h++)
        all += d->stratum[h].missing;
    to->points = (struct points){.point = calloc(all + 1, sizeof *to->points.point),
                                 .insns = p->insns,
                                 .lead = p->lead,
                                 .first_stretch = p->first_stretch,
                                 .stretch = p->stretch,
                                 .one_stretch = p->one_stretch};
    if (to->points.point == NULL)
        return error_set(err, -ENOMEM, "out of memory for windows");
    for (size_t u = 0; u < units->count; u++)
        left[units->phase[u]] += !d->measured[u];
    for (size_t u = 0; u < units->count; u++) {
        unsigned phase = units->phase[u];
        if (phase == UNIT_ALONE || d->measured[u])
            continue;
        if (random_u64(&random) % left[phase]-- < d->stratum[phase].missing) {
            struct window window = {p->head + u * p->insns, p->insns};
            to->points.point[to->points.count++] = (struct point){.window = window, .phase = phase};
            d->stratum[phase].missing--;
        }
    }
    return 0;
}

static double most_windows(const struct sampled_run *s, const struct refine_limits *limits)
{
    return fmin((double)(limits->most_insns / (s->points.insns + limits->warmup_insns)), REFINE_MOST);
}

unsigned refine_strata_count(const struct sampled_run *s, const struct refine_limits *limits)
{
    double windows = fmin(REFINE_WINDOWS, most_windows(s, limits));
    return (unsigned)(windows * REFINE_STRATA / REFINE_WINDOWS);
}

/* Σ (difference - mean)² of the windows, and what it would be with a deviation of 1 per spread. */
static double deviation_ratio(const struct sampled_run *s, const struct phase_sum *sums)
{
    double squares = 0, spreads = 0;
    for (unsigned h = 0; h < s->points.phases; h++)
        if (sums[h].count > 1) {
            squares += sums[h].squares;
            spreads += (double)(sums[h].count - 1) * s->spread[h] * s->spread[h];
        }
    return spreads > 0 ? squares / spreads : 0;
}

/* Sets deviations of the CPI: those of the windows of a stratum. Since these are few, `expected` more windows are
 * assumed that vary as its units do in what warming counted, in the ratio that is usual in this run. INFINITY: only
 * these. */
static void set_deviations(const struct sampled_run *s, double expected, struct drawing *d)
{
    struct phase_sum sums[UNIT_ALONE + 1] = {{0}};
    double coefficient[COLUMNS] = {0};
    if (s->model.column)
        unit_model_coefficients(s, combine_cycles, NULL, coefficient);
    combine_sum_phases(s, combine_cycles, NULL, coefficient, sums);
    const double ratio = deviation_ratio(s, sums);
    for (unsigned h = 0; h < s->points.phases; h++) {
        double usual = ratio * s->spread[h] * s->spread[h], known = sums[h].count > 1 ? (double)(sums[h].count - 1) : 0;
        double variance = isinf(expected) ? usual : (sums[h].squares + expected * usual) / (known + expected);
        d->stratum[h].deviation = sqrt(variance);
    }
}

/* Draws for a half interval of the CPI, but at least `least` windows in all and at most `most` new ones. */
static int plan(struct drawing *d, double half, double least, double most, struct refinement *to, struct error *err)
{
    const struct sampled_run *s = d->sampled;
    const double variance = half * half / 4; /* two deviations make an interval */
    double before = 0;
    for (unsigned h = 0; h < s->points.phases; h++)
        before += d->stratum[h].windows;
    double all = allot(d->stratum, s->points.phases, variance, INFINITY);
    if (all < least)
        all = allot(d->stratum, s->points.phases, -1, least);
    to->wanted = (uint64_t)(all - before);
    if (all - before > most)
        allot(d->stratum, s->points.phases, -1, before + most);
    return draw(d, to, err);
}

int refine_strata(const struct sampled_run *s, double precision, const struct refine_limits *limits,
                  struct refinement *to, struct error *err)
{
    const double most = most_windows(s, limits);
    const double caution = 1.5; /* the few windows of the first pass show too small deviations */
    struct drawing d;
    struct sampled_rate e = combine(s, combine_cycles, NULL);
    *to = (struct refinement){.wanted = 0};
    if (!begin(&d, s))
        return error_set(err, -ENOMEM, "out of memory for windows");
    set_deviations(s, INFINITY, &d);
    int code = plan(&d, refine_sampling_precision(precision) * e.value / caution, fmin(REFINE_WINDOWS, most),
                    fmin(REFINE_AT_FIRST, most), to, err);
    free(d.measured);
    return code;
}

double refine_sampling_precision(double precision)
{
    return precision > WARM_CYCLES_ERROR ? sqrt(precision * precision - WARM_CYCLES_ERROR * WARM_CYCLES_ERROR) : 0;
}

/* How much smaller the half interval has to become than these deviations tell: by how much the one that the windows
 * have is wider. At most 1. */
static double shown(const struct drawing *d, double half)
{
    double variance = 0;
    for (unsigned h = 0; h < d->sampled->points.phases; h++) {
        const struct stratum *k = &d->stratum[h];
        if (k->windows > 0)
            variance += pow(k->weight * k->deviation, 2) / k->windows * (1 - k->windows / k->units);
    }
    return fmin(1, 2 * sqrt(variance) / half);
}

int refine_precision(const struct sampled_run *s, double precision, const struct refine_limits *limits,
                     struct refinement *to, struct error *err)
{
    const double caution = 0.95; /* deviations are estimates */
    const double expected = 3;   /* see set_deviations */
    struct drawing d;
    struct sampled_rate e = combine(s, combine_cycles, NULL);
    *to = (struct refinement){.wanted = 0};
    if (!begin(&d, s))
        return error_set(err, -ENOMEM, "out of memory for windows");
    set_deviations(s, expected, &d);
    double half = caution * refine_sampling_precision(precision) * e.value * shown(&d, e.half);
    int code = half == 0 ? 0 : plan(&d, half, 0, most_windows(s, limits), to, err);
    free(d.measured);
    return code;
}

void refinement_free(struct refinement *r)
{
    points_free(&r->points);
}
