/* Basic block distribution analysis (Sherwood, Perelman, Calder 2001): when initialization ends, how long a period is,
 * and which stretch of the run stands best for all of it.
 *
 * Positions and lengths count intervals of the set. Vectors are compared as shares of their sum, by the sum of absolute
 * differences: 0 for the same, 2 for nothing in common.
 *
 * The paper takes all of that from the difference graph. Parts of a program that differ from the whole by the same
 * amount are the same there, and a period of two equal halves is a straight line. So the rules are applied to the
 * vectors themselves, projected to a few dimensions, and what the difference graph alone says is told beside it
 * (`corner`, `difference_period`). Initialization is taken to end within the first half, as in the paper. A period has
 * to be seen twice behind its first time. Time is quadratic in the number of intervals, with a small factor: seconds
 * for 50,000. */
#ifndef CYCLESCOPE_PHASES_PHASES_H
#define CYCLESCOPE_PHASES_PHASES_H

#include <stdbool.h>

#include "phases/project.h"

enum { PHASE_PERIODS = 4, PHASE_DURATIONS = 8 };

struct phase_point {
    size_t start, length;
    double difference; /* to the whole run */
};

struct phase_duration {
    size_t length; /* of each vector */
    size_t period; /* that the difference graph of such vectors shows, or 0 */
};

struct phases {
    size_t count;           /* intervals */
    double *difference;     /* the difference graph: each to the target, which is the whole run */
    double *initialization; /* the initialization difference graph */
    size_t initialization_count;
    double *match; /* the period difference graph by distance, from 0 on */
    size_t match_count;
    size_t init_end;               /* the first interval behind initialization, or 0 */
    size_t period;                 /* the longest one; 0: there is none */
    size_t periods[PHASE_PERIODS]; /* all, ascending */
    unsigned period_count;
    size_t correlated_period; /* what autocorrelation says, or 0 */
    size_t corner;            /* the sharpest one of the initialization difference graph, or 0 */
    size_t difference_period; /* the longest period of the difference graph, or 0 */
    struct phase_duration duration[PHASE_DURATIONS];
    unsigned duration_count;
    struct phase_point best;     /* the best single period; without a period, the best interval */
    struct phase_point budgeted; /* the best stretch of the length asked for */
    struct phase_point naive;    /* a period, one period behind initialization; length 0 where the run is too short */
};

/* `vector` are those of the set, projected; at least one. `budget` in intervals; 0: no such point. 0 or -ENOMEM with a
 * sentence. */
int phases_analyse(const struct bbv_set *s, const projected *vector, size_t budget, struct phases *p,
                   struct error *err) MUST_CHECK;
void phases_free(struct phases *p);

/* The difference to the whole run of every stretch of `length` vectors; count - length + 1 of them. */
int phases_difference(const struct bbv_set *s, size_t length, double *to) MUST_CHECK;

#endif
