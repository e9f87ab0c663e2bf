/* Nodes: works out, once for all sets, what each instruction waits for. This file has the node as a whole; nodes_priv.h
 * says where its parts come from. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "graph/nodes_priv.h"

/* ---- the node */

static void cut(uint16_t *cycles, unsigned most)
{
    if (*cycles > most)
        *cycles = (uint16_t)most;
}

static void cut_all(struct graph_node *n, unsigned most)
{
    uint16_t *single[] = {&n->misfetch_cycles, &n->fetch_demand, &n->fetch_prefetch_cycles, &n->prefetch_cycles,
                          &n->second_prefetch_cycles};
    uint16_t *pairs[] = {n->itlb_cycles, n->dtlb_cycles, n->load_cycles, n->drain_cycles};
    for (unsigned i = 0; i < sizeof single / sizeof *single; i++)
        cut(single[i], most);
    for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (unsigned v = 0; v < PREDICTIONS; v++)
            cut(&pairs[i][v], most);
    for (unsigned v = 0; v < FETCH_VARIANTS; v++) {
        cut(&n->l1i_cycles[v], most);
        cut(&n->l2i_cycles[v], most);
        cut(&n->fetch_demand_second[v], most);
        cut(&n->wrong_beyond[v], most);
    }
    for (unsigned i = 0; i < n->wrong_requests; i++)
        cut(&n->wrong_fetch[i].beyond, most);
    for (unsigned i = 0; n->wrong_line[0].distance && i < WRONG_REQUESTS; i++) {
        struct wrong_edge *w = &n->wrong_line[i];
        uint16_t *parts[] = {&w->cycles, &w->lines, &w->second_lines, &w->walks, &w->room};
        for (unsigned k = 0; k < sizeof parts / sizeof *parts; k++)
            cut(parts[k], most);
    }
}

void node_bound_edges(struct graph_node *n, const struct graph_core *c)
{
    if (node_cycles(n) <= c->edge_most)
        return;
    cut_all(n, c->edge_most);
    for (unsigned most = c->edge_most; node_cycles(n) > c->node_most; most -= most / 4)
        cut_all(n, most);
}

static uint8_t flags_of(const struct held_insn *h)
{
    unsigned flags = 0;
    flags |= (h->flags & IS_LOAD) != 0 ? NODE_LOAD : 0;
    flags |= (h->flags & IS_STORE) != 0 ? NODE_STORE : 0;
    flags |= (h->flags & IS_AT_HEAD) != 0 ? NODE_AT_HEAD : 0;
    flags |= (h->flags & IS_SERIAL) != 0 ? NODE_SERIAL : 0;
    flags |= h->mispredicted ? NODE_MISPREDICTED : 0;
    flags |= (h->flags & (IS_STORE | IS_AT_HEAD)) == IS_STORE ? NODE_LATE_DATA : 0;
    flags |= (h->flags & (IS_CONTROL | IS_AT_HEAD)) != 0 ? NODE_ENDS_BUNDLE : 0;
    return (uint8_t)flags;
}

/* Loads of a bundle access the caches before its stores, which leave when the whole bundle commits. Where the bundle
 * will end is not known yet: it is taken to be as long as it can be. */
static void look_at_bundle(struct node_builder *b, const struct held_insns *held, uint64_t i)
{
    unsigned most = b->core.bundle;
    for (unsigned k = 0; k < most && i + k < held->end; k++) {
        const struct held_insn *h = &held->of[(i + k) & held->mask];
        if (k && h->flags & IS_AT_HEAD)
            break;
        nodes_look_at(b, h);
        if (flags_of(h) & NODE_ENDS_BUNDLE)
            break;
    }
}

void node_build(struct node_builder *b, const struct held_insns *held, uint64_t i, struct graph_node *n)
{
    static const struct graph_node blank; /* copied: faster than how compilers set so much to 0 */
    const struct held_insn *h = &held->of[i & held->mask];
    if (b->looked == b->insns)
        look_at_bundle(b, held, i);
    memcpy(n, &blank, offsetof(struct graph_node, wrong_fetch));
    n->flags = flags_of(h);
    n->class = h->class;
    memcpy(n->source, h->source, sizeof n->source);
    n->dest = h->dest;
    n->wrong_path = h->wrong_path;
    if (h->unit_wait.cycles) {
        n->unit_wait = h->unit_wait;
        cut(&n->unit_wait.cycles, b->core.edge_most);
    }
    nodes_set_fetch(b, h, n);
    if (h->mispredicted)
        nodes_set_wrong_requests(b, h, n);
    n->room = room_take(&b->room, h);
    if (h->flags & IS_LOAD && h->size)
        nodes_set_load(b, h, n);
    if (h->flags & IS_STORE)
        nodes_set_store(b, h, n);
    node_bound_edges(n, &b->core);
    if (h->mispredicted)
        b->wrong_path[++b->wrong_paths % GRAPH_WRONG_PATHS] = b->insns;
    b->insns++;
}

/* ---- setup */

struct node_builder *node_builder_new(const struct graph_core *c, const struct core_config *config, struct error *err)
{
    struct node_builder *b = calloc(1, sizeof *b);
    if (b == NULL) {
        error_set(err, -ENOMEM, "out of memory for the dependence graph");
        return NULL;
    }
    b->core = *c;
    b->fetch_shift = (unsigned)__builtin_ctz(c->fetch_line_bytes);
    b->data_shift = (unsigned)__builtin_ctz(c->data_line_bytes);
    b->second_shift = (unsigned)__builtin_ctz(c->second_line_bytes);
    b->fetched_line = UINT64_MAX;
    b->memory = core_new_memsys(config, err);
    b->prefetcher = config->l1i_prefetch != 0;
    fetch_groups_init(&b->groups, c);
    bool has_room = room_init(&b->room, c);
    if (b->memory && has_room && second_alone_init(&b->code_second, config) &&
        second_alone_init(&b->early_second, config) && second_alone_init(&b->data_second, config))
        return b;
    node_builder_free(b);
    error_set(err, -ENOMEM, "out of memory for the dependence graph");
    return NULL;
}

void node_builder_begin(struct node_builder *b, struct core *c)
{
    core_copy_memory_state(c, b->memory);
    second_alone_begin(&b->code_second, memsys_second_lines(b->memory));
    second_alone_begin(&b->early_second, memsys_second_lines(b->memory));
    second_alone_begin(&b->data_second, memsys_second_lines(b->memory));
    memsys_observe_prefetches(b->memory, nodes_on_prefetch, b);
}

void node_builder_serialize(struct node_builder *b)
{
    b->groups.after_serial = true;
}

void node_builder_free(struct node_builder *b)
{
    if (b == NULL)
        return;
    memsys_free(b->memory);
    second_alone_free(&b->code_second);
    second_alone_free(&b->early_second);
    second_alone_free(&b->data_second);
    room_free(&b->room);
    free(b);
}
