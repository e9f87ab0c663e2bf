/* Analysis: names for a profile: the function and, if wanted, the source line of each instruction that was sampled or
 * that called.
 *
 * All names are looked up once. Functions and lines are then numbers, and equal strings are the same pointer, so they
 * can be compared directly. Strings are cleaned (clean_text), so they can be printed. */
#ifndef CYCLESCOPE_PROFILE_PROFILE_NAMES_H
#define CYCLESCOPE_PROFILE_PROFILE_NAMES_H

#include "base/index_table.h"
#include "profile/profile.h"
#include "symbols/symbols.h"

struct profile_function {
    const char *module, *name;
    uint64_t start, size; /* as in struct place */
    const char *file;     /* source file of its first instruction; NULL: not known or not wanted */
    unsigned line;
};

/* An instruction. */
struct profile_place {
    uint64_t pc;
    const char *file; /* NULL: not known or not wanted */
    uint32_t line, function;
};

struct profile_names {
    const struct profile *profile;
    struct symbols *symbols;
    struct profile_function *function;
    struct profile_place *place;
    uint32_t *of_cell; /* by cell: place of its instruction */
    uint32_t *of_node; /* by node: place of the chain's last call; not set for node 0 */
    size_t functions, places;
    /* Private: strings and lookup tables. */
    char **text;
    size_t texts, function_room, place_room, text_room;
    struct index_table function_index, place_index, text_index;
};

/* Creates symbols with the mappings of a profile; the caller frees them. */
struct symbols *profile_symbols(const struct profile *p, const char *sysroot, struct error *err) MUST_CHECK;

/* `lines`: look up source lines, too. The profile and the symbols must outlive the names. */
struct profile_names *profile_names_new(const struct profile *p, struct symbols *s, bool lines,
                                        struct error *err) MUST_CHECK;
void profile_names_free(struct profile_names *n);

/* The unique, cleaned copy of a string; NULL: out of memory. */
const char *profile_names_text(struct profile_names *n, const char *text);
/* The place of an instruction, or INDEX_NONE. */
uint32_t profile_names_find(const struct profile_names *n, uint64_t pc);

/* Whether `name`, given by a user, denotes the function: equals its name, or the part of a C++ name before the
 * parameters. */
bool profile_function_is(const struct profile_function *f, const char *name);

/* The last component of a path. */
const char *short_path(const char *path);

#endif
