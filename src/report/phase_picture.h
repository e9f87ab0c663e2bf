/* Graphs over the run and the similarity matrix, drawn with characters. */
#ifndef CYCLESCOPE_REPORT_PHASE_PICTURE_H
#define CYCLESCOPE_REPORT_PHASE_PICTURE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "phases/similarity.h"

/* Draws a bar graph of `count` values, one per interval of `interval` instructions. When there are more values than
 * columns, a column shows the mean of several. Prints nothing if `count` is 0. */
void phase_picture(const char *title, const double *value, size_t count, uint64_t interval, FILE *to);

/* Draws the similarity matrix: the denser the character, the more similar two parts of the run are. */
void phase_matrix_picture(const struct similarity *m, FILE *to);

#endif
