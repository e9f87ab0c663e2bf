#include "phases/phases.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "phases/project.h"
#include "phases/signal.h"

/* ---- stretches of vectors against the whole run */

/* A window over the run, and its difference to the target, kept up to date block by block. */
struct window {
    const struct bbv_set *set;
    double *target;  /* share of each block in the run */
    double *inside;  /* sum of each block's shares in the vectors of the window */
    double part;     /* that each vector is of the window */
    double distance; /* sum of |inside * part - target| */
};

static double apart(const struct window *w, uint32_t block)
{
    return fabs(w->inside[block] * w->part - w->target[block]);
}

static void move(struct window *w, size_t vector, double sign)
{
    const struct bbv *v = &w->set->vector[vector];
    double share = sign / (double)v->insns;
    for (size_t k = v->first; k < v->first + v->count; k++) {
        const struct bbv_entry *entry = &w->set->entry[k];
        w->distance -= apart(w, entry->block);
        w->inside[entry->block] += share * (double)entry->insns;
        w->distance += apart(w, entry->block);
    }
}

static int window_begin(struct window *w, const struct bbv_set *s, size_t length)
{
    double insns = 0;
    *w = (struct window){.set = s, .part = 1 / (double)length};
    w->target = calloc(s->blocks, sizeof *w->target);
    w->inside = calloc(s->blocks, sizeof *w->inside);
    if (w->target == NULL || w->inside == NULL)
        return -ENOMEM;
    for (size_t k = 0; k < s->entry_count; k++) {
        w->target[s->entry[k].block] += (double)s->entry[k].insns;
        insns += (double)s->entry[k].insns;
    }
    for (uint32_t b = 0; b < s->blocks; b++) {
        w->target[b] /= insns;
        w->distance += w->target[b];
    }
    return 0;
}

static void window_end(struct window *w)
{
    free(w->target);
    free(w->inside);
}

int phases_difference(const struct bbv_set *s, size_t length, double *to)
{
    const double rounding = 1e-9;
    struct window w;
    int code = window_begin(&w, s, length);
    for (size_t k = 0; code == 0 && k < s->count; k++) {
        if (k >= length)
            move(&w, k - length, -1);
        move(&w, k, 1);
        if (k + 1 >= length)
            to[k + 1 - length] = w.distance > rounding ? w.distance : 0;
    }
    window_end(&w);
    return code;
}

/* ---- points */

static int best_point(const struct bbv_set *s, size_t length, double *room, struct phase_point *to)
{
    if (length > s->count)
        length = s->count;
    int code = phases_difference(s, length, room);
    *to = (struct phase_point){0, length, code ? 0 : room[0]};
    for (size_t k = 1; code == 0 && k <= s->count - length; k++)
        if (room[k] < to->difference - 1e-12) {
            to->start = k;
            to->difference = room[k];
        }
    return code;
}

/* One period, a period behind the end of initialization; `room` as best_point left it for that length. */
static void naive_point(const struct bbv_set *s, const struct phases *p, const double *room, struct phase_point *to)
{
    size_t length = p->best.length, start = p->init_end + length;
    if (start + length <= s->count)
        *to = (struct phase_point){start, length, room[start]};
}

/* ---- several durations */

struct room {
    double *difference, *graph; /* a number for each interval */
    float *sample;              /* the difference graph in single precision */
    float *vector;              /* projected ones */
    unsigned width;             /* numbers of each of these */
};

/* The difference graph of vectors of `length` intervals, from the end of initialization on, at every `step`th of them.
 */
static int duration_signal(const struct bbv_set *s, size_t start, size_t length, size_t step, struct room *room,
                           struct signal *to)
{
    int code = phases_difference(s, length, room->difference);
    *to = (struct signal){room->sample, 1, 0};
    for (size_t k = start; code == 0 && k + length <= s->count; k += step)
        room->sample[to->count++] = (float)room->difference[k];
    return code;
}

/* Vectors of 1, 2, 4 ... intervals: longer ones level short periods out and leave the long ones. */
static int by_duration(const struct bbv_set *s, struct phases *p, struct room *room)
{
    enum { MOST_SAMPLES = 8192 };
    for (size_t length = 1; p->duration_count < PHASE_DURATIONS && 8 * length <= s->count; length *= 2) {
        size_t period = 0, shifts, coarse = s->count / MOST_SAMPLES + 1, step = coarse < length ? coarse : length;
        struct signal signal;
        int code = duration_signal(s, p->init_end, length, step, room, &signal);
        code = code ? code : signal_periods(&signal, room->graph, &shifts, &period, 1);
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

static int analyse(const struct bbv_set *s, size_t budget, struct phases *p, struct room *room)
{
    int code = phases_difference(s, 1, p->difference);
    code = code ? code : analyse_vectors(p, room);
    code = code ? code : analyse_difference(p, room);
    code = code ? code : by_duration(s, p, room);
    code = code ? code : best_point(s, p->period ? p->period : 1, room->difference, &p->best);
    if (code == 0)
        naive_point(s, p, room->difference, &p->naive);
    if (code == 0 && budget)
        code = best_point(s, budget, room->difference, &p->budgeted);
    return code;
}

/* The more samples are added up, the fewer numbers of each are needed. */
static bool make_vectors(const struct bbv_set *s, struct room *room)
{
    room->width = s->count <= 4096 ? PROJECTED : s->count <= 16384 ? PROJECTED / 2 : PROJECTED / 4;
    room->vector = calloc(s->count, room->width * sizeof *room->vector);
    projected *all = bbv_project(s, 0);
    for (size_t k = 0; room->vector && all && k < s->count; k++)
        memcpy(room->vector + k * room->width, all[k], room->width * sizeof *room->vector);
    bool made = room->vector && all;
    free(all);
    return made;
}

int phases_analyse(const struct bbv_set *s, size_t budget, struct phases *p, struct error *err)
{
    *p = (struct phases){.count = s->count};
    struct room room = {.difference = calloc(s->count + 1, sizeof *room.difference),
                        .graph = calloc(s->count + 1, sizeof *room.graph),
                        .sample = calloc(s->count + 1, sizeof *room.sample)};
    p->difference = calloc(s->count + 1, sizeof *p->difference);
    p->initialization = calloc(s->count + 1, sizeof *p->initialization);
    p->match = calloc(s->count + 1, sizeof *p->match);
    bool made = make_vectors(s, &room) && room.difference && room.graph && room.sample && p->difference &&
                p->initialization && p->match;
    int code = made ? analyse(s, budget, p, &room) : -ENOMEM;
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
