#include "phases/combine.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/student_t.h"
#include "phases/settle.h"

enum {
    INSTRUCTIONS = offsetof(struct simulation_counts, core.instructions) / sizeof(uint64_t),
    CYCLES = offsetof(struct simulation_counts, core.cycles) / sizeof(uint64_t),
};

/* Divides by the instructions that retired in the window, which can differ a little from window.insns. */
double combine_rate(const uint64_t *number, combine_value *of, void *context)
{
    return of(context, number) / (double)number[INSTRUCTIONS];
}

double combine_cycles(void *context, const uint64_t *number)
{
    (void)context;
    return (double)number[CYCLES];
}

/* The weight of the phases without a measured window. */
static double missing_weight(const struct sampled_run *s)
{
    double missing = 1;
    for (unsigned h = 0; h < s->points.phases; h++)
        for (size_t i = 0; i < s->result.count; i++)
            if (s->result.measured[i].done && s->result.measured[i].phase == h) {
                missing -= s->points.phase[h].weight;
                break;
            }
    return missing < 1e-9 ? 0 : missing;
}

void combine_count_strayed(struct sampled_run *s)
{
    s->strayed = 0;
    for (size_t i = 0; i < s->result.count; i++)
        s->strayed += s->result.measured[i].strayed;
}

/* The phases of a systematic sample: one of all units, and the head. */
static int make_phases(struct sampled_run *s)
{
    struct points *p = &s->points;
    double head = p->head ? fmin(1, (double)p->head / (double)s->result.insns) : 0;
    size_t units = 0;
    p->phase = calloc(2, sizeof *p->phase);
    s->units.count = pass_units(&s->result);
    s->units.phase = malloc(s->units.count + 1);
    if (p->phase == NULL || s->units.phase == NULL)
        return -ENOMEM;
    for (size_t u = 0; u < s->units.count; u++) {
        const uint64_t *count = pass_unit(&s->result, u);
        bool known = count && count[WARM_INSNS] >= p->insns;
        s->units.phase[u] = known ? 0 : UNIT_ALONE;
        units += known;
    }
    p->phase[p->phases++] = (struct point_phase){.id = 0, .weight = 1 - head, .intervals = units};
    if (p->head) {
        p->phase[p->phases] = (struct point_phase){.id = 1, .weight = head, .intervals = 1};
        s->result.measured[0].phase = p->phases++;
    }
    return 0;
}

int combine_prepare(struct sampled_run *s, struct error *err)
{
    const struct pass_result *r = &s->result;
    combine_count_strayed(s);
    s->used = s->measured_twice = 0;
    s->measured = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct measured *m = &r->measured[i];
        if (!m->done)
            continue;
        s->used++;
        s->measured += m->window.insns;
        s->measured_twice += pass_second(r, m) != NULL;
    }
    if (s->used == 0)
        return error_set(err, -ENODATA, "no window of the run could be simulated: %s",
                         r->count ? r->measured[0].err.text : "it has none");
    if (s->points.period && s->points.phases == 0 && make_phases(s) != 0)
        return error_set(err, -ENOMEM, "out of memory for estimates");
    s->missing = missing_weight(s);
    return 0;
}

/* ---- stratified sampling */

/* Σ (value - mean)² of n windows of a phase. For an event that occurs less than once in a window it is at least so much
 * that the 95 % interval of the mean is 3 / n events per window wide: in 5 % of all samples, n windows miss an event
 * that occurs in 3 / n of all windows. */
static double with_unseen_events(double squares, double mean, uint64_t window_insns)
{
    const double event = 3 / 1.96 / (double)window_insns;
    return mean * (double)window_insns < 1 ? fmax(squares, event * event) : squares;
}

/* Variance of an estimate that is a sum of parts, with its degrees of freedom by Satterthwaite:
 * (Σ variance)² / Σ (variance² / degrees). */
struct spread {
    double variance;
    double squares; /* Σ variance² / degrees over the parts */
};

static void spread_add(struct spread *s, double variance, double degrees)
{
    s->variance += variance;
    s->squares += variance * variance / degrees;
}

/* Half width of the 95 % interval. */
static double spread_half(const struct spread *s)
{
    return s->variance > 0 ? student_t_975(s->variance * s->variance / s->squares) * sqrt(s->variance) : 0;
}

void combine_sum_phases(const struct sampled_run *s, combine_value *of, void *context,
                        const double coefficient[COLUMNS], struct phase_sum *sums)
{
    const double rounding = 1e-9; /* of a prediction */
    for (size_t i = 0; i < s->result.count; i++) {
        const struct measured *m = &s->result.measured[i];
        if (!m->done)
            continue;
        struct phase_sum *h = &sums[m->phase];
        double value = combine_rate(m->number, of, context), x = value;
        if (s->model.column && s->model.weight[i] > 0) {
            x -= unit_model_predict(coefficient, s->model.column[i]);
            if (fabs(x) < rounding * fabs(value))
                x = 0;
        }
        double before = x - h->mean;
        h->mean += before / (double)++h->count;
        h->squares += before * (x - h->mean);
        h->values += (value - h->values) / (double)h->count;
    }
}

