/* k-means: divides vectors into clusters of vectors that are close to each other. */
#ifndef CYCLESCOPE_PHASES_K_MEANS_H
#define CYCLESCOPE_PHASES_K_MEANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/random.h"

struct vectors {
    const float *at; /* one after the other */
    unsigned width;  /* numbers of a vector, a multiple of 4 */
    size_t count;
};

static inline const float *vector_at(const struct vectors *v, size_t i)
{
    return v->at + i * v->width;
}

float squared_distance(const float *a, const float *b, unsigned width);

/* A division into k clusters. */
struct division {
    unsigned k;
    float *center;
    uint32_t *of;  /* by vector: its cluster */
    double spread; /* sum of squared distances to the centers */
};

/* Makes room for k clusters of `count` vectors. False: out of memory; division_free is due in any case. */
bool division_make(struct division *d, unsigned k, unsigned width, size_t count) MUST_CHECK;
void division_free(struct division *d);
void division_copy(const struct vectors *v, const struct division *from, struct division *to);

/* Chooses centers far from each other (k-means++): each new one is drawn with a probability proportional to the squared
 * distance to the closest center so far. `nearest` has room for a number per vector. */
void k_means_begin(const struct vectors *v, struct division *to, double *nearest, struct random *r);
/* Assigns every vector to its closest center. True: some vector changed its cluster. */
bool k_means_assign(const struct vectors *v, struct division *to);
/* Moves every center to the mean of its vectors; a center without vectors stays. `sums` has room for width + 1 numbers
 * per cluster. */
void k_means_recenter(const struct vectors *v, struct division *to, double *sums);
/* Assigns, and recenters at most `rounds` times while vectors change their clusters. */
void k_means_run(const struct vectors *v, struct division *to, unsigned rounds, double *sums);

#endif
