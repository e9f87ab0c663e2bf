/* A process run on a simulated core for a command, with progress on the terminal. */
#ifndef CYCLESCOPE_CMD_SIMULATION_RUN_H
#define CYCLESCOPE_CMD_SIMULATION_RUN_H

#include "cmd/core_options.h"
#include "cmd/guest_run.h"
#include "report/run_report.h"

/* Fills the report; 0 or a negative code. Ends a process that the guest forked instead of returning there. */
int run_simulation(struct process *p, struct simulation *s, const struct own_output *own, bool quiet,
                   struct run_report *report, struct error *err) MUST_CHECK;

/* The exit status of the command: the guest's, or that of an error of its loader. */
int simulation_status(const struct process *p, const struct run_report *r);

#endif
