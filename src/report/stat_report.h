/* The counts of a simulation as a text page and as JSON. */
#ifndef CYCLESCOPE_REPORT_STAT_REPORT_H
#define CYCLESCOPE_REPORT_STAT_REPORT_H

#include "report/run_report.h"

void stat_report_print(const struct run_report *r, FILE *to, unsigned columns);
json_t *stat_report_json(const struct run_report *r); /* owned by the caller; NULL if a name is not UTF-8 */

#endif
