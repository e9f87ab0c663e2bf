/* Interpolation: what lies between two slices of a group is predicted by both, the nearer one counting more; what lies
 * before the first or behind the last, by that one. With regression a rate follows the other clock on the way, as it
 * lately did from slice to slice. */
#include <math.h>

#include "monitor/estimate_priv.h"

/* Slices on either side of predicted ones; one of them may be missing. */
struct gap {
    const struct sample *before, *behind;
};

/* A part of a gap is predicted by so many slots' worth of either side. */
struct sides {
    double before, behind;
};

static struct sides sides_of(const struct gap *g, const struct part *p)
{
    struct sides s = {0, 0};
    if (g->before == NULL)
        s.behind = p->weight;
    else if (g->behind == NULL)
        s.before = p->weight;
    else
        s.behind = (p->time - g->before->time * p->weight) / (g->behind->time - g->before->time);
    if (g->before && g->behind)
        s.before = p->weight - s.behind;
    return s;
}

static double predict(const struct gap *g, const struct part *p, struct sides s, uint32_t place, double slope)
{
    double value = 0, follows = p->other;
    if (g->before) {
        value += s.before * g->before->rate[place];
        follows -= s.before * g->before->other;
    }
    if (g->behind) {
        value += s.behind * g->behind->rate[place];
        follows -= s.behind * g->behind->other;
    }
    return value + slope * follows;
}

/* The coefficients of a part by itself: they sum up to `before` from the slice before on, go down by 1 with each
 * predicted slot, and stay at minus `behind` up to the slice behind. */
static void design_add_part(struct design *d, const struct gap *g, const struct part *p, struct sides s)
{
    double m = fmax(p->weight, 1), a = s.before;
    double walk = (m - 1) * a * a - a * m * (m - 1) + (m - 1) * m * (2 * m - 1) / 6;
    if (g->before)
        walk += (p->first - g->before->time) * a * a;
    if (g->behind)
        walk += (g->behind->time - p->last) * s.behind * s.behind;
    d->walk += 2 * walk;
    design_add_ends(d, p->weight, s.before, s.behind);
}

/* A whole gap, likewise. */
static void design_add_gap(struct design *d, const struct gap *g, double slots, struct sides s)
{
    d->walk += g->before && g->behind ? slots * (slots + 1) * (slots + 2) / 6 : walk_of_tail(slots);
    design_add_ends(d, slots, s.before, s.behind);
}

static void close_gap(struct estimates *e, uint32_t group, const struct gap *gap)
{
    struct group_state *g = &e->group[group];
    struct sides sum = {0, 0};
    double slots = 0;
    for (struct pending_round *r = e->first; r; r = r->next) {
        struct part *p = &r->group[group].open;
        if (p->weight <= 0)
            continue;
        struct sides s = sides_of(gap, p);
        for (size_t i = 0; i < g->counts; i++) {
            struct event_state *v = &e->event[g->event[i]];
            double value = predict(gap, p, s, e->plan->event[g->event[i]].place, v->slope);
            v->predicted += value;
            r->value[g->event[i]] += fmax(value, 0);
        }
        design_add_part(&r->group[group].design, gap, p, s);
        slots += p->weight;
        sum.before += s.before;
        sum.behind += s.behind;
        *p = (struct part){0};
    }
    design_add_gap(&g->design, gap, slots, sum);
}

static const struct sample *last_of(const struct group_state *g)
{
    return g->samples ? group_last(g) : NULL;
}

static void gaps_counted(struct estimates *e, uint32_t group, const struct sample *s)
{
    if (s)
        close_gap(e, group, &(struct gap){.before = last_of(&e->group[group]), .behind = s});
}

static void gaps_run_ended(struct estimates *e)
{
    for (uint32_t i = 0; i < e->plan->group_count; i++) {
        const struct sample *last = last_of(&e->group[i]);
        if (last)
            close_gap(e, i, &(struct gap){.before = last});
        else
            for (struct pending_round *r = e->first; r; r = r->next)
                r->group[i].open = (struct part){0};
    }
}

static struct open_end gaps_open(const struct estimates *e, size_t event)
{
    const struct plan_event *v = &e->plan->event[event];
    const struct group_state *g = &e->group[v->group];
    struct gap gap = {.before = last_of(g)};
    struct open_end o = {.design = g->design};
    double slots = 0;
    if (gap.before == NULL)
        return o;
    for (const struct pending_round *r = e->first; r; r = r->next) {
        const struct part *p = &r->group[v->group].open;
        slots += p->weight;
        if (p->weight > 0)
            o.predicted += predict(&gap, p, sides_of(&gap, p), v->place, e->event[event].slope);
    }
    design_add_gap(&o.design, &gap, slots, (struct sides){.before = slots});
    return o;
}

const struct estimating estimating_interpolation = {
    .counted = gaps_counted, .run_ended = gaps_run_ended, .open = gaps_open};
const struct estimating estimating_regression = {
    .follows = true, .counted = gaps_counted, .run_ended = gaps_run_ended, .open = gaps_open};
