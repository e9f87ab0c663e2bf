/* Several runs of a program at once, each in a process of its own.
 *
 * What a job finds out it writes to memory that it shares with its parent. A job that does not come to its end is
 * named by its status; the others go on. Jobs die with their parent. */
#ifndef CYCLESCOPE_CMD_PARALLEL_H
#define CYCLESCOPE_CMD_PARALLEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/* At the begin of what a job and its parent share. */
struct job {
    uint64_t insns;   /* done so far */
    bool done;        /* came to its end */
    bool died;        /* its process ended before that, without a sentence of its own */
    struct error err; /* the sentence that says why not, if it has one */
};

struct jobs {
    unsigned count;
    unsigned at_once;
    void *(*slot)(void *context, unsigned i); /* of job i: begins with a struct job, in shared memory */
    void (*work)(void *context, unsigned i);  /* in its process; returns when done */
    void *context;
    uint64_t insns; /* of each, for the estimate; 0: unknown */
    FILE *terminal; /* for progress, or NULL */
};

/* Memory that processes share; NULL if there is none. */
void *shared_memory(size_t bytes);
void run_jobs(const struct jobs *j);

#endif
