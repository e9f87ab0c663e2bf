/* Names for a profile: the function and, if wanted, the source line of each instruction that was sampled or that
 * called.
 *
 * All are looked up once. Functions, lines and modules are then numbers and pointers that can be compared: equal
 * strings are the same string here, and fit to print. */
#ifndef CYCLESCOPE_REPORT_PROFILE_NAMES_H
#define CYCLESCOPE_REPORT_PROFILE_NAMES_H

#include "base/index_table.h"
#include "monitor/profile.h"
#include "symbols/symbols.h"

struct profile_function {
    const char *module, *name;
    uint64_t start, size; /* as in struct place */
    const char *file;     /* where it begins, NULL if that is not known or not wanted */
    unsigned line;
};

/* An instruction. */
struct profile_place {
    uint64_t pc;
    const char *file; /* NULL: not known, or not wanted */
    uint32_t line, function;
};

struct profile_names {
    const struct profile *profile;
    struct symbols *symbols;
    struct profile_function *function;
    struct profile_place *place;
    uint32_t *of_cell, *of_node; /* the place of a cell's instruction; of a chain's call, not for node 0 */
    size_t functions, places;
    /* for looking up */
    char **text;
    size_t texts, function_room, place_room, text_room;
    struct index_table function_index, place_index, text_index;
};

/* A symbol table with the mappings of a profile. */
struct symbols *profile_symbols(const struct profile *p, const char *sysroot, struct error *err) MUST_CHECK;

struct profile_names *profile_names_new(const struct profile *p, struct symbols *s, bool lines,
                                        struct error *err) MUST_CHECK;
void profile_names_free(struct profile_names *n);

/* The string that is equal and fit to print; NULL without memory. */
const char *profile_names_text(struct profile_names *n, const char *text);
/* The place of an instruction, or INDEX_NONE. */
uint32_t profile_names_find(const struct profile_names *n, uint64_t pc);

/* Whether a user who says `name` means the function: all of its name, or all before the parameters of a C++ name. */
bool profile_function_is(const struct profile_function *f, const char *name);

/* The last component of a path. */
const char *short_path(const char *path);

#endif
