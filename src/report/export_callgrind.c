/* Export in the profile format of callgrind, with one position per instruction and one cost per event.
 *
 * The inclusive cost of a call is the weight of all samples below it. If calls of one function are nested, only the
 * outermost call is charged, so that the costs of all calls of a function sum to its inclusive cost. Samples do not say
 * how often a call was made, so the number of calls is the number of samples below the call. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/profile_export.h"
#include "base/array.h"
#include "profile/profile_rows.h"

/* A call with samples below it. */
struct edge {
    uint32_t place;  /* the calling instruction */
    uint32_t callee; /* the called function */
    uint32_t number; /* index of its costs in callgrind.cost */
};

/* Names that have been written once. Later uses write only the number of the name. */
struct numbered {
    const char **name;
    size_t count, room;
    struct index_table index;
};

struct callgrind {
    const struct profile_names *n;
    unsigned first, last;
    FILE *to;
    struct edge *edge;
    size_t edges, edge_room;
    struct index_table edge_index;
    struct profile_amount *self; /* [place * events + event] */
    struct profile_amount *cost; /* [edge.number * events + event] */
    uint32_t *order;             /* places sorted by function, then by address */
    struct numbered modules, files;
    bool *written; /* by function: its name has been written; the number of the name is the function's + 1 */
};

/* ---- calls */

static bool same_edge(const void *owner, uint32_t i, const void *key)
{
    const struct edge *a = (const struct edge *)owner + i, *b = key;
    return a->place == b->place && a->callee == b->callee;
}

static int find_edge(struct callgrind *w, uint32_t place, uint32_t callee, uint32_t *number)
{
    struct edge key = {place, callee, (uint32_t)w->edges};
    uint64_t hash = hash_number(hash_number(0, place), callee);
    *number = index_table_find(&w->edge_index, hash, same_edge, w->edge, &key);
    if (*number != INDEX_NONE)
        return 0;
    struct edge *grown = array_grow(w->edge, w->edges, &w->edge_room, sizeof *grown);
    if (grown == NULL)
        return -ENOMEM;
    w->edge = grown;
    if (index_table_add(&w->edge_index, hash, key.number) != 0)
        return -ENOMEM;
    w->edge[w->edges++] = key;
    *number = key.number;
    return 0;
}

/* Finds the edge of each node and cell of the profile. The callee is the function of the frame below the call; after a
 * tail call that is not the function that was called. The guards are the functions themselves (profile_add_inclusive).
 */
static int find_edges(struct callgrind *w, uint32_t *guard_of_node, uint32_t *guard_of_cell, uint32_t *edge_of_node,
                      uint32_t *edge_of_cell)
{
    const struct profile_names *n = w->n;
    const struct profile *p = n->profile;
    int code = 0;
    for (size_t i = 1; code == 0 && i < p->nodes; i++) {
        guard_of_node[i] = n->place[n->of_node[i]].function;
        edge_of_node[i] = INDEX_NONE;
        if (p->node[i].parent)
            code = find_edge(w, n->of_node[p->node[i].parent], guard_of_node[i], &edge_of_node[i]);
    }
    for (size_t i = 0; code == 0 && i < p->cells; i++) {
        guard_of_cell[i] = n->place[n->of_cell[i]].function;
        edge_of_cell[i] = INDEX_NONE;
        if (p->cell[i].chain)
            code = find_edge(w, n->of_node[p->cell[i].chain], guard_of_cell[i], &edge_of_cell[i]);
    }
    return code;
}

static int by_caller(const void *left, const void *right)
{
    const struct edge *a = left, *b = right;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return a->callee < b->callee ? -1 : a->callee > b->callee;
}

static int add_calls(struct callgrind *w, struct error *err)
{
    const struct profile *p = w->n->profile;
    uint32_t *of[4];
    int code = 0;
    for (unsigned i = 0; i < 4; i++)
        if ((of[i] = calloc((i % 2 ? p->cells : p->nodes) + 1, sizeof *of[i])) == NULL)
            code = -ENOMEM;
    if (code == 0)
        code = find_edges(w, of[0], of[1], of[2], of[3]);
    w->cost = code == 0 ? calloc(w->edges * p->events + 1, sizeof *w->cost) : NULL;
    if (w->cost == NULL)
        code = error_set(err, -ENOMEM, "out of memory for the calls of a profile");
    else
        code = profile_add_inclusive(p, &(struct profile_frames){of[0], of[1], w->n->functions},
                                     &(struct profile_frames){of[2], of[3], w->edges}, w->cost, err);
    if (w->edges)
        qsort(w->edge, w->edges, sizeof *w->edge, by_caller);
    for (unsigned i = 0; i < 4; i++)
        free(of[i]);
    return code;
}

