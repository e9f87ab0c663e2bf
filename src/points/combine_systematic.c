#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/student.h"
#include "points/combine.h"

enum { WINDOWS_PER_COLUMN = 10 }; /* a regression on more columns would follow chance */

/* A column that the others explain but for less than this share says nothing new. */
static const double nothing_new = 1e-6;

void regression_free(struct regression *g)
{
    for (unsigned k = 0; k < WARM_COUNTS; k++)
        free(g->z[k]);
    *g = (struct regression){0};
}

/* What warming noted of a window; those of its stretch follow. */
static const uint64_t *noted(const struct sampled_run *s, const struct measured *m)
{
    return m->number + s->result.numbers;
}

/* The run's rate of a count: over all stretches, which cover it. */
static double rate_of_run(const struct sampled_run *s, enum warm_count what)
{
    double count = 0, insns = 0;
    for (size_t i = 0; i < s->result.count; i++) {
        const struct measured *m = &s->result.measured[i];
        if (m->number == NULL)
            continue;
        count += (double)noted(s, m)[WARM_COUNTS + what];
        insns += (double)noted(s, m)[WARM_COUNTS + WARM_INSNS];
    }
    return insns > 0 ? count / insns : 0;
}

/* Fills the next column with what windows have of a count, as deviations; sum of squares. */
static double fill_column(const struct sampled_run *s, enum warm_count what, double *z, double *offset)
{
    double mean = 0, squares = 0;
    size_t n = 0;
    for (size_t i = 0; i < s->result.count; i++) {
        const struct measured *m = &s->result.measured[i];
        if (!m->done)
            continue;
        const uint64_t *count = noted(s, m);
        z[n] = count[WARM_INSNS] ? (double)count[what] / (double)count[WARM_INSNS] : 0;
        mean += z[n++];
    }
    mean /= (double)n;
    for (size_t i = 0; i < n; i++) {
        z[i] -= mean;
        squares += z[i] * z[i];
    }
    *offset = rate_of_run(s, what) - mean;
    return squares;
}

/* Takes out of a column what an earlier one says already. */
static void take_out(const struct regression *g, unsigned k, size_t n, double *z, double *offset)
{
    double product = 0;
    for (size_t i = 0; i < n; i++)
        product += z[i] * g->z[k][i];
    double c = product / g->squares[k];
    for (size_t i = 0; i < n; i++)
        z[i] -= c * g->z[k][i];
    *offset -= c * g->offset[k];
}

static double sum_of_squares(const double *z, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += z[i] * z[i];
    return sum;
}

/* The counts that cost most come first. */
int regression_prepare(struct sampled_run *s, struct error *err)
{
    static const enum warm_count order[] = {WARM_L2D,   WARM_L1D, WARM_MISPREDICTIONS, WARM_L1I, WARM_L2I,
                                            WARM_WALKS, WARM_L3};
    struct regression *g = &s->regression;
    for (unsigned i = 0; i < sizeof order / sizeof *order; i++) {
        if ((g->columns + 1) * WINDOWS_PER_COLUMN > s->used)
            break;
        double *z = malloc(s->used * sizeof *z), offset;
        if (z == NULL)
            return error_set(err, -ENOMEM, "out of memory for estimates");
        double whole = fill_column(s, order[i], z, &offset);
        for (unsigned k = 0; k < g->columns; k++)
            take_out(g, k, s->used, z, &offset);
        double left = sum_of_squares(z, s->used);
        if (left <= nothing_new * whole) {
            free(z);
            continue;
        }
        g->z[g->columns] = z;
        g->squares[g->columns] = left;
        g->offset[g->columns++] = offset;
    }
    return 0;
}

/* Values of windows that were measured, as deviations from their mean, which is returned. */
static double fill_values(const struct sampled_run *s, combine_value *of, void *context, double *y)
{
    double mean = 0;
    size_t n = 0;
    for (size_t i = 0; i < s->result.count; i++)
        if (s->result.measured[i].done)
            mean += y[n++] = combine_rate(&s->result.measured[i], of, context);
    mean /= (double)n;
    for (size_t i = 0; i < n; i++)
        y[i] -= mean;
    return mean;
}

struct sampled_rate combine_systematic(const struct sampled_run *s, combine_value *of, void *context)
{
    const struct regression *g = &s->regression;
    double *y = malloc(s->used * sizeof *y), n = (double)s->used, far = 0, squares = 0;
    if (y == NULL)
        return (struct sampled_rate){NAN, INFINITY};
    double value = fill_values(s, of, context, y);
    for (unsigned k = 0; k < g->columns; k++) {
        double product = 0;
        for (size_t i = 0; i < s->used; i++)
            product += y[i] * g->z[k][i];
        double c = product / g->squares[k];
        for (size_t i = 0; i < s->used; i++)
            y[i] -= c * g->z[k][i];
        value += c * g->offset[k];
        far += g->offset[k] * g->offset[k] / g->squares[k];
    }
    for (size_t i = 1; i < s->used; i++)
        squares += (y[i] - y[i - 1]) * (y[i] - y[i - 1]);
    free(y);
    double degrees = n - 1 - g->columns;
    if (s->used < 2)
        return (struct sampled_rate){value, INFINITY};
    double variance = squares / (2 * degrees) * (1 / n + far);
    return (struct sampled_rate){value, student(degrees) * sqrt(variance)};
}
