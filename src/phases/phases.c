#include "phases/phases.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* ---- stretches of vectors against the whole run */

/* A window over the run, and its difference to the target, kept up to date block by block. */
struct window {
    const struct bbv_set *set;
    double *target;  /* share of each block in the run */
    double *inside;  /* sum of each block's shares in the vectors of the window */
    double length;   /* of the window, vectors */
    double distance; /* sum of |inside / length - target| */
};

static double part(const struct window *w, uint32_t block)
{
    return fabs(w->inside[block] / w->length - w->target[block]);
}

static void move(struct window *w, size_t vector, double sign)
{
    const struct bbv *v = &w->set->vector[vector];
    for (size_t k = v->first; k < v->first + v->count; k++) {
        const struct bbv_entry *entry = &w->set->entry[k];
        w->distance -= part(w, entry->block);
        w->inside[entry->block] += sign * (double)entry->insns / (double)v->insns;
        w->distance += part(w, entry->block);
    }
}

static int window_begin(struct window *w, const struct bbv_set *s, size_t length)
{
    double insns = 0;
    *w = (struct window){.set = s, .length = (double)length};
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
    struct window w;
    int code = window_begin(&w, s, length);
    for (size_t k = 0; code == 0 && k < s->count; k++) {
        if (k >= length)
            move(&w, k - length, -1);
        move(&w, k, 1);
        if (k + 1 >= length)
            to[k + 1 - length] = w.distance > 0 ? w.distance : 0;
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

static int naive_point(const struct bbv_set *s, const struct phases *p, double *room, struct phase_point *to)
{
    size_t length = p->best.length, start = p->init_end + length;
    if (start + length > s->count)
        return 0;
    int code = phases_difference(s, length, room);
    if (code == 0)
        *to = (struct phase_point){start, length, room[start]};
    return code;
}

/* ---- several durations */

/* Vectors of 1, 2, 4 ... intervals: longer ones level short periods out and leave the long ones. */
static int by_duration(const struct bbv_set *s, struct phases *p, double *signal, double *graph)
{
    int code = 0;
    for (size_t length = 1; code == 0 && p->duration_count < PHASE_DURATIONS && 8 * length <= s->count; length *= 2) {
        size_t periods[PHASE_PERIODS], matches, count = s->count - length + 1 - p->init_end;
        if ((code = phases_difference(s, length, signal)) != 0)
            break;
        unsigned found = phases_periods(signal + p->init_end, count, graph, &matches, periods);
        p->duration[p->duration_count++] = (struct phase_duration){length, found ? periods[0] : 0};
    }
    return code;
}

static int analyse(const struct bbv_set *s, size_t budget, struct phases *p, double *room, double *graph)
{
    int code = phases_difference(s, 1, p->difference);
    if (code)
        return code;
    p->initialization_count = s->count / 4 ? s->count / 2 + 1 : 0;
    p->init_end = phases_initialization(p->difference, s->count, p->initialization);
    const double *steady = p->difference + p->init_end;
    p->period_count = phases_periods(steady, s->count - p->init_end, p->match, &p->match_count, p->periods);
    p->period = p->period_count ? p->periods[p->period_count - 1] : 0;
    p->correlated_period = phases_correlation(steady, s->count - p->init_end);
    code = by_duration(s, p, room, graph);
    if (code == 0)
        code = best_point(s, p->period ? p->period : 1, room, &p->best);
    if (code == 0 && budget)
        code = best_point(s, budget, room, &p->budgeted);
    return code ? code : naive_point(s, p, room, &p->naive);
}

int phases_analyse(const struct bbv_set *s, size_t budget, struct phases *p, struct error *err)
{
    *p = (struct phases){.count = s->count};
    double *room = calloc(s->count + 1, sizeof *room), *graph = calloc(s->count + 1, sizeof *graph);
    p->difference = calloc(s->count + 1, sizeof *p->difference);
    p->initialization = calloc(s->count + 1, sizeof *p->initialization);
    p->match = calloc(s->count + 1, sizeof *p->match);
    bool lacks =
        room == NULL || graph == NULL || p->difference == NULL || p->initialization == NULL || p->match == NULL;
    int code = lacks ? -ENOMEM : analyse(s, budget, p, room, graph);
    free(room);
    free(graph);
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
