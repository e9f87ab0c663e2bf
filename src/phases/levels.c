#include "phases/levels.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A sample of the next level, from the two that it covers and their neighbors. */
static struct fine_sample next_sample(const struct fine_sample window[4], bool smooth)
{
    static const float box[4] = {0, 1, 1, 0}, binomial[4] = {0.25f, 0.75f, 0.75f, 0.25f};
    const float *part = smooth ? binomial : box;
    struct fine_sample sum = {0};
    for (size_t k = 0; k < 4; k++) {
        for (unsigned d = 0; d < PROJECTED; d++)
            sum.at[d] += part[k] * window[k].at[d];
        sum.weight += part[k] * window[k].weight;
    }
    return sum;
}

/* Normalizes samples to a sum of weights of 1, and scales all by one factor to an average length of 1. */
static float *normalized(const struct fine_sample *from, size_t count)
{
    float *made = calloc(count, PROJECTED * sizeof *made);
    double length = 0;
    if (made == NULL)
        return NULL;
    for (size_t k = 0; k < count; k++)
        for (unsigned d = 0; d < PROJECTED; d++) {
            float value = from[k].weight > 0 ? (float)(from[k].at[d] / from[k].weight) : 0;
            made[k * PROJECTED + d] = value;
            length += fabsf(value);
        }
    float factor = length > 0 ? (float)((double)count / length) : 1;
    for (size_t k = 0; k < count * PROJECTED; k++)
        made[k] *= factor;
    return made;
}

int levels_make(struct levels *to, const struct fine_sample *sample, size_t count, double interval, bool smooth)
{
    *to = (struct levels){.count = 0};
    struct fine_sample *now = calloc(count + 1, sizeof *now);
    int code = now ? 0 : -ENOMEM;
    if (code == 0 && count)
        memcpy(now, sample, count * sizeof *now);
    while (code == 0 && to->count < LEVELS && count > 0 && (to->count == 0 || count >= LEVEL_LEAST)) {
        float *at = normalized(now, count);
        if (at == NULL)
            code = -ENOMEM;
        else
            to->level[to->count++] = (struct level){{at, PROJECTED, count}, interval};
        struct fine_sample before = now[0]; /* the next level is made in place, from left to right */
        for (size_t k = 0; k < count / 2; k++) {
            struct fine_sample last = now[2 * k + 1 < count ? 2 * k + 1 : count - 1];
            struct fine_sample window[4] = {before, now[2 * k], last, now[2 * k + 2 < count ? 2 * k + 2 : count - 1]};
            now[k] = next_sample(window, smooth);
            before = last;
        }
        count /= 2;
        interval *= 2;
    }
    free(now);
    return code;
}

void levels_free(struct levels *l)
{
    for (unsigned k = 0; k < l->count; k++)
        free((float *)l->level[k].signal.at);
    *l = (struct levels){.count = 0};
}
