/* The estimators `interpolation` and `regression`: predictions from neighboring samples of a group (estimate_priv.h).
 *
 * A gap of a group is the time between two of its samples (or before the first, or after the last), in which other
 * groups were counted. Both samples predict a slot in the gap by linear interpolation: at time t, between samples at
 * times t0 and t1, the weight of the second is u = (t - t0) / (t1 - t0), that of the first is 1 - u. A gap with a
 * sample on one side only is predicted by that sample alone.
 *
 *     interpolation:  rate(t) = (1 - u) * rate0 + u * rate1
 *     regression:     rate(t) = the same + slope * (other(t) - (1 - u) * other0 - u * other1)
 *
 * other(t) is the rate of the clock that does not measure slices (such as instructions per slot); it is known for every
 * slice. The slope is that of recent differences from sample to sample (estimate_interval.c), and 0 in `interpolation`.
 *
 * The error of a prediction is Σ c·rate over all slots, with c = -1 for each predicted slot, and the weights above for
 * the two samples. Its variance depends on Σ c² and on 2 Σ C², C being the running sum of c from slot to slot; struct
 * coefficient_sums collects both sums, for each round and for the whole run.
 *
 * A gap can span several rounds. Each round stores sums over its slots of the gap (struct unpredicted_slots); the
 * prediction is linear in these, so a gap costs one step per round and not per slot. */
#include <math.h>

#include "sampler/estimate_priv.h"

/* The samples of the group on both sides of a gap. One of them may be NULL: the gap is at the start or the end. */
struct gap {
    const struct sample *before, *after;
};

/* How much each side of a gap contributes to the prediction of some slots: Σ (1 - u) and Σ u over these slots, in
 * slots. Both add up to the number of slots. */
struct side_weights {
    double before, after;
};

/* Weights of both sides for the unpredicted slots of one round: after = Σ w * (t - t0) / (t1 - t0), w being the length
 * of a slice. */
static struct side_weights side_weights_of(const struct gap *g, const struct unpredicted_slots *u)
{
    struct side_weights s = {0, 0};
    if (g->before == NULL)
        s.after = u->weight;
    else if (g->after == NULL)
        s.before = u->weight;
    else
        s.after = (u->time - g->before->time * u->weight) / (g->after->time - g->before->time);
    if (g->before && g->after)
        s.before = u->weight - s.after;
    return s;
}

/* The excess of one round's part of a gap: ticks of the other clock in the unpredicted slots, less the interpolation of
 * that number between the samples at both ends. */
static double other_excess(const struct gap *g, const struct unpredicted_slots *u, struct side_weights s)
{
    return u->other - (g->before ? s.before * g->before->other_rate : 0) -
           (g->after ? s.after * g->after->other_rate : 0);
}

/* Predicted count of the event at `place` in the unpredicted slots of one round. */
static double predict(const struct gap *g, const struct unpredicted_slots *u, struct side_weights s, uint32_t place,
                      double slope)
{
    double value = slope * other_excess(g, u, s);
    if (g->before)
        value += s.before * g->before->rate[place];
    if (g->after)
        value += s.after * g->after->rate[place];
    return value;
}

/* Adds the coefficients of the error in one round's slots of a gap, as if these m slots were contiguous and all else
 * were known. With a = s.before, the running sum C is
 *   a                     in each step from the sample before to the first slot,
 *   a - 1, ..., a - m + 1 in the steps from slot to slot: Σ (a - i)² = (m-1) a² - a m (m-1) + (m-1) m (2m-1) / 6,
 *   -s.after              in each step from the last slot to the sample after. */
static void add_coefficients_of_round(struct coefficient_sums *c, const struct gap *g,
                                      const struct unpredicted_slots *u, struct side_weights s)
{
    double m = fmax(u->weight, 1), a = s.before;
    double sum = (m - 1) * a * a - a * m * (m - 1) + (m - 1) * m * (2 * m - 1) / 6;
    if (g->before)
        sum += (u->first_time - g->before->time) * a * a;
    if (g->after)
        sum += (g->after->time - u->last_time) * s.after * s.after;
    c->running_squares += 2 * sum;
    add_coefficient_squares(c, u->weight, s.before, s.after);
}

/* Adds the coefficients of the error in a whole gap of n = `slots` slots. Between two samples each side has the weight
 * n / 2, C runs through n/2, n/2 - 1, ..., -n/2, and 2 Σ C² = n (n+1) (n+2) / 6. */
static void add_coefficients_of_gap(struct coefficient_sums *c, const struct gap *g, double slots,
                                    struct side_weights s)
{
    c->running_squares += g->before && g->after ? slots * (slots + 1) * (slots + 2) / 6 : tail_running_squares(slots);
    add_coefficient_squares(c, slots, s.before, s.after);
}

/* Whether the gap begins in an early round: a round with short slices. */
static bool is_early(const struct gap *g)
{
    return g->before ? g->before->early : g->after->early;
}

