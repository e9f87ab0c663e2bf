#ifndef CYCLESCOPE_GRAPH_LANES_FETCH_H
#define CYCLESCOPE_GRAPH_LANES_FETCH_H

#include "graph/lanes_priv.h"

/* An instruction that waits for lines or makes the prefetcher propose some: in the variants of its node, l->fetched
 * becomes when it has its lines. */
void lanes_read_lines(struct lanes *l, const struct graph_node *n);
/* The instruction that was fetched last, which was mispredicted, has resolved: l->result. */
void lanes_end_wrong_path(struct lanes *l);
/* With real prediction and a real L1I: fetch waits for a line that a wrong path has requested, or requests the line. */
void lanes_await_wrong_path(struct lanes *l, const struct graph_node *n);

#endif
