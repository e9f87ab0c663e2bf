/* The phases of a systematic sample, made when the run has ended.
 *
 * Warming counted misses and mispredictions in every unit of the run. A linear model, fitted to the measured windows,
 * predicts the CPI of a unit from these counts. Units with similar predictions form a phase: each phase has the same
 * number of windows, and as many units as have a prediction in its range. So units that are rare among the windows, but
 * not in the run, count as often as they occur. The model only sorts the units: a bad model makes phases that vary
 * more, which their windows show, but no estimate that is off. (Adding the model's predictions up, as a regression
 * estimator does, would be more precise where the model holds, and off without notice where few windows have many
 * misses.) */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "phases/combine.h"

enum {
    CLASSES_MOST = 5,       /* most phases */
    WINDOWS_PER_CLASS = 20, /* fewest windows of a phase, if there are several */
    COLUMNS = WARM_COUNTS,  /* of the model: a constant in place of WARM_INSNS, and a rate for each other count */
};

/* Share of the sum of squares of a column that is added to its diagonal: columns may depend on each other. */
static const double ridge = 1e-6;

struct model {
    double coefficient[COLUMNS];
};

/* The columns of a unit. False: the unit is incomplete. */
static bool unit_columns(const uint64_t *count, uint64_t insns, double x[COLUMNS])
{
    if (count[WARM_INSNS] < insns)
        return false;
    x[WARM_INSNS] = 1;
    for (unsigned k = 0; k < COLUMNS; k++)
        if (k != WARM_INSNS)
            x[k] = (double)count[k] / (double)count[WARM_INSNS];
    return true;
}

/* The columns of the unit that is a window. */
static bool window_columns(const struct sampled_run *s, size_t i, double x[COLUMNS])
{
    const struct points *p = &s->points;
    const struct measured *m = &s->result.measured[i];
    if (!m->done || (p->head && i == 0))
        return false;
    size_t u = (m->window.start - p->head) % p->period / p->insns;
    return unit_columns(pass_unit(&s->result, m, u), p->insns, x);
}

/* Solves the symmetric system a x = b in place, by elimination. */
static void solve(double a[COLUMNS][COLUMNS], double b[COLUMNS])
{
    for (unsigned k = 0; k < COLUMNS; k++) {
        for (unsigned i = k + 1; i < COLUMNS; i++) {
            double f = a[i][k] / a[k][k];
            for (unsigned j = k; j < COLUMNS; j++)
                a[i][j] -= f * a[k][j];
            b[i] -= f * b[k];
        }
    }
    for (unsigned k = COLUMNS; k-- > 0;) {
        for (unsigned j = k + 1; j < COLUMNS; j++)
            b[k] -= a[k][j] * b[j];
        b[k] /= a[k][k];
    }
}

/* Fits the cycles per instruction of the windows by least squares. */
static struct model fit(const struct sampled_run *s)
{
    struct model m = {{0}};
    double a[COLUMNS][COLUMNS] = {{0}}, x[COLUMNS];
    for (size_t w = 0; w < s->result.count; w++) {
        if (!window_columns(s, w, x))
            continue;
        double y = combine_rate(s->result.measured[w].number, combine_cycles, NULL);
        for (unsigned i = 0; i < COLUMNS; i++) {
            for (unsigned j = 0; j < COLUMNS; j++)
                a[i][j] += x[i] * x[j];
            m.coefficient[i] += x[i] * y;
        }
    }
    for (unsigned i = 0; i < COLUMNS; i++)
        a[i][i] += a[i][i] > 0 ? ridge * a[i][i] : 1;
    solve(a, m.coefficient);
    return m;
}

static double predict(const struct model *m, const double x[COLUMNS])
{
    double sum = 0;
    for (unsigned k = 0; k < COLUMNS; k++)
        sum += m->coefficient[k] * x[k];
    return sum;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Upper limits of the predictions of all classes but the last. */
struct limits {
    double limit[CLASSES_MOST];
    unsigned count;
};

static unsigned class_of(const struct limits *l, double prediction)
{
    unsigned c = 0;
    while (c < l->count && prediction >= l->limit[c])
        c++;
    return c;
}

/* Sets limits so that the classes have equal numbers of windows. Equal predictions are in one class. */
static int set_limits(const struct sampled_run *s, const struct model *m, struct limits *l)
{
    double *sorted = malloc((s->used + 1) * sizeof *sorted), x[COLUMNS];
    size_t n = 0;
    if (sorted == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < s->result.count; i++)
        if (window_columns(s, i, x))
            sorted[n++] = predict(m, x);
    qsort(sorted, n, sizeof *sorted, by_value);
    size_t classes = n / WINDOWS_PER_CLASS;
    classes = classes < 1 ? 1 : classes > CLASSES_MOST ? CLASSES_MOST : classes;
    size_t before = 0; /* windows below the last limit */
    for (size_t c = 1; c < classes; c++) {
        size_t at = c * n / classes;
        double limit = (sorted[at - 1] + sorted[at]) / 2; /* what is like either window stays with it */
        size_t below = 0;
        while (below < n && sorted[below] < limit)
            below++;
        if (below >= before + 2 && n - below >= 2) {
            l->limit[l->count++] = limit;
            before = below;
        }
    }
    free(sorted);
    return 0;
}

/* Lists the class of every unit, and counts the units of each class. Returns the number of units with a class. */
static size_t list_units(struct sampled_run *s, const struct model *m, const struct limits *l,
                         size_t units[CLASSES_MOST])
{
    size_t all = 0, first = s->points.head > 0, periods = s->result.count - first;
    double x[COLUMNS];
    s->units.phase = malloc(periods * s->result.units + 1);
    for (size_t i = 0; s->units.phase && i < periods; i++) {
        const struct measured *of = &s->result.measured[first + i];
        for (size_t u = 0; u < s->result.units; u++) {
            bool known = of->number && unit_columns(pass_unit(&s->result, of, u), s->points.insns, x);
            unsigned c = known ? class_of(l, predict(m, x)) : UNIT_ALONE;
            s->units.phase[s->units.count++] = (uint8_t)c;
            if (known)
                units[c]++;
            all += known;
        }
    }
    return all;
}

int classes_make(struct sampled_run *s, struct error *err)
{
    struct points *p = &s->points;
    struct model m = fit(s);
    struct limits l = {.count = 0};
    size_t units[CLASSES_MOST] = {0};
    double head = p->head ? fmin(1, (double)p->head / (double)s->result.insns) : 0, x[COLUMNS];
    p->phase = calloc(CLASSES_MOST + 1, sizeof *p->phase);
    if (p->phase == NULL || set_limits(s, &m, &l) != 0)
        return error_set(err, -ENOMEM, "out of memory for estimates");
    size_t all = list_units(s, &m, &l, units);
    for (unsigned c = 0; c <= l.count; c++)
        p->phase[c] = (struct point_phase){c, all ? (1 - head) * (double)units[c] / (double)all : 0, units[c]};
    p->phases = l.count + 1;
    for (size_t i = 0; i < s->result.count; i++)
        s->result.measured[i].phase = window_columns(s, i, x) ? class_of(&l, predict(&m, x)) : 0;
    if (p->head) {
        p->phase[p->phases] = (struct point_phase){p->phases, head, 1};
        s->result.measured[0].phase = p->phases++;
    }
    return 0;
}
