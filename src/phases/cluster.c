#include "phases/cluster.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "phases/k_means.h"
#include "phases/project.h"

enum {
    STARTS = 5,         /* random starts of k-means for each k */
    ROUNDS = 100,       /* most iterations of k-means */
    LAST_ROUNDS = 10,   /* most iterations over all intervals, from the centers of the sample */
    MOST_SAMPLES = 2048 /* intervals that centers are found with */
};

/* Working memory of k-means. */
struct buffers {
    struct division trial;
    double *nearest; /* by vector: squared distance to the closest center */
    double *sums;
};

static float distance(const struct vectors *p, size_t i, const struct division *s, uint32_t k)
{
    return squared_distance(vector_at(p, i), s->center + (size_t)k * PROJECTED, PROJECTED);
}

/* ---- k-means */

/* The best of STARTS runs of k-means with random initial centers. */
static void best_of_starts(const struct vectors *p, struct buffers *buffers, struct division *best, struct random *r)
{
    struct division *trial = &buffers->trial;
    best->spread = DBL_MAX;
    for (unsigned start = 0; start < STARTS; start++) {
        k_means_begin(p, trial, buffers->nearest, r);
        k_means_run(p, trial, ROUNDS, buffers->sums);
        if (trial->spread < best->spread)
            division_copy(p, trial, best);
    }
}

/* The Bayesian information criterion of spherical clusters (Pelleg and Moore 2000). */
static double score(const struct vectors *p, const struct division *s)
{
    double n = (double)p->count, sum = 0;
    /* Vectors that differ by less than 1 % count as equal; a number of a vector is 1 / PROJECTED on average. */
    const double negligible = 1e-4 / (PROJECTED * PROJECTED);
    double variance = fmax(s->spread / (PROJECTED * fmax(n - s->k, 1)), negligible);
    for (uint32_t k = 0; k < s->k; k++) {
        double members = 0;
        for (size_t i = 0; i < p->count; i++)
            members += s->of[i] == k;
        if (members > 0)
            sum += members * log(members / n);
    }
    sum -= n * PROJECTED / 2 * log(2 * M_PI * variance) + (n - s->k) * PROJECTED / 2;
    return sum - s->k * (PROJECTED + 1) / 2.0 * log(n);
}

/* ---- representatives */

/* The vector of cluster k that is closest to its center. With `early`: the first one within half way from the closest
 * to the average distance. */
static size_t representative(const struct vectors *p, const struct division *s, uint32_t k, bool early)
{
    double least = DBL_MAX, sum = 0, members = 0;
    size_t best = p->count;
    for (size_t i = 0; i < p->count; i++) {
        if (s->of[i] != k)
            continue;
        double here = sqrt(distance(p, i, s, k));
        sum += here;
        members++;
        if (here < least - 1e-12) {
            least = here;
            best = i;
        }
    }
    if (!early || members == 0)
        return best;
    for (size_t i = 0; i < best; i++)
        if (s->of[i] == k && sqrt(distance(p, i, s, k)) <= (least + sum / members) / 2)
            return i;
    return best;
}

static int by_interval(const void *a, const void *b)
{
    size_t x = ((const struct cluster_point *)a)->interval, y = ((const struct cluster_point *)b)->interval;
    return x < y ? -1 : x > y;
}

/* Fills `c` from a solution for all intervals: points in the order of the run, empty clusters left out. */
static void fill_clusters(const struct bbv_set *set, const struct vectors *p, const struct division *s, bool early,
                          struct clusters *c)
{
    double all = 0;
    for (size_t i = 0; i < p->count; i++)
        all += (double)set->vector[i].insns;
    for (uint32_t k = 0; k < s->k; k++) {
        struct cluster_point point = {.interval = representative(p, s, k, early)};
        for (size_t i = 0; i < p->count; i++) {
            point.members += s->of[i] == k;
            point.weight += s->of[i] == k ? (double)set->vector[i].insns / all : 0;
        }
        if (point.members > 0)
            c->point[c->count++] = point;
    }
    qsort(c->point, c->count, sizeof *c->point, by_interval);
    for (uint32_t k = 0; k < c->count; k++)
        for (size_t i = 0; i < p->count; i++)
            if (s->of[i] == s->of[c->point[k].interval])
                c->of[i] = k;
}

/* ---- all k */