/* ---- names */

static bool same_name(const void *owner, uint32_t i, const void *key)
{
    return ((const char *const *)owner)[i] == *(const char *const *)key;
}

/* Gives the name the next number; false if memory ran out. */
static bool add_name(struct numbered *n, const char *name, uint64_t hash)
{
    const char **grown = array_grow(n->name, n->count, &n->room, sizeof *grown);
    if (grown)
        n->name = grown;
    if (grown == NULL || index_table_add(&n->index, hash, (uint32_t)n->count) != 0)
        return false;
    n->name[n->count++] = name;
    return true;
}

/* Writes `fl=(3) NAME` the first time and `fl=(3)` later. If memory ran out the name is written without a number, which
 * readers also accept. */
static void put_name(struct numbered *n, const char *key, const char *name, FILE *to)
{
    uint64_t hash = hash_number(0, (uintptr_t)name);
    uint32_t i = index_table_find(&n->index, hash, same_name, n->name, &name);
    if (i != INDEX_NONE)
        fprintf(to, "%s=(%u)\n", key, i + 1);
    else if (add_name(n, name, hash))
        fprintf(to, "%s=(%zu) %s\n", key, n->count, name);
    else
        fprintf(to, "%s=%s\n", key, name);
}

static void put_function(struct callgrind *w, const char *key, uint32_t function)
{
    fprintf(w->to, w->written[function] ? "%s=(%u)\n" : "%s=(%u) %s\n", key, function + 1,
            w->n->function[function].name);
    w->written[function] = true;
}

static const char *file_of(const char *file)
{
    static const char unknown[] = "???";
    return file ? file : unknown;
}

/* ---- writing */

static void put_costs(const struct callgrind *w, const struct profile_amount *a)
{
    for (unsigned e = w->first; e <= w->last; e++)
        fprintf(w->to, " %" PRIu64, a[e].weight);
    fputc('\n', w->to);
}

static void put_call(struct callgrind *w, const struct edge *edge)
{
    const struct profile_place *p = &w->n->place[edge->place];
    const struct profile_function *callee = &w->n->function[edge->callee];
    const struct profile_amount *cost = &w->cost[(size_t)edge->number * w->n->profile->events];
    uint64_t samples = 0;
    for (unsigned e = w->first; e <= w->last; e++)
        samples += cost[e].samples;
    put_name(&w->modules, "cob", callee->module, w->to);
    put_name(&w->files, "cfi", file_of(callee->file), w->to);
    put_function(w, "cfn", edge->callee);
    fprintf(w->to, "calls=%" PRIu64 " 0x%" PRIx64 " %u\n", samples ? samples : 1, callee->start, callee->line);
    fprintf(w->to, "0x%" PRIx64 " %u", p->pc, p->line);
    put_costs(w, cost);
}

