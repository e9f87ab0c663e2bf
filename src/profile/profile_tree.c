#include "base/array.h"
#include "profile/profile_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* State of profile_tree_make. */
struct building {
    struct profile_tree *t;
    struct index_table index; /* of nodes */
    uint32_t *of_chain;       /* by chain: its node; INDEX_NONE: outside the tree */
    bool *wanted;             /* by function: paths begin at it */
    bool filtered;            /* only paths through wanted functions */
    size_t room;
};

static bool same_node(const void *owner, uint32_t i, const void *key)
{
    const struct profile_tree_node *a = (const struct profile_tree_node *)owner + i, *b = key;
    return a->parent == b->parent && a->function == b->function;
}

/* The node of a callee; added if it is new. INDEX_NONE: out of memory. */
static uint32_t callee(struct building *b, uint32_t parent, uint32_t function)
{
    struct profile_tree *t = b->t;
    struct profile_tree_node key = {.parent = parent, .function = function};
    key.depth = parent ? t->node[parent].depth + 1 : 0;
    uint64_t hash = hash_number(hash_number(0, parent), function);
    uint32_t i = index_table_find(&b->index, hash, same_node, t->node, &key);
    if (i != INDEX_NONE)
        return i;
    struct profile_tree_node *grown = array_grow(t->node, t->count, &b->room, sizeof *grown);
    if (grown == NULL)
        return INDEX_NONE;
    t->node = grown;
    if (index_table_add(&b->index, hash, (uint32_t)t->count) != 0)
        return INDEX_NONE;
    t->node[t->count] = key;
    return (uint32_t)t->count++;
}

/* Goes from node `from` to the frame of `place` and sets `to`; INDEX_NONE: outside the tree. From the last frame that
 * PROFILE_FRAMES_MOST allows, calls stay in the same node, and only the frame of a sample is added below it. 0 or
 * -ENOMEM. */
static int step(struct building *b, uint32_t from, uint32_t place, bool sample, uint32_t *to)
{
    uint32_t function = b->t->names->place[place].function;
    *to = from;
    if (!sample && from != INDEX_NONE && from != 0 && b->t->node[from].depth + 1 == PROFILE_FRAMES_MOST)
        return 0;
    *to = INDEX_NONE;
    if (from == INDEX_NONE && !b->wanted[function])
        return 0;
    *to = callee(b, from == INDEX_NONE ? 0 : from, function);
    return *to == INDEX_NONE ? -ENOMEM : 0;
}

static void add(struct profile_amount *to, const struct profile_amount *a)
{
    to->weight += a->weight;
    to->samples += a->samples;
}

static int add_cells(struct building *b, uint32_t event)
{
    struct profile_tree *t = b->t;
    const struct profile *p = t->names->profile;
    for (size_t i = 0; i < p->cells; i++) {
        const struct profile_cell *c = &p->cell[i];
        struct profile_amount a = {c->weight, c->samples};
        uint32_t node;
        if (c->event != event)
            continue;
        int code = step(b, b->of_chain[c->chain], t->names->of_cell[i], true, &node);
        if (code != 0)
            return code;
        add(node == INDEX_NONE ? &t->outside : &t->node[node].self, &a);
    }
    return 0;
}

static int build(struct building *b, uint32_t event)
{
    struct profile_tree *t = b->t;
    const struct profile *p = t->names->profile;
    if ((t->node = array_grow(NULL, 0, &b->room, sizeof *t->node)) == NULL)
        return -ENOMEM;
    t->node[0] = (struct profile_tree_node){.function = INDEX_NONE};
    t->count = 1;
    b->of_chain[0] = b->filtered ? INDEX_NONE : 0;
    for (size_t i = 1; i < p->nodes; i++) {
        int code = step(b, b->of_chain[p->node[i].parent], t->names->of_node[i], false, &b->of_chain[i]);
        if (code != 0)
            return code;
    }
    int code = add_cells(b, event);
    for (size_t i = t->count; i-- > 0;) {
        add(&t->node[i].total, &t->node[i].self);
        if (i > 0)
            add(&t->node[t->node[i].parent].total, &t->node[i].total);
    }
    return code;
}

/* ---- order */

static int by_total(const void *left, const void *right, void *context)
{
    const struct profile_tree *t = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct profile_tree_node *x = &t->node[a], *y = &t->node[b];
    if (x->total.weight != y->total.weight)
        return x->total.weight > y->total.weight ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Links each node to its callees, largest total first; leaves out nodes without samples. */
static int link_callees(struct profile_tree *t)
{
    uint32_t *order = calloc(t->count, sizeof *order);
    if (order == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < t->count; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, t->count, sizeof *order, by_total, t);
    for (size_t i = t->count; i-- > 0;) { /* from the smallest, since each is put in front of its siblings */
        struct profile_tree_node *n = &t->node[order[i]];
        if (order[i] == 0 || n->total.samples == 0)
            continue;
        n->sibling = t->node[n->parent].child;
        t->node[n->parent].child = order[i];
    }
    free(order);
    return 0;
}

int profile_tree_make(struct profile_tree *t, const struct profile_names *n, uint32_t event, const char *function,
                      struct error *err)
{
    struct building b = {.t = t, .filtered = function != NULL};
    *t = (struct profile_tree){.names = n};
    b.of_chain = calloc(n->profile->nodes, sizeof *b.of_chain);
    b.wanted = calloc(n->functions + 1, sizeof *b.wanted);
    int code = b.of_chain && b.wanted ? 0 : -ENOMEM;
    for (size_t i = 0; code == 0 && function && i < n->functions; i++)
        b.wanted[i] = profile_function_is(&n->function[i], function);
    if (code == 0)
        code = build(&b, event);
    if (code == 0)
        code = link_callees(t);
    index_table_free(&b.index);
    free(b.of_chain);
    free(b.wanted);
    if (code != 0)
        profile_tree_free(t);
    return code == 0 ? 0 : error_set(err, code, "out of memory for the call tree of a profile");
}

void profile_tree_free(struct profile_tree *t)
{
    free(t->node);
    *t = (struct profile_tree){0};
}

/* ---- walking */

size_t profile_tree_path(const struct profile_tree *t, uint32_t node, uint32_t path[PROFILE_FRAMES_MOST + 1])
{
    for (uint32_t at = node; at; at = t->node[at].parent)
        path[t->node[at].depth] = t->node[at].function;
    return node ? t->node[node].depth + 1 : 0;
}

uint32_t profile_tree_skip(const struct profile_tree *t, uint32_t node)
{
    while (node && t->node[node].sibling == 0)
        node = t->node[node].parent;
    return t->node[node].sibling;
}

uint32_t profile_tree_next(const struct profile_tree *t, uint32_t node)
{
    return t->node[node].child ? t->node[node].child : profile_tree_skip(t, node);
}
