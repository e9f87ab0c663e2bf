#include "phases/project.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/index_table.h"
#include "base/random.h"

void project_direction(uint32_t block, projected to)
{
    struct random r;
    random_seed(&r, hash_number(0, block));
    for (unsigned d = 0; d < PROJECTED; d++)
        to[d] = (float)((double)(random_u64(&r) >> 11) / 4503599627370496.0 - 1);
}

/* Sums all dimensions at once, in vector registers of the host. */
static void project_vector(const struct bbv_set *s, const struct bbv *v, const projected *direction, float *to)
{
    typedef float whole __attribute__((vector_size(sizeof(projected)), aligned(4)));
    whole sum = {0};
    const struct bbv_entry *entry = &s->entry[v->first], *end = entry + v->count;
    double part = 1 / (double)v->insns;
    for (; entry < end; entry++)
        sum += (float)((double)(int64_t)entry->insns * part) * *(const whole *)direction[entry->block];
    memcpy(to, &sum, sizeof sum);
}

/* Scales all vectors such that their average length is 1. */
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

projected *bbv_project(const struct bbv_set *s)
{
    projected *at = calloc(s->count, sizeof *at), *direction = calloc((size_t)s->blocks + 1, sizeof *direction);
    if (at && direction) {
        for (uint32_t b = 0; b < s->blocks; b++)
            project_direction(b, direction[b]);
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
