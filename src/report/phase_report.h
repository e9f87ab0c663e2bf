/* What `phases` found: a page with pictures of its graphs, JSON and CSV. Positions are told in instructions. */
#ifndef CYCLESCOPE_REPORT_PHASE_REPORT_H
#define CYCLESCOPE_REPORT_PHASE_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "phases/cluster.h"
#include "phases/phases.h"

struct phase_report {
    const char *source; /* the program, or the file that vectors were read from */
    const struct bbv_set *set;
    const struct phases *phases;
    const struct clusters *clusters;
};

void phase_report_page(const struct phase_report *r, FILE *to);
/* The keys `phases` and `points`, and those of single points; NULL without memory. */
json_t *phase_report_json(const struct phase_report *r);
/* A row for each interval: where it begins, its length, its difference to the whole run, and its cluster. */
void phase_report_csv(const struct phase_report *r, FILE *to);

#endif
