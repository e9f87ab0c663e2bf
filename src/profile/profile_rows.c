#include "base/array.h"
#include "profile/profile_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* State of profile_rows_make. */
struct making {
    struct profile_rows *r;
    enum profile_by by;
    struct index_table index; /* of rows */
    uint32_t *of_place;       /* by place: its row */
    size_t room;
};

static uint64_t hash_of(const struct making *m, const struct profile_place *p)
{
    const char *module = m->r->names->function[p->function].module;
    switch (m->by) {
    case PROFILE_BY_MODULE: return hash_number(0, (uintptr_t)module);
    case PROFILE_BY_FUNCTION: return hash_number(1, p->function);
    case PROFILE_BY_LINE: return hash_number(hash_number(p->function, p->line), (uintptr_t)p->file);
    default: return hash_number(2, p->pc);
    }
}

static bool same_row(const void *owner, uint32_t i, const void *key)
{
    const struct making *m = owner;
    const struct profile_names *n = m->r->names;
    const struct profile_place *a = &n->place[m->r->row[i].place], *b = key;
    switch (m->by) {
    case PROFILE_BY_MODULE: return n->function[a->function].module == n->function[b->function].module;
    case PROFILE_BY_FUNCTION: return a->function == b->function;
    case PROFILE_BY_LINE: return a->function == b->function && a->line == b->line && a->file == b->file;
    default: return a->pc == b->pc;
    }
}

static int add_row(struct making *m, uint32_t place)
{
    struct profile_rows *r = m->r;
    const struct profile_place *p = &r->names->place[place];
    uint64_t hash = hash_of(m, p);
    uint32_t i = index_table_find(&m->index, hash, same_row, m, p);
    if (i == INDEX_NONE) {
        struct profile_row *grown = array_grow(r->row, r->count, &m->room, sizeof *grown);
        if (grown == NULL)
            return -ENOMEM;
        r->row = grown;
        i = (uint32_t)r->count;
        if (index_table_add(&m->index, hash, i) != 0)
            return -ENOMEM;
        r->row[r->count++] = (struct profile_row){place, i};
    }
    m->of_place[place] = i;
    return 0;
}

static int add_self(struct making *m)
{
    struct profile_rows *r = m->r;
    const struct profile *p = r->names->profile;
    r->self = calloc(r->count * r->events + 1, sizeof *r->self);
    if (r->self == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < p->cells; i++) {
        const struct profile_cell *c = &p->cell[i];
        struct profile_amount *a = &r->self[(size_t)m->of_place[r->names->of_cell[i]] * r->events + c->event];
        a->weight += c->weight;
        a->samples += c->samples;
    }
    return 0;
}

static int add_total(struct making *m, struct error *err)
{
    struct profile_rows *r = m->r;
    const struct profile *p = r->names->profile;
    uint32_t *of_cell = calloc(p->cells + 1, sizeof *of_cell), *of_node = calloc(p->nodes, sizeof *of_node);
    r->total = calloc(r->count * r->events + 1, sizeof *r->total);
    int code = -ENOMEM;
    if (of_cell && of_node && r->total) {
        for (size_t i = 0; i < p->cells; i++)
            of_cell[i] = m->of_place[r->names->of_cell[i]];
        for (size_t i = 1; i < p->nodes; i++)
            of_node[i] = m->of_place[r->names->of_node[i]];
        struct profile_frames rows = {of_node, of_cell, r->count};
        code = profile_add_inclusive(p, &rows, &rows, r->total, err);
    }
    free(of_cell);
    free(of_node);
    return code;
}

/* True for a row of instructions that only called, unless it has inclusive samples. */
static bool is_empty(const struct profile_rows *r, const struct profile_row *row)
{
    for (unsigned e = 0; e < r->events; e++)
        if (row_self(r, row)[e].samples || (r->total && row_total(r, row)[e].samples))
            return false;
    return true;
}

static void drop_empty(struct profile_rows *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->count; i++)
        if (!is_empty(r, &r->row[i]))
            r->row[kept++] = r->row[i];
    r->count = kept;
}

int profile_rows_make(struct profile_rows *r, const struct profile_names *n, enum profile_by by, bool inclusive,
                      struct error *err)
{
    *r = (struct profile_rows){.names = n, .events = (unsigned)n->profile->events};
    struct making m = {.r = r, .by = by, .of_place = calloc(n->places + 1, sizeof *m.of_place)};
    int code = m.of_place ? 0 : -ENOMEM;
    for (uint32_t i = 0; code == 0 && i < n->places; i++)
        code = add_row(&m, i);
    if (code == 0)
        code = add_self(&m);
    if (code == 0 && inclusive)
        code = add_total(&m, err);
    if (code == 0)
        drop_empty(r);
    else
        profile_rows_free(r);
    index_table_free(&m.index);
    free(m.of_place);
    return code == 0 ? 0 : error_set(err, code, "out of memory for the rows of a report");
}

void profile_rows_free(struct profile_rows *r)
{
    free(r->row);
    free(r->self);
    free(r->total);
    *r = (struct profile_rows){0};
}

/* ---- order */

struct order {
    const struct profile_rows *r;
    unsigned event;
};

static int larger(uint64_t a, uint64_t b)
{
    return a > b ? -1 : a < b;
}

static int compare(const void *left, const void *right, void *context)
{
    const struct order *o = context;
    const struct profile_rows *r = o->r;
    const struct profile_row *a = left, *b = right;
    int c = r->total ? larger(row_total(r, a)[o->event].weight, row_total(r, b)[o->event].weight) : 0;
    if (c == 0)
        c = larger(row_self(r, a)[o->event].weight, row_self(r, b)[o->event].weight);
    for (unsigned e = 0; c == 0 && e < r->events; e++)
        c = larger(row_self(r, a)[e].weight, row_self(r, b)[e].weight);
    return c ? c : larger(r->names->place[b->place].pc, r->names->place[a->place].pc);
}

void profile_rows_sort(struct profile_rows *r, unsigned event)
{
    if (r->count)
        qsort_r(r->row, r->count, sizeof *r->row, compare, &(struct order){r, event});
}
