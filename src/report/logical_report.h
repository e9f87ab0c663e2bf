/* Logical counters with their confidence intervals, as a page, as JSON and as CSV. */
#ifndef CYCLESCOPE_REPORT_LOGICAL_REPORT_H
#define CYCLESCOPE_REPORT_LOGICAL_REPORT_H

#include "monitor/estimate.h"
#include "report/run_report.h"

struct logical_report {
    const struct run_report *run;
    const struct event_specs *specs;
    const struct plan *plan;
    const struct estimator *estimator;
    const struct estimate *estimate; /* by event */
    const uint64_t *truth;           /* by event, what full counts say; NULL: nobody asked */
    uint64_t cycles, insns;          /* of the program, in user mode */
    uint64_t lost;                   /* slices whose counts had no room in the engine's log */
};

void logical_report_print(const struct logical_report *r, FILE *to);
/* event,value,low,high,share,bursty, and true_value if it is known; with number,program first if programs share the
 * core. `high` is empty if there is no upper end. */
void logical_report_csv(const struct logical_report *r, FILE *to);
/* Adds "counters" and "multiplexing" to a report. False without memory. */
bool logical_report_json(const struct logical_report *r, json_t *root);

#endif
