/* Graphs of text for the metrics of a series, small ones below each other over one axis of instructions, so that what
 * changes together stands together. A column is of one interval or several; a gap has no value,
 * and what is cut off ends in ^. */
#ifndef CYCLESCOPE_REPORT_SERIES_PICTURE_H
#define CYCLESCOPE_REPORT_SERIES_PICTURE_H

#include "report/series_report.h"

/* Nothing if there are fewer than two intervals, too little room, or no memory. */
void series_picture_print(const struct series_report *r, FILE *to, unsigned columns);

/* The letter of a phase, by which pictures tell phases apart. */
char series_phase_letter(unsigned kind);

#endif
