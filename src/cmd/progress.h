/* The progress of a long run: a line on a terminal, four times a second, and nothing anywhere else. Also the clock of
 * what is measured, since what was skipped before is no measure of the core's speed. */
#ifndef CYCLESCOPE_CMD_PROGRESS_H
#define CYCLESCOPE_CMD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct progress {
    FILE *to;           /* the terminal, or NULL */
    uint64_t max_insns; /* 0: unknown */
    double begun;       /* seconds, as all below: the run */
    double measuring;   /* what is measured; 0: not yet */
    double printed;     /* the last line */
    double cpu;         /* of this process, when measuring began */
};

void progress_begin(struct progress *p, FILE *to, bool quiet, uint64_t max_insns);
/* A simulation's progress function: so many instructions are measured. 0 comes first. */
void progress_note(void *context, uint64_t insns);
void progress_end(struct progress *p); /* wipes the line */

double progress_skip_seconds(const struct progress *p);
double progress_seconds(const struct progress *p);     /* since measuring began */
double progress_cpu_seconds(const struct progress *p); /* of the processor, for this process */

#endif
