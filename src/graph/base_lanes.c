#include "graph/base_lanes.h"

#include <errno.h>
#include <string.h>

#include "graph/contention.h"

enum { WINDOW_MOST = 2048 };

struct graph_core base_core(const struct graph_core *core, unsigned limits)
{
    const unsigned any = 1u << 30;
    struct graph_core c = *core;
    c.real = 0;
    if (!(limits & LIMIT_width)) {
        c.decode_width = c.dispatch_width = c.commit_width = c.front_size = NO_LIMIT;
        c.issue_width = any;
        c.bundle = 0;
    }
    if (!(limits & LIMIT_window)) {
        c.rob_size = WINDOW_MOST;
        c.store_buffer_size = NO_LIMIT;
        c.live_stores = GRAPH_STORES - 1;
    }
    if (!(limits & LIMIT_queues)) {
        c.iq_size = any;
        for (unsigned q = 0; q < QUEUES; q++)
            c.queue_size[q] = any;
    }
    if (!(limits & LIMIT_units)) {
        c.ports = 0;
        memset(c.units, UINT8_MAX, sizeof c.units);
        for (unsigned k = 0; k < CLASS_COUNT; k++)
            c.timing[k].interval = 1;
    }
    c.any_order = !(limits & LIMIT_order);
    return c;
}

void base_change_node(struct graph_node *n, uint64_t insn, unsigned limits)
{
    bool whole = n->flags & NODE_WHOLE;
    if (!(limits & LIMIT_width))
        n->new_group = 0;
    if (!(limits & LIMIT_dependences))
        memset(n->source, 0, sizeof n->source);
    if (!(limits & LIMIT_window))
        n->room = insn >= WINDOW_MOST ? WINDOW_MOST : 0;
    if (!(limits & LIMIT_units))
        n->unit_wait.cycles = 0;
    if (!(limits & (whole ? LIMIT_dependences : LIMIT_order)))
        n->match = 0;
}

/* Whether the set has a lane of its own. */
static bool has_lane(const struct base_lanes *b, unsigned limits)
{
    return graph_has_limits(limits) && (b->queues || !(limits & LIMIT_queues));
}

int base_lanes_init(struct base_lanes *b, const struct graph_core *core, struct error *err)
{
    struct contention_limits real;
    b->used = true;
    contention_limits_init(&real, core);
    b->queues = real.has_queues;
    for (unsigned limits = 0; limits < GRAPH_LIMIT_SETS; limits++) {
        struct graph_core c = base_core(core, limits);
        if (has_lane(b, limits) && (b->lane[limits] = one_lane_new(&c, err)) == NULL)
            return -ENOMEM;
    }
    return 0;
}

void base_lanes_free(struct base_lanes *b)
{
    for (unsigned limits = 0; limits < GRAPH_LIMIT_SETS; limits++)
        one_lane_free(b->lane[limits]);
}

void base_lanes_evaluate(struct base_lanes *b, const struct graph_node *n, unsigned count)
{
    for (unsigned limits = 0; limits < GRAPH_LIMIT_SETS; limits++) {
        if (b->lane[limits] == NULL)
            continue;
        memcpy(b->changed, n, count * sizeof *n);
        for (unsigned i = 0; i < count; i++)
            base_change_node(&b->changed[i], b->insns + i, limits);
        one_lane_evaluate(b->lane[limits], b->changed, count);
    }
    b->insns += count;
}

void base_lanes_flush(struct base_lanes *b)
{
    for (unsigned limits = 0; limits < GRAPH_LIMIT_SETS; limits++)
        if (b->lane[limits])
            one_lane_flush(b->lane[limits]);
}

void base_lanes_serialize(struct base_lanes *b)
{
    for (unsigned limits = 0; limits < GRAPH_LIMIT_SETS; limits++)
        if (b->lane[limits])
            one_lane_serialize(b->lane[limits]);
}

uint64_t base_lanes_known(const struct base_lanes *b)
{
    uint64_t least = UINT64_MAX;
    for (unsigned limits = 0; limits < GRAPH_LIMIT_SETS; limits++) {
        uint64_t known = b->lane[limits] ? one_lane_known(b->lane[limits]) : UINT64_MAX;
        least = known < least ? known : least;
    }
    return least;
}

void base_lanes_cycles(const struct base_lanes *b, uint64_t insns, struct graph_cycles *cycles)
{
    for (unsigned limits = 0; b->used && limits < GRAPH_LIMIT_SETS; limits++) {
        struct graph_cycles of_lane;
        if (!graph_has_limits(limits))
            continue;
        one_lane_cycles(b->lane[has_lane(b, limits) ? limits : limits & ~(unsigned)LIMIT_queues], insns, &of_lane);
        cycles->base[limits] = of_lane.with[0];
    }
}
