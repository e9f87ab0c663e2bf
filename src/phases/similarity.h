/* The similarity matrix of a run: the difference of the basic block vectors of any two parts, 0 for equal parts, 2 for
 * parts with nothing in common. If there are too many intervals for a matrix, a part is the average of neighbors. */
#ifndef CYCLESCOPE_PHASES_SIMILARITY_H
#define CYCLESCOPE_PHASES_SIMILARITY_H

#include "phases/bbv.h"

struct similarity {
    size_t count;      /* parts of the run: rows and columns */
    float *difference; /* count × count matrix */
};

/* Divides the run into at most `most` parts, fewer for a program with very many basic blocks. The set must not be
 * empty. 0 or -ENOMEM with a message. */
int similarity_find(const struct bbv_set *s, size_t most, struct similarity *to, struct error *err) MUST_CHECK;
void similarity_free(struct similarity *m);

/* The first interval of a part; for part == count, the number of intervals. */
size_t similarity_start(const struct bbv_set *s, const struct similarity *m, size_t part);

#endif
