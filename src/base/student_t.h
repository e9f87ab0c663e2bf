/* Student's t distribution: half the width of the 95 % confidence interval of a mean, in standard errors. */
#ifndef CYCLESCOPE_BASE_STUDENT_T_H
#define CYCLESCOPE_BASE_STUDENT_T_H

/* Returns the 97.5 % quantile for `degrees` of freedom, which may be fractional; values below 1 are taken as 1. */
double student_t_975(double degrees);

#endif
