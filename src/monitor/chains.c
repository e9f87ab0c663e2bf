#include "monitor/chains.h"

#include <errno.h>
#include <stdlib.h>

#include "base/index_table.h"
#include "branch/branch.h"

struct node {
    uint64_t site, entry;
    uint32_t parent;
    uint32_t number; /* in the profile, 0: not there yet */
};

struct activation {
    uint64_t sp;          /* when it was called */
    uint64_t back;        /* where it returns to */
    uint64_t site, entry; /* of its node, with the node of the activation below as parent ... */
    uint32_t node;        /* ... which is looked up when it is first asked for; 0: not yet */
};

enum { ACTIVATIONS_MOST = 1 << 20, RECENT = 4096 };

/* The stack of a hart. */
struct track {
    const struct hart *hart;
    struct activation *of;
    size_t count, room;
    uint64_t retired; /* of the hart, when it last began to run */
};

struct chains {
    bool tagged;       /* `tag` is kept, so that every node is asked for */
    uint32_t tag;      /* node of the hart that runs */
    struct node *node; /* [0] is what was never called */
    size_t nodes, node_room;
    struct index_table index;
    uint32_t recent[RECENT]; /* nodes that were asked for last, by low bits of a hash; 0: none */
    struct track *track;
    size_t tracks, track_room, running; /* index of the one whose hart runs */
    size_t before;                      /* its activations before the last call or return ... */
    uint32_t before_node;               /* ... or their node, if they are no longer there; else 0 */
    uint32_t numbers;                   /* in the profile */
    uint32_t *way;                      /* from a node up, while it is written */
    size_t way_room;
    bool lost;
};

struct chains *chains_new(bool tagged, struct error *err)
{
    struct chains *c = calloc(1, sizeof *c);
    if (c && (c->node = array_room(NULL, 0, &c->node_room, sizeof *c->node)) != NULL) {
        c->tagged = tagged;
        c->node[c->nodes++] = (struct node){0};
        return c;
    }
    free(c);
    error_set(err, -ENOMEM, "out of memory for call chains");
    return NULL;
}

void chains_free(struct chains *c)
{
    if (c == NULL)
        return;
    for (size_t i = 0; i < c->tracks; i++)
        free(c->track[i].of);
    free(c->track);
    free(c->node);
    free(c->way);
    index_table_free(&c->index);
    free(c);
}

/* ---- nodes */

static bool same_node(const void *chains, uint32_t i, const void *key)
{
    const struct node *n = &((const struct chains *)chains)->node[i], *k = key;
    return n->site == k->site && n->entry == k->entry && n->parent == k->parent;
}

static uint32_t find_or_add(struct chains *c, const struct node *key)
{
    uint64_t hash = hash_number(hash_number(hash_number(0, key->site), key->entry), key->parent);
    uint32_t i = index_table_find(&c->index, hash, same_node, c, key);
    if (i != INDEX_NONE)
        return i;
    if (c->nodes >= CHAIN_MOST)
        return key->parent;
    struct node *grown = array_room(c->node, c->nodes, &c->node_room, sizeof *c->node);
    c->node = grown ? grown : c->node;
    if (grown == NULL || index_table_add(&c->index, hash, (uint32_t)c->nodes) != 0) {
        c->lost = true;
        return key->parent;
    }
    c->node[c->nodes] = *key;
    return (uint32_t)c->nodes++;
}

/* The chain of this call; without room or memory, that of the caller. Programs make most calls again and again, and
 * the whole table does not stay in the host's caches: a few nodes are looked at first (bench/record.py). */
static uint32_t node_of(struct chains *c, const struct node *key)
{
    uint32_t *recent = &c->recent[(key->site / 2 + key->parent * UINT64_C(0x9e3779b1)) % RECENT];
    if (!same_node(c, *recent, key))
        *recent = find_or_add(c, key);
    return *recent;
}

static void write_node(struct chains *c, uint32_t node, struct profile_writer *to)
{
    struct node *n = &c->node[node];
    n->number = ++c->numbers;
    profile_write(
        to,
        &(struct profile_record){
            .kind = PROFILE_CHAIN,
            .chain = {.chain = n->number, .parent = c->node[n->parent].number, .site = n->site, .entry = n->entry}});
}

/* Ancestors come first. */
uint32_t chains_write(struct chains *c, uint32_t node, struct profile_writer *to)
{
    size_t unknown = 0;
    uint32_t n = node;
    for (; n && c->node[n].number == 0; n = c->node[n].parent) {
        uint32_t *grown = array_room(c->way, unknown, &c->way_room, sizeof *c->way);
        if (grown == NULL) {
            c->lost = true;
            return 0;
        }
        c->way = grown;
        c->way[unknown++] = n;
    }
    while (unknown > 0)
        write_node(c, c->way[--unknown], to);
    return c->node[node].number;
}

