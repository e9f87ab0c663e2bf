#include "profile/profile_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clean_text.h"

struct symbols *profile_symbols(const struct profile *p, const char *sysroot, struct error *err)
{
    struct symbols *s = symbols_new(sysroot, err);
    for (size_t i = 0; s && i < p->maps; i++) {
        const struct profile_map *m = &p->map[i];
        if (symbols_map(s, m->start, m->length, m->offset, m->path, err) != 0) {
            symbols_free(s);
            s = NULL;
        }
    }
    return s;
}

/* ---- strings */

static bool same_text(const void *owner, uint32_t i, const void *key)
{
    const struct profile_names *n = owner;
    return strcmp(n->text[i], key) == 0;
}

const char *profile_names_text(struct profile_names *n, const char *text)
{
    uint64_t hash = hash_text(text);
    uint32_t i = index_table_find(&n->text_index, hash, same_text, n, text);
    if (i != INDEX_NONE)
        return n->text[i];
    char *copy = strdup(text);
    if (copy == NULL)
        return NULL;
    clean_text(copy);
    if (strcmp(copy, text) != 0) { /* another string may give the same cleaned one */
        const char *clean = profile_names_text(n, copy);
        free(copy);
        return clean;
    }
    char **grown = array_grow(n->text, n->texts, &n->text_room, sizeof *grown);
    if (grown)
        n->text = grown;
    if (grown == NULL || index_table_add(&n->text_index, hash, (uint32_t)n->texts) != 0) {
        free(copy);
        return NULL;
    }
    return n->text[n->texts++] = copy;
}

/* ---- functions */

static bool same_function(const void *owner, uint32_t i, const void *key)
{
    const struct profile_function *a = (const struct profile_function *)owner + i, *b = key;
    return a->start == b->start && a->name == b->name && a->module == b->module;
}

/* INDEX_NONE: out of memory. */
static uint32_t function_of(struct profile_names *n, uint64_t pc, bool lines)
{
    struct place p;
    symbols_code(n->symbols, pc, &p);
    struct profile_function f = {.module = profile_names_text(n, p.module),
                                 .name = profile_names_text(n, p.name),
                                 .start = p.start,
                                 .size = p.size};
    uint64_t hash = hash_number(hash_number((uintptr_t)f.module, (uintptr_t)f.name), f.start);
    if (f.module == NULL || f.name == NULL)
        return INDEX_NONE;
    uint32_t i = index_table_find(&n->function_index, hash, same_function, n->function, &f);
    if (i != INDEX_NONE)
        return i;
    const char *file;
    if (lines && p.has_symbol && symbols_line(n->symbols, f.start, &file, &f.line) &&
        (f.file = profile_names_text(n, file)) == NULL)
        return INDEX_NONE;
    struct profile_function *grown = array_grow(n->function, n->functions, &n->function_room, sizeof *grown);
    if (grown == NULL)
        return INDEX_NONE;
    n->function = grown;
    if (index_table_add(&n->function_index, hash, (uint32_t)n->functions) != 0)
        return INDEX_NONE;
    n->function[n->functions] = f;
    return (uint32_t)n->functions++;
}

bool profile_function_is(const struct profile_function *f, const char *name)
{
    size_t length = strlen(name);
    return strncmp(f->name, name, length) == 0 && (f->name[length] == '\0' || f->name[length] == '(');
}

/* ---- instructions */

static bool same_place(const void *owner, uint32_t i, const void *key)
{
    return ((const struct profile_place *)owner)[i].pc == *(const uint64_t *)key;
}

uint32_t profile_names_find(const struct profile_names *n, uint64_t pc)
{
    return index_table_find(&n->place_index, hash_number(0, pc), same_place, n->place, &pc);
}

/* INDEX_NONE: out of memory. */
static uint32_t place_of(struct profile_names *n, uint64_t pc, bool lines)
{
    uint32_t i = profile_names_find(n, pc);
    if (i != INDEX_NONE)
        return i;
    struct profile_place p = {.pc = pc, .function = function_of(n, pc, lines)};
    const char *file;
    unsigned line;
    if (p.function == INDEX_NONE)
        return INDEX_NONE;
    if (lines && symbols_line(n->symbols, pc, &file, &line)) {
        p.line = line;
        if ((p.file = profile_names_text(n, file)) == NULL)
            return INDEX_NONE;
    }
    struct profile_place *grown = array_grow(n->place, n->places, &n->place_room, sizeof *grown);
    if (grown == NULL)
        return INDEX_NONE;
    n->place = grown;
    if (index_table_add(&n->place_index, hash_number(0, pc), (uint32_t)n->places) != 0)
        return INDEX_NONE;
    n->place[n->places] = p;
    return (uint32_t)n->places++;
}

static int look_up_all(struct profile_names *n, bool lines)
{
    const struct profile *p = n->profile;
    for (size_t i = 0; i < p->cells; i++)
        if ((n->of_cell[i] = place_of(n, p->cell[i].pc, lines)) == INDEX_NONE)
            return -ENOMEM;
    for (size_t i = 1; i < p->nodes; i++)
        if ((n->of_node[i] = place_of(n, p->node[i].site, lines)) == INDEX_NONE)
            return -ENOMEM;
    return 0;
}

struct profile_names *profile_names_new(const struct profile *p, struct symbols *s, bool lines, struct error *err)
{
    struct profile_names *n = calloc(1, sizeof *n);
    if (n) {
        n->profile = p;
        n->symbols = s;
        n->of_cell = calloc(p->cells + 1, sizeof *n->of_cell);
        n->of_node = calloc(p->nodes + 1, sizeof *n->of_node);
    }
    if (n && n->of_cell && n->of_node && look_up_all(n, lines) == 0)
        return n;
    profile_names_free(n);
    error_set(err, -ENOMEM, "out of memory for the names of a profile");
    return NULL;
}

void profile_names_free(struct profile_names *n)
{
    if (n == NULL)
        return;
    for (size_t i = 0; i < n->texts; i++)
        free(n->text[i]);
    free(n->text);
    free(n->function);
    free(n->place);
    free(n->of_cell);
    free(n->of_node);
    index_table_free(&n->text_index);
    index_table_free(&n->function_index);
    index_table_free(&n->place_index);
    free(n);
}

const char *short_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}
