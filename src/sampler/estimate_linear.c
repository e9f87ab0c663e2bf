/* The estimator `linear`, that of the paper (Azimi et al.): within each round, the counts of a group are scaled up from
 * its own slices to the whole round. With `own` slots of the group in a round of `whole` slots,
 *
 *     predicted count = counted * (whole - own) / own
 *
 * If the group had less than half of a planned slice in a round (the run began or ended before its turn), the last
 * sample of the group predicts instead: rate of that sample * (whole - own).
 *
 * The error of a prediction is Σ c·rate over all slots, with c = -1 for each predicted slot and positive c for the
 * slices that the prediction uses. Its variance depends on Σ c² and on 2 Σ C², C being the running sum of c from slot
 * to slot (struct coefficient_sums). */
#include "sampler/estimate_priv.h"

/* How the count of a group in the rest of a round is predicted. One of the two is 0. */
struct scaling {
    double scale; /* predicted events per counted event, (whole - own) / own */
    double slots; /* slots that the last sample of the group predicts instead */
};

/* Length that is planned for the slices of the current round, in slots; less than 1 in early rounds. */
static double planned_slice_length(const struct estimates *e)
{
    return (double)plan_slice_in_round(e->plan, e->last->result.round) / (double)e->plan->slice;
}

/* Finds the scaling of a group in the current round, and adds the coefficients of the prediction's error to `c`. In a
 * round with slices of the group, a slice of length w has the coefficient w * rest / own if it counted the group, and
 * -w if not. In a round without slices of the group, `rest` slots follow the group's last sample, which has the
 * coefficient `rest`. */
static struct scaling scale_round(const struct estimates *e, uint32_t group, struct coefficient_sums *c)
{
    double whole = e->last->weight, own = 0, running_sum = 0;
    for (const struct round_slice *s = e->round_slice; s < e->round_slice + e->round_slices; s++)
        own += s->group == group ? s->weight : 0;
    double rest = whole - own;
    if (own < 0.5 * planned_slice_length(e)) {
        c->squares += rest + rest * rest;
        c->running_squares += tail_running_squares(rest);
        return (struct scaling){.slots = rest};
    }
    for (const struct round_slice *s = e->round_slice; s < e->round_slice + e->round_slices; s++) {
        double coefficient = s->group == group ? s->weight * rest / own : -s->weight;
        c->squares += coefficient * coefficient;
        running_sum += coefficient;
        c->running_squares += 2 * running_sum * running_sum;
    }
    return (struct scaling){.scale = rest / own};
}

/* Predicted count of an event in the rest of the current round. e->last->value must still be the plain count. */
static double predict(const struct estimates *e, size_t event, const struct scaling *s)
{
    const struct plan_event *v = &e->plan->event[event];
    const struct group_state *g = &e->group[v->group];
    double last_rate = g->samples ? g->last.rate[v->place] : 0;
    return e->last->value[event] * s->scale + last_rate * s->slots;
}

/* Adds the variance of a prediction in an early round: the true count is assumed to be uniform between 0 and twice the
 * predicted one, so the variance is predicted² / 3. Adds nothing if the group had all slices of the round. */
static void add_early(const struct estimates *e, uint32_t group, double predicted, struct early_variance *to)
{
    double slots = e->last->weight;
    for (const struct round_slice *s = e->round_slice; s < e->round_slice + e->round_slices; s++)
        slots -= s->group == group ? s->weight : 0;
    if (slots > 0)
        add_early_variance(to, predicted * predicted / 3);
}

/* estimator_ops.round_ended: makes the final predictions of the round. */
static void linear_round_ended(struct estimates *e)
{
    for (uint32_t i = 0; i < e->plan->group_count; i++) {
        struct group_state *g = &e->group[i];
        struct round_group *r = &e->last->group[i];
        struct scaling s = scale_round(e, i, &r->coefficients);
        bool early = planned_slice_length(e) < 1;
        if (!early) {
            g->coefficients.squares += r->coefficients.squares;
            g->coefficients.running_squares += r->coefficients.running_squares;
        }
        r->unpredicted = (struct unpredicted_slots){0};
        for (size_t n = 0; n < g->counts; n++) {
            double predicted = predict(e, g->event[n], &s);
            e->event[g->event[n]].predicted += predicted;
            if (early)
                add_early(e, i, predicted, &e->event[g->event[n]].early);
            e->last->value[g->event[n]] += predicted;
        }
    }
}

/* estimator_ops.predict_remaining: scales the slices of the current round so far. */
static struct remaining_prediction linear_predict_remaining(const struct estimates *e, size_t event)
{
    uint32_t group = e->plan->event[event].group;
    struct remaining_prediction p = {.coefficients = e->group[group].coefficients, .early = e->event[event].early};
    if (e->last && !e->last->ended) {
        struct coefficient_sums with = p.coefficients;
        struct scaling s = scale_round(e, group, &with);
        p.predicted = predict(e, event, &s);
        if (planned_slice_length(e) < 1)
            add_early(e, group, p.predicted, &p.early);
        else
            p.coefficients = with;
    }
    return p;
}

const struct estimator_ops linear_ops = {.round_ended = linear_round_ended,
                                         .predict_remaining = linear_predict_remaining};
