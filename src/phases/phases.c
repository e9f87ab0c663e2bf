#include "phases/phases.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "phases/signal.h"

/* ---- stretches of vectors against the whole run */

/* A window that slides over the run, and its difference to the target, kept up to date block by block. */
struct window {
    const struct bbv_set *set;
    double *target;  /* share of each block in the run */
    double *excess;  /* of each block: its share in the window, less that in the run */
    double distance; /* sum of the magnitudes of these */
};

/* A vector that is this part of the window enters it; with a negative part it leaves. */
static void move(struct window *w, size_t vector, double part)
{
    const struct bbv *v = &w->set->vector[vector];
    const struct bbv_entry *entry = &w->set->entry[v->first], *end = entry + v->count;
    double share = part / (double)v->insns, change = 0;
    for (; entry < end; entry++) {
        double before = w->excess[entry->block], after = before + share * (double)(int64_t)entry->insns;
        w->excess[entry->block] = after;
        change += fabs(after) - fabs(before);
    }
    w->distance += change;
}

static bool window_make(struct window *w, const struct bbv_set *s)
{
    double insns = 0;
    *w = (struct window){.set = s};
    w->target = calloc(s->blocks, sizeof *w->target);
    w->excess = calloc(s->blocks, sizeof *w->excess);
    if (w->target == NULL || w->excess == NULL)
        return false;
    for (size_t k = 0; k < s->entry_count; k++) {
        w->target[s->entry[k].block] += (double)s->entry[k].insns;
        insns += (double)s->entry[k].insns;
    }
    for (uint32_t b = 0; b < s->blocks; b++)
        w->target[b] /= insns;
    return true;
}

static void window_free(struct window *w)
{
    free(w->target);
    free(w->excess);
}

static void slide(struct window *w, size_t length, double *to)
{
    const double rounding = 1e-9, part = 1 / (double)length;
    w->distance = 0;
    for (uint32_t b = 0; b < w->set->blocks; b++) {
        w->excess[b] = -w->target[b];
        w->distance += w->target[b];
    }
    for (size_t k = 0; k < w->set->count; k++) {
        if (k >= length)
            move(w, k - length, -part);
        move(w, k, part);
        if (k + 1 >= length)
            to[k + 1 - length] = w->distance > rounding ? w->distance : 0;
    }
}

int phases_difference(const struct bbv_set *s, size_t length, double *to)
{
    struct window w;
    bool made = window_make(&w, s);
    if (made)
        slide(&w, length, to);
    window_free(&w);
    return made ? 0 : -ENOMEM;
}

/* ---- room for the analysis */

struct room {
    struct window window;
    double *difference, *graph; /* a number for each interval */
    float *sample;              /* the difference graph in single precision */
    float *vector;              /* projected ones */
    unsigned width;             /* numbers of each of these */
};

/* The difference graph of vectors of `length` intervals, to room->difference; that of single ones is known. */
static void find_difference(const struct phases *p, struct room *room, size_t length)
{
    if (length == 1)
        memcpy(room->difference, p->difference, p->count * sizeof *p->difference);
    else
        slide(&room->window, length, room->difference);
}

/* ---- points */

static void best_point(const struct phases *p, size_t length, struct room *room, struct phase_point *to)
{
    if (length > p->count)
        length = p->count;
    find_difference(p, room, length);
    const double *difference = room->difference;
    *to = (struct phase_point){0, length, difference[0]};
    for (size_t k = 1; k <= p->count - length; k++)
        if (difference[k] < to->difference - 1e-12) {
            to->start = k;
            to->difference = difference[k];
        }
}

/* One period, a period behind the end of initialization; `difference` is that of its length. */
static void naive_point(const struct phases *p, const double *difference, struct phase_point *to)
{
    size_t length = p->best.length, start = p->init_end + length;
    if (start + length <= p->count)
        *to = (struct phase_point){start, length, difference[start]};
}

/* ---- several durations */

/* The difference graph of vectors of `length` intervals, from the end of initialization on, at every `step`th of them.
 */
static struct signal duration_signal(const struct phases *p, size_t length, size_t step, struct room *room)
{
    struct signal made = {room->sample, 1, 0};
    find_difference(p, room, length);
    for (size_t k = p->init_end; k + length <= p->count; k += step)
        room->sample[made.count++] = (float)room->difference[k];
    return made;
}

/* Vectors of 1, 2, 4 ... intervals: longer ones level short periods out and leave the long ones. */
static int by_duration(struct phases *p, struct room *room)
{
    enum { MOST_SAMPLES = 8192 };
    for (size_t length = 1; p->duration_count < PHASE_DURATIONS && 8 * length <= p->count; length *= 2) {
        size_t period = 0, shifts, coarse = p->count / MOST_SAMPLES + 1, step = coarse < length ? coarse : length;
        struct signal signal = duration_signal(p, length, step, room);
        int code = signal_periods(&signal, room->graph, &shifts, &period, 1);
        if (code < 0)
            return code;
        p->duration[p->duration_count++] = (struct phase_duration){length, period * step};
    }
    return 0;
}

