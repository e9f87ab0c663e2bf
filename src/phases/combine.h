/* Combines measurements of windows into estimates of the whole run, each with a 95 % confidence interval (terms:
 * points.h).
 *
 * A sample is stratified: the estimate is Σ weight * mean over the phases, and the interval follows from the variance
 * among the windows of each phase, with the finite population correction. The head is a phase that was measured whole.
 *
 * Points have the phases that they were chosen by. The variance of phases with a single point is taken from the
 * differences between these phases, which overestimates it. A systematic sample has one phase besides the head.
 *
 * Where warming counted in every unit of the run, phases are divided into strata of units that look alike to warming
 * (strata.h). When every stratum has been measured, a linear model of the counts (unit_model.h) predicts each value.
 * The estimate is the average prediction of all units, plus the mean difference of windows from their predictions,
 * stratum by stratum; its variance is that of these differences.
 *
 * Functional warming leaves caches and predictors in a state that differs a little from that of a detailed run. Some
 * windows were measured a second time after longer warming; the mean difference is added to each estimate, and its
 * variance to that of the estimate.
 *
 * Where wrong paths matter for the second cache, settled windows (settle.h) show what they change, which is added, too.
 *
 * An estimate is a sum over measurements with weights that do not depend on the value. So values that add up in each
 * window add up in the estimates. */
#ifndef CYCLESCOPE_PHASES_COMBINE_H
#define CYCLESCOPE_PHASES_COMBINE_H

#include "phases/unit_model.h"

/* How misses of the second cache change when wrong paths have filled it (settle.h), by kind, as a share of them. */
enum settled_kind { SETTLED_DATA, SETTLED_INSTRUCTIONS, SETTLED_KINDS };
struct settled {
    size_t windows; /* that were measured; 0: none */
    size_t usual;   /* usual windows to compare them with */
    uint64_t insns; /* of both, with the warm-ups of settled ones */
    double change[SETTLED_KINDS], variance[SETTLED_KINDS];
};

/* A sampled run with its results. */
struct sampled_run {
    struct points points;
    struct pass_result result;
    struct unit_phases units; /* none: unknown */
    /* Strata (strata.h), by phase: root mean square distance of the vectors of units from their mean, and these means.
     * NULL: phases are no strata. */
    double *spread;
    float *mean;
    struct unit_model model; /* empty unless a second pass has measured all strata */
    struct settled settled;  /* of a run with a model */
    size_t used;             /* windows that were measured */
    uint64_t measured;       /* instructions of these windows */
    double missing;          /* sum of weights of phases without a measured point; the other phases represent them */
    size_t strayed;          /* measured windows that strayed (struct measured) */
    size_t measured_twice;   /* windows that were measured a second time */
    double precision;        /* half interval of the CPI that was asked for, as a share of it; 0: none */
    struct error too_wide;   /* why that was not reached; no text: it was, or none was asked for */
};

/* An estimate of the whole run. */
struct sampled_rate {
    double value; /* per instruction of the run */
    double half;  /* half width of the 95 % interval; infinite with a single window */
};

/* Call after `points` and `result` are set, and when windows were added. Systematic samples get their phases here.
 * -ENODATA with a message if no window was measured. */
int combine_prepare(struct sampled_run *s, struct error *err) MUST_CHECK;
/* Counts the windows that strayed; combine_prepare does that, too. */
void combine_count_strayed(struct sampled_run *s);
/* The estimate of a value, per instruction of the run. */
struct sampled_rate combine(const struct sampled_run *s, combine_value *of, void *context);
/* Estimates of the whole run for all result.numbers values, rounded: SIMULATION_NUMBERS and those of simulation.sum. */
void combine_numbers(const struct sampled_run *s, uint64_t *to);

void sampled_run_free(struct sampled_run *s);

/* ---- shared by the files of this module */

/* What longer warming adds to a value per instruction of the run. */
double combine_longer_warming(const struct sampled_run *s, combine_value *of, void *context);

/* The measured windows of a phase. */
struct phase_sum {
    size_t count;
    double mean;    /* of what varies: values, or their differences from predictions */
    double squares; /* Σ (difference - mean difference)² */
    double values;  /* mean of their values */
};

/* Fills sums[h] for each phase h, which begin as 0. `coefficient`: of the model, if there is one. */
void combine_sum_phases(const struct sampled_run *s, combine_value *of, void *context,
                        const double coefficient[COLUMNS], struct phase_sum *sums);

double combine_rate(const uint64_t *number, combine_value *of, void *context); /* value of a window per instruction */
double combine_cycles(void *context, const uint64_t *number);                  /* a combine_value: cycles */

#endif
