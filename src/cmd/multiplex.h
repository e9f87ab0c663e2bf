/* Logical counters for a command: events that take turns on the core's counters, counted by the sampling engine. */
#ifndef CYCLESCOPE_CMD_MULTIPLEX_H
#define CYCLESCOPE_CMD_MULTIPLEX_H

#include "cmd/guest_run.h"
#include "cmd/sampling_options.h"
#include "monitor/logical.h"
#include "monitor/slice_log.h"
#include "pmu/pmu.h"
#include "report/logical_report.h"

struct multiplex {
    struct sampling_options sampling;
    bool truth;           /* count fully as well */
    const char *log_path; /* of the slices, or NULL */
    struct plan plan;
    struct logical *logical;
    struct slice_log_writer *log;
    struct event_specs full; /* the plan's events with their modes; the texts are the caller's */
    struct pmu *pmu;         /* that counts them fully, or NULL */
};

void multiplex_init(struct multiplex *m);
void multiplex_free(struct multiplex *m);

/* Plans, opens the log and makes the simulation one with the sampling engine. `c` says of how many programs,
 * which `names` names; plan, estimator and what becomes of slices are filled in. */
int multiplex_begin(struct multiplex *m, const struct event_specs *specs, const char *const names[],
                    struct simulation *s, struct logical_config *c, struct error *err) MUST_CHECK;

/* The simulation has ended well. A program's part of the report; `full`: by event, what full counts say, if they were
 * asked for. To be freed. */
int multiplex_report(const struct multiplex *m, const struct event_specs *specs, const struct run_report *run,
                     const uint64_t *full, struct logical_report *r, struct error *err) MUST_CHECK;
void multiplex_report_free(struct logical_report *r);

/* How a program ended goes to the log; and the log is complete. */
void multiplex_log_program(struct multiplex *m, const struct logical_report *r);
int multiplex_log_close(struct multiplex *m, struct error *err) MUST_CHECK;

#endif