/* ---- all of it */

/* The period of the second half, which is past initialization, and what its samples differ by on average. */
static int look_at_second_half(const struct signal *s, double *graph, size_t *period, double *unrelated)
{
    struct signal half = signal_from(s, s->count - s->count / 2);
    size_t shifts, piece = half.count / 4;
    *period = 0;
    *unrelated = 0;
    int found = signal_periods(&half, graph, &shifts, period, 1);
    for (size_t k = 1; k < shifts; k++)
        *unrelated += graph[k] / (double)((shifts - 1) * piece);
    return found < 0 ? found : 0;
}

static int find_periods(const struct signal *s, double *graph, size_t *count, size_t *periods, unsigned *found)
{
    int code = signal_periods(s, graph, count, periods, PHASE_PERIODS);
    *found = code > 0 ? (unsigned)code : 0;
    return code < 0 ? code : 0;
}

/* By the vectors. */
static int analyse_vectors(struct phases *p, struct room *room)
{
    struct signal vectors = {room->vector, room->width, p->count};
    size_t period, shifts;
    double unrelated;
    int code = look_at_second_half(&vectors, room->graph, &period, &unrelated);
    code = code ? code : signal_initialization(&vectors, period, unrelated, &p->init_end);
    if (code)
        return code;
    struct signal steady = signal_from(&vectors, p->init_end);
    code = find_periods(&steady, room->graph, &shifts, p->periods, &p->period_count);
    p->period = p->period_count ? p->periods[p->period_count - 1] : 0;
    return code ? code : signal_correlation(&steady, &p->correlated_period);
}

/* By the difference graph alone, as the paper does. */
static int analyse_difference(struct phases *p, struct room *room)
{
    struct signal difference = {room->sample, 1, p->count}, steady = signal_from(&difference, p->init_end);
    size_t period, periods[PHASE_PERIODS];
    unsigned found;
    double unrelated;
    for (size_t k = 0; k < p->count; k++)
        room->sample[k] = (float)p->difference[k];
    int code = look_at_second_half(&difference, room->graph, &period, &unrelated);
    if (code)
        return code;
    p->initialization_count = p->count / 4 ? p->count / 2 + 1 : 0;
    p->corner = signal_corner(&difference, period, p->initialization);
    code = find_periods(&steady, p->match, &p->match_count, periods, &found);
    p->difference_period = found ? periods[found - 1] : 0;
    return code;
}

static int analyse(size_t budget, struct phases *p, struct room *room)
{
    slide(&room->window, 1, p->difference);
    int code = analyse_vectors(p, room);
    code = code ? code : analyse_difference(p, room);
    code = code ? code : by_duration(p, room);
    if (code)
        return code;
    best_point(p, p->period ? p->period : 1, room, &p->best);
    naive_point(p, room->difference, &p->naive);
    if (budget)
        best_point(p, budget, room, &p->budgeted);
    return 0;
}

/* The more samples are added up, the fewer numbers of each are needed. */
static bool make_vectors(const struct bbv_set *s, const projected *vector, struct room *room)
{
    room->width = s->count <= 4096 ? PROJECTED : s->count <= 16384 ? PROJECTED / 2 : PROJECTED / 4;
    room->vector = calloc(s->count, room->width * sizeof *room->vector);
    for (size_t k = 0; room->vector && k < s->count; k++)
        memcpy(room->vector + k * room->width, vector[k], room->width * sizeof *room->vector);
    return room->vector;
}

int phases_analyse(const struct bbv_set *s, const projected *vector, size_t budget, struct phases *p, struct error *err)
{
    *p = (struct phases){.count = s->count};
    struct room room = {.difference = calloc(s->count + 1, sizeof *room.difference),
                        .graph = calloc(s->count + 1, sizeof *room.graph),
                        .sample = calloc(s->count + 1, sizeof *room.sample)};
    p->difference = calloc(s->count + 1, sizeof *p->difference);
    p->initialization = calloc(s->count + 1, sizeof *p->initialization);
    p->match = calloc(s->count + 1, sizeof *p->match);
    bool made = window_make(&room.window, s) && make_vectors(s, vector, &room) && room.difference && room.graph &&
                room.sample && p->difference && p->initialization && p->match;
    int code = made ? analyse(budget, p, &room) : -ENOMEM;
    window_free(&room.window);
    free(room.difference);
    free(room.graph);
    free(room.sample);
    free(room.vector);
    if (code == 0)
        return 0;
    phases_free(p);
    return error_set(err, code, "out of memory for the analysis of phases");
}

void phases_free(struct phases *p)
{
    free(p->difference);
    free(p->initialization);
    free(p->match);
    *p = (struct phases){0};
}
