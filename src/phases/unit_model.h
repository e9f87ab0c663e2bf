/* A linear model of the windows of a sample: what warming counted in a unit (misses, walks, mispredictions) predicts
 * the value of a window there, such as its cycles. Warming counted in every unit of the run, so the average prediction
 * of all units is known, and only what the model does not explain is left to chance (a regression estimator).
 *
 * Each window weighs as many units as it stands for. One fit serves every value: `inverse` depends on the counts alone,
 * so the estimate of a value is a sum over windows with weights that do not depend on the value. */
#ifndef CYCLESCOPE_PHASES_UNIT_MODEL_H
#define CYCLESCOPE_PHASES_UNIT_MODEL_H

#include "phases/pass.h"

/* Columns: a constant in place of WARM_INSNS, and rates per instruction of the other counts, without those of code: a
 * model with as many columns follows chance, and its intervals are too narrow. */
enum { COLUMNS = WARM_CODE };

struct sampled_run;
/* Returns the value of a window that is to be estimated; `number` as in struct measured. */
typedef double combine_value(void *context, const uint64_t *number);

struct unit_model {
    double (*column)[COLUMNS]; /* by window of the result; NULL: there is no model */
    double *weight;            /* by window: units that it stands for; 0: it is not part of the model */
    double mean[COLUMNS];      /* of all units */
    double inverse[COLUMNS][COLUMNS];
};

/* The unit that a window behind the head is. */
size_t unit_of_window(const struct sampled_run *s, const struct window *w);

/* The columns of a unit. False: it belongs to no phase, or its counts are unknown. */
bool unit_model_columns(const struct sampled_run *s, size_t unit, double to[COLUMNS]);

/* Fits the windows of all phases but the head: call it again when windows or phases have changed. Leaves the model
 * empty if there are too few windows. 0 or -ENOMEM. */
int unit_model_fit(struct sampled_run *s) MUST_CHECK;
void unit_model_free(struct unit_model *m);

/* The coefficients for a value, by least squares. */
void unit_model_coefficients(const struct sampled_run *s, combine_value *of, void *context, double to[COLUMNS]);
double unit_model_predict(const double coefficient[COLUMNS], const double column[COLUMNS]);

#endif
