/* Logical counters for a command: the sampler multiplexes many events on the few counters of the core. */
#ifndef CYCLESCOPE_CMD_MULTIPLEX_H
#define CYCLESCOPE_CMD_MULTIPLEX_H

#include "cmd/guest_run.h"
#include "cmd/sampling_options.h"
#include "sampler/logical.h"
#include "sampler/slice_log.h"
#include "pmu/pmu.h"
#include "report/logical_report.h"

struct multiplex {
    struct sampling_options sampling;
    bool truth;           /* --truth: also count all events exactly */
    const char *log_path; /* --log: file for the slices, or NULL */
    struct plan plan;     /* groups, slices and rounds */
    struct logical *logical;
    struct output_file log_file;  /* of `log` */
    struct slice_log_writer *log; /* NULL without --log */
    struct event_specs full;      /* events of the plan with their modes, for `pmu`; the texts belong to the caller */
    struct pmu *pmu;              /* counts the events exactly; NULL without --truth */
};

void multiplex_init(struct multiplex *m);
void multiplex_free(struct multiplex *m);

/* Makes the plan, opens the log and adds the sampler to the simulation. The caller sets c->programs and c->quantum;
 * this function sets the rest of `c`. `names` are the names of the programs, for the log. */
int multiplex_begin(struct multiplex *m, const struct own_output *own, const struct event_specs *specs,
                    const char *const names[], struct simulation *s, struct logical_config *c,
                    struct error *err) MUST_CHECK;

/* Makes the report of one program after a simulation without errors. `full` has the exact count of each event; NULL
 * without --truth. The caller frees the report with multiplex_report_free. */
int multiplex_report(const struct multiplex *m, const struct event_specs *specs, const struct run_report *run,
                     const uint64_t *full, struct logical_report *r, struct error *err) MUST_CHECK;
void multiplex_report_free(struct logical_report *r);

/* Writes the end of a program and its exact counts to the log, if there is one. */
void multiplex_log_program(struct multiplex *m, const struct logical_report *r);
/* Completes and closes the log, if there is one. Returns 0 or a negative code. */
int multiplex_log_close(struct multiplex *m, struct error *err) MUST_CHECK;

#endif
