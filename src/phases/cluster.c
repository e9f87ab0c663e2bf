#include "phases/cluster.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/index_table.h"
#include "base/random.h"

enum { DIMENSIONS = 15, STARTS = 5, ROUNDS = 100 };

struct points {
    size_t count;
    double (*at)[DIMENSIONS];
    double *weight; /* instructions */
};

struct solution {
    unsigned k;
    double (*centre)[DIMENSIONS];
    uint32_t *of;  /* cluster of each point */
    double spread; /* sum of squared distances to the centres */
};

static double uniform(struct random *r)
{
    return (double)(random_u64(r) >> 11) / 9007199254740992.0;
}

static double squared_distance(const double *a, const double *b)
{
    double sum = 0;
    for (unsigned d = 0; d < DIMENSIONS; d++)
        sum += (a[d] - b[d]) * (a[d] - b[d]);
    return sum;
}

/* Each block has a random direction, a function of its number, so that no matrix need be kept. */
static void project(const struct bbv_set *s, uint64_t seed, struct points *p)
{
    for (size_t k = 0; k < s->count; k++) {
        const struct bbv *v = &s->vector[k];
        p->weight[k] = (double)v->insns;
        for (size_t i = v->first; i < v->first + v->count; i++) {
            struct random r;
            random_seed(&r, hash_number(seed, s->entry[i].block));
            for (unsigned d = 0; d < DIMENSIONS; d++)
                p->at[k][d] += (2 * uniform(&r) - 1) * (double)s->entry[i].insns / (double)v->insns;
        }
    }
}

/* ---- k-means */

/* Centres far from each other: each new one is drawn with the squared distance to the nearest as its chance. */
static void choose_centres(const struct points *p, struct solution *to, double *nearest, struct random *r)
{
    memcpy(to->centre[0], p->at[random_u64(r) % p->count], sizeof to->centre[0]);
    for (size_t i = 0; i < p->count; i++)
        nearest[i] = DBL_MAX;
    for (unsigned k = 1; k < to->k; k++) {
        double sum = 0;
        for (size_t i = 0; i < p->count; i++) {
            nearest[i] = fmin(nearest[i], squared_distance(p->at[i], to->centre[k - 1]));
            sum += nearest[i];
        }
        double at = uniform(r) * sum;
        size_t chosen = 0;
        while (chosen + 1 < p->count && (at -= nearest[chosen]) >= 0)
            chosen++;
        memcpy(to->centre[k], p->at[chosen], sizeof to->centre[k]);
    }
}

/* Every point to its nearest centre; whether any moved. */
static bool assign(const struct points *p, struct solution *to)
{
    bool moved = false;
    to->spread = 0;
    for (size_t i = 0; i < p->count; i++) {
        uint32_t best = 0;
        double least = DBL_MAX;
        for (uint32_t k = 0; k < to->k; k++) {
            double here = squared_distance(p->at[i], to->centre[k]);
            if (here < least) {
                least = here;
                best = k;
            }
        }
        moved |= to->of[i] != best;
        to->of[i] = best;
        to->spread += least;
    }
    return moved;
}

/* Every centre to the mean of its points; one without points stays. */
static void recentre(const struct points *p, struct solution *to)
{
    for (uint32_t k = 0; k < to->k; k++) {
        double sum[DIMENSIONS] = {0}, weight = 0;
        for (size_t i = 0; i < p->count; i++)
            for (unsigned d = 0; to->of[i] == k && d < DIMENSIONS; d++) {
                sum[d] += p->at[i][d];
                weight += d == 0;
            }
        for (unsigned d = 0; weight > 0 && d < DIMENSIONS; d++)
            to->centre[k][d] = sum[d] / weight;
    }
}

static void copy_solution(const struct points *p, const struct solution *from, struct solution *to)
{
    to->k = from->k;
    to->spread = from->spread;
    memcpy(to->centre, from->centre, from->k * sizeof *from->centre);
    memcpy(to->of, from->of, p->count * sizeof *from->of);
}

static void best_of_starts(const struct points *p, struct solution *trial, struct solution *best, double *nearest,
                           struct random *r)
{
    best->spread = DBL_MAX;
    for (unsigned start = 0; start < STARTS; start++) {
        choose_centres(p, trial, nearest, r);
        memset(trial->of, 0xff, p->count * sizeof *trial->of);
        for (unsigned round = 0; assign(p, trial) && round < ROUNDS; round++)
            recentre(p, trial);
        if (trial->spread < best->spread)
            copy_solution(p, trial, best);
    }
}

