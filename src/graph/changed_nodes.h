/* The nodes of a run as they would be on a changed core (what_if.h), made from those on the core that runs.
 *
 * Latencies of misses are moved by what the level that answers takes more or less. A wait for something that was
 * already on its way, by a wrong path or a prefetch, becomes longer or shorter by as much, and never negative.
 *
 * Limits: what was there in time in the run does not become late. */
#ifndef CYCLESCOPE_GRAPH_CHANGED_NODES_H
#define CYCLESCOPE_GRAPH_CHANGED_NODES_H

#include "graph/fetch_groups.h"
#include "graph/room.h"

struct node_changer {
    struct graph_core from, to;
    unsigned changes; /* bit mask of enum what_if_change */
    struct fetch_groups groups;
    struct room room;
};

/* Nodes of the core `from` become those of the core `to`. Returns false if out of memory. */
bool node_changer_init(struct node_changer *c, const struct graph_core *from, const struct graph_core *to,
                       unsigned changes);
void node_changer_free(struct node_changer *c);
/* Changes the node of the next instruction in program order. */
void node_change(struct node_changer *c, const struct held_insn *h, struct graph_node *n);

#endif
