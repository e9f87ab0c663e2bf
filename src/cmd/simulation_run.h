/* A process run on a simulated core for a command, with progress on the terminal. */
#ifndef CYCLESCOPE_CMD_SIMULATION_RUN_H
#define CYCLESCOPE_CMD_SIMULATION_RUN_H

#include "cmd/core_options.h"
#include "cmd/guest_run.h"
#include "cmd/with_options.h"
#include "core/programs.h"
#include "report/run_report.h"

/* Fills the report; 0 or a negative code. Ends a process that the guest forked instead of returning there. */
int run_simulation(struct process *p, struct simulation *s, const struct own_output *own, bool quiet,
                   struct run_report *report, struct error *err) MUST_CHECK;

/* The programs of --with run together: by program what they were, a report, and what simulation.sum counted. */
struct shared_run {
    unsigned count;
    struct program_result *result;
    struct run_report *report;
    uint64_t *sums; /* a row for each */
};
int run_sharing(const struct with_options *w, struct simulation *s, const struct own_output *own, bool quiet,
                struct shared_run *run, struct error *err) MUST_CHECK;
void shared_run_free(struct shared_run *run);

/* The exit status of the command: the guest's, or that of an error of its loader. */
int simulation_status(const struct process *p, const struct run_report *r);

#endif
