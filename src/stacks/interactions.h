/* Interactions: how the costs of two structures depend on each other, from the cycles that the dependence graph
 * predicts.
 *
 * The cost of a structure is what making it perfect saves, with everything else real. Two structures together save the
 * sum of their costs, and their interaction on top (Fields et al. 2003). An interaction above 0 is an overlap: cycles
 * that both lose at the same time, and that are saved only if both are perfect. One below 0 is serial: cycles that
 * either one saves, so that the second one saves less.
 *
 * A perfect first cache makes the second cache of its side perfect: the cost of l1d is that of l1d and l2d. There is no
 * interaction of the two. */
#ifndef CYCLESCOPE_STACKS_INTERACTIONS_H
#define CYCLESCOPE_STACKS_INTERACTIONS_H

#include "stacks/stacks.h"

enum { INTERACTIONS = 19 }; /* pairs of the seven structures, without those of the two caches of a side */

struct interaction {
    enum component first, second;
    int64_t cycles; /* above 0: saved only by both; below 0: saved by either */
};

/* Fills in all interactions, those of the most cycles first. */
void interactions_find(const struct graph_cycles *g, struct interaction to[INTERACTIONS]);

#endif
