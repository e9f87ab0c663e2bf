/* Simulation points by clustering (Sherwood, Perelman, Hamerly, Calder 2002): intervals with similar vectors make a
 * cluster; the one next to its centre stands for it, with the cluster's share of the run as its weight.
 *
 * Vectors, as shares of their sum, are projected at random to a few dimensions; k-means with several seeded starts is
 * run for every k up to the most; of these the smallest k is taken whose score reaches nine tenths of the way from the
 * worst to the best. Of a long run, centres are found with some of its intervals, 2048 or four for each cluster, and
 * all intervals then join the nearest. The same seed gives the same points. */
#ifndef CYCLESCOPE_PHASES_CLUSTER_H
#define CYCLESCOPE_PHASES_CLUSTER_H

#include <stdbool.h>

#include "phases/project.h"

struct cluster_options {
    unsigned max_clusters; /* at least 1 */
    uint64_t seed;
    bool early; /* prefer the first interval that stands for its cluster nearly as well as the best */
};

struct cluster_point {
    size_t interval; /* that stands for the cluster */
    double weight;   /* share of the run's instructions; all sum to 1 */
    size_t members;  /* intervals of the cluster */
};

struct clusters {
    struct cluster_point *point; /* in the order of the run */
    unsigned count;
    uint32_t *of; /* of each interval: its cluster, an index of `point` */
};

/* `vector` are those of the set, projected. At least one. 0 or -ENOMEM with a sentence. */
int clusters_find(const struct bbv_set *s, const projected *vector, const struct cluster_options *o, struct clusters *c,
                  struct error *err) MUST_CHECK;
void clusters_free(struct clusters *c);

/* As SimPoint writes them: lines `interval cluster` and `weight cluster`. */
void clusters_write_simpoints(const struct clusters *c, FILE *to);
void clusters_write_weights(const struct clusters *c, FILE *to);

#endif
