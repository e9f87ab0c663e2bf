/* Runs several jobs in parallel, each in a forked process.
 *
 * A job writes its results to memory that it shares with the parent. If a job fails or is killed, an error is stored in
 * its slot and the other jobs continue. Jobs are killed when their parent dies. */
#ifndef CYCLESCOPE_CMD_PARALLEL_H
#define CYCLESCOPE_CMD_PARALLEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The first member of the slot that a job shares with its parent. */
struct job {
    uint64_t insns;   /* instructions simulated so far, for the progress line */
    bool done;        /* the job has succeeded */
    bool died;        /* the process ended without setting `done` or `err` */
    struct error err; /* why the job failed; empty if it did not */
};

struct status_line;

struct jobs {
    unsigned count;                           /* number of jobs */
    unsigned at_once;                         /* most jobs that run at the same time */
    void *(*slot)(void *context, unsigned i); /* returns the slot of job i, in shared memory; begins with struct job */
    void (*work)(void *context, unsigned i);  /* runs job i, in its own process */
    void *context;
    uint64_t insns;           /* expected instructions per job, to estimate the remaining time; 0: unknown */
    struct status_line *line; /* for progress; NULL: it is not shown */
};

/* Allocates zeroed memory that stays shared after fork. Returns NULL if out of memory. It is never freed. */
void *shared_memory(size_t bytes);
/* Runs all jobs and returns 0 when the last has ended. Ends all jobs and returns the signal if SIGHUP, SIGINT, SIGQUIT
 * or SIGTERM comes, unless the caller ignores it. `*finished` is the number of jobs that have ended by then. */
int run_jobs(const struct jobs *j, unsigned *finished) MUST_CHECK;

#endif
