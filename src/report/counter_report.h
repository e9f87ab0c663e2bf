/* Final values of the counters that the user asked for with -e, as a text page in the style of `perf stat`, as JSON and
 * as CSV. */
#ifndef CYCLESCOPE_REPORT_COUNTER_REPORT_H
#define CYCLESCOPE_REPORT_COUNTER_REPORT_H

#include "pmu/event_spec.h"
#include "report/run_report.h"

struct counter_report {
    const struct run_report *run;
    const struct event_specs *specs;
    const uint64_t *value;   /* by event: the counter at the end, its preload included */
    const bool *fits;        /* by event: it fits the core's PMU and was counted; NULL: the PMU imposed no limit */
    const unsigned *counter; /* by event that fits: its counter, or COUNTER_OF_ITS_OWN (pmu/fit.h) */
};

void counter_report_print(const struct counter_report *r, FILE *to, unsigned columns);
/* Columns: event,value,unit. `value` is empty if the event was not counted. When programs share the core, the columns
 * are number,program,event,value,unit; call this once per program, in order, since only program 0 writes the heading.
 */
void counter_report_csv(const struct counter_report *r, FILE *to);
/* An array with one object per event, owned by the caller. NULL if a text is not UTF-8. */
json_t *counter_report_json(const struct counter_report *r);

#endif
