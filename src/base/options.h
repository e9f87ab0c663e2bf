/* Command-line options from a table: parsing, checking and --help derive from the same rows.
 *
 * `--name value` and `--name=value` are the same, and so are `-n value` and `-nvalue` of options with a letter; a flag
 * takes no value; parsing stops at `--` or at the first argument that does not begin with a dash, which is where the
 * guest's command line begins. */
#ifndef CYCLESCOPE_BASE_OPTIONS_H
#define CYCLESCOPE_BASE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

enum option_kind {
    OPTION_FLAG,     /* bool *: becomes true */
    OPTION_STRING,   /* const char ** */
    OPTION_OPTIONAL, /* const char **: the value after '=', or "" without one */
    OPTION_NUMBER,   /* uint64_t *: decimal or 0x */
    OPTION_COUNT,    /* uint64_t *: with K, M, G or T for powers of 1000 */
    OPTION_SIZE,     /* uint64_t *: bytes, with K, M, G or T for powers of 1024 */
    OPTION_LIST      /* struct option_list *: may be given several times */
};

struct option_list {
    const char **value;
    size_t count;
};

struct option {
    const char *name; /* without dashes; "e,event" is also -e */
    enum option_kind kind;
    void *to;            /* see option_kind */
    const char *metavar; /* what --help calls the value, or NULL for a flag */
    const char *help;    /* one line */
};

/* Reads options from argv[0] on; the index of the first argument that is none, or -EINVAL with a sentence. */
int options_parse(const struct option *table, size_t count, int argc, char **argv, struct error *err) MUST_CHECK;
void options_print(const struct option *table, size_t count, FILE *to);
void option_list_free(struct option_list *list);

/* A number such as 500 or 2M, and a number of bytes such as 64M; 0 or -EINVAL. */
int parse_count(const char *text, uint64_t *count) MUST_CHECK;
int parse_size(const char *text, uint64_t *bytes) MUST_CHECK;

#endif
