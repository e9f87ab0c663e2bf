/* Vectors in few dimensions: each basic block has a random direction, a function of its number, and a
 * vector is the sum of its blocks' directions by their shares. Vectors that are alike stay so, and unlike ones unlike
 * (Johnson and Lindenstrauss 1984), whatever the number of blocks. All are scaled by the same factor, such that a
 * vector has an average length (sum of absolute values) of 1. */
#ifndef CYCLESCOPE_PHASES_PROJECT_H
#define CYCLESCOPE_PHASES_PROJECT_H

#include "phases/bbv.h"

enum { PROJECTED = 16 };

typedef float projected[PROJECTED];

/* One for each vector, to be freed; NULL without memory. At least one vector. */
projected *bbv_project(const struct bbv_set *s) MUST_CHECK;

#endif