/* Phases with a single measured point. */
struct singles {
    size_t count;
    double weight, weight_squares; /* Σ w, Σ w² */
    double mean;                   /* weighted mean of their values */
    double deviation;              /* Σ w (value - mean)² */
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

/* With weight w, n points, mean m and variance s² of phase h, which has N intervals:
 *
 *     value    = Σ w m / Σ w
 *     variance = (Σ w² s² / n * (1 - n / N)  +  s1² Σ w1²) / (Σ w)²
 *
 * where s1² is the variance among the phases with a single point and w1 are their weights. With a model, m and s² are
 * those of the differences from its predictions, and the mean prediction of all units is added. */
static struct sampled_rate combine_phases(const struct sampled_run *run, combine_value *of, void *context,
                                          struct spread *spread)
{
    const struct points *p = &run->points;
    const bool modelled = run->model.column != NULL;
    struct phase_sum sums[UNIT_ALONE + 1] = {{0}};
    struct singles singles = {0};
    double value = 0, weights = 0, coefficient[COLUMNS] = {0};
    bool chance = false; /* the variance of some phase is known */
    if (modelled)
        unit_model_coefficients(run, of, context, coefficient);
    combine_sum_phases(run, of, context, coefficient, sums);
    for (unsigned h = 0; h < p->phases; h++) {
        const struct phase_sum *s = &sums[h];
        double w = p->phase[h].weight, whole = (double)p->phase[h].intervals;
        bool predicted = modelled && !(p->head > 0 && h + 1 == p->phases);
        if (predicted)
            value += w * unit_model_predict(coefficient, run->model.mean);
        if (s->count || predicted)
            weights += w;
        if (s->count == 0)
            continue;
        value += w * s->mean;
        double rest = whole > 0 ? 1 - (double)s->count / whole : 1;
        if (s->count > 1)
            spread_add(spread,
                       w * w * with_unseen_events(s->squares, s->values, p->insns) / (double)(s->count - 1) /
                           (double)s->count * fmax(rest, 0),
                       (double)(s->count - 1));
        else if (rest > 0)
            singles_add(&singles, w, s->mean);
        chance |= s->count > 1 || rest <= 0;
    }
    if (singles.count > 1)
        spread_add(spread,
                   singles.deviation / singles.weight * (double)singles.count / (double)(singles.count - 1) *
                       singles.weight_squares,
                   (double)(singles.count - 1));
    spread->variance /= weights * weights;
    spread->squares /= weights * weights * weights * weights;
    bool unknown = singles.count == 1 && !chance;
    return (struct sampled_rate){value / weights, unknown ? INFINITY : 0};
}

/* ---- the error that the usual warming leaves */

/* With difference d of the two measurements of a window, and a = weight / windows of its phase:
 *
 *     mean     = Σ a d / Σ a
 *     variance = Σ a² (d - mean)² / (Σ a)² * m / (m - 1)        m windows
 *
 * The estimate is corrected by the mean, times the share of the run that is not the head. */
static double warming_error(const struct sampled_run *s, combine_value *of, void *context, struct spread *spread)
{
    const struct pass_result *r = &s->result;
    const struct points *p = &s->points;
    double *a = calloc(p->phases, sizeof *a), mean = 0, sum = 0, squares = 0, m = 0;
    if (a == NULL || s->measured_twice < 2) {
        free(a);
        return 0;
    }
    for (size_t i = 0; i < r->count; i++)
        a[r->measured[i].phase] += r->measured[i].done;
    for (unsigned h = 0; h < p->phases; h++)
        a[h] = a[h] > 0 ? p->phase[h].weight / a[h] : 0;
    for (unsigned step = 0; step < 2; step++) {
        for (size_t i = 0; i < r->count; i++) {
            const uint64_t *second = pass_second(r, &r->measured[i]);
            if (second == NULL)
                continue;
            double weight = a[r->measured[i].phase];
            double d = combine_rate(second, of, context) - combine_rate(r->measured[i].number, of, context);
            if (step == 0) {
                mean += weight * d;
                sum += weight;
                m++;
            } else {
                squares += weight * weight * (d - mean) * (d - mean);
            }
        }
        if (step == 0)
            mean = sum > 0 ? mean / sum : 0;
    }
    free(a);
    double rest = 1 - (p->head ? (double)p->head / (double)r->insns : 0);
    if (sum > 0)
        spread_add(spread, rest * rest * squares / (sum * sum) * m / (m - 1), m - 1);
    return rest * mean;
}

double combine_longer_warming(const struct sampled_run *s, combine_value *of, void *context)
{
    struct spread ignored = {0};
    return warming_error(s, of, context, &ignored);
}

struct sampled_rate combine(const struct sampled_run *s, combine_value *of, void *context)
{
    struct spread spread = {0};
    struct sampled_rate e = combine_phases(s, of, context, &spread);
    double variance;
    e.value += warming_error(s, of, context, &spread);
    e.value += settle_effect(s, of, context, &variance);
    if (variance > 0)
        spread_add(&spread, variance, (double)(s->settled.windows - 1));
    e.half += spread_half(&spread);
    return e;
}

/* A combine_value: the number at the index that `context` points to. */
static double number_at(void *context, const uint64_t *number)
{
    return (double)(int64_t)number[*(const size_t *)context];
}

/* Whether some window has a negative value at this index: most numbers are counts, some are differences. */
static bool may_be_negative(const struct sampled_run *s, size_t index)
{
    for (size_t i = 0; i < s->result.count; i++)
        if (s->result.measured[i].done && (int64_t)s->result.measured[i].number[index] < 0)
            return true;
    return false;
}

void combine_numbers(const struct sampled_run *s, uint64_t *to)
{
    for (size_t i = 0; i < s->result.numbers; i++) {
        double value = combine(s, number_at, &i).value * (double)s->result.insns;
        if (value < 0 &&
            !may_be_negative(s, i)) /* the estimate of a rare count, by the model or after warming's error */
            value = 0;
        to[i] = (uint64_t)(int64_t)llround(value);
    }
}

void sampled_run_free(struct sampled_run *s)
{
    points_free(&s->points);
    pass_result_free(&s->result);
    unit_model_free(&s->model);
    free(s->units.phase);
    free(s->spread);
    free(s->mean);
    s->spread = NULL;
    s->mean = NULL;
    s->units = (struct unit_phases){0};
}