static size_t first_edge(const struct callgrind *w, uint32_t place)
{
    size_t low = 0, high = w->edges;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (w->edge[middle].place < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Writes one instruction: its own costs and its calls. `*file` is the source file that was written last. */
static void put_place(struct callgrind *w, uint32_t place, const char **file)
{
    const struct profile_place *p = &w->n->place[place];
    const struct profile_amount *self = &w->self[(size_t)place * w->n->profile->events];
    const char *own = file_of(w->n->function[p->function].file), *here = p->file ? p->file : own;
    bool any = false;
    for (unsigned e = w->first; e <= w->last; e++)
        any |= self[e].weight != 0;
    if (here != *file)
        put_name(&w->files, here == own ? "fe" : "fi", here, w->to);
    *file = here;
    if (any) {
        fprintf(w->to, "0x%" PRIx64 " %u", p->pc, p->line);
        put_costs(w, self);
    }
    for (size_t e = first_edge(w, place); e < w->edges && w->edge[e].place == place; e++)
        put_call(w, &w->edge[e]);
}

static void put_body(struct callgrind *w)
{
    const struct profile_names *n = w->n;
    const char *file = NULL;
    uint32_t function = INDEX_NONE;
    for (size_t i = 0; i < n->places; i++) {
        const struct profile_place *p = &n->place[w->order[i]];
        if (p->function != function) {
            function = p->function;
            file = file_of(n->function[function].file);
            fputc('\n', w->to);
            put_name(&w->modules, "ob", n->function[function].module, w->to);
            put_name(&w->files, "fl", file, w->to);
            put_function(w, "fn", function);
        }
        put_place(w, w->order[i], &file);
    }
}

enum { EVENT_NAME_SIZE = 80 };

/* Keeps letters and digits; the first letter of each word becomes upper case. */
static void shorten(const char *name, char text[EVENT_NAME_SIZE])
{
    size_t used = 0;
    bool upper = true;
    for (; *name && used + 1 < EVENT_NAME_SIZE; name++) {
        bool fits = isalnum((unsigned char)*name);
        if (fits)
            text[used++] = (char)(upper ? toupper((unsigned char)*name) : *name);
        upper = !fits;
    }
    text[used] = '\0';
}

/* Writes a short name for an event: readers accept letters and digits only, a letter first. The full name is on a line
 * of its own. Short names that would not be unique start with the number of the event. */
static void put_event_name(const struct callgrind *w, unsigned event)
{
    const struct profile *p = w->n->profile;
    char text[EVENT_NAME_SIZE], other[EVENT_NAME_SIZE];
    shorten(p->event[event].name, text);
    bool valid = isalpha((unsigned char)text[0]);
    for (unsigned e = w->first; e <= w->last; e++) {
        shorten(p->event[e].name, other);
        valid &= e == event || strcmp(text, other) != 0;
    }
    if (valid)
        fputs(text, w->to);
    else
        fprintf(w->to, "E%u%s", event, text);
}

static void put_head(const struct callgrind *w, const char *version)
{
    const struct profile *p = w->n->profile;
    const char *program = profile_info_of(p, "program"), *arguments = profile_info_of(p, "arguments");
    fprintf(w->to, "# callgrind format\nversion: 1\ncreator: cyclescope %s\ncmd: %s %s\n", version,
            program ? program : "?", arguments ? arguments : "");
    fputs("desc: Numbers of calls are numbers of samples\npositions: instr line\n", w->to);
    for (unsigned e = w->first; e <= w->last; e++) {
        fputs("event: ", w->to);
        put_event_name(w, e);
        fprintf(w->to, " : %s\n", p->event[e].name);
    }
    fputs("events:", w->to);
    for (unsigned e = w->first; e <= w->last; e++) {
        fputc(' ', w->to);
        put_event_name(w, e);
    }
    fputs("\nsummary:", w->to);
    for (unsigned e = w->first; e <= w->last; e++)
        fprintf(w->to, " %" PRIu64, p->event[e].weight);
    fputc('\n', w->to);
}

static int by_function(const void *left, const void *right, void *context)
{
    const struct profile_place *place = context, *a = &place[*(const uint32_t *)left],
                               *b = &place[*(const uint32_t *)right];
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    return a->pc < b->pc ? -1 : a->pc > b->pc;
}

static int add_self(struct callgrind *w, struct error *err)
{
    const struct profile_names *n = w->n;
    const struct profile *p = n->profile;
    w->self = calloc(n->places * p->events + 1, sizeof *w->self);
    w->order = calloc(n->places + 1, sizeof *w->order);
    w->written = calloc(n->functions + 1, sizeof *w->written);
    if (!w->self || !w->order || !w->written)
        return error_set(err, -ENOMEM, "out of memory for the costs of a profile");
    for (size_t i = 0; i < p->cells; i++)
        w->self[(size_t)n->of_cell[i] * p->events + p->cell[i].event].weight += p->cell[i].weight;
    for (size_t i = 0; i < n->places; i++)
        w->order[i] = (uint32_t)i;
    qsort_r(w->order, n->places, sizeof *w->order, by_function, n->place);
    return 0;
}

int export_callgrind(const struct profile_names *n, unsigned first, unsigned last, const char *version, FILE *to,
                     struct error *err)
{
    struct callgrind w = {.n = n, .first = first, .last = last, .to = to};
    int code = add_self(&w, err);
    if (code == 0)
        code = add_calls(&w, err);
    if (code == 0) {
        put_head(&w, version);
        put_body(&w);
    }
    free(w.self);
    free(w.cost);
    free(w.order);
    free(w.written);
    free(w.edge);
    free(w.modules.name);
    free(w.files.name);
    index_table_free(&w.edge_index);
    index_table_free(&w.modules.index);
    index_table_free(&w.files.index);
    return code;
}
