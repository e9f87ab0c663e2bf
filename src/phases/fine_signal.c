#include "phases/fine_signal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

typedef float whole __attribute__((vector_size(sizeof(projected)), aligned(4)));

/* ---- samples */

static void add_block(struct fine_sample *to, const projected direction, double weight)
{
    whole sum;
    memcpy(&sum, to->at, sizeof sum);
    sum += (float)weight * *(const whole *)direction;
    memcpy(to->at, &sum, sizeof sum);
    to->weight += weight;
}

static void add_sample(struct fine_sample *to, const struct fine_sample *from)
{
    for (unsigned d = 0; d < PROJECTED; d++)
        to->at[d] += from->at[d];
    to->weight += from->weight;
}

/* ---- recording */

static uint64_t step_of(const struct fine_signal *f)
{
    return f->detail_left ? f->interval / DETAIL_FINER : f->interval;
}

uint64_t fine_signal_left(const struct fine_signal *f)
{
    return f->interval ? step_of(f) - f->done % step_of(f) : FINE_FIRST;
}

static int directions_up_to(struct fine_signal *f, uint32_t block)
{
    while (f->directions <= block) {
        projected *direction = array_grow(f->direction, f->directions, &f->direction_room, sizeof *direction);
        if (direction == NULL)
            return -ENOMEM;
        f->direction = direction;
        project_direction((uint32_t)f->directions, f->direction[f->directions]);
        f->directions++;
    }
    return 0;
}

int fine_signal_add(struct fine_signal *f, uint32_t block, uint64_t insns, uint64_t entries)
{
    int code = block < f->directions ? 0 : directions_up_to(f, block);
    uint64_t weight = f->weight == BBV_ENTRIES ? entries : insns;
    if (code == 0)
        add_block(f->detail_left ? &f->now_in : &f->now, f->direction[block], (double)(int64_t)weight);
    return code;
}

/* Adds up neighbors, and begins a detail, unless its samples would be shorter than the first ones: samples of a few
 * hundred instructions show how they cut small loops. */
static int halve(struct fine_signal *f)
{
    for (size_t k = 0; k < FINE_MOST / 2; k++) {
        f->sample[k] = f->sample[2 * k];
        add_sample(&f->sample[k], &f->sample[2 * k + 1]);
    }
    f->count = FINE_MOST / 2;
    f->interval *= 2;
    if (f->interval < DETAIL_FINER * FINE_FIRST)
        return 0;
    struct fine_detail *detail = &f->detail[f->details];
    *detail = (struct fine_detail){f->count * f->interval, f->interval / DETAIL_FINER, NULL, 0};
    detail->sample = calloc(DETAIL_MOST, sizeof *detail->sample);
    if (detail->sample == NULL)
        return -ENOMEM;
    f->details++;
    f->detail_left = DETAIL_MOST;
    return 0;
}

static void pass_detail(struct fine_signal *f)
{
    struct fine_detail *detail = &f->detail[f->details - 1];
    detail->sample[detail->count++] = f->now_in;
    add_sample(&f->now, &f->now_in);
    f->now_in = (struct fine_sample){0};
    f->detail_left--;
}

int fine_signal_pass(struct fine_signal *f, uint64_t insns)
{
    if (f->interval == 0) {
        f->interval = FINE_FIRST;
        f->sample = calloc(FINE_MOST, sizeof *f->sample);
        if (f->sample == NULL)
            return -ENOMEM;
    }
    f->done += insns;
    if (f->detail_left && f->done % step_of(f) == 0)
        pass_detail(f);
    if (f->done < f->interval)
        return 0;
    f->sample[f->count++] = f->now;
    f->now = (struct fine_sample){0};
    f->done = 0;
    return f->count == FINE_MOST ? halve(f) : 0;
}

/* A sample in progress counts if it is at least half an interval, or if there is no other. */
void fine_signal_end(struct fine_signal *f)
{
    add_sample(&f->now, &f->now_in);
    if (f->sample && f->done > 0 && (2 * f->done >= f->interval || f->count == 0))
        f->sample[f->count++] = f->now;
    free(f->direction);
    f->direction = NULL;
    f->directions = f->direction_room = 0;
}

/* ---- from vectors */

int fine_signal_of_set(struct fine_signal *f, const struct bbv_set *s)
{
    int code = 0;
    *f = (struct fine_signal){.weight = s->weight, .given = true, .interval = s->interval};
    f->sample = calloc(s->count + 1, sizeof *f->sample);
    if (f->sample == NULL || (s->blocks && directions_up_to(f, s->blocks - 1)))
        code = -ENOMEM;
    for (; code == 0 && f->count < s->count; f->count++) {
        const struct bbv *v = &s->vector[f->count];
        for (size_t i = v->first; i < v->first + v->count; i++)
            add_block(&f->sample[f->count], f->direction[s->entry[i].block], bbv_weight_of(s, &s->entry[i]));
    }
    free(f->direction);
    f->direction = NULL;
    f->directions = f->direction_room = 0;
    return code;
}

void fine_signal_free(struct fine_signal *f)
{
    for (unsigned k = 0; k < f->details; k++)
        free(f->detail[k].sample);
    free(f->sample);
    free(f->direction);
    *f = (struct fine_signal){0};
}
