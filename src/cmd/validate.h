/* What `cyclescope validate` validates, one file each; validate.c has the table. */
#ifndef CYCLESCOPE_CMD_VALIDATE_H
#define CYCLESCOPE_CMD_VALIDATE_H

#include "cmd/core_options.h"
#include "cmd/guest_options.h"
#include "cmd/stack_files.h"
#include "cmd/validate_runs.h"

int validate_stacks(int argc, char **argv);
int validate_counters(int argc, char **argv);
int validate_stalls(int argc, char **argv);
int validate_overhead(int argc, char **argv);

/* What those of the sampling engine share. */
struct validate_options {
    struct guest_options guest;
    struct core_options core;
    struct stack_files files;
    uint64_t jobs; /* at once; 0: as many as there are processors */
    bool quiet, help;
};

void validate_options_init(struct validate_options *o);
void validate_options_free(struct validate_options *o);

/* Rows for an option table. */
#define VALIDATE_OPTION_ROWS(o)                                                                                        \
    {"jobs", OPTION_COUNT, &(o)->jobs, "N", "runs at once (as many as there are processors)"},                         \
        {"json", OPTION_STRING, &(o)->files.json_path, "FILE", "write everything as JSON; - is standard output"},      \
        {"csv", OPTION_STRING, &(o)->files.csv_path, "FILE", "write the table as CSV; - is standard output"},          \
        {"quiet", OPTION_FLAG, &(o)->quiet, NULL, "print nothing"},                                                    \
        {"help", OPTION_FLAG, &(o)->help, NULL, "print this"}, CORE_OPTION_ROWS(&(o)->core),                           \
        GUEST_OPTION_ROWS(&(o)->guest)

/* The core, ppc970 unless another was named, and the program. */
int validate_options_finish(struct validate_options *o, char **argv, struct error *err) MUST_CHECK;

/* Files are opened, runs are run; what they leave is `slot_bytes` each. `r` has count, slot_bytes, prepare, finish and
 * context; the rest is filled in. */
int validate_run(struct validate_options *o, const struct own_output *own, struct program_runs *r,
                 struct error *err) MUST_CHECK;

#endif
