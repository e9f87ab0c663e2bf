/* Logical counters, which are estimates from multiplexed counters, with their 95 % confidence intervals: as a text
 * page, as JSON and as CSV. */
#ifndef CYCLESCOPE_REPORT_LOGICAL_REPORT_H
#define CYCLESCOPE_REPORT_LOGICAL_REPORT_H

#include "sampler/estimate.h"
#include "report/run_report.h"

struct logical_report {
    const struct run_report *run;
    const struct event_specs *specs;
    const struct plan *plan;
    const struct estimator *estimator;
    const struct estimate *estimate; /* by event */
    const uint64_t *truth;           /* by event: full count of the same run; NULL: events were not counted in full */
    uint64_t cycles, insns;          /* cycles and instructions of the program in user mode */
    uint64_t lost;                   /* slices that were dropped because the sampler's log was full */
};

void logical_report_print(const struct logical_report *r, FILE *to, unsigned columns);
/* Columns: event,value,low,high,share,bursty, then true_value if `truth` is set. When programs share the core, the
 * columns number,program come first, and only program 0 writes the heading. `high` is empty if the interval has no
 * upper bound. */
void logical_report_csv(const struct logical_report *r, FILE *to);
/* Adds the keys "counters" and "multiplexing" to `root`. False if memory ran out. */
bool logical_report_json(const struct logical_report *r, json_t *root);

#endif
