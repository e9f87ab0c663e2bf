/* What `phases` found: a page with pictures of text, JSON, CSV, SVG, and the call graph of each phase for Graphviz.
 * Positions are told in instructions. A phase is a cluster, numbered as its point is. */
#ifndef CYCLESCOPE_REPORT_PHASE_REPORT_H
#define CYCLESCOPE_REPORT_PHASE_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "phases/cluster.h"
#include "phases/phases.h"
#include "phases/similarity.h"
#include "report/phase_functions.h"

struct phase_report {
    const char *source; /* the program, or the file that vectors were read from */
    const struct bbv_set *set;
    const struct phases *phases;
    const struct clusters *clusters;
    /* made by phase_report_begin */
    uint64_t *start; /* of each interval, in instructions; the end of the last one behind it */
    struct similarity similarity;
    struct phase_functions *functions; /* NULL: a file does not tell */
    struct phase_code *code;           /* of each phase; NULL with `functions` */
};

/* What the reports need. Without `details`, which take time, all but the row for each interval is out of reach; with
 * them names are looked up, with `sysroot` or NULL as in symbols.h. 0 or -ENOMEM with a sentence; in both cases there
 * is an end to call. */
int phase_report_begin(struct phase_report *r, bool details, const char *sysroot, struct error *err) MUST_CHECK;
void phase_report_end(struct phase_report *r);

void phase_report_page(const struct phase_report *r, FILE *to);
/* The keys `phases` and `points`, and those of single points; NULL without memory. */
json_t *phase_report_json(const struct phase_report *r);
/* A row for each interval: where it begins, its length, its difference to the whole run, and its phase. */
void phase_report_csv(const struct phase_report *r, FILE *to);
/* A row and a column for each part of the run, as in similarity.h. */
void phase_report_similarity_csv(const struct phase_report *r, FILE *to);
/* A row for each function of each phase. Only with `functions`, as the next but one. */
void phase_report_functions_csv(const struct phase_report *r, FILE *to);
void phase_report_svg(const struct phase_report *r, const char *title, FILE *to);
void phase_report_dot(const struct phase_report *r, FILE *to);

#endif
