/* The paper's way: what a group counted in its slices of a round is scaled up to the length of the round. A round that
 * ends before the group's turn is predicted by its last slice. */
#include "monitor/estimate_priv.h"

/* How a group's round is made up. */
struct scaling {
    double scale; /* predicted counts per counted one */
    double slots; /* predicted by the group's last slice instead */
};

static struct scaling scale_round(const struct estimates *e, uint32_t group, struct design *d)
{
    double whole = e->last->weight, own = 0, sum = 0;
    for (const struct round_slot *s = e->slot; s < e->slot + e->slots; s++)
        own += s->group == group ? s->weight : 0;
    double rest = whole - own;
    if (own < 0.5) {
        d->squares += rest + rest * rest;
        d->walk += walk_of_tail(rest);
        return (struct scaling){.slots = rest};
    }
    for (const struct round_slot *s = e->slot; s < e->slot + e->slots; s++) {
        double c = s->group == group ? s->weight * rest / own : -s->weight;
        d->squares += c * c;
        sum += c;
        d->walk += 2 * sum * sum;
    }
    return (struct scaling){.scale = rest / own};
}

/* Of the current round, whose values are still what was counted. */
static double predict(const struct estimates *e, size_t event, const struct scaling *s)
{
    const struct plan_event *v = &e->plan->event[event];
    const struct group_state *g = &e->group[v->group];
    double last = g->samples ? group_last(g)->rate[v->place] : 0;
    return e->last->value[event] * s->scale + last * s->slots;
}

static void linear_round_ended(struct estimates *e)
{
    for (uint32_t i = 0; i < e->plan->group_count; i++) {
        struct group_state *g = &e->group[i];
        struct round_group *r = &e->last->group[i];
        struct scaling s = scale_round(e, i, &r->design);
        g->design.squares += r->design.squares;
        g->design.walk += r->design.walk;
        r->open = (struct part){0};
        for (size_t n = 0; n < g->counts; n++) {
            double predicted = predict(e, g->event[n], &s);
            e->event[g->event[n]].predicted += predicted;
            e->last->value[g->event[n]] += predicted;
        }
    }
}

static struct open_end linear_open(const struct estimates *e, size_t event)
{
    uint32_t group = e->plan->event[event].group;
    struct open_end o = {.design = e->group[group].design};
    if (e->last && !e->last->ended) {
        struct scaling s = scale_round(e, group, &o.design);
        o.predicted = predict(e, event, &s);
    }
    return o;
}

const struct estimating estimating_linear = {.round_ended = linear_round_ended, .open = linear_open};
