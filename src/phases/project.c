#include "phases/project.h"

#include <math.h>
#include <stdlib.h>

#include "base/index_table.h"
#include "base/random.h"

static void choose_directions(projected *direction, uint32_t blocks, uint64_t seed)
{
    for (uint32_t b = 0; b < blocks; b++) {
        struct random r;
        random_seed(&r, hash_number(seed, b));
        for (unsigned d = 0; d < PROJECTED; d++)
            direction[b][d] = (float)((double)(random_u64(&r) >> 11) / 4503599627370496.0 - 1);
    }
}

static void project_vector(const struct bbv_set *s, const struct bbv *v, const projected *direction, float *to)
{
    for (size_t i = v->first; i < v->first + v->count; i++) {
        float share = (float)((double)s->entry[i].insns / (double)v->insns);
        for (unsigned d = 0; d < PROJECTED; d++)
            to[d] += share * direction[s->entry[i].block][d];
    }
}

static void scale(projected *at, size_t count)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        for (unsigned d = 0; d < PROJECTED; d++)
            sum += fabsf(at[k][d]);
    float factor = sum > 0 ? (float)((double)count / sum) : 1;
    for (size_t k = 0; k < count; k++)
        for (unsigned d = 0; d < PROJECTED; d++)
            at[k][d] *= factor;
}

projected *bbv_project(const struct bbv_set *s, uint64_t seed)
{
    projected *at = calloc(s->count, sizeof *at), *direction = calloc((size_t)s->blocks + 1, sizeof *direction);
    if (at && direction) {
        choose_directions(direction, s->blocks, seed);
        for (size_t k = 0; k < s->count; k++)
            project_vector(s, &s->vector[k], (const projected *)direction, at[k]);
        scale(at, s->count);
    } else {
        free(at);
        at = NULL;
    }
    free(direction);
    return at;
}
