#include "phases/cluster.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "phases/project.h"

enum { STARTS = 5, ROUNDS = 100, LAST_ROUNDS = 10, MOST_SAMPLES = 2048 };

struct points {
    size_t count;
    const projected *at;
};

struct solution {
    unsigned k;
    projected *centre;
    uint32_t *of;  /* cluster of each point */
    double spread; /* sum of squared distances to the centres */
};

/* What k-means needs besides. */
struct room {
    struct solution trial;
    double *nearest; /* of each point: the squared distance to the nearest centre */
    struct mean {
        double sum[PROJECTED], count;
    } * mean; /* of each cluster */
};

static double uniform(struct random *r)
{
    return (double)(random_u64(r) >> 11) / 9007199254740992.0;
}

/* Four numbers at once: nearly all of the time is spent here. */
static float squared_distance(const float *a, const float *b)
{
    typedef float four __attribute__((vector_size(16), aligned(4)));
    four sum = {0};
    for (unsigned d = 0; d < PROJECTED; d += 4) {
        four apart = *(const four *)(a + d) - *(const four *)(b + d);
        sum += apart * apart;
    }
    return sum[0] + sum[1] + sum[2] + sum[3];
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
        float least = FLT_MAX;
        for (uint32_t k = 0; k < to->k; k++) {
            float here = squared_distance(p->at[i], to->centre[k]);
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
static void recentre(const struct points *p, struct solution *to, struct mean *mean)
{
    memset(mean, 0, to->k * sizeof *mean);
    for (size_t i = 0; i < p->count; i++) {
        struct mean *m = &mean[to->of[i]];
        m->count++;
        for (unsigned d = 0; d < PROJECTED; d++)
            m->sum[d] += p->at[i][d];
    }
    for (uint32_t k = 0; k < to->k; k++)
        for (unsigned d = 0; mean[k].count > 0 && d < PROJECTED; d++)
            to->centre[k][d] = (float)(mean[k].sum[d] / mean[k].count);
}

static void copy_solution(const struct points *p, const struct solution *from, struct solution *to)
{
    to->k = from->k;
    to->spread = from->spread;
    memcpy(to->centre, from->centre, from->k * sizeof *from->centre);
    memcpy(to->of, from->of, p->count * sizeof *from->of);
}

static void best_of_starts(const struct points *p, struct room *room, struct solution *best, struct random *r)
{
    struct solution *trial = &room->trial;
    best->spread = DBL_MAX;
    for (unsigned start = 0; start < STARTS; start++) {
        choose_centres(p, trial, room->nearest, r);
        memset(trial->of, 0xff, p->count * sizeof *trial->of);
        for (unsigned round = 0; assign(p, trial) && round < ROUNDS; round++)
            recentre(p, trial, room->mean);
        if (trial->spread < best->spread)
            copy_solution(p, trial, best);
    }
}

/* The Bayesian information criterion of spherical clusters (Pelleg and Moore 2000). */
static double score(const struct points *p, const struct solution *s)
{
    double n = (double)p->count, sum = 0;
    /* Vectors that differ by less than 1 % count as the same; the numbers of a vector are 1 / PROJECTED on average. */
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

static void tell(const struct bbv_set *set, const struct points *p, const struct solution *s, bool early,
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

static const struct solution *solve(const struct points *p, struct solution *solution, unsigned most,
                                    const struct cluster_options *o, struct room *room)
{
    double best = -DBL_MAX, worst = DBL_MAX;
    struct random r;
    random_seed(&r, o->seed);
    for (unsigned k = 1; k <= most; k++) {
        room->trial.k = k;
        best_of_starts(p, room, &solution[k - 1], &r);
        double here = score(p, &solution[k - 1]);
        best = fmax(best, here);
        worst = fmin(worst, here);
    }
    unsigned chosen = 0;
    while (chosen + 1 < most && score(p, &solution[chosen]) < worst + 0.9 * (best - worst))
        chosen++;
    return &solution[chosen];
}

/* From the centres of some points to all of them. */
static void extend(const struct points *p, const struct solution *from, struct room *room)
{
    struct solution *all = &room->trial;
    all->k = from->k;
    memcpy(all->centre, from->centre, from->k * sizeof *from->centre);
    memset(all->of, 0xff, p->count * sizeof *all->of);
    for (unsigned round = 0; assign(p, all) && round < LAST_ROUNDS; round++)
        recentre(p, all, room->mean);
}

/* Of many points one at random out of each of as many stretches as there are to be. */
static size_t sample_of(size_t count, size_t samples, size_t k, struct random *r)
{
    size_t first = k * count / samples, end = (k + 1) * count / samples;
    return first + random_u64(r) % (end - first);
}

static projected *make_samples(const struct points *p, const struct cluster_options *o, struct points *samples)
{
    size_t most = 4 * (size_t)o->max_clusters > MOST_SAMPLES ? 4 * (size_t)o->max_clusters : MOST_SAMPLES;
    struct random r;
    random_seed(&r, ~o->seed);
    samples->count = p->count < most ? p->count : most;
    projected *at = calloc(samples->count, sizeof *at);
    for (size_t k = 0; at && k < samples->count; k++)
        memcpy(at[k], p->at[sample_of(p->count, samples->count, k, &r)], sizeof *at);
    samples->at = (const projected *)at;
    return at;
}

static bool make_solution(struct solution *s, unsigned k, size_t count)
{
    s->centre = calloc(k, sizeof *s->centre);
    s->of = calloc(count, sizeof *s->of);
    return s->centre && s->of;
}

static void free_solution(struct solution *s)
{
    free(s->centre);
    free(s->of);
}

/* `p` are all intervals; centres are found with `samples` of them. */
static bool find(const struct bbv_set *s, const struct points *p, const struct points *samples,
                 const struct cluster_options *o, struct clusters *c)
{
    unsigned most = o->max_clusters < samples->count ? o->max_clusters : (unsigned)samples->count;
    struct solution *solution = calloc(most, sizeof *solution);
    struct room room = {.nearest = calloc(samples->count, sizeof *room.nearest),
                        .mean = calloc(most, sizeof *room.mean)};
    bool made = make_solution(&room.trial, most, p->count) && solution && room.nearest && room.mean;
    for (unsigned k = 0; made && k < most; k++)
        made = make_solution(&solution[k], k + 1, samples->count);
    if (made) {
        extend(p, solve(samples, solution, most, o, &room), &room);
        tell(s, p, &room.trial, o->early, c);
    }
    for (unsigned k = 0; solution && k < most; k++)
        free_solution(&solution[k]);
    free_solution(&room.trial);
    free(solution);
    free(room.nearest);
    free(room.mean);
    return made;
}

int clusters_find(const struct bbv_set *s, const projected *vector, const struct cluster_options *o, struct clusters *c,
                  struct error *err)
{
    struct points p = {s->count, vector}, samples;
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
