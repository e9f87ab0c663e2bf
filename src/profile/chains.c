#include "profile/chains.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/index_table.h"
#include "branch/branch.h"

struct node {
    uint64_t site, entry; /* address and target of the call */
    uint32_t parent;      /* node of the caller */
    uint32_t number;      /* in the profile; 0: not written yet */
};

struct activation {
    uint64_t sp;          /* stack pointer at the call */
    uint64_t back;        /* return address */
    uint64_t site, entry; /* address and target of the call */
    uint32_t node;        /* looked up on demand, with the node of the activation below as parent; 0: not yet */
};

enum { ACTIVATIONS_MOST = 1 << 20, RECENT = 4096 };

/* The call stack of a hart. */
struct call_stack {
    const struct hart *hart;
    struct activation *of; /* oldest first */
    size_t count, room;
    uint64_t retired; /* h->retired when the hart last began to run */
};

struct chains {
    bool tagged;       /* keep `tag` up to date */
    uint32_t tag;      /* node of the running hart */
    struct node *node; /* [0] is the empty chain */
    size_t nodes, node_room;
    struct index_table index;
    uint32_t recent[RECENT]; /* direct-mapped cache of `index`; 0: empty */
    struct call_stack *stack;
    size_t stacks, stack_room;
    size_t running;       /* index of the running hart's stack */
    size_t count_before;  /* its activations before the last call or return */
    uint32_t node_before; /* node of those activations if they have been overwritten; else 0 */
    uint32_t numbers;     /* nodes written to the profile */
    uint32_t *path;       /* scratch of chains_write: a node and its ancestors */
    size_t path_room;
    bool lost; /* see chains_lost */
};

struct chains *chains_new(bool tagged, struct error *err)
{
    struct chains *c = calloc(1, sizeof *c);
    if (c && (c->node = array_grow(NULL, 0, &c->node_room, sizeof *c->node)) != NULL) {
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
    for (size_t i = 0; i < c->stacks; i++)
        free(c->stack[i].of);
    free(c->stack);
    free(c->node);
    free(c->path);
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
    struct node *grown = array_grow(c->node, c->nodes, &c->node_room, sizeof *c->node);
    c->node = grown ? grown : c->node;
    if (grown == NULL || index_table_add(&c->index, hash, (uint32_t)c->nodes) != 0) {
        c->lost = true;
        return key->parent;
    }
    c->node[c->nodes] = *key;
    return (uint32_t)c->nodes++;
}

/* The node of a call; its parent if there is no room or memory. Programs repeat most calls, and the whole index does
 * not stay in the host's caches, so a small cache of nodes is checked first (bench/record.py). */
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

/* Writes ancestors first, since a chain must be announced before it is used as a parent. */
uint32_t chains_write(struct chains *c, uint32_t node, struct profile_writer *to)
{
    size_t unknown = 0;
    uint32_t n = node;
    for (; n && c->node[n].number == 0; n = c->node[n].parent) {
        uint32_t *grown = array_grow(c->path, unknown, &c->path_room, sizeof *c->path);
        if (grown == NULL) {
            c->lost = true;
            return 0;
        }
        c->path = grown;
        c->path[unknown++] = n;
    }
    while (unknown > 0)
        write_node(c, c->path[--unknown], to);
    return c->node[node].number;
}

/* ---- activations */

/* The node of the oldest `count` activations of a stack. */
static uint32_t node_at(struct chains *c, struct call_stack *t, size_t count)
{
    size_t known = count;
    while (known > 0 && t->of[known - 1].node == 0)
        known--;
    uint32_t node = known ? t->of[known - 1].node : 0;
    for (; known < count; known++) {
        struct activation *a = &t->of[known];
        node = a->node = node_of(c, &(struct node){.site = a->site, .entry = a->entry, .parent = node});
    }
    return node;
}

/* The guest's stack grows down: activations that were called with a lower stack pointer than `sp` have been left. */
static void pop_below(struct call_stack *t, uint64_t sp)
{
    while (t->count && t->of[t->count - 1].sp < sp)
        t->count--;
}

static void push_call(struct chains *c, struct call_stack *t, uint64_t sp, const struct core_transfer *x)
{
    pop_below(t, sp);
    if (t->count == ACTIVATIONS_MOST)
        return;
    struct activation *of = array_grow(t->of, t->count, &t->room, sizeof *of);
    if (of == NULL) {
        c->lost = true;
        return;
    }
    t->of = of;
    t->of[t->count++] =
        (struct activation){.sp = sp, .back = x->fallthrough, .site = x->pc, .entry = x->target, .node = 0};
}

/* Pops the activation that returns to `target`, and all above it. Of the activations that were called with this stack
 * pointer, it is the newest one with that return address; if none has it, as after longjmp, all of them are popped. The
 * newest activation may also return with a lower stack pointer than it was called with, if it allocates stack for its
 * caller. */
static void pop_return(struct call_stack *t, uint64_t sp, uint64_t target)
{
    pop_below(t, sp);
    size_t keep = t->count;
    while (keep > 0 && t->of[keep - 1].sp == sp && t->of[keep - 1].back != target)
        keep--;
    if (keep > 0 && t->of[keep - 1].back == target && (t->of[keep - 1].sp == sp || keep == t->count))
        keep--;
    t->count = keep;
}

/* ---- harts */

/* Clears the stack if a new thread reuses the hart of one that ended: its count of instructions went back. */
static void reset_if_reused(struct call_stack *t, const struct hart *h)
{
    if (h->retired == 0 || h->retired < t->retired)
        t->count = 0;
    t->retired = h->retired;
}

static struct call_stack *running(const struct chains *c)
{
    return c->running < c->stacks ? &c->stack[c->running] : NULL;
}

static void update_tag(struct chains *c)
{
    if (c->tagged)
        c->tag = node_at(c, running(c), running(c)->count);
}

void chains_runs(void *chains, const struct hart *h)
{
    struct chains *c = chains;
    size_t i = 0;
    while (i < c->stacks && c->stack[i].hart != h)
        i++;
    if (i == c->stacks) {
        struct call_stack *grown = array_grow(c->stack, c->stacks, &c->stack_room, sizeof *c->stack);
        if (grown == NULL) {
            c->lost = true;
            return;
        }
        c->stack = grown;
        c->stack[c->stacks++] = (struct call_stack){.hart = h};
    }
    reset_if_reused(&c->stack[i], h);
    c->running = i;
    c->count_before = c->stack[i].count;
    c->node_before = 0;
    update_tag(c);
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
    struct call_stack *t = running(c);
    if (t == NULL || t->hart != h)
        return;
    /* A call that is pushed after others are popped overwrites an activation: look up its node before. */
    bool replaces = calls && t->count && (returns || t->of[t->count - 1].sp < sp);
    c->count_before = t->count;
    c->node_before = replaces ? node_at(c, t, t->count) : 0;
    if (returns)
        pop_return(t, sp, x->target);
    if (calls)
        push_call(c, t, sp, x);
    update_tag(c);
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
    return c->node_before ? c->node_before : node_at(c, running(c), c->count_before);
}

bool chains_lost(const struct chains *c)
{
    return c->lost;
}
