/* Analysis: the samples of one event as a call tree, from the first function down.
 *
 * A node is a function in one call path; calls from different places in the same path of functions share a node. The
 * total of a node sums the samples in it and in all nodes below it. Callees are sorted by total, largest first.
 *
 * Recursion can be very deep: calls below PROFILE_FRAMES_MOST frames are left out, and their samples count as if the
 * last frame that is shown had called the sampled function. */
#ifndef CYCLESCOPE_PROFILE_PROFILE_TREE_H
#define CYCLESCOPE_PROFILE_PROFILE_TREE_H

#include "profile/profile_rows.h"

enum { PROFILE_FRAMES_MOST = 1000 };

struct profile_tree_node {
    uint32_t function; /* index in profile_names.function; root: INDEX_NONE */
    uint32_t parent;   /* less than the node's own number; root (node 0): 0 */
    uint32_t child;    /* callee with the largest total; 0: none */
    uint32_t sibling;  /* next callee of the same parent; 0: none */
    uint32_t depth;    /* frames above it, not counting the root */
    struct profile_amount self, total;
};

struct profile_tree {
    const struct profile_names *names;
    struct profile_tree_node *node;
    size_t count;
    struct profile_amount outside; /* samples that are not in the tree */
};

/* If `function` is not NULL, each path begins at the first frame of that function, and samples whose chain does not
 * contain it are counted in `outside`. */
int profile_tree_make(struct profile_tree *t, const struct profile_names *n, uint32_t event, const char *function,
                      struct error *err) MUST_CHECK;
void profile_tree_free(struct profile_tree *t);

/* Fills `path` with the functions from the root's child down to the node; returns their number. */
size_t profile_tree_path(const struct profile_tree *t, uint32_t node, uint32_t path[PROFILE_FRAMES_MOST + 1]);
/* Iterates over the nodes in preorder, callers before callees: start with node 0 (the root); returns 0 at the end. */
uint32_t profile_tree_next(const struct profile_tree *t, uint32_t node);
/* As profile_tree_next, but skips the nodes below `node`. */
uint32_t profile_tree_skip(const struct profile_tree *t, uint32_t node);

#endif
