/* Nodes evaluated for a single set of real structures, that of a core with parameters of its own: struct graph_core
 * says which structures are real. The set judges contention for itself.
 *
 * This is the evaluation of lanes.c, compiled for rows of one lane; functions do the same as those of graph_priv.h. */
#ifndef CYCLESCOPE_GRAPH_ONE_LANE_H
#define CYCLESCOPE_GRAPH_ONE_LANE_H

#include "graph/graph_priv.h"

struct one_lane;

struct one_lane *one_lane_new(const struct graph_core *c, struct error *err) MUST_CHECK;
void one_lane_free(struct one_lane *l);
void one_lane_evaluate(struct one_lane *l, const struct graph_node *n, unsigned count);
void one_lane_flush(struct one_lane *l);
void one_lane_serialize(struct one_lane *l);
uint64_t one_lane_known(const struct one_lane *l);
void one_lane_cycles(const struct one_lane *l, uint64_t insns,
                     struct graph_cycles *cycles); /* of the set that is real */

#endif
