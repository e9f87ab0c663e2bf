/* Several runs of one program, side by side, that are compared: each in a process of its own (parallel.h).
 *
 * Every run has the same input and writes to files in memory, so that all do the same. What the first writes is passed
 * on when it has ended. */
#ifndef CYCLESCOPE_CMD_VALIDATE_RUNS_H
#define CYCLESCOPE_CMD_VALIDATE_RUNS_H

#include "cmd/guest_run.h"
#include "cmd/parallel.h"
#include "cmd/progress.h"
#include "report/run_report.h"

/* At the begin of what a run leaves behind, in memory that is shared. */
struct program_run {
    struct job job;
    struct simulation_result result;
    char program[4096];
    int status;
    bool loader_failed;
    struct progress progress; /* silent: for the times */
    double seconds, cpu_seconds, skip_seconds;
};

struct program_runs {
    const struct process_config *guest;
    const char *restore;                 /* the checkpoint that all go on from; NULL: they start the program */
    const struct simulation *simulation; /* what all begin with */
    const struct own_output *own;
    bool quiet;
    unsigned count;
    uint64_t at_once; /* 0: as many as there are processors */
    size_t slot_bytes;
    void *slot; /* `count` of them; each begins with a struct program_run */
    /* In the run's process, before and after it; all that they allocate ends with it. */
    int (*prepare)(void *context, unsigned i, struct simulation *s, struct error *err);
    int (*finish)(void *context, unsigned i, struct error *err);
    void *context;
    double seconds; /* of all, by the clock */
};

/* Memory for what runs leave behind, and standard input as all will read it. */
int program_runs_begin(struct program_runs *r, struct error *err) MUST_CHECK;
void program_runs_do(struct program_runs *r);

void *program_run_slot(const struct program_runs *r, unsigned i);
/* Of a run that came to its end; `simulation` is the one that it was. */
struct run_report program_run_report(const struct program_runs *r, unsigned i, const struct simulation *simulation);
/* 0, or a code and the sentence that says why a run, called `name`, did not come to its end. */
int program_run_check(const struct program_runs *r, unsigned i, const char *name, struct error *err) MUST_CHECK;

#endif
