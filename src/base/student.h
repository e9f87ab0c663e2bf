/* The quantile of 97.5 % of Student's t, which a 95 % interval of a mean reaches to both sides in standard errors. */
#ifndef CYCLESCOPE_BASE_STUDENT_H
#define CYCLESCOPE_BASE_STUDENT_H

double student(double degrees); /* need not be whole; below 1 counts as 1 */

#endif
