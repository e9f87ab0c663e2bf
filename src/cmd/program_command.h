/* The frame of a command that runs one program: common options, and the steps from the parsed options to the exit
 * status. A command fills in a struct program_steps with what is its own. */
#ifndef CYCLESCOPE_CMD_PROGRAM_COMMAND_H
#define CYCLESCOPE_CMD_PROGRAM_COMMAND_H

#include "cmd/command.h"
#include "cmd/core_options.h"
#include "cmd/guest_options.h"
#include "cmd/guest_run.h"

struct program_options {
    struct guest_options guest;
    struct core_options core; /* unused by commands that simulate no core */
    const char *page;         /* -o: file for the page, of commands that have one; or NULL */
    bool quiet, help;
};

void program_options_init(struct program_options *o);
void program_options_free(struct program_options *o);

/* Rows for a command's option table. */
#define PROGRAM_OPTION_ROWS(o)                                                                                         \
    {"quiet", OPTION_FLAG, &(o)->quiet, NULL, "print nothing but errors"},                                             \
    {                                                                                                                  \
        "h,help", OPTION_FLAG, &(o)->help, NULL, "print this help"                                                     \
    }

/* Notes the files that the options name as inputs of the command: no output may replace them. */
void note_inputs(const struct own_output *own, const struct guest_options *g, const struct core_options *c);

/* The steps of a command, in the order in which run_program calls them. Each gets the command's own options. All but
 * `run` may be NULL, and return 0 or a negative code. */
struct program_steps {
    int (*check)(void *options, struct error *err);     /* checks options; nothing has been read yet */
    bool simulates;                                     /* read and check the core after `check` */
    int (*configure)(void *options, struct error *err); /* checks options that depend on the core */
    /* Opens output files. The guest's configuration is complete, and the guest is not started yet. */
    int (*open)(void *options, const struct own_output *own, struct error *err);
    bool starts_programs; /* `run` starts the programs itself, and gets NULL as process */
    /* Runs the process and reports. Returns the exit status. The process is freed afterwards. */
    int (*run)(void *options, const struct own_output *own, struct process *p);
};

/* Runs the program `argv` with these steps. Prints the error if one fails. Returns the exit status of the command. */
int run_program(struct program_options *o, char **argv, const struct program_steps *steps, void *options);

#endif
