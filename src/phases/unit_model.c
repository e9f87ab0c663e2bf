#include "phases/unit_model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "phases/combine.h"

enum { WINDOWS_PER_COLUMN = 10 }; /* fewest windows for a column */

/* Share of the sum of squares of a column that is added to its diagonal, since columns may depend on each other. Not to
 * that of the constant: what is equal in all windows is predicted exactly. */
static const double RIDGE = 1e-6;
/* A column whose root mean square over the windows is less (2 in a unit of 20,000 instructions) is treated as if it had
 * this one. Else the fit would rest on a handful of misses, or, without any, on nothing. */
static const double LEAST_RATE = 1e-4;

size_t unit_of_window(const struct sampled_run *s, const struct window *w)
{
    return (w->start - s->points.head) / s->points.insns;
}

bool unit_model_columns(const struct sampled_run *s, size_t unit, double to[COLUMNS])
{
    const uint64_t *count = pass_unit(&s->result, unit);
    if (count == NULL || count[WARM_INSNS] < s->points.insns || unit >= s->units.count ||
        s->units.phase[unit] == UNIT_ALONE)
        return false;
    for (unsigned k = 0; k < COLUMNS; k++)
        to[k] = k == WARM_INSNS ? 1 : (double)count[k] / (double)count[WARM_INSNS];
    return true;
}

/* ---- linear algebra */

/* Inverts a symmetric positive definite matrix by elimination, without pivots. */
static void invert(double a[COLUMNS][COLUMNS], double to[COLUMNS][COLUMNS])
{
    for (unsigned i = 0; i < COLUMNS; i++)
        for (unsigned j = 0; j < COLUMNS; j++)
            to[i][j] = i == j;
    for (unsigned k = 0; k < COLUMNS; k++) {
        double pivot = a[k][k];
        for (unsigned j = 0; j < COLUMNS; j++) {
            a[k][j] /= pivot;
            to[k][j] /= pivot;
        }
        for (unsigned i = 0; i < COLUMNS; i++) {
            double f = a[i][k];
            for (unsigned j = 0; i != k && j < COLUMNS; j++) {
                a[i][j] -= f * a[k][j];
                to[i][j] -= f * to[k][j];
            }
        }
    }
}

double unit_model_predict(const double coefficient[COLUMNS], const double column[COLUMNS])
{
    double sum = 0;
    for (unsigned k = 0; k < COLUMNS; k++)
        sum += coefficient[k] * column[k];
    return sum;
}

/* ---- the fit */

/* Sets columns of the windows, and weights to 1 of those that are part of the model. Returns their number. */
static size_t list_windows(struct sampled_run *s)
{
    struct unit_model *m = &s->model;
    size_t windows = 0;
    for (size_t i = 0; i < s->result.count; i++) {
        const struct measured *w = &s->result.measured[i];
        bool known = w->done && w->window.start >= s->points.head &&
                     unit_model_columns(s, unit_of_window(s, &w->window), m->column[i]);
        m->weight[i] = known;
        windows += known;
    }
    return windows;
}

/* Sets weights: the units of a phase divided by its windows. */
static void weigh_windows(struct sampled_run *s)
{
    struct unit_model *m = &s->model;
    size_t windows[UNIT_ALONE + 1] = {0};
    for (size_t i = 0; i < s->result.count; i++)
        windows[s->result.measured[i].phase] += m->weight[i] > 0;
    for (size_t i = 0; i < s->result.count; i++) {
        unsigned h = s->result.measured[i].phase;
        if (m->weight[i] > 0)
            m->weight[i] = (double)s->points.phase[h].intervals / (double)windows[h];
    }
}

/* Sets `inverse` from the windows. */
static void fit(struct sampled_run *s)
{
    struct unit_model *m = &s->model;
    double squares[COLUMNS][COLUMNS] = {{0}}, all = 0;
    for (size_t i = 0; i < s->result.count; i++) {
        all += m->weight[i];
        for (unsigned j = 0; m->weight[i] > 0 && j < COLUMNS; j++)
            for (unsigned k = 0; k < COLUMNS; k++)
                squares[j][k] += m->weight[i] * m->column[i][j] * m->column[i][k];
    }
    for (unsigned k = 0; k < COLUMNS; k++)
        if (k != WARM_INSNS)
            squares[k][k] = fmax((1 + RIDGE) * squares[k][k], all * LEAST_RATE * LEAST_RATE);
    invert(squares, m->inverse);
}

/* Sets `mean`, over all units that belong to a phase. */
static void average_units(struct sampled_run *s)
{
    struct unit_model *m = &s->model;
    double column[COLUMNS];
    size_t units = 0;
    memset(m->mean, 0, sizeof m->mean);
    for (size_t u = 0; u < s->units.count; u++) {
        if (!unit_model_columns(s, u, column))
            continue;
        units++;
        for (unsigned k = 0; k < COLUMNS; k++)
            m->mean[k] += (column[k] - m->mean[k]) / (double)units;
    }
}

int unit_model_fit(struct sampled_run *s)
{
    struct unit_model *m = &s->model;
    unit_model_free(m);
    m->column = calloc(s->result.count + 1, sizeof *m->column);
    m->weight = calloc(s->result.count + 1, sizeof *m->weight);
    if (m->column == NULL || m->weight == NULL) {
        unit_model_free(m);
        return -ENOMEM;
    }
    if (list_windows(s) < WINDOWS_PER_COLUMN * COLUMNS) {
        unit_model_free(m);
        return 0;
    }
    weigh_windows(s);
    fit(s);
    average_units(s);
    return 0;
}

void unit_model_free(struct unit_model *m)
{
    free(m->column);
    free(m->weight);
    *m = (struct unit_model){0};
}

void unit_model_coefficients(const struct sampled_run *s, combine_value *of, void *context, double to[COLUMNS])
{
    const struct unit_model *m = &s->model;
    double sum[COLUMNS] = {0};
    for (size_t i = 0; i < s->result.count; i++) {
        if (m->weight[i] == 0)
            continue;
        double value = m->weight[i] * combine_rate(s->result.measured[i].number, of, context);
        for (unsigned k = 0; k < COLUMNS; k++)
            sum[k] += m->column[i][k] * value;
    }
    for (unsigned k = 0; k < COLUMNS; k++)
        to[k] = unit_model_predict(m->inverse[k], sum);
}
