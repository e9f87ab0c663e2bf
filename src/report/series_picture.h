/* The metrics of a series as small graphs drawn with characters, one below the other over a common axis of
 * instructions, so that simultaneous changes line up. A column stands for one or more intervals. A blank column has no
 * value; a column that is higher than the graph ends in ^. */
#ifndef CYCLESCOPE_REPORT_SERIES_PICTURE_H
#define CYCLESCOPE_REPORT_SERIES_PICTURE_H

#include "report/series_report.h"

/* Prints nothing if there are fewer than two intervals, too few columns, or no memory. */
void series_picture_print(const struct series_report *r, FILE *to, unsigned columns);

/* The letter that marks phases of this kind in graphs; letters repeat after 62 kinds. */
char series_phase_letter(unsigned kind);

#endif
