/* Measurements of windows combined into figures of the whole run, each with its 95 % interval.
 *
 * Points: means of phases times their weights; the interval comes from how much the points of a phase differ, less what
 * the phase has no other intervals for. Phases with a single point are judged together by how they differ from each
 * other, which is more than they vary themselves.
 *
 * Systematic windows: their mean, corrected for what is known of all instructions. Warming notes misses and
 * mispredictions everywhere; where windows have more or fewer of them than the run, a regression says what that does to
 * a figure. The interval comes from what the regression leaves over, by differences of neighbours, so that what changes
 * slowly does not count as chance.
 *
 * All figures are sums over windows with weights that depend on the windows alone, so that what adds up in each window
 * adds up in the estimates.
 *
 * Limits: the interval is of chance alone. That caches and predictors are not quite as they would be in a detailed run
 * is not in it. */
#ifndef CYCLESCOPE_POINTS_COMBINE_H
#define CYCLESCOPE_POINTS_COMBINE_H

#include "points/pass.h"

/* What the noted misses say of systematic windows: as many columns as say something new, at right angles. */
struct regression {
    unsigned columns;
    double *z[WARM_COUNTS];      /* by window that was measured: what it has more than the mean of them */
    double squares[WARM_COUNTS]; /* sum of that */
    double offset[WARM_COUNTS];  /* what the run has more than the mean of the windows */
};

/* A run of which windows were simulated. */
struct sampled_run {
    struct points points;
    struct pass_result result;
    size_t used;       /* windows that were measured */
    uint64_t measured; /* their instructions */
    double missing;    /* weight of phases of which none was measured; the others count for them */
    size_t strayed;    /* windows */
    struct regression regression;
};

/* An estimate. */
struct sampled_rate {
    double value; /* per instruction of the run */
    double half;  /* of the 95 % interval; infinite if there is but one window */
};

/* What a window has of something; `number` as in struct measured. */
typedef double combine_value(void *context, const uint64_t *number);

/* Once points and result are there. -ENODATA with a sentence if no window was measured. */
int combine_prepare(struct sampled_run *s, struct error *err) MUST_CHECK;
struct sampled_rate combine(const struct sampled_run *s, combine_value *of, void *context);
/* All numbers of the result, as of the whole run, rounded: SIMULATION_NUMBERS and those of simulation.sum. */
void combine_numbers(const struct sampled_run *s, uint64_t *to);

void sampled_run_free(struct sampled_run *s);

/* ---- between the files of this module */

double combine_rate(const struct measured *m, combine_value *of, void *context); /* of a window, per instruction */
int regression_prepare(struct sampled_run *s, struct error *err) MUST_CHECK;
void regression_free(struct regression *g);
struct sampled_rate combine_systematic(const struct sampled_run *s, combine_value *of, void *context);

#endif
