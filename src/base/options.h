/* Command-line options from a table: one table drives parsing, checking and --help.
 *
 * `--name value` and `--name=value` are equivalent, as are `-n value` and `-nvalue` for options with a letter. A flag
 * takes no value. Parsing stops after `--`, or at the first argument that does not begin with a dash: there the guest's
 * command line begins. */
#ifndef CYCLESCOPE_BASE_OPTIONS_H
#define CYCLESCOPE_BASE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

enum option_kind {
    OPTION_FLAG,     /* bool *: set to true */
    OPTION_STRING,   /* const char ** */
    OPTION_OPTIONAL, /* const char **: the value after '=', or "" if there is no '=' */
    OPTION_NUMBER,   /* uint64_t *: decimal, or hexadecimal with 0x */
    OPTION_COUNT,    /* uint64_t *: may end in K, M, G or T for powers of 1000 */
    OPTION_POSITIVE, /* uint64_t *: as OPTION_COUNT, but not 0, so that a variable that is 0 says "not given" */
    OPTION_SIZE,     /* uint64_t *: bytes; may end in K, M, G or T for powers of 1024 */
    OPTION_LIST      /* struct option_list *: the option may be given several times */
};

struct option_list {
    const char **value; /* the strings belong to argv */
    size_t count;
};

struct option {
    const char *name; /* without dashes; "e,event" is also -e */
    enum option_kind kind;
    void *to;            /* variable that receives the value; its type depends on `kind` */
    const char *metavar; /* name of the value in --help; NULL for a flag */
    const char *help;    /* one line for --help */
};

/* Parses options from argv[0] on. Returns the index of the first argument that is not an option, or -EINVAL. */
int options_parse(const struct option *table, size_t count, int argc, char **argv, struct error *err) MUST_CHECK;
void options_print(const struct option *table, size_t count, FILE *to); /* a line per option, for --help */
void option_list_free(struct option_list *list);

/* Parse a count such as 500 or 2M, and a size in bytes such as 64M. Return 0, or -EINVAL without setting a message. */
int parse_count(const char *text, uint64_t *count) MUST_CHECK;
int parse_size(const char *text, uint64_t *bytes) MUST_CHECK;

#endif
