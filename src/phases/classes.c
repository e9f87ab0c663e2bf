/* The phases of a systematic sample, made when the run has ended.
 *
 * A linear model, fitted to the measured windows, predicts the CPI of every unit from what warming counted there
 * (unit_model.h). Units with similar predictions form a phase, a class: each class has the same number of windows, and
 * as many units as have a prediction in its range. So units that are rare among the windows, but not in the run, count
 * as often as they occur, and a bad model makes classes that vary more, which their windows show. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "phases/combine.h"

enum {
    CLASSES_MOST = 10,      /* most classes */
    WINDOWS_PER_CLASS = 20, /* fewest windows of a class, if there are several */
};

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
static int set_limits(const struct sampled_run *s, const double coefficient[COLUMNS], struct limits *l)
{
    double *sorted = malloc((s->used + 1) * sizeof *sorted);
    size_t n = 0;
    if (sorted == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < s->result.count; i++)
        if (s->model.leverage[i] >= 0)
            sorted[n++] = unit_model_predict(coefficient, s->model.column[i]);
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
static size_t list_units(struct sampled_run *s, const double coefficient[COLUMNS], const struct limits *l,
                         size_t units[CLASSES_MOST])
{
    size_t all = 0;
    double column[COLUMNS];
    s->units.phase = malloc(unit_count(s) + 1);
    for (size_t u = 0; s->units.phase && u < unit_count(s); u++) {
        bool known = unit_columns(s, u, column);
        unsigned c = known ? class_of(l, unit_model_predict(coefficient, column)) : UNIT_ALONE;
        s->units.phase[s->units.count++] = (uint8_t)c;
        if (known)
            units[c]++;
        all += known;
    }
    return all;
}

int classes_make(struct sampled_run *s, struct error *err)
{
    struct points *p = &s->points;
    struct limits l = {.count = 0};
    size_t units[CLASSES_MOST] = {0};
    double head = p->head ? fmin(1, (double)p->head / (double)s->result.insns) : 0, coefficient[COLUMNS] = {0};
    p->phase = calloc(CLASSES_MOST + 1, sizeof *p->phase);
    int code = p->phase ? unit_model_fit(s) : -ENOMEM;
    if (code == 0 && s->model.column) {
        unit_model_coefficients(s, combine_cycles, NULL, coefficient);
        code = set_limits(s, coefficient, &l);
    }
    if (code != 0)
        return error_set(err, -ENOMEM, "out of memory for estimates");
    size_t all = list_units(s, coefficient, &l, units);
    for (unsigned c = 0; c <= l.count; c++)
        p->phase[c] = (struct point_phase){c, all ? (1 - head) * (double)units[c] / (double)all : 0, units[c]};
    p->phases = s->classes = l.count + 1;
    for (size_t i = 0; i < s->result.count; i++) {
        struct measured *m = &s->result.measured[i];
        bool modelled = s->model.column && s->model.leverage[i] >= 0;
        m->phase = modelled ? class_of(&l, unit_model_predict(coefficient, s->model.column[i])) : 0;
    }
    if (p->head) {
        p->phase[p->phases] = (struct point_phase){p->phases, head, 1};
        s->result.measured[0].phase = p->phases++;
    }
    return 0;
}
