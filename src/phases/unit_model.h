/* A linear model of the windows of a systematic sample: what warming counted in a unit (misses, walks, mispredictions)
 * predicts the value of a window there, such as its cycles. Warming counted in every unit of the run, so the average
 * prediction of all units is known, and only what the model does not explain is left to chance (a regression
 * estimator).
 *
 * One fit serves every value: `inverse` depends on the counts alone, so the estimate of a value is a sum over windows
 * with weights that do not depend on the value.
 *
 * The leverage of a unit is the influence that a window there has on the fit: about 8 / windows on average, near 1 for
 * a unit unlike all windows. Residuals are divided by 1 - leverage (MacKinnon and White's HC3), since a line runs close
 * to a window that is far away from the others. */
#ifndef CYCLESCOPE_PHASES_UNIT_MODEL_H
#define CYCLESCOPE_PHASES_UNIT_MODEL_H

#include "phases/pass.h"

/* Columns: a constant in place of WARM_INSNS, a rate per instruction of each other count, and squares of some rates. */
enum { SQUARES = 2, COLUMNS = WARM_COUNTS + SQUARES };

/* Most leverage by which a residual is divided: a single window would decide the interval otherwise. */
#define LEVERAGE_MOST 0.9

struct sampled_run;
/* Returns the value of a window that is to be estimated; `number` as in struct measured. */
typedef double combine_value(void *context, const uint64_t *number);

struct unit_model {
    double (*column)[COLUMNS]; /* by window of the result; NULL: there are too few windows for a model */
    double *leverage;          /* by window; negative: the window is not part of the model */
    double mean[COLUMNS];      /* of all units of the classes */
    double inverse[COLUMNS][COLUMNS];
    unsigned columns; /* in use: the first ones; fewer if there are few windows. The others are 0 */
};

/* The number of units of the run, from the head on; some may be unknown. */
size_t unit_count(const struct sampled_run *s);
/* The unit that a window is. */
size_t unit_of_window(const struct sampled_run *s, const struct window *w);
/* The columns of a unit, for the model. False: unknown, since the unit is incomplete or its copy failed. */
bool unit_columns(const struct sampled_run *s, size_t unit, double to[COLUMNS]);

/* Fits the windows whose phase is a class (classes.c): call it again when windows or phases have changed. Leaves the
 * model empty if there are too few windows. 0 or -ENOMEM. */
int unit_model_fit(struct sampled_run *s) MUST_CHECK;
void unit_model_free(struct unit_model *m);

/* The coefficients for a value, by least squares. */
void unit_model_coefficients(const struct sampled_run *s, combine_value *of, void *context, double to[COLUMNS]);
double unit_model_predict(const double coefficient[COLUMNS], const double column[COLUMNS]);
double unit_model_leverage(const struct unit_model *m, const double column[COLUMNS]);

#endif
