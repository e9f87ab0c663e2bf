/* The options of commands whose program may share the core with others. */
#ifndef CYCLESCOPE_CMD_WITH_OPTIONS_H
#define CYCLESCOPE_CMD_WITH_OPTIONS_H

#include "base/options.h"
#include "core/simulate.h"
#include "guest/process.h"

struct with_options {
    struct option_list with; /* 'PROGRAM ARGUMENTS' */
    uint64_t quantum_cycles;
    struct process_config *config; /* of all programs, the first one included; NULL: it is alone */
    unsigned count;                /* of them */
    char ***argv;                  /* by program, which config points to; the first has none */
};

void with_options_init(struct with_options *w);

/* Rows for a command's option table. */
#define WITH_OPTION_ROWS(w)                                                                                            \
    {"with", OPTION_LIST, &(w)->with, "PROGRAM", "let this program, given with its arguments, share the core"},        \
    {                                                                                                                  \
        "quantum", OPTION_COUNT, &(w)->quantum_cycles, "N", "with --with: cycles before the next program's turn (1M)"  \
    }

/* Makes the configurations from that of the first program, and sets the simulation's turns. 0 or a negative code. */
int with_options_finish(struct with_options *w, const struct process_config *first, struct simulation *s,
                        struct error *err) MUST_CHECK;
void with_options_free(struct with_options *w);

/* The words of a line: blanks separate them, except within quotes and behind a backslash. An array that ends with NULL,
 * in one block with its strings; NULL: -EINVAL or -ENOMEM with a sentence. */
char **split_words(const char *line, struct error *err) MUST_CHECK;

#endif
