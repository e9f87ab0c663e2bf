/* The commands of the program `cyclescope`. Each command has one file; main.c lists them. */
#ifndef CYCLESCOPE_CMD_COMMAND_H
#define CYCLESCOPE_CMD_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/version.h"

enum { STATUS_OWN_ERROR = 125 }; /* exit status for errors of Cyclescope; every other status is the guest's */

struct command {
    const char *name;                  /* NULL ends a table */
    int (*run)(int argc, char **argv); /* argv[0] is the first argument after the command; returns the exit status */
    const char *summary;               /* one line for `cyclescope --help`; NULL for a subject of a command */
    const struct command *subjects;    /* words that may follow the command and have their own --help, or NULL */
};

/* Returns the row with this name, or NULL. */
const struct command *command_find(const struct command *table, const char *name);

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

extern const struct command validate_subjects[];

/* Parses the options of a command. Returns true if the command is to run; `first` is then the index of the first
 * argument that is not an option. Returns false if the command ends here with exit status `status`: the options are
 * wrong, and an error was printed; or `help` is set, and `usage` and the list of options were printed. */
struct option;
bool command_parse(const struct option *table, size_t rows, int argc, char **argv, const bool *help, const char *usage,
                   int *first, int *status);

/* Prints "cyclescope: " and the formatted message to standard error. Returns STATUS_OWN_ERROR. */
int command_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
