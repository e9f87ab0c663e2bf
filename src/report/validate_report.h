/* Every accounting method beside the simulation reference, as text, JSON, CSV and SVG. */
#ifndef CYCLESCOPE_REPORT_VALIDATE_REPORT_H
#define CYCLESCOPE_REPORT_VALIDATE_REPORT_H

#include "report/run_report.h"
#include "stacks/reference.h"

struct validate_run {
    uint64_t cycles; /* 0: it failed ... */
    double seconds;
    const char *why; /* ... for this reason, or NULL */
};

struct validate_report {
    struct run_report run;              /* the one with everything real */
    const struct stack_interval *total; /* its stacks */
    const struct reference_plan *plan;
    struct validate_run runs[REFERENCE_ALL_RUNS]; /* as many as planned */
    double seconds;                               /* of all runs together, by the clock */
};

void validate_report_print(const struct validate_report *r, FILE *to);
json_t *validate_report_json(const struct validate_report *r); /* NULL if a name is not UTF-8 */
void validate_report_csv(const struct validate_report *r, FILE *to);
void validate_report_svg(const struct validate_report *r, FILE *to);

#endif
