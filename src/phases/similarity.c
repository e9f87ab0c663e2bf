#include "phases/similarity.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "phases/run_signal.h"

enum { MOST_NUMBERS = 1 << 25 }; /* limit of parts times blocks */

size_t similarity_start(const struct bbv_set *s, const struct similarity *m, size_t part)
{
    return part * s->count / m->count;
}

/* share[part * blocks + block]: share of a block, averaged over the intervals of the part. */
static void average(const struct bbv_set *s, const struct similarity *m, float *share)
{
    for (size_t part = 0; part < m->count; part++) {
        size_t first = similarity_start(s, m, part), end = similarity_start(s, m, part + 1);
        for (size_t k = first; k < end; k++) {
            const struct bbv *v = &s->vector[k];
            double unit = 1 / (bbv_sum_of(s, v) * (double)(end - first));
            for (size_t i = v->first; i < v->first + v->count; i++)
                share[part * s->blocks + s->entry[i].block] += (float)(bbv_weight_of(s, &s->entry[i]) * unit);
        }
    }
}

int similarity_find(const struct bbv_set *s, size_t most, struct similarity *to, struct error *err)
{
    size_t fit = MOST_NUMBERS / ((size_t)s->blocks + 1) + 1;
    *to = (struct similarity){.count = s->count < most ? s->count : most};
    if (to->count > fit)
        to->count = fit;
    to->difference = calloc(to->count, to->count * sizeof *to->difference);
    float *share = calloc(to->count, s->blocks * sizeof *share);
    if (to->difference == NULL || share == NULL) {
        free(share);
        similarity_free(to);
        return error_set(err, -ENOMEM, "out of memory for the similarity of intervals");
    }
    average(s, to, share);
    struct run_signal all = {share, 1, to->count * s->blocks};
    for (size_t a = 0; a < to->count; a++)
        for (size_t b = 0; b < a; b++) {
            float apart = (float)fmin(run_signal_distance(&all, a * s->blocks, b * s->blocks, s->blocks), 2);
            to->difference[a * to->count + b] = to->difference[b * to->count + a] = apart;
        }
    free(share);
    return 0;
}

void similarity_free(struct similarity *m)
{
    free(m->difference);
    *m = (struct similarity){0};
}
