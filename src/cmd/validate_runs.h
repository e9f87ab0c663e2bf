/* Several runs of one program that are compared, each in a process of its own (parallel.h).
 *
 * All runs read the same standard input and write to files in memory, so that they behave the same. The output of run 0
 * is copied to standard output and standard error when it has ended; that of the others is discarded. */
#ifndef CYCLESCOPE_CMD_VALIDATE_RUNS_H
#define CYCLESCOPE_CMD_VALIDATE_RUNS_H

#include "cmd/guest_run.h"
#include "cmd/parallel.h"
#include "cmd/points_options.h"
#include "cmd/progress.h"
#include "report/sampled_report.h"

/* The first member of the slot in which a run stores its results, in shared memory. */
struct program_run {
    struct job job;
    struct simulation_result result;
    char program[4096];             /* name of the program */
    char arguments[ARGUMENTS_KEPT]; /* as from process_arguments; those that do not fit are left out */
    size_t argument_bytes;
    int interrupted;          /* as from process_interruption */
    int status;               /* exit status */
    bool loader_failed;       /* the guest's dynamic loader could not start the program */
    struct progress progress; /* prints nothing; measures the times */
    double seconds, cpu_seconds, skip_seconds;
    struct sample_summary sample; /* with program_runs.points */
};

struct program_runs {
    const struct process_config *guest;
    const char *restore;                 /* checkpoint file that all runs continue from; NULL: they start the program */
    const struct simulation *simulation; /* each run begins with a copy, which `prepare` changes */
    const struct points_options *points; /* each run simulates windows of the program, the same in all; NULL: no */
    const struct own_output *own;
    bool quiet;
    unsigned count;    /* number of runs */
    uint64_t at_once;  /* most runs at the same time; 0: the number of processors */
    size_t slot_bytes; /* size of a slot */
    void *slot;        /* `count` slots; each begins with a struct program_run */
    /* Called in the process of run i, before and after its simulation. Memory that they allocate need not be freed: the
     * process ends after `finish`. */
    int (*prepare)(void *context, unsigned i, struct simulation *s, struct error *err);
    int (*finish)(void *context, unsigned i, struct error *err);
    void *context;
    double seconds;  /* elapsed time of all runs together */
    int interrupted; /* signal that ended all runs early, or 0 */
};

/* Allocates the slots, and copies standard input to memory if it can be read only once. */
int program_runs_begin(struct program_runs *r, struct error *err) MUST_CHECK;
/* Does all runs. Errors of single runs are in their slots. If a signal interrupts the command, ends all runs and
 * returns -EINTR; otherwise 0. */
int program_runs_do(struct program_runs *r, struct error *err) MUST_CHECK;

void *program_run_slot(const struct program_runs *r, unsigned i);
/* Returns the report of a run that has succeeded. `simulation` is the simulation that it did. */
struct run_report program_run_report(const struct program_runs *r, unsigned i, const struct simulation *simulation);
/* Returns 0 if run i has succeeded; otherwise a negative code and a message in which the run is called `name`. */
int program_run_check(const struct program_runs *r, unsigned i, const char *name, struct error *err) MUST_CHECK;

#endif
