/* The base of a run split into what limits it: lanes in which all structures are perfect, one for each set of limits of
 * the core (limit.def) that are real. The others are lifted: what they limit is without limit, or far beyond. Either no
 * limit is real, or the width and any others.
 *
 * Limits: a window that is lifted has 2048 entries, the most that a core can have. Contention for units is known for
 * 1024 cycles around the time of an instruction (contention.h), fewer than such a window can span. */
#ifndef CYCLESCOPE_GRAPH_BASE_LANES_H
#define CYCLESCOPE_GRAPH_BASE_LANES_H

#include "graph/one_lane.h"

enum { BASE_BATCH = 256 }; /* most nodes that are evaluated at once */

struct base_lanes {
    bool used;      /* else there are no lanes */
    bool queues;    /* the core has issue queues with limits; else sets with and without them are the same */
    uint64_t insns; /* nodes so far */
    struct one_lane *lane[GRAPH_LIMIT_SETS]; /* by set of real limits; NULL: the set is not evaluated, or is the same
                                                as without issue queues */
    struct graph_node changed[BASE_BATCH];
};

/* The core on which these limits are real and the others lifted, and everything is perfect. */
struct graph_core base_core(const struct graph_core *core, unsigned limits);
/* Changes the node of instruction number `insn` for these limits. */
void base_change_node(struct graph_node *n, uint64_t insn, unsigned limits);

/* base_lanes_free frees what has been allocated, also after an error. */
int base_lanes_init(struct base_lanes *b, const struct graph_core *core, struct error *err) MUST_CHECK;
void base_lanes_free(struct base_lanes *b);
void base_lanes_evaluate(struct base_lanes *b, const struct graph_node *n, unsigned count); /* at most BASE_BATCH */
/* The same as for all sets (graph_priv.h). */
void base_lanes_flush(struct base_lanes *b);
void base_lanes_serialize(struct base_lanes *b);
uint64_t base_lanes_known(const struct base_lanes *b); /* UINT64_MAX without lanes */
/* Sets cycles->base to the commit times of node number `insns` - 1. */
void base_lanes_cycles(const struct base_lanes *b, uint64_t insns, struct graph_cycles *cycles);

#endif
