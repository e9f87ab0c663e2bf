/* The times of the graph beside those of the simulation, instruction by instruction, to find what the graph gets wrong.
 *
 * The lag of an instruction is how much later the graph commits it than the simulation of the same set. A place in the
 * program at which the lag grows or shrinks again and again has an edge that is missing or wrong. */
#ifndef CYCLESCOPE_TESTS_GRAPH_TIMES_H
#define CYCLESCOPE_TESTS_GRAPH_TIMES_H

#include <stdio.h>

#include "graph/literal.h"

/* When instructions in flight have passed the stages in the simulation. */
struct times_log {
    struct literal_times of_slot[CORE_SLOTS]; /* of the instruction in this slot of the window */
};

/* Called by the callbacks of struct core_observer with these names. */
void times_fetched(struct times_log *l, const struct insn_view *v, uint64_t cycle);
void times_dispatched(struct times_log *l, const struct insn_view *v, uint64_t cycle);
void times_issued(struct times_log *l, const struct insn_view *v, uint64_t cycle);
void times_completed(struct times_log *l, const struct insn_view *v, uint64_t cycle);

/* Prints the `rows` places with the most lag, and their times in the instruction at which it changes most. */
void times_print(FILE *to, const struct held_insn *insns, const struct literal_times *graph,
                 const struct literal_times *simulated, uint64_t count, unsigned rows);

#endif
