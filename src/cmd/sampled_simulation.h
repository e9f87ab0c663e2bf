/* Simulates windows of a process for a command, shows progress on the terminal, and combines the windows into a report
 * of the whole run. */
#ifndef CYCLESCOPE_CMD_SAMPLED_SIMULATION_H
#define CYCLESCOPE_CMD_SAMPLED_SIMULATION_H

#include "cmd/guest_run.h"
#include "cmd/points_options.h"
#include "phases/combine.h"
#include "report/run_report.h"

/* Fills in `report` and the numbers of s->sum with estimates for the whole run. `sampled` gets the confidence
 * intervals; the caller frees it with sampled_run_free if the call succeeds. Returns 0 or a negative code. */
int run_sampled(struct process *p, const struct points_options *o, struct simulation *s, const struct own_output *own,
                bool quiet, struct run_report *report, struct sampled_run *sampled, struct error *err) MUST_CHECK;

#endif
