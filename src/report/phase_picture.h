/* Graphs over the run, and the similarity matrix, as pictures of text. */
#ifndef CYCLESCOPE_REPORT_PHASE_PICTURE_H
#define CYCLESCOPE_REPORT_PHASE_PICTURE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "phases/similarity.h"

/* Columns of `value`, each of `interval` instructions; several share a column where there are too many. Nothing without
 * values. */
void phase_picture(const char *title, const double *value, size_t count, uint64_t interval, FILE *to);

/* Which times of the run are alike, as shades of text. */
void phase_matrix_picture(const struct similarity *m, FILE *to);

#endif
