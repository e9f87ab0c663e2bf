/* The events that a user asked for, as a page in the manner of perf stat, as JSON and as CSV. */
#ifndef CYCLESCOPE_REPORT_COUNTER_REPORT_H
#define CYCLESCOPE_REPORT_COUNTER_REPORT_H

#include "pmu/event_spec.h"
#include "report/run_report.h"

struct counter_report {
    const struct run_report *run;
    const struct event_specs *specs;
    const uint64_t *value;   /* by event */
    const bool *fits;        /* by event, whether it fits the core's PMU; NULL: nobody asked */
    const unsigned *counter; /* by event that fits, its counter (pmu/fit.h) */
};

void counter_report_print(const struct counter_report *r, FILE *to);
/* event,value,unit; the value is empty if it was not counted. Of programs that share the core, one after the other:
 * number,program,event,value,unit. */
void counter_report_csv(const struct counter_report *r, FILE *to);
/* An array with an object for each event. NULL if a text is not UTF-8. */
json_t *counter_report_json(const struct counter_report *r);

#endif
