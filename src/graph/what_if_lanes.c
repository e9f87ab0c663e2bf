#include "graph/what_if_lanes.h"

#include <errno.h>

int what_if_lanes_add(struct what_if_lanes *w, const struct graph_core *core, const struct what_if *what_if,
                      struct error *err)
{
    struct graph_core changed;
    struct what_if_lane *l = &w->of[w->count++];
    graph_core_init(&changed, &what_if->core);
    l->real = changed.real;
    l->lane = one_lane_new(&changed, err);
    if (l->lane == NULL)
        return -ENOMEM;
    return node_changer_init(&l->nodes, core, &changed, what_if->changes)
               ? 0
               : error_set(err, -ENOMEM, "out of memory for what-ifs");
}

void what_if_lanes_free(struct what_if_lanes *w)
{
    for (unsigned i = 0; i < w->count; i++) {
        node_changer_free(&w->of[i].nodes);
        one_lane_free(w->of[i].lane);
    }
}

void what_if_lanes_evaluate(struct what_if_lanes *w, const struct held_insn *const *held, const struct graph_node *n,
                            unsigned count)
{
    for (struct what_if_lane *l = w->of; l < w->of + w->count; l++) {
        for (unsigned i = 0; i < count; i++) {
            w->changed[i] = n[i];
            node_change(&l->nodes, held[i], &w->changed[i]);
        }
        one_lane_evaluate(l->lane, w->changed, count);
    }
}

void what_if_lanes_flush(struct what_if_lanes *w)
{
    for (unsigned i = 0; i < w->count; i++)
        one_lane_flush(w->of[i].lane);
}

void what_if_lanes_serialize(struct what_if_lanes *w)
{
    for (unsigned i = 0; i < w->count; i++) {
        one_lane_serialize(w->of[i].lane);
        w->of[i].nodes.groups.after_serial = true;
    }
}

uint64_t what_if_lanes_known(const struct what_if_lanes *w)
{
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < w->count; i++) {
        uint64_t known = one_lane_known(w->of[i].lane);
        least = known < least ? known : least;
    }
    return least;
}

void what_if_lanes_cycles(const struct what_if_lanes *w, uint64_t insns, struct graph_cycles *cycles)
{
    for (unsigned i = 0; i < w->count; i++) {
        struct graph_cycles of_lane;
        one_lane_cycles(w->of[i].lane, insns, &of_lane);
        cycles->what_if[i] = of_lane.with[w->of[i].real];
    }
}