/* The Bayesian information criterion of spherical clusters (Pelleg and Moore 2000). */
static double score(const struct points *p, const struct solution *s)
{
    double n = (double)p->count, sum = 0;
    const double negligible = 1e-5; /* vectors that differ by less than 1 % count as the same */
    double variance = fmax(s->spread / (DIMENSIONS * fmax(n - s->k, 1)), negligible);
    for (uint32_t k = 0; k < s->k; k++) {
        double members = 0;
        for (size_t i = 0; i < p->count; i++)
            members += s->of[i] == k;
        if (members > 0)
            sum += members * log(members / n);
    }
    sum -= n * DIMENSIONS / 2 * log(2 * M_PI * variance) + (n - s->k) * DIMENSIONS / 2;
    return sum - s->k * (DIMENSIONS + 1) / 2.0 * log(n);
}

/* ---- representatives */

static size_t representative(const struct points *p, const struct solution *s, uint32_t k, bool early)
{
    double least = DBL_MAX, sum = 0, members = 0;
    size_t best = p->count;
    for (size_t i = 0; i < p->count; i++) {
        if (s->of[i] != k)
            continue;
        double here = sqrt(squared_distance(p->at[i], s->centre[k]));
        sum += here;
        members++;
        if (here < least - 1e-12) {
            least = here;
            best = i;
        }
    }
    if (!early || members == 0)
        return best;
    for (size_t i = 0; i < best; i++) /* half way from the nearest to the average is near enough */
        if (s->of[i] == k && sqrt(squared_distance(p->at[i], s->centre[k])) <= (least + sum / members) / 2)
            return i;
    return best;
}

static int by_interval(const void *a, const void *b)
{
    size_t x = ((const struct cluster_point *)a)->interval, y = ((const struct cluster_point *)b)->interval;
    return x < y ? -1 : x > y;
}

static void tell(const struct points *p, const struct solution *s, bool early, struct clusters *c)
{
    double all = 0;
    for (size_t i = 0; i < p->count; i++)
        all += p->weight[i];
    for (uint32_t k = 0; k < s->k; k++) {
        struct cluster_point point = {.interval = representative(p, s, k, early)};
        for (size_t i = 0; i < p->count; i++) {
            point.members += s->of[i] == k;
            point.weight += s->of[i] == k ? p->weight[i] / all : 0;
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

static void solve(const struct points *p, struct solution *solution, unsigned most, const struct cluster_options *o,
                  struct solution *trial, double *nearest, struct clusters *c)
{
    double best = -DBL_MAX, worst = DBL_MAX;
    struct random r;
    random_seed(&r, o->seed);
    for (unsigned k = 1; k <= most; k++) {
        trial->k = k;
        best_of_starts(p, trial, &solution[k - 1], nearest, &r);
        double here = score(p, &solution[k - 1]);
        best = fmax(best, here);
        worst = fmin(worst, here);
    }
    unsigned chosen = 0;
    while (chosen + 1 < most && score(p, &solution[chosen]) < worst + 0.9 * (best - worst))
        chosen++;
    tell(p, &solution[chosen], o->early, c);
}

static bool make_solution(struct solution *s, unsigned k, size_t count)
{
    s->centre = calloc(k, sizeof *s->centre);
    s->of = calloc(count, sizeof *s->of);
    return s->centre && s->of;
}

int clusters_find(const struct bbv_set *s, const struct cluster_options *o, struct clusters *c, struct error *err)
{
    unsigned most = o->max_clusters < s->count ? o->max_clusters : (unsigned)s->count;
    struct points p = {.count = s->count};
    struct solution *solution = calloc(most + 1, sizeof *solution);
    double *nearest = calloc(s->count, sizeof *nearest);
    *c = (struct clusters){.point = calloc(most, sizeof *c->point), .of = calloc(s->count, sizeof *c->of)};
    p.at = calloc(s->count, sizeof *p.at);
    p.weight = calloc(s->count, sizeof *p.weight);
    bool made = solution && nearest && c->point && c->of && p.at && p.weight;
    for (unsigned k = 0; made && k <= most; k++)
        made = make_solution(&solution[k], k < most ? k + 1 : most, s->count);
    if (made) {
        project(s, o->seed, &p);
        solve(&p, solution, most, o, &solution[most], nearest, c);
    }
    for (unsigned k = 0; solution && k <= most; k++) {
        free(solution[k].centre);
        free(solution[k].of);
    }
    free(solution);
    free(nearest);
    free(p.at);
    free(p.weight);
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
