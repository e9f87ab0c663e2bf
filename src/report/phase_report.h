/* Results of `cyclescope phases`: a text page with graphs, JSON, CSV, SVG, and the call graph of each phase for
 * Graphviz.
 *
 * Positions and lengths are in instructions. A phase is a cluster and has the number of its point. */
#ifndef CYCLESCOPE_REPORT_PHASE_REPORT_H
#define CYCLESCOPE_REPORT_PHASE_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "phases/cluster.h"
#include "phases/phases.h"
#include "phases/similarity.h"
#include "report/phase_functions.h"

struct phase_report {
    int interrupted;    /* signal from outside that ended the run early, or 0 */
    const char *source; /* the program, or the .bb file from which vectors were read */
    const struct bbv_set *set;
    const struct phases *phases;
    const struct clusters *clusters;
    /* The following fields are set by phase_report_begin. */
    uint64_t *start; /* by interval: its first instruction; one more element is the end of the last interval */
    struct similarity similarity;
    struct phase_functions *functions; /* NULL: vectors come from a .bb file, which has no addresses */
    struct phase_code *code;           /* by phase: its functions and calls; NULL if `functions` is NULL */
};

/* Prepares the report; source, set, phases and clusters are set by the caller. Without `details`, which take time to
 * compute, only phase_report_csv may be called. With `details`, the similarity matrix is computed and functions are
 * looked up, in `sysroot` first unless it is NULL (symbols.h). 0, or -ENOMEM with a message. Call phase_report_end in
 * both cases. */
int phase_report_begin(struct phase_report *r, bool details, const char *sysroot, struct error *err) MUST_CHECK;
void phase_report_end(struct phase_report *r);

/* Instructions of a stretch. */
uint64_t phase_report_length(const struct phase_report *r, const struct phase_point *p);

void phase_report_page(const struct phase_report *r, FILE *to, unsigned columns);
/* An object with the keys phases, points, best_period, budgeted and naive, owned by the caller. NULL if memory ran out.
 */
json_t *phase_report_json(const struct phase_report *r);
/* One row per interval: first instruction, length, difference to the whole run, phase. */
void phase_report_csv(const struct phase_report *r, FILE *to);
/* One row and one column per part of the run (similarity.h), named by the first instruction of the part. */
void phase_report_similarity_csv(const struct phase_report *r, FILE *to);
/* One row per function of each phase. `functions` must not be NULL. */
void phase_report_functions_csv(const struct phase_report *r, FILE *to);
void phase_report_svg(const struct phase_report *r, const char *title, FILE *to);
/* Call graphs for Graphviz, one cluster per phase. `functions` must not be NULL. */
void phase_report_dot(const struct phase_report *r, FILE *to);

#endif
