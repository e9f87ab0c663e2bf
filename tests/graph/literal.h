/* The dependence graph evaluated literally: one set of real structures at a time, with the whole run in memory.
 *
 * A second implementation of src/graph/lanes.c, to compare it with: times are 64 bits wide and kept for all
 * instructions, and nothing is shared between sets except what judges say about contention. */
#ifndef CYCLESCOPE_TESTS_GRAPH_LITERAL_H
#define CYCLESCOPE_TESTS_GRAPH_LITERAL_H

#include "graph/graph_priv.h"

/* When one instruction passed each stage in one set. */
struct literal_times {
    int64_t fetched, decoded, dispatched, issued, completed, committed;
};

/* Evaluates a set. `times` has room for all nodes. Returns the commit of the last one. Sets that do not judge
 * contention for themselves evaluate their judge first. Ends the program if out of memory. */
uint64_t literal_evaluate(const struct graph_core *c, const struct graph_node *nodes, uint64_t count, unsigned real,
                          struct literal_times *times);
/* The same for a set that judges contention for itself. */
uint64_t literal_evaluate_alone(const struct graph_core *c, const struct graph_node *nodes, uint64_t count,
                                unsigned real, struct literal_times *times);

#endif
