/* The commands of `cyclescope COMMAND`, one file each, listed in main.c. */
#ifndef CYCLESCOPE_CMD_COMMAND_H
#define CYCLESCOPE_CMD_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/version.h"

enum { STATUS_OWN_ERROR = 125 }; /* exit status for our errors; every other one is the guest's */

struct command {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the first argument after the command; returns the exit status */
    const char *summary;
};

int command_run(int argc, char **argv);
int command_stack(int argc, char **argv);
int command_validate(int argc, char **argv);
int command_stat(int argc, char **argv);
int command_stalls(int argc, char **argv);
int command_phases(int argc, char **argv);
int command_record(int argc, char **argv);
int command_report(int argc, char **argv);
int command_annotate(int argc, char **argv);
int command_checkpoint(int argc, char **argv);
int command_list(int argc, char **argv);

/* Reads a command's options. False: it ends here with `status`, since a mistake was made or help was asked for and
 * printed, `usage` first. `first` is the index of the first argument that is no option. */
struct option;
bool command_begins(const struct option *table, size_t rows, int argc, char **argv, const bool *help, const char *usage,
                    int *first, int *status);

/* Prints `cyclescope: sentence` to standard error and returns STATUS_OWN_ERROR. */
int command_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
