#include "phases/stretch.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Differences of longer stretches take most of the analysis: number of stretches times number of blocks. */
static const double MOST_STEPS = 1 << 28;

enum { LANES = 4 };
typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(8)));
typedef int64_t lane_bits __attribute__((vector_size(LANES * sizeof(double))));

/* Blocks, rounded up to whole vectors of the host; the rest stays 0. */
static size_t padded(const struct bbv_set *s)
{
    return ((size_t)s->blocks + LANES - 1) / LANES * LANES;
}

int stretches_begin(struct stretches *w, const struct bbv_set *s, size_t first)
{
    double sum = 0;
    *w = (struct stretches){.set = s};
    w->target = calloc(padded(s) + LANES, sizeof *w->target);
    w->count = calloc(padded(s) + LANES, sizeof *w->count);
    if (w->target == NULL || w->count == NULL)
        return -ENOMEM;
    for (size_t k = first ? s->vector[first].first : 0; k < s->entry_count; k++) {
        w->target[s->entry[k].block] += bbv_weight_of(s, &s->entry[k]);
        sum += bbv_weight_of(s, &s->entry[k]);
    }
    for (uint32_t b = 0; b < s->blocks && sum > 0; b++)
        w->target[b] /= sum;
    return 0;
}

void stretches_end(struct stretches *w)
{
    free(w->target);
    free(w->count);
}

size_t stretches_count(const struct bbv_set *s, double length)
{
    double last = (double)s->count - length;
    return last < 0 ? 0 : (size_t)last + 1;
}

/* The difference of a single interval: blocks that it lacks contribute their share in the target. */
static double difference_of(const struct stretches *w, const struct bbv *v)
{
    const struct bbv_entry *entry = &w->set->entry[v->first], *end = entry + v->count;
    double part = 1 / bbv_sum_of(w->set, v), difference = 1;
    for (; entry < end; entry++) {
        double target = w->target[entry->block];
        difference += fabs(part * bbv_weight_of(w->set, entry) - target) - target;
    }
    return difference;
}

/* Adds a part of an interval to the stretch; removes it if `part` is negative. */
static void add(struct stretches *w, size_t interval, double part)
{
    const struct bbv *v = &w->set->vector[interval];
    const struct bbv_entry *entry = &w->set->entry[v->first], *end = entry + v->count;
    for (; entry < end; entry++)
        w->count[entry->block] += part * bbv_weight_of(w->set, entry);
    w->sum += part * bbv_sum_of(w->set, v);
}

/* The difference of the stretch from the target, over all blocks, in vector registers of the host. */
static double difference(const struct stretches *w)
{
    const lanes part = (lanes){0} + 1 / w->sum;
    const lane_bits magnitude = (lane_bits){0} + INT64_MAX;
    lanes sum = {0};
    for (size_t b = 0, end = padded(w->set); b < end; b += LANES) {
        lanes apart = *(const lanes *)(w->count + b) * part - *(const lanes *)(w->target + b);
        sum += (lanes)((lane_bits)apart & magnitude);
    }
    return sum[0] + sum[1] + sum[2] + sum[3];
}

void stretches_compare(struct stretches *w, double length, double *to)
{
    const double rounding = 1e-9;
    size_t count = stretches_count(w->set, length), whole = (size_t)length;
    double rest = length - (double)whole, steps = (double)count * (double)padded(w->set), before = 0;
    size_t stride = 1 + (size_t)(steps / MOST_STEPS);
    memset(w->count, 0, padded(w->set) * sizeof *w->count);
    w->sum = 0;
    for (size_t k = 0; k < whole && length != 1; k++)
        add(w, k, 1);
    for (size_t k = 0; k < count; k++) {
        if (length == 1) {
            before = difference_of(w, &w->set->vector[k]);
        } else {
            if (rest > 0)
                add(w, k + whole, rest);
            if (k % stride == 0)
                before = difference(w);
            if (rest > 0)
                add(w, k + whole, -rest);
            add(w, k, -1);
            if (k + whole < w->set->count)
                add(w, k + whole, 1);
        }
        to[k] = before > rounding ? fmin(before, 2) : 0;
    }
}