/* Adds the variance of the prediction of one event in an early gap of `count` slices, `slots` slots long. Between two
 * samples: every slice has independent noise, and so has each of the two samples, with a weight of one half:
 * slots² * (1 / count + 1 / 2) * noise. With a sample on one side only: the rate of the gap is assumed to be uniform
 * between 0 and twice the rate of this sample, so the variance is (slots * rate)² / 3. */
static void add_early_variance_of_gap(struct early_variance *to, const struct gap *g, double slots, double count,
                                      uint32_t place)
{
    double d = g->before && g->after ? g->after->rate[place] - g->before->rate[place] : 0;
    if (g->before && g->after)
        add_early_difference(to, d);
    if (g->before && g->after)
        add_early_variance(to, slots * slots * (1 / fmax(count, 1) + 0.5) * to->noise);
    else
        add_early_variance(to, pow(slots * (g->before ? g->before : g->after)->rate[place], 2) / 3);
}

/* Makes the final predictions for a gap of a group, in all rounds that the gap spans. A negative prediction counts as 0
 * in its round, and as it is in the total. */
static void close_gap(struct estimates *e, uint32_t group, const struct gap *gap)
{
    struct group_state *g = &e->group[group];
    struct side_weights sum = {0, 0};
    double slots = 0, count = 0, excess = 0;
    for (struct pending_round *r = e->first; r; r = r->next) {
        struct unpredicted_slots *u = &r->group[group].unpredicted;
        if (u->weight <= 0)
            continue;
        struct side_weights s = side_weights_of(gap, u);
        excess += other_excess(gap, u, s);
        for (size_t i = 0; i < g->counts; i++) {
            struct event_state *v = &e->event[g->event[i]];
            double value = predict(gap, u, s, e->plan->event[g->event[i]].place, v->slope);
            v->predicted += value;
            r->value[g->event[i]] += fmax(value, 0);
        }
        add_coefficients_of_round(&r->group[group].coefficients, gap, u, s);
        slots += u->weight;
        count += u->count;
        sum.before += s.before;
        sum.after += s.after;
        *u = (struct unpredicted_slots){0};
    }
    if (is_early(gap)) {
        for (size_t i = 0; i < g->counts; i++)
            add_early_variance_of_gap(&e->event[g->event[i]].early, gap, slots, count,
                                      e->plan->event[g->event[i]].place);
        return;
    }
    g->excess_squares += excess * excess;
    add_coefficients_of_gap(&g->coefficients, gap, slots, sum);
}

/* estimator_ops.slice_counted: a sample ends the gap of its group. */
static void gaps_slice_counted(struct estimates *e, uint32_t group, const struct sample *s)
{
    if (s)
        close_gap(e, group, &(struct gap){.before = group_last(&e->group[group]), .after = s});
}

/* estimator_ops.run_ended: the last sample of each group predicts the slots after it. A group without any sample has no
 * predictions; its slots no longer keep rounds pending. */
static void gaps_run_ended(struct estimates *e)
{
    for (uint32_t i = 0; i < e->plan->group_count; i++) {
        const struct sample *last = group_last(&e->group[i]);
        if (last)
            close_gap(e, i, &(struct gap){.before = last});
        else
            for (struct pending_round *r = e->first; r; r = r->next)
                r->group[i].unpredicted = (struct unpredicted_slots){0};
    }
}

/* estimator_ops.predict_remaining: the same as gaps_run_ended for one event, without changing any state. */
static struct remaining_prediction gaps_predict_remaining(const struct estimates *e, size_t event)
{
    const struct plan_event *v = &e->plan->event[event];
    const struct group_state *g = &e->group[v->group];
    struct gap gap = {.before = group_last(g)};
    struct remaining_prediction p = {
        .coefficients = g->coefficients, .excess_squares = g->excess_squares, .early = e->event[event].early};
    double slots = 0, count = 0, excess = 0;
    if (gap.before == NULL)
        return p;
    for (const struct pending_round *r = e->first; r; r = r->next) {
        const struct unpredicted_slots *u = &r->group[v->group].unpredicted;
        slots += u->weight;
        count += u->count;
        if (u->weight > 0) {
            struct side_weights s = side_weights_of(&gap, u);
            excess += other_excess(&gap, u, s);
            p.predicted += predict(&gap, u, s, v->place, e->event[event].slope);
        }
    }
    if (is_early(&gap)) {
        add_early_variance_of_gap(&p.early, &gap, slots, count, v->place);
    } else {
        p.excess_squares += excess * excess;
        add_coefficients_of_gap(&p.coefficients, &gap, slots, (struct side_weights){.before = slots});
    }
    return p;
}

const struct estimator_ops interpolation_ops = {
    .slice_counted = gaps_slice_counted, .run_ended = gaps_run_ended, .predict_remaining = gaps_predict_remaining};
const struct estimator_ops regression_ops = {.follows_other_clock = true,
                                             .slice_counted = gaps_slice_counted,
                                             .run_ended = gaps_run_ended,
                                             .predict_remaining = gaps_predict_remaining};
