/* Random projection of basic block vectors to a few dimensions. Each basic block has a random direction, which depends
 * on its number alone; a projected vector is the sum of the directions of its blocks, weighted by their shares. This
 * preserves distances approximately, for any number of blocks (Johnson and Lindenstrauss 1984). All vectors are scaled
 * by one factor, such that their average length (sum of absolute values) is 1. */
#ifndef CYCLESCOPE_PHASES_PROJECT_H
#define CYCLESCOPE_PHASES_PROJECT_H

#include "phases/bbv.h"

enum { PROJECTED = 16 }; /* dimensions */

typedef float projected[PROJECTED];

/* The direction of a block: random numbers from -1 to 1, seeded by its number. */
void project_direction(uint32_t block, projected to);

/* The projected vectors of a set, in the form with instructions, for clustering. The set must not be empty. The caller
 * frees the array. NULL: out of memory. */
projected *bbv_project(const struct bbv_set *s) MUST_CHECK;

#endif
