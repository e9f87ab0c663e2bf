/* The what-ifs of a run: each has a lane of its own, with the parameters of its core, and nodes that are changed for
 * it. */
#ifndef CYCLESCOPE_GRAPH_WHAT_IF_LANES_H
#define CYCLESCOPE_GRAPH_WHAT_IF_LANES_H

#include "graph/changed_nodes.h"
#include "graph/one_lane.h"
#include "graph/what_if.h"

enum { WHAT_IF_BATCH = 256 }; /* most nodes that are evaluated at once */

struct what_if_lanes {
    unsigned count;
    struct what_if_lane {
        struct node_changer nodes;
        struct one_lane *lane;
        unsigned real; /* mask of structures that are real */
    } of[GRAPH_WHAT_IFS];
    struct graph_node changed[WHAT_IF_BATCH];
};

/* Adds a what-if. `core` is the core that runs. */
int what_if_lanes_add(struct what_if_lanes *w, const struct graph_core *core, const struct what_if *what_if,
                      struct error *err) MUST_CHECK;
void what_if_lanes_free(struct what_if_lanes *w);
/* Evaluates the next nodes, at most WHAT_IF_BATCH, which were made of these instructions. */
void what_if_lanes_evaluate(struct what_if_lanes *w, const struct held_insn *const *held, const struct graph_node *n,
                            unsigned count);
/* The same as for all sets (graph_priv.h). */
void what_if_lanes_flush(struct what_if_lanes *w);
void what_if_lanes_serialize(struct what_if_lanes *w);
uint64_t what_if_lanes_known(const struct what_if_lanes *w); /* UINT64_MAX without what-ifs */
/* Sets cycles->what_if to the commit times of node number `insns` - 1. */
void what_if_lanes_cycles(const struct what_if_lanes *w, uint64_t insns, struct graph_cycles *cycles);

#endif
