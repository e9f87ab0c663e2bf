/* Runs one process, or several that share the core, on a simulated core for a command, with progress on the terminal.
 */
#ifndef CYCLESCOPE_CMD_SIMULATION_RUN_H
#define CYCLESCOPE_CMD_SIMULATION_RUN_H

#include "cmd/guest_run.h"
#include "cmd/with_options.h"
#include "sim/programs.h"
#include "report/run_report.h"

/* Fills in what a report says about the process: program, arguments, exit status, interruption. The strings belong to
 * the process. */
void describe_process(struct run_report *report, const struct process *p);

/* Simulates a process and fills in `report`. Returns 0 or a negative code. Does not return in processes that the guest
 * forked: they end here. */
int run_simulation(struct process *p, struct simulation *s, const struct own_output *own, bool quiet,
                   struct run_report *report, struct error *err) MUST_CHECK;

/* A run of several programs that share the core (--with). */
struct shared_run {
    unsigned count;                /* number of programs */
    struct program_result *result; /* by program: how it ended */
    struct run_report *report;     /* by program */
    uint64_t *sums;                /* by program: a row of simulation.sum's numbers */
};
/* Simulates the programs and fills in `run`, which the caller frees if the call succeeds. Returns 0 or a negative code.
 */
int run_sharing(const struct with_options *w, struct simulation *s, const struct own_output *own, bool quiet,
                struct shared_run *run, struct error *err) MUST_CHECK;
void shared_run_free(struct shared_run *run);

/* Returns the exit status of the command: the guest's, or STATUS_OWN_ERROR if the guest's loader failed. */
int simulation_status(const struct process *p, const struct run_report *r);

#endif
