/* Bundles: instructions that dispatch and commit as a whole (dispatch.bundle).
 *
 * Which instructions form a bundle depends on when they pass the front end, and so on the set of real structures: a
 * bundle that dispatches has all instructions that have passed the front end by then, up to its size and to the first
 * that ends it. Therefore instructions are fetched ahead: up to the size of a bundle, but no further than to one that
 * ends bundles in all sets, since only behind such an instruction fetch may have to wait for it. Instructions then
 * execute one by one, in the order of the program, and each set has its own place in its bundle. A set in which the
 * bundle ends commits all its instructions, and their stores leave for the cache.
 *
 * Limits: if the issue queue is full, an instruction waits, and not the whole bundle. Other instructions see nothing of
 * lines that a store brings before its bundle has committed. A store waits as long for an MSHR as in the set that
 * judges contention if that has committed it already, else not at all. */
#ifndef CYCLESCOPE_GRAPH_BUNDLES_H
#define CYCLESCOPE_GRAPH_BUNDLES_H

#include "graph/lanes_priv.h"

struct bundles *bundles_new(const struct graph_core *c); /* NULL: out of memory */
void bundles_free(struct bundles *b);
/* lanes_evaluate, lanes_flush and lanes_known. */
void bundles_evaluate(struct lanes *l, const struct graph_node *n, unsigned count);
void bundles_flush(struct lanes *l);
uint64_t bundles_known(const struct lanes *l);
/* Sets `same` to a mask of the lanes in which the store that lies `match` stores back, 1: the last, is in one bundle
 * with the instruction that executes. */
void bundles_share(const struct lanes *l, unsigned match, struct row *same);
/* The times of its own, for moving the bases. */
unsigned bundles_rows(const struct bundles *b);
struct row *bundles_row(struct bundles *b, unsigned number);

#endif
