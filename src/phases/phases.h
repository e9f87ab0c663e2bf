/* Basic block distribution analysis (Sherwood, Perelman, Calder 2001): where initialization ends, how long a period is,
 * and which stretch of the run represents the whole run best.
 *
 * Vectors are normalized to shares of their sum and compared by the sum of absolute differences: 0 for equal vectors, 2
 * for vectors with nothing in common.
 *
 * The paper derives everything from the difference graph. There, parts of a program that differ from the whole by the
 * same amount look equal, and a period of two such halves is a straight line. So initialization and periods come from
 * the vectors themselves, projected to a few dimensions, at several resolutions (structure.h); they do not depend on
 * the interval of the set. What the difference graph alone shows is reported beside them (`corner`,
 * `difference_period`).
 *
 * Positions and lengths in the structure are in instructions, all others in intervals of the set.
 *
 * Limits: initialization ends within the first half of the run, as in the paper. A period must occur at least three
 * times. */
#ifndef CYCLESCOPE_PHASES_PHASES_H
#define CYCLESCOPE_PHASES_PHASES_H

#include "phases/structure.h"

enum { PHASE_DURATIONS = 8 }; /* most durations that are reported */

/* A stretch resembles the run if its difference is at most this: at most a tenth of its block entries would have to be
 * of other blocks for the proportions of the run. */
static const double PHASE_RESEMBLES = 0.2;

/* A stretch of the run. It begins with an interval and may end within one. */
struct phase_point {
    size_t start;
    double length;     /* 0: there is none */
    double difference; /* from the run after initialization */
};

/* The period that vectors of a given duration show. */
struct phase_duration {
    size_t length; /* intervals that are summed to one vector */
    size_t period; /* in the difference graph of such vectors; 0: none */
};

struct phases {
    size_t count;           /* intervals */
    double *difference;     /* the difference graph: each interval against the whole run (the target) */
    double *initialization; /* the initialization difference graph */
    size_t initialization_count;
    double *match; /* the period difference graph, by shift from 0 on */
    size_t match_count;
    struct structure structure; /* initialization and periods */
    size_t init_end;            /* the first interval after initialization; 0: there is none */
    size_t corner;              /* sharpest corner of the initialization difference graph; 0: none */
    size_t difference_period;   /* the longest period of the difference graph; 0: none */
    struct phase_duration duration[PHASE_DURATIONS];
    unsigned duration_count;
    struct phase_point best;     /* the best stretch of one period; if none resembles the run, or there is no period, of
                                    a length that follows from the run (phases.c) */
    size_t best_periods;         /* periods that `best` has; 0: there is no period */
    struct phase_point budgeted; /* the best stretch of `budget` intervals */
    struct phase_point naive; /* the stretch of a period that starts one period after initialization; without a period,
                                 of the length of `best`; length 0: the run is too short */
};

/* The set must not be empty; `fine` is the signal of the same run. `budget` is the length of `budgeted` in intervals;
 * 0: not wanted. 0 or -ENOMEM with a message. */
int phases_analyse(const struct bbv_set *s, const struct fine_signal *fine, size_t budget, struct phases *p,
                   struct error *err) MUST_CHECK;
void phases_free(struct phases *p);

#endif
