#include "graph/changed_nodes.h"

#include "graph/what_if.h"

/* ---- latencies */

static uint16_t moved(unsigned cycles, unsigned from, unsigned to, unsigned least)
{
    int now = (int)cycles + (int)to - (int)from;
    return (uint16_t)(now < (int)least ? (int)least : now);
}

/* Moves a latency by what its level takes more or less: the level that takes as long or, of latencies between two
 * levels, the farther one, on whose line something has waited for a part of the time. `from` and `to` are latencies by
 * level in ascending order. */
static uint16_t move_on_ladder(unsigned cycles, const unsigned *from, const unsigned *to, unsigned first, unsigned last,
                               unsigned least)
{
    unsigned k = first;
    while (k < last && from[k] < cycles)
        k++;
    return moved(cycles, from[k], to[k], least);
}

/* The latency of an access to data that took as long as `a` in the run, or that of a level. */
static uint16_t data_cycles(const struct node_changer *c, const struct data_access *a, unsigned cycles)
{
    unsigned least = c->to.latency[LEVEL_L1];
    if (cycles == a->cycles)
        return moved(cycles, c->from.latency[a->level], c->to.latency[a->level], least);
    return move_on_ladder(cycles, c->from.latency, c->to.latency, LEVEL_L1, LEVEL_MEMORY, least);
}

/* A stall of fetch for lines beyond the L2. */
static uint16_t beyond_second(const struct node_changer *c, unsigned cycles)
{
    unsigned from[LEVEL_MEMORY + 1], to[LEVEL_MEMORY + 1];
    if (cycles == 0)
        return 0;
    for (unsigned k = LEVEL_L2; k <= LEVEL_MEMORY; k++) {
        from[k] = c->from.latency[k] - c->from.latency[LEVEL_L2];
        to[k] = c->to.latency[k] - c->to.latency[LEVEL_L2];
    }
    return move_on_ladder(cycles, from, to, LEVEL_L3, LEVEL_MEMORY, 0);
}

/* A stall of fetch for lines of the L2. */
static uint16_t from_second(const struct node_changer *c, unsigned cycles)
{
    if (cycles == 0)
        return 0;
    return moved(cycles, c->from.latency[LEVEL_L2] - c->from.latency[LEVEL_L1],
                 c->to.latency[LEVEL_L2] - c->to.latency[LEVEL_L1], 0);
}

static uint16_t translation(const struct node_changer *c, unsigned cycles)
{
    if (cycles == 0)
        return 0;
    return move_on_ladder(cycles, c->from.translation, c->to.translation, TLB_L2, TLB_WALK, 0);
}

static void change_latencies(const struct node_changer *c, const struct held_insn *h, struct graph_node *n)
{
    for (unsigned v = 0; v < FETCH_VARIANTS; v++) {
        n->l1i_cycles[v] = from_second(c, n->l1i_cycles[v]);
        n->l2i_cycles[v] = beyond_second(c, n->l2i_cycles[v]);
        n->fetch_demand_second[v] = beyond_second(c, n->fetch_demand_second[v]);
    }
    for (unsigned k = 0; k < n->wrong_requests; k++)
        n->wrong_fetch[k].beyond = beyond_second(c, n->wrong_fetch[k].beyond);
    for (unsigned v = 0; v < PREDICTIONS; v++) {
        n->itlb_cycles[v] = translation(c, n->itlb_cycles[v]);
        n->dtlb_cycles[v] = translation(c, n->dtlb_cycles[v]);
        if (n->load_cycles[v])
            n->load_cycles[v] = data_cycles(c, &h->access, n->load_cycles[v]);
        if (n->drain_cycles[v] > c->from.latency[LEVEL_L1])
            n->drain_cycles[v] = data_cycles(c, &h->drain, n->drain_cycles[v]);
    }
    const struct data_access none = {.cycles = 0};
    if (n->second_prefetch_cycles)
        n->second_prefetch_cycles = data_cycles(c, &none, n->second_prefetch_cycles);
    if (n->prefetch_cycles)
        n->prefetch_cycles = data_cycles(c, &none, n->prefetch_cycles);
    n->fetch_prefetch_cycles = beyond_second(c, n->fetch_prefetch_cycles);
    n->fetch_demand = from_second(c, n->fetch_demand);
}

/* ---- nodes */

/* Stores that lie further back than the queue and the buffer of the core reach do not forward. */
static void limit_match(const struct node_changer *c, struct graph_node *n)
{
    if (n->match >= c->to.live_stores) {
        n->match = 0;
        n->flags &= (uint8_t)~NODE_WHOLE;
    }
}

/* A unit is busy at most for the longest interval of its pool. Where there are more units, one is taken to be free. */
static void limit_unit_wait(const struct node_changer *c, struct graph_node *n)
{
    unsigned pool = c->to.timing[n->class].pool, most = 0;
    for (unsigned k = 0; k < CLASS_COUNT && c->to.units[pool] <= c->from.units[pool]; k++)
        if (c->to.timing[k].pool == pool && c->to.timing[k].interval > most + 1)
            most = c->to.timing[k].interval - 1;
    if (n->unit_wait.cycles > most)
        n->unit_wait.cycles = (uint16_t)most;
}

/* An MSHR is taken at most for the latency of memory. Where there are more, one is taken to be free. */
static void limit_mshr_wait(const struct node_changer *c, struct graph_node *n)
{
    unsigned most = c->to.mshrs > c->from.mshrs ? 0 : c->to.latency[LEVEL_MEMORY];
    if (n->mshr_wait.cycles > most)
        n->mshr_wait.cycles = (uint16_t)most;
}

void node_change(struct node_changer *c, const struct held_insn *h, struct graph_node *n)
{
    if (c->changes & WHAT_IF_LATENCIES)
        change_latencies(c, h, n);
    if (c->changes & WHAT_IF_GROUPS)
        fetch_groups_join(&c->groups, h, n);
    if (c->changes & WHAT_IF_ROOM)
        n->room = room_take(&c->room, h);
    limit_match(c, n);
    if (n->unit_wait.cycles)
        limit_unit_wait(c, n);
    limit_mshr_wait(c, n);
    node_bound_edges(n, &c->to);
}

bool node_changer_init(struct node_changer *c, const struct graph_core *from, const struct graph_core *to,
                       unsigned changes)
{
    *c = (struct node_changer){.from = *from, .to = *to, .changes = changes};
    fetch_groups_init(&c->groups, to);
    return room_init(&c->room, to);
}

void node_changer_free(struct node_changer *c)
{
    room_free(&c->room);
}
