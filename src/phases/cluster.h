/* Simulation points by clustering (SimPoint: Sherwood, Perelman, Hamerly, Calder 2002): intervals with similar vectors
 * form a cluster. The interval closest to the center of a cluster represents it; its weight is the cluster's share of
 * the run.
 *
 * Vectors are normalized to shares of their sum and projected to a few dimensions (project.h). k-means with several
 * random starts runs for every k up to the maximum. The smallest k is taken that has a score (Bayesian information
 * criterion) of at least worst + 0.9 * (best - worst). In long runs, centers are found with a sample of the intervals,
 * 2048 or four times the maximum of clusters, whichever is more; then all intervals join the closest center. The same
 * seed gives the same points. */
#ifndef CYCLESCOPE_PHASES_CLUSTER_H
#define CYCLESCOPE_PHASES_CLUSTER_H

#include <stdbool.h>

#include "phases/project.h"

struct cluster_options {
    unsigned max_clusters; /* at least 1 */
    uint64_t seed;
    bool early; /* prefer the earliest interval that is nearly as close to the center as the closest */
};

struct cluster_point {
    size_t interval; /* the interval that represents the cluster */
    double weight;   /* share of the run's instructions; the weights of all clusters sum to 1 */
    size_t members;  /* intervals of the cluster */
};

struct clusters {
    struct cluster_point *point; /* in the order of the run */
    unsigned count;
    uint32_t *of; /* by interval: its cluster, an index of `point` */
};

/* `vector` has the projected vectors of the set, at least one. 0 or -ENOMEM with a message. */
int clusters_find(const struct bbv_set *s, const projected *vector, const struct cluster_options *o, struct clusters *c,
                  struct error *err) MUST_CHECK;
void clusters_free(struct clusters *c);

/* Files as SimPoint writes them: lines `interval cluster` and `weight cluster`. */
void clusters_write_simpoints(const struct clusters *c, FILE *to);
void clusters_write_weights(const struct clusters *c, FILE *to);

#endif
