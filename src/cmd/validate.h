/* The subjects of `cyclescope validate`, one file each; validate.c has the table. */
#ifndef CYCLESCOPE_CMD_VALIDATE_H
#define CYCLESCOPE_CMD_VALIDATE_H

#include "cmd/core_options.h"
#include "cmd/guest_options.h"
#include "cmd/points_options.h"
#include "cmd/stack_files.h"
#include "cmd/validate_runs.h"

int validate_stacks(int argc, char **argv);   /* accounting methods against the simulation reference */
int validate_counters(int argc, char **argv); /* multiplexed counts against exact counts */
int validate_stalls(int argc, char **argv);   /* stall breakdowns of cores that overlap less and less */
int validate_overhead(int argc, char **argv); /* cost of the sampler */
int validate_what_if(int argc, char **argv);  /* what-ifs of the dependence graph against simulations */

/* The options that the subjects share. */
struct validate_options {
    struct guest_options guest;
    struct core_options core;
    struct stack_files files;
    struct points_options points; /* CPI stacks only: every run is a sampled run */
    uint64_t jobs;                /* most runs at the same time; 0: the number of processors */
    const char *page;             /* -o: file for the page, or NULL */
    bool quiet, help;
};

void validate_options_init(struct validate_options *o);
void validate_options_free(struct validate_options *o);

/* Rows for the option tables of the subjects other than stacks. */
#define VALIDATE_OPTION_ROWS(o)                                                                                        \
    {"jobs", OPTION_POSITIVE, &(o)->jobs, "N", "runs at the same time (number of processors)"},                        \
        {"json", OPTION_STRING, &(o)->files.json_path, "FILE", "write everything as JSON; - is standard output"},      \
        {"csv", OPTION_STRING, &(o)->files.csv_path, "FILE", "write the table as CSV; - is standard output"},          \
        PAGE_OPTION_ROW(&(o)->page), {"quiet", OPTION_FLAG, &(o)->quiet, NULL, "print nothing but errors"},            \
        {"h,help", OPTION_FLAG, &(o)->help, NULL, "print this help"}, CORE_OPTION_ROWS(&(o)->core),                    \
        GUEST_OPTION_ROWS(&(o)->guest)

/* For the subjects other than stacks: checks the options of the core and of the guest. The default core is ppc970 here.
 * Returns 0 or a negative code. */
int validate_options_finish(struct validate_options *o, char **argv, struct error *err) MUST_CHECK;

/* Every run of a subject reads --restore for itself, so it must name a file. Returns 0 or a negative code. */
int validate_check_restore(const struct validate_options *o, struct error *err) MUST_CHECK;

/* Checks the options, opens the files, does the runs and reports them; returns the exit status. The caller sets count,
 * slot_bytes, prepare, finish and context of `r`, at the latest in `check_options`; this function sets the rest.
 * `report` writes the report and returns the exit status; errors of single runs are in their slots. */
int validate_program(struct validate_options *o, struct program_runs *r, char **argv,
                     int (*check_options)(void *context, char **argv, struct error *err),
                     int (*report)(void *context, const struct own_output *own));

#endif
