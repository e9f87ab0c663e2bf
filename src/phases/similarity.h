/* How alike any two parts of the run are: the difference of their vectors, 0 for the same, 2 for nothing in common.
 * Neighbouring intervals are averaged where there are too many for a matrix. */
#ifndef CYCLESCOPE_PHASES_SIMILARITY_H
#define CYCLESCOPE_PHASES_SIMILARITY_H

#include "phases/bbv.h"

struct similarity {
    size_t count;      /* parts of the run: rows and columns */
    float *difference; /* count times count */
};

/* At most so many parts, fewer for a program of very many basic blocks. At least one vector. 0 or -ENOMEM with a
 * sentence. */
int similarity_find(const struct bbv_set *s, size_t most, struct similarity *to, struct error *err) MUST_CHECK;
void similarity_free(struct similarity *m);

/* The first interval of a part; for the number behind the last one, the number of intervals. */
size_t similarity_start(const struct bbv_set *s, const struct similarity *m, size_t part);

#endif
