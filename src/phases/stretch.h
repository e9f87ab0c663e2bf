/* Stretches of a run, compared with the whole run.
 *
 * The vector of a stretch is the sum of its intervals, normalized to a sum of 1 (the paper's vector of a longer
 * duration). Its difference from the target, the vector of the whole run or of the run after initialization, is the sum
 * of absolute differences: 0 for the same proportions of code, 2 for nothing in common.
 *
 * A stretch begins with an interval. It may end within one, of which it then has a part. */
#ifndef CYCLESCOPE_PHASES_STRETCH_H
#define CYCLESCOPE_PHASES_STRETCH_H

#include "phases/bbv.h"

struct stretches {
    const struct bbv_set *set;
    double *target, *count; /* by block: share in the target; weight in the stretch */
    double sum;             /* of `count` */
};

/* Prepares the comparison with the run from interval `first` on. 0 or -ENOMEM. Call stretches_end in both cases. */
int stretches_begin(struct stretches *w, const struct bbv_set *s, size_t first) MUST_CHECK;
void stretches_end(struct stretches *w);

/* The number of stretches of `length` intervals that the run has, one for each interval that they can begin with. */
size_t stretches_count(const struct bbv_set *s, double length);

/* Sets to[k] to the difference of the stretch of `length` intervals that begins with interval k, for each of
 * stretches_count. If the run has too many intervals and blocks, it compares only some stretches; the others have the
 * value of the one before them. */
void stretches_compare(struct stretches *w, double length, double *to);

#endif
