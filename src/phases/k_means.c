#include "phases/k_means.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double uniform(struct random *r)
{
    return (double)(random_u64(r) >> 11) / 9007199254740992.0;
}

/* Four numbers at a time, as k-means spends nearly all of its time here. */
float squared_distance(const float *a, const float *b, unsigned width)
{
    typedef float four __attribute__((vector_size(16), aligned(4)));
    four sum = {0};
    for (unsigned d = 0; d < width; d += 4) {
        four apart = *(const four *)(a + d) - *(const four *)(b + d);
        sum += apart * apart;
    }
    return sum[0] + sum[1] + sum[2] + sum[3];
}

bool division_make(struct division *d, unsigned k, unsigned width, size_t count)
{
    *d = (struct division){
        .k = k, .center = calloc((size_t)k * width + 1, sizeof *d->center), .of = calloc(count + 1, sizeof *d->of)};
    return d->center && d->of;
}

void division_free(struct division *d)
{
    free(d->center);
    free(d->of);
}

void division_copy(const struct vectors *v, const struct division *from, struct division *to)
{
    to->k = from->k;
    to->spread = from->spread;
    memcpy(to->center, from->center, (size_t)from->k * v->width * sizeof *from->center);
    memcpy(to->of, from->of, v->count * sizeof *from->of);
}

static float *center_of(const struct vectors *v, const struct division *d, uint32_t k)
{
    return d->center + (size_t)k * v->width;
}

void k_means_begin(const struct vectors *v, struct division *to, double *nearest, struct random *r)
{
    const size_t bytes = v->width * sizeof *v->at;
    memcpy(to->center, vector_at(v, random_u64(r) % v->count), bytes);
    for (size_t i = 0; i < v->count; i++)
        nearest[i] = DBL_MAX;
    for (unsigned k = 1; k < to->k; k++) {
        double sum = 0;
        for (size_t i = 0; i < v->count; i++) {
            nearest[i] = fmin(nearest[i], squared_distance(vector_at(v, i), center_of(v, to, k - 1), v->width));
            sum += nearest[i];
        }
        double at = uniform(r) * sum;
        size_t chosen = 0;
        while (chosen + 1 < v->count && (at -= nearest[chosen]) >= 0)
            chosen++;
        memcpy(center_of(v, to, k), vector_at(v, chosen), bytes);
    }
}

bool k_means_assign(const struct vectors *v, struct division *to)
{
    bool moved = false;
    to->spread = 0;
    for (size_t i = 0; i < v->count; i++) {
        uint32_t best = 0;
        float least = FLT_MAX;
        for (uint32_t k = 0; k < to->k; k++) {
            float here = squared_distance(vector_at(v, i), center_of(v, to, k), v->width);
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

void k_means_recenter(const struct vectors *v, struct division *to, double *sums)
{
    const size_t width = v->width;
    memset(sums, 0, to->k * (width + 1) * sizeof *sums);
    for (size_t i = 0; i < v->count; i++) {
        double *sum = sums + to->of[i] * (width + 1);
        sum[width]++;
        for (size_t d = 0; d < width; d++)
            sum[d] += vector_at(v, i)[d];
    }
    for (uint32_t k = 0; k < to->k; k++) {
        const double *sum = sums + k * (width + 1);
        for (size_t d = 0; sum[width] > 0 && d < width; d++)
            center_of(v, to, k)[d] = (float)(sum[d] / sum[width]);
    }
}

void k_means_run(const struct vectors *v, struct division *to, unsigned rounds, double *sums)
{
    memset(to->of, 0xff, v->count * sizeof *to->of);
    for (unsigned round = 0; k_means_assign(v, to) && round < rounds; round++)
        k_means_recenter(v, to, sums);
}
