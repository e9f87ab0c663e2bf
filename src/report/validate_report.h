/* The stacks of all accounting methods compared with the simulation reference, as text, JSON, CSV and SVG. */
#ifndef CYCLESCOPE_REPORT_VALIDATE_REPORT_H
#define CYCLESCOPE_REPORT_VALIDATE_REPORT_H

#include "report/sampled_report.h"
#include "stacks/reference.h"

struct validate_run {
    uint64_t cycles;              /* 0: the run failed */
    double seconds;               /* host time */
    const char *why;              /* why the run failed, or NULL */
    struct sample_summary sample; /* of a sampled run */
};

struct validate_report {
    struct run_report run;              /* the run with all structures real */
    const struct stack_interval *total; /* stacks of that run by all methods */
    const struct reference_plan *plan;
    struct validate_run runs[REFERENCE_ALL_RUNS]; /* the first plan->count are set, in the order of the plan */
    bool sampled;                                 /* all runs are sampled runs, with the same windows */
    double seconds;                               /* host wall time of all runs together */
};

void validate_report_print(const struct validate_report *r, FILE *to, unsigned columns);
json_t *validate_report_json(const struct validate_report *r); /* owned by the caller; NULL if a name is not UTF-8 */
void validate_report_csv(const struct validate_report *r, FILE *to);
void validate_report_svg(const struct validate_report *r, FILE *to);

#endif