/* ---- activations */

/* The node of the lowest `count` activations of a track. */
static uint32_t node_at(struct chains *c, struct track *t, size_t count)
{
    size_t known = count;
    while (known > 0 && t->of[known - 1].node == 0)
        known--;
    uint32_t node = known ? t->of[known - 1].node : 0;
    for (struct activation *a = t->of + known; known < count; known++, a++)
        node = a->node = node_of(c, &(struct node){.site = a->site, .entry = a->entry, .parent = node});
    return node;
}

/* The stack grows down: what was called with the stack pointer lower than it is now has been left. */
static void leave_below(struct track *t, uint64_t sp)
{
    while (t->count && t->of[t->count - 1].sp < sp)
        t->count--;
}

static void call(struct chains *c, struct track *t, uint64_t sp, const struct core_transfer *x)
{
    leave_below(t, sp);
    if (t->count == ACTIVATIONS_MOST)
        return;
    struct activation *of = array_room(t->of, t->count, &t->room, sizeof *of);
    if (of == NULL) {
        c->lost = true;
        return;
    }
    t->of = of;
    t->of[t->count++] =
        (struct activation){.sp = sp, .back = x->fallthrough, .site = x->pc, .entry = x->target, .node = 0};
}

/* Of those that were called with the same stack pointer, the last one that returns there has been left; without one,
 * as after longjmp, all. Else it may be the very last, which made room on the stack for its caller. */
static void come_back(struct track *t, uint64_t sp, uint64_t target)
{
    leave_below(t, sp);
    size_t keep = t->count;
    while (keep > 0 && t->of[keep - 1].sp == sp && t->of[keep - 1].back != target)
        keep--;
    if (keep > 0 && t->of[keep - 1].back == target && (t->of[keep - 1].sp == sp || keep == t->count))
        keep--;
    t->count = keep;
}

/* ---- harts */

/* A thread whose hart lies where that of one before it lay begins anew. */
static void begin_anew(struct track *t, const struct hart *h)
{
    if (h->retired == 0 || h->retired < t->retired)
        t->count = 0;
    t->retired = h->retired;
}

static struct track *running(const struct chains *c)
{
    return c->running < c->tracks ? &c->track[c->running] : NULL;
}

static void tag_now(struct chains *c)
{
    if (c->tagged)
        c->tag = node_at(c, running(c), running(c)->count);
}

void chains_runs(void *chains, const struct hart *h)
{
    struct chains *c = chains;
    size_t i = 0;
    while (i < c->tracks && c->track[i].hart != h)
        i++;
    if (i == c->tracks) {
        struct track *grown = array_room(c->track, c->tracks, &c->track_room, sizeof *c->track);
        if (grown == NULL) {
            c->lost = true;
            return;
        }
        c->track = grown;
        c->track[c->tracks++] = (struct track){.hart = h};
    }
    begin_anew(&c->track[i], h);
    c->running = i;
    c->before = c->track[i].count;
    c->before_node = 0;
    tag_now(c);
}

/* ---- the interface */

static bool is_return(uint8_t kind)
{
    return kind == BRANCH_RETURN || kind == BRANCH_CORETURN;
}

static bool is_call(uint8_t kind)
{
    return kind == BRANCH_CALL || kind == BRANCH_INDIRECT_CALL || kind == BRANCH_CORETURN;
}

void chains_transferred(void *chains, const struct hart *h, const struct core_transfer *x)
{
    struct chains *c = chains;
    bool returns = is_return(x->kind), calls = is_call(x->kind);
    uint64_t sp = h->x[REG_SP];
    if (!returns && !calls)
        return;
    if (running(c) == NULL || running(c)->hart != h)
        chains_runs(c, h);
    struct track *t = running(c);
    if (t == NULL || t->hart != h)
        return;
    /* A call writes over an activation that has been left. */
    bool replaces = calls && t->count && (returns || t->of[t->count - 1].sp < sp);
    c->before = t->count;
    c->before_node = replaces ? node_at(c, t, t->count) : 0;
    if (returns)
        come_back(t, sp, x->target);
    if (calls)
        call(c, t, sp, x);
    tag_now(c);
}

const uint32_t *chains_tag(const struct chains *c)
{
    return &c->tag;
}

uint32_t chains_now(struct chains *c)
{
    return running(c) ? node_at(c, running(c), running(c)->count) : 0;
}

uint32_t chains_at_fetch(struct chains *c, const struct insn_view *v)
{
    bool moved = v->control && !v->wrong_path && (is_return(v->kind) || is_call(v->kind));
    if (!moved || running(c) == NULL)
        return chains_now(c);
    return c->before_node ? c->before_node : node_at(c, running(c), c->before);
}

bool chains_lost(const struct chains *c)
{
    return c->lost;
}
