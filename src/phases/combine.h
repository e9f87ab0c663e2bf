/* Combines measurements of windows into estimates of the whole run, each with a 95 % confidence interval (terms:
 * points.h).
 *
 * A sample is stratified: the estimate is Σ weight * mean over the phases, and the interval follows from the variance
 * among the windows of each phase, with the finite population correction. The head is a phase that was measured whole.
 *
 * Points have the phases that they were chosen by. The variance of phases with a single point is taken from the
 * differences between these phases, which overestimates it. The phases of systematic windows are made from what warming
 * counted (classes.c): units of the run that should have a similar CPI, by their misses and mispredictions, form a
 * phase.
 *
 * Where warming counted in every unit of the run, phases are classes: their sizes are known exactly, and a linear model
 * of the counts (unit_model.h) predicts each value. The estimate is the average prediction of all units, plus the mean
 * difference of windows from their predictions, class by class; its variance is that of these differences. Units that
 * are unlike all windows, where a line could be far off, are a phase of their own when a second pass has measured them
 * (refine.h).
 *
 * Functional warming leaves caches and predictors in a state that differs a little from that of a detailed run. Some
 * windows were measured a second time after longer warming; the mean difference is added to each estimate, and its
 * variance to that of the estimate.
 *
 * An estimate is a sum over measurements with weights that do not depend on the value. So values that add up in each
 * window add up in the estimates. */
#ifndef CYCLESCOPE_PHASES_COMBINE_H
#define CYCLESCOPE_PHASES_COMBINE_H

#include "phases/unit_model.h"

/* A sampled run with its results. */
struct sampled_run {
    struct points points;
    struct pass_result result;
    struct unit_phases units; /* none: unknown */
    unsigned classes;         /* phases whose units were counted: all but the head and rare units; the first ones */
    struct unit_model model;  /* empty if units were not counted, or there are too few windows */
    size_t used;              /* windows that were measured */
    uint64_t measured;        /* instructions of these windows */
    double missing;           /* sum of weights of phases without a measured point; the other phases represent them */
    size_t strayed;           /* measured windows that strayed (struct measured) */
    size_t measured_twice;    /* windows that were measured a second time */
    double precision;         /* half interval of the CPI that was asked for, as a share of it; 0: none */
    struct error too_wide;    /* why that was not reached; no text: it was, or none was asked for */
};

/* An estimate of the whole run. */
struct sampled_rate {
    double value; /* per instruction of the run */
    double half;  /* half width of the 95 % interval; infinite with a single window */
};

/* Call after `points` and `result` are set. Systematic samples get their phases here. -ENODATA with a message if no
 * window was measured. */
int combine_prepare(struct sampled_run *s, struct error *err) MUST_CHECK;
/* Counts the windows that strayed; combine_prepare does that, too. */
void combine_count_strayed(struct sampled_run *s);
/* The estimate of a value, per instruction of the run. */
struct sampled_rate combine(const struct sampled_run *s, combine_value *of, void *context);
/* Estimates of the whole run for all result.numbers values, rounded: SIMULATION_NUMBERS and those of simulation.sum. */
void combine_numbers(const struct sampled_run *s, uint64_t *to);

void sampled_run_free(struct sampled_run *s);

/* ---- classes.c */

/* Makes the phases of a systematic sample: sets points.phase, the phase of each window, `units` and `classes`. 0 or
 * -ENOMEM. */
int classes_make(struct sampled_run *s, struct error *err) MUST_CHECK;

/* ---- shared by the files of this module */

double combine_rate(const uint64_t *number, combine_value *of, void *context); /* value of a window per instruction */
double combine_cycles(void *context, const uint64_t *number);                  /* a combine_value: cycles */

#endif
