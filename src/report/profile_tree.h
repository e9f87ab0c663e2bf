/* The samples of one event as a tree of functions: who called whom, from the first function down.
 *
 * A node is a function in one call path; different calls on the same line of functions are one node. The total of a
 * node is what was sampled in it and in all below it. Callees come largest first.
 *
 * Recursion can be very deep: calls below PROFILE_FRAMES_MOST frames are left out, and what was sampled in them counts
 * as if the last frame that is shown had called it. */
#ifndef CYCLESCOPE_REPORT_PROFILE_TREE_H
#define CYCLESCOPE_REPORT_PROFILE_TREE_H

#include "report/profile_rows.h"

enum { PROFILE_FRAMES_MOST = 1000 };

struct profile_tree_node {
    uint32_t function;       /* of the root none: INDEX_NONE */
    uint32_t parent;         /* less than its own number; 0 of the root, which is node 0 */
    uint32_t child, sibling; /* the first one, the next one; 0: none */
    uint32_t depth;          /* frames above it, the root not counted */
    struct profile_amount self, total;
};

struct profile_tree {
    const struct profile_names *names;
    struct profile_tree_node *node;
    size_t count;
    struct profile_amount outside; /* samples that are not in the tree */
};

/* With the name of a function, paths begin at the first frame that it has in them, and what does not go through it is
 * outside. */
int profile_tree_make(struct profile_tree *t, const struct profile_names *n, uint32_t event, const char *function,
                      struct error *err) MUST_CHECK;
void profile_tree_free(struct profile_tree *t);

/* The functions from the root's child down to the node; their number. */
size_t profile_tree_path(const struct profile_tree *t, uint32_t node, uint32_t path[PROFILE_FRAMES_MOST + 1]);
/* All nodes below the root from callers to callees, beginning with the root; 0 at the end. */
uint32_t profile_tree_next(const struct profile_tree *t, uint32_t node);
/* The same without what is below this node. */
uint32_t profile_tree_skip(const struct profile_tree *t, uint32_t node);

#endif
