/* What instructions that access memory do in all lanes. */
#ifndef CYCLESCOPE_GRAPH_LANES_MEMORY_H
#define CYCLESCOPE_GRAPH_LANES_MEMORY_H

#include "graph/judges.h"

/* An access to data that has issued at the times in `t` issues again, in sets in which it lacks its translation, when
 * it has it: sets `t` to the last issue. */
void lanes_await_translation(struct lanes *l, const struct graph_node *n, const struct contention_need *need,
                             struct row *t);
/* A load issues at the times in `t`. Sets `t` to its last issue and `x` to when its data can be used. */
void lanes_load(struct lanes *l, const struct graph_node *n, const struct contention_need *need, struct row *restrict t,
                struct row *restrict x);
/* A store has issued at the times in `t`. Sets `x` to its completion, which an atomic has from its load. */
void lanes_store(struct lanes *l, const struct graph_node *n, const struct row *restrict t, struct row *restrict x);
/* A store commits at the times in `c`, or later if the store buffer has no room, and leaves through the store buffer.
 */
void lanes_drain(struct lanes *l, const struct graph_node *n, struct row *restrict c);

#endif
