/* The base of a stack split into what limits the core when nothing misses (graph/limit.def).
 *
 * The dependence graph predicts the cycles of a core with perfect structures for each set of limits that are real, the
 * others lifted. The width becomes real first: its share is what a core takes that nothing else limits, so 1/width is
 * in it. The share of another limit is what it adds, the mean over all orders in which the others become real after the
 * width: its Shapley value. What remains when all limits are lifted, system calls that drain the window and the like,
 * is the rest. So is the difference between the base and the cycles that the graph predicts with all limits real: the
 * shares and the rest sum to the base of the method graph. */
#ifndef CYCLESCOPE_STACKS_BASE_SPLIT_H
#define CYCLESCOPE_STACKS_BASE_SPLIT_H

#include "stacks/stacks.h"

/* A row of limit.def. */
struct limit_row {
    const char *key, *label, *help;
};

extern const struct limit_row limit_rows[GRAPH_LIMITS];

enum { BASE_PARTS = 2520 }; /* parts of a cycle: a multiple of those of graph, and of the number of orders */

struct base_split {
    int64_t parts[GRAPH_LIMITS]; /* by limit */
    int64_t rest;
};

/* Splits the base of this interval, for which the graph split the base. */
void base_split_find(const struct stack_interval *s, struct base_split *b);

#endif