/* k-means for all k, and the choice of k by score. */
static const struct division *solve(const struct vectors *p, struct division *solution, unsigned most,
                                    const struct cluster_options *o, struct buffers *buffers)
{
    double best = -DBL_MAX, worst = DBL_MAX;
    struct random r;
    random_seed(&r, o->seed);
    for (unsigned k = 1; k <= most; k++) {
        buffers->trial.k = k;
        best_of_starts(p, buffers, &solution[k - 1], &r);
        double here = score(p, &solution[k - 1]);
        best = fmax(best, here);
        worst = fmin(worst, here);
    }
    unsigned chosen = 0;
    while (chosen + 1 < most && score(p, &solution[chosen]) < worst + 0.9 * (best - worst))
        chosen++;
    return &solution[chosen];
}

/* Extends the centers of a sample to all intervals; the result is buffers->trial. */
static void extend(const struct vectors *p, const struct division *from, struct buffers *buffers)
{
    struct division *all = &buffers->trial;
    all->k = from->k;
    memcpy(all->center, from->center, from->k * sizeof(projected));
    k_means_run(p, all, LAST_ROUNDS, buffers->sums);
}

/* The index of sample k: drawn from the k-th of `samples` equal stretches of the run. */
static size_t sample_of(size_t count, size_t samples, size_t k, struct random *r)
{
    size_t first = k * count / samples, end = (k + 1) * count / samples;
    return first + random_u64(r) % (end - first);
}

static projected *make_samples(const struct vectors *p, const struct cluster_options *o, struct vectors *samples)
{
    size_t most = 4 * (size_t)o->max_clusters > MOST_SAMPLES ? 4 * (size_t)o->max_clusters : MOST_SAMPLES;
    struct random r;
    random_seed(&r, ~o->seed);
    samples->count = p->count < most ? p->count : most;
    projected *at = calloc(samples->count, sizeof *at);
    for (size_t k = 0; at && k < samples->count; k++)
        memcpy(at[k], vector_at(p, sample_of(p->count, samples->count, k, &r)), sizeof *at);
    samples->at = (const float *)at;
    samples->width = PROJECTED;
    return at;
}

/* `p` has all intervals; centers are found with `samples`. False: out of memory. */
static bool find(const struct bbv_set *s, const struct vectors *p, const struct vectors *samples,
                 const struct cluster_options *o, struct clusters *c)
{
    unsigned most = o->max_clusters < samples->count ? o->max_clusters : (unsigned)samples->count;
    struct division *solution = calloc(most, sizeof *solution);
    struct buffers buffers = {.nearest = calloc(samples->count, sizeof *buffers.nearest),
                              .sums = calloc((size_t)most * (PROJECTED + 1), sizeof *buffers.sums)};
    bool made = division_make(&buffers.trial, most, PROJECTED, p->count) && solution && buffers.nearest && buffers.sums;
    for (unsigned k = 0; made && k < most; k++)
        made = division_make(&solution[k], k + 1, PROJECTED, samples->count);
    if (made) {
        extend(p, solve(samples, solution, most, o, &buffers), &buffers);
        fill_clusters(s, p, &buffers.trial, o->early, c);
    }
    for (unsigned k = 0; solution && k < most; k++)
        division_free(&solution[k]);
    division_free(&buffers.trial);
    free(solution);
    free(buffers.nearest);
    free(buffers.sums);
    return made;
}

int clusters_find(const struct bbv_set *s, const projected *vector, const struct cluster_options *o, struct clusters *c,
                  struct error *err)
{
    struct vectors p = {(const float *)vector, PROJECTED, s->count}, samples;
    size_t most = o->max_clusters < s->count ? o->max_clusters : s->count;
    projected *sampled = make_samples(&p, o, &samples);
    *c = (struct clusters){.point = calloc(most, sizeof *c->point), .of = calloc(s->count, sizeof *c->of)};
    bool made = sampled && c->point && c->of && find(s, &p, &samples, o, c);
    free(sampled);
    if (made)
        return 0;
    clusters_free(c);
    return error_set(err, -ENOMEM, "out of memory for clusters");
}

void clusters_free(struct clusters *c)
{
    free(c->point);
    free(c->of);
    *c = (struct clusters){0};
}

void clusters_write_simpoints(const struct clusters *c, FILE *to)
{
    for (unsigned k = 0; k < c->count; k++)
        fprintf(to, "%zu %u\n", c->point[k].interval, k);
}

void clusters_write_weights(const struct clusters *c, FILE *to)
{
    for (unsigned k = 0; k < c->count; k++)
        fprintf(to, "%.9g %u\n", c->point[k].weight, k);
}
