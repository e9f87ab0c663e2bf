/* Analysis: inclusive weights, by a walk over the tree of call chains that counts the open frames of each guard. */
#include <errno.h>
#include <stdlib.h>

#include "profile/profile_rows.h"

/* The tree of chains from callers to callees. Lists of nodes end with 0, since node 0 is no node's child; lists of
 * cells end with INDEX_NONE. */
struct walk {
    const struct profile *p;
    uint32_t *child, *sibling;    /* by node: first callee, next callee of the same caller */
    uint32_t *first, *next;       /* cells of a node: the first by node, the next by cell */
    uint32_t *open;               /* by guard: number of open frames above with this guard */
    struct profile_amount *below; /* by node: sum of the event's samples in it and in its callees */
};

static void walk_free(struct walk *w)
{
    free(w->child);
    free(w->sibling);
    free(w->first);
    free(w->next);
    free(w->open);
    free(w->below);
}

static bool walk_make(struct walk *w, const struct profile *p, size_t guards)
{
    *w = (struct walk){p,
                       calloc(p->nodes, sizeof *w->child),
                       calloc(p->nodes, sizeof *w->sibling),
                       calloc(p->nodes, sizeof *w->first),
                       calloc(p->cells + 1, sizeof *w->next),
                       calloc(guards + 1, sizeof *w->open),
                       calloc(p->nodes, sizeof *w->below)};
    if (!w->child || !w->sibling || !w->first || !w->next || !w->open || !w->below)
        return false;
    for (size_t i = p->nodes; i-- > 1;) {
        w->sibling[i] = w->child[p->node[i].parent];
        w->child[p->node[i].parent] = (uint32_t)i;
    }
    for (size_t i = 0; i < p->nodes; i++)
        w->first[i] = INDEX_NONE;
    for (size_t i = p->cells; i-- > 0;) {
        w->next[i] = w->first[p->cell[i].chain];
        w->first[p->cell[i].chain] = (uint32_t)i;
    }
    return true;
}

static void add(struct profile_amount *to, uint64_t weight, uint64_t samples)
{
    to->weight += weight;
    to->samples += samples;
}

/* Computes `below` for an event. Callees have larger numbers than their callers, so one pass from the end is enough. */
static void add_below(struct walk *w, uint32_t event)
{
    const struct profile *p = w->p;
    for (size_t i = 0; i < p->nodes; i++)
        w->below[i] = (struct profile_amount){0, 0};
    for (size_t i = 0; i < p->cells; i++)
        if (p->cell[i].event == event)
            add(&w->below[p->cell[i].chain], p->cell[i].weight, p->cell[i].samples);
    for (size_t i = p->nodes; i-- > 1;)
        add(&w->below[p->node[i].parent], w->below[i].weight, w->below[i].samples);
}

/* Adds to the frame's key, unless a frame with the same guard is open above it. */
static void add_frame(const struct walk *w, uint32_t guard, uint32_t key, uint32_t event, struct profile_amount a,
                      struct profile_amount *to)
{
    if (w->open[guard] == 0 && key != INDEX_NONE)
        add(&to[(size_t)key * w->p->events + event], a.weight, a.samples);
}

/* Walks the tree without recursion, since the chains of a recursive guest are deep. */
static void walk_event(struct walk *w, uint32_t event, const struct profile_frames *guard,
                       const struct profile_frames *key, struct profile_amount *to)
{
    const struct profile *p = w->p;
    uint32_t at = 0;
    add_below(w, event);
    for (;;) {
        if (at) {
            add_frame(w, guard->of_node[at], key->of_node[at], event, w->below[at], to);
            w->open[guard->of_node[at]]++;
        }
        for (uint32_t c = w->first[at]; c != INDEX_NONE; c = w->next[c])
            if (p->cell[c].event == event)
                add_frame(w, guard->of_cell[c], key->of_cell[c], event,
                          (struct profile_amount){p->cell[c].weight, p->cell[c].samples}, to);
        uint32_t next = w->child[at];
        while (next == 0) { /* close frames until one has a sibling */
            if (at == 0)
                return;
            w->open[guard->of_node[at]]--;
            next = w->sibling[at];
            at = p->node[at].parent;
        }
        at = next;
    }
}

int profile_add_inclusive(const struct profile *p, const struct profile_frames *guard, const struct profile_frames *key,
                          struct profile_amount *to, struct error *err)
{
    struct walk w;
    bool made = walk_make(&w, p, guard->count);
    for (uint32_t e = 0; made && e < p->events; e++)
        walk_event(&w, e, guard, key, to);
    walk_free(&w);
    return made ? 0 : error_set(err, -ENOMEM, "out of memory for the call chains of a profile");
}
