/* The options of commands that can run several programs which share the core. */
#ifndef CYCLESCOPE_CMD_WITH_OPTIONS_H
#define CYCLESCOPE_CMD_WITH_OPTIONS_H

#include "base/options.h"
#include "sim/simulate.h"
#include "guest/process.h"

struct with_options {
    struct option_list with;       /* --with: each 'PROGRAM ARGUMENTS' */
    uint64_t quantum_cycles;       /* cycles before the next program's turn */
    struct process_config *config; /* one per program, the first program included; NULL without --with */
    unsigned count;                /* number of programs; 0 without --with */
    char ***argv;                  /* argv of each program, which `config` points to; NULL for the first */
};

void with_options_init(struct with_options *w);

/* Rows for a command's option table. */
#define WITH_OPTION_ROWS(w)                                                                                            \
    {"with", OPTION_LIST, &(w)->with, "PROGRAM", "run this program, quoted with its arguments, on the same core"},     \
    {                                                                                                                  \
        "quantum", OPTION_COUNT, &(w)->quantum_cycles, "N", "with --with: cycles before the next program's turn (1M)"  \
    }

/* Makes the configurations of all programs from that of the first one, and sets the quantum of the simulation. Returns
 * 0 or a negative code. */
int with_options_finish(struct with_options *w, const struct process_config *first, struct simulation *s,
                        struct error *err) MUST_CHECK;
void with_options_free(struct with_options *w);

/* Splits a line into words at blanks, as a shell does: quotation marks and backslashes protect blanks. Returns an array
 * that ends with NULL. The array and its strings are one block, which the caller frees. Returns NULL if a quotation
 * mark is not closed, or if out of memory. */
char **split_words(const char *line, struct error *err) MUST_CHECK;

#endif
