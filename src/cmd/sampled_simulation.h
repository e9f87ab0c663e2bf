/* A process of which windows are simulated for a command, with progress on the terminal, and combined into the report
 * of a whole run. */
#ifndef CYCLESCOPE_CMD_SAMPLED_SIMULATION_H
#define CYCLESCOPE_CMD_SAMPLED_SIMULATION_H

#include "cmd/guest_run.h"
#include "cmd/points_options.h"
#include "points/combine.h"
#include "report/run_report.h"

/* Fills the report, whose counts are then estimates, and the numbers of simulation.sum with theirs; `sampled` has the
 * intervals, and is to be freed. 0 or a negative code. */
int run_sampled(struct process *p, const struct points_options *o, struct simulation *s, const struct own_output *own,
                bool quiet, struct run_report *report, struct sampled_run *sampled, struct error *err) MUST_CHECK;

#endif
