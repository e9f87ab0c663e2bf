/* Progress of a run: a status line, updated four times a second. Also measures the time of a simulation, without the
 * instructions that were skipped before it. */
#ifndef CYCLESCOPE_CMD_PROGRESS_H
#define CYCLESCOPE_CMD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/status_line.h"

struct progress {
    struct status_line *line; /* NULL: the line is not shown */
    uint64_t skip_insns;      /* instructions that are skipped first */
    uint64_t max_insns;       /* length of the run, to estimate the remaining time; 0: unknown */
    double begun;             /* time at which the run began, in seconds as all below */
    double measuring;         /* time at which measuring began; 0: it has not */
    double printed;           /* time of the last update of the line */
    double cpu;               /* CPU time of this process when measuring began */
};

enum { PROGRESS_MS = 250 }; /* between two updates of the line */

void progress_begin(struct progress *p, struct status_line *line, uint64_t skip_insns, uint64_t max_insns);
void progress_skip(void *context, uint64_t insns); /* the callback for simulation.skipping */
/* The callback for simulation.progress; `context` is the struct progress, `insns` the instructions measured so far. The
 * first call, with 0 instructions, starts the measurement. */
void progress_note(void *context, uint64_t insns);
/* For a run without a simulation: `insns` instructions of `all` have run; `all` 0: their number is not known. */
void progress_run(struct progress *p, uint64_t insns, uint64_t all);
void progress_end(struct progress *p); /* clears the line */

double progress_skip_seconds(const struct progress *p); /* time from the begin of the run to the first measurement */
double progress_seconds(const struct progress *p);      /* time since measuring began */
double progress_cpu_seconds(const struct progress *p);  /* CPU time of this process since measuring began */

#endif
