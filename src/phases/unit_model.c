#include "phases/unit_model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "phases/combine.h"

enum { WINDOWS_PER_COLUMN = 10, COLUMNS_LEAST = 8 }; /* fewest windows for a column; columns of the smallest model */
/* Counts whose rates have a square, too: many misses in a row wait for the bus, or overlap. */
static const enum warm_count squared[SQUARES] = {WARM_L2D, WARM_L2D_STORES};
static const double SQUARE_RATE = 0.01; /* rate that is its own square */

/* Share of the sum of squares of a column that is added to its diagonal, since columns may depend on each other. Not to
 * that of the constant: what is equal in all windows is predicted exactly. */
static const double RIDGE = 1e-6;
/* A column whose root mean square over the windows is less (2 in a unit of 20,000 instructions) is treated as if it had
 * this one. Else the fit would rest on a handful of misses, or, without any, on nothing. */
static const double LEAST_RATE = 1e-4;

size_t unit_count(const struct sampled_run *s)
{
    return pass_units(&s->result);
}

size_t unit_of_window(const struct sampled_run *s, const struct window *w)
{
    return (w->start - s->points.head) / s->points.insns;
}

bool unit_columns(const struct sampled_run *s, size_t unit, double to[COLUMNS])
{
    const uint64_t *count = pass_unit(&s->result, unit);
    if (count == NULL || count[WARM_INSNS] < s->points.insns)
        return false;
    for (unsigned k = 0; k < WARM_COUNTS; k++)
        to[k] = k == WARM_INSNS ? 1 : (double)count[k] / (double)count[WARM_INSNS];
    for (unsigned k = 0; k < SQUARES; k++)
        to[WARM_COUNTS + k] = to[squared[k]] * to[squared[k]] / SQUARE_RATE;
    for (unsigned k = s->model.columns; k < COLUMNS; k++)
        to[k] = 0;
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

double unit_model_leverage(const struct unit_model *m, const double column[COLUMNS])
{
    double sum = 0;
    for (unsigned i = 0; i < COLUMNS; i++)
        sum += column[i] * unit_model_predict(m->inverse[i], column);
    return sum;
}

/* ---- the fit */

/* Whether the phase of a window is a class, or will be: the head and rare units have phases of their own. */
static bool is_classed(const struct sampled_run *s, const struct measured *m)
{
    return m->done && m->window.start >= s->points.head && (s->classes == 0 || m->phase < s->classes);
}

/* The number of windows for the model. */
static size_t count_windows(const struct sampled_run *s)
{
    double column[COLUMNS];
    size_t windows = 0;
    for (size_t i = 0; i < s->result.count; i++) {
        const struct measured *w = &s->result.measured[i];
        windows += is_classed(s, w) && unit_columns(s, unit_of_window(s, &w->window), column);
    }
    return windows;
}

/* Sets columns and `inverse` from the windows, whose number is given. */
static void fit(struct sampled_run *s, size_t windows)
{
    struct unit_model *m = &s->model;
    double squares[COLUMNS][COLUMNS] = {{0}};
    m->columns = windows / WINDOWS_PER_COLUMN < COLUMNS ? (unsigned)(windows / WINDOWS_PER_COLUMN) : COLUMNS;
    for (size_t i = 0; i < s->result.count; i++) {
        const struct measured *w = &s->result.measured[i];
        bool known = is_classed(s, w) && unit_columns(s, unit_of_window(s, &w->window), m->column[i]);
        m->leverage[i] = known ? 0 : -1;
        for (unsigned j = 0; known && j < COLUMNS; j++)
            for (unsigned k = 0; k < COLUMNS; k++)
                squares[j][k] += m->column[i][j] * m->column[i][k];
    }
    for (unsigned k = 0; k < COLUMNS; k++)
        if (k != WARM_INSNS)
            squares[k][k] = fmax((1 + RIDGE) * squares[k][k], (double)windows * LEAST_RATE * LEAST_RATE);
    invert(squares, m->inverse);
}

/* Sets `mean`, over the units that are in a class. */
static void average_units(struct sampled_run *s)
{
    struct unit_model *m = &s->model;
    double column[COLUMNS];
    size_t units = 0;
    memset(m->mean, 0, sizeof m->mean);
    for (size_t u = 0; u < unit_count(s); u++) {
        bool in = s->classes == 0 || (u < s->units.count && s->units.phase[u] < s->classes);
        if (!in || !unit_columns(s, u, column))
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
    m->leverage = calloc(s->result.count + 1, sizeof *m->leverage);
    if (m->column == NULL || m->leverage == NULL) {
        unit_model_free(m);
        return -ENOMEM;
    }
    size_t windows = count_windows(s);
    if (windows < WINDOWS_PER_COLUMN * COLUMNS_LEAST) {
        unit_model_free(m);
        return 0;
    }
    fit(s, windows);
    average_units(s);
    for (size_t i = 0; i < s->result.count; i++)
        if (m->leverage[i] == 0)
            m->leverage[i] = fmax(unit_model_leverage(m, m->column[i]), 0);
    return 0;
}

void unit_model_free(struct unit_model *m)
{
    free(m->column);
    free(m->leverage);
    *m = (struct unit_model){0};
}

void unit_model_coefficients(const struct sampled_run *s, combine_value *of, void *context, double to[COLUMNS])
{
    const struct unit_model *m = &s->model;
    double sum[COLUMNS] = {0};
    for (size_t i = 0; i < s->result.count; i++) {
        double value = m->leverage[i] >= 0 ? combine_rate(s->result.measured[i].number, of, context) : 0;
        for (unsigned k = 0; m->leverage[i] >= 0 && k < COLUMNS; k++)
            sum[k] += m->column[i][k] * value;
    }
    for (unsigned k = 0; k < COLUMNS; k++)
        to[k] = unit_model_predict(m->inverse[k], sum);
}
