/* Variances and 95 % confidence intervals of estimates, for all estimators.
 *
 * The error of a prediction is Σ c·rate with known coefficients c (struct coefficient_sums). Two properties of an
 * event's rate, noise and wander, are measured on pairs of late samples of its group (estimate_priv.h). They give the
 * variance of the error:
 *
 *     half the mean squared difference of two samples h slots apart = noise + wander * h
 *     variance of the error = noise * Σ c² + wander * 2 Σ C²,   C being the running sum of c
 *
 * The interval is value ± t * sqrt(variance), t being the 97.5 % quantile of Student's distribution. For `regression`
 * all differences of rates exclude slope * (difference of the other clock's rate), since this part is predicted. */
#include <math.h>

#include "base/student_t.h"
#include "sampler/estimate_priv.h"

/* 97.5 % quantile of the chi-squared distribution, by the approximation of Wilson and Hilferty:
 * d * (1 - k + 1.960 * sqrt(k))³ with k = 2 / (9 d). The error is less than 1 % from two degrees of freedom on. */
static double chi_squared_975(double degrees)
{
    double k = 2 / (9 * degrees), root = 1 - k + 1.960 * sqrt(k);
    return degrees * root * root * root;
}

/* ---- differences between late samples of a group */

/* Factor from 0 to 1 by which a fitted slope is shrunk (positive-part James-Stein): 1 - (unexplained / degrees) /
 * explained. `explained` and `unexplained` are sums of squares. The factor is 0 if the slope explains no more than
 * chance would. */
static double shrinkage(double explained, double unexplained, double degrees)
{
    if (degrees <= 0 || explained <= 0)
        return 0;
    return fmax(0, 1 - fmax(unexplained, 0) / degrees / explained);
}

/* Fits q = noise + wander * lag to all pairs by least squares, q being half the squared difference of a pair. The slope
 * is shrunk: variation that is not clearly wander counts as noise, which makes intervals wider. A negative slope counts
 * as 0. A line that would be negative at lag 0 is replaced by a line through the origin. */
struct variogram variogram_fit(const struct pair_sums *p, const struct difference_sums *d)
{
    struct variogram v = {0, 0};
    if (p->pairs <= 0)
        return v;
    double mean_lag = p->lag / p->pairs, mean_q = d->q / p->pairs;
    double lag_squares = p->lag2 - mean_lag * p->lag; /* Σ (lag - mean)² */
    double products = d->q_lag - mean_lag * d->q;     /* Σ (lag - mean) * (q - mean) */
    if (lag_squares > 0 && products > 0) {
        double slope = products / lag_squares, explained = slope * products;
        v.wander = slope * shrinkage(explained, d->q2 - mean_q * d->q - explained, p->pairs - 2);
    }
    v.noise = mean_q - v.wander * mean_lag;
    if (v.noise < 0) {
        v.noise = 0;
        v.wander = mean_q / mean_lag;
    }
    return v;
}

/* Adds the pair of late samples a and b (b is the later one) to the sums of the group and of its events. `successive`:
 * no sample of the group lies between them. */
static void compare_samples(struct estimates *e, struct group_state *g, const struct sample *a, const struct sample *b,
                            bool successive)
{
    double lag = b->time - a->time;
    struct pair_sums *const pairs[] = {&g->all_pairs, &g->recent_pairs};
    if (lag > g->max_lag && !successive)
        return;
    for (int i = 0; i < 2; i++) {
        pairs[i]->pairs++;
        pairs[i]->lag += lag;
        pairs[i]->lag2 += lag * lag;
    }
    double x = b->other_rate - a->other_rate, x2 = x * x / 2;
    g->other_pairs.q += x2;
    g->other_pairs.q_lag += x2 * lag;
    g->other_pairs.q2 += x2 * x2;
    for (size_t n = 0; n < g->counts; n++) {
        struct event_state *v = &e->event[g->event[n]];
        uint32_t place = e->plan->event[g->event[n]].place;
        double d = b->rate[place] - a->rate[place] - v->slope * (b->other_rate - a->other_rate), q = d * d / 2;
        struct difference_sums *const sums[] = {&v->all_pairs, &v->recent_pairs};
        for (int i = 0; i < 2; i++) {
            sums[i]->q += q;
            sums[i]->q_lag += q * lag;
            sums[i]->q2 += q * q;
        }
        if (successive) {
            v->successive2 += d * d;
            v->successive4 += d * d * d * d;
        }
    }
}

/* Factor that each new sample applies to the moving sums: they average over the last MEMORY_SLICES samples or so. */
static const double decay = 1 - 1.0 / MEMORY_SLICES;

/* Decays the moving sums over pairs. */
static void decay_recent_pairs(struct estimates *e, struct group_state *g)
{
    g->recent_pairs =
        (struct pair_sums){g->recent_pairs.pairs * decay, g->recent_pairs.lag * decay, g->recent_pairs.lag2 * decay};
    for (size_t n = 0; n < g->counts; n++) {
        struct difference_sums *d = &e->event[g->event[n]].recent_pairs;
        *d = (struct difference_sums){d->q * decay, d->q_lag * decay, d->q2 * decay};
    }
}

/* Updates the slopes of the group's events after successive samples a and b. With x the difference of the other clock's
 * rate and y the difference of the event's rate, the slope is Σ x y / Σ x² over the last MEMORY_SLICES samples or so,
 * shrunk. The slope is 0 for a sparse event and while fewer than three differences are known. Its magnitude is limited
 * to the number of events per unit of the other clock: a slope that was fitted to small differences need not hold for
 * the large difference that a change of the program's behavior makes. */
static void update_slopes(struct estimates *e, struct group_state *g, const struct sample *a, const struct sample *b)
{
    double x = b->other_rate - a->other_rate;
    g->slope_squares = g->slope_squares * decay + x * x;
    g->slope_pairs = g->slope_pairs * decay + 1;
    g->slope_other = g->slope_other * decay + b->other_rate;
    for (size_t n = 0; n < g->counts; n++) {
        struct event_state *v = &e->event[g->event[n]];
        uint32_t place = e->plan->event[g->event[n]].place;
        double y = b->rate[place] - a->rate[place];
        v->slope_products = v->slope_products * decay + x * y;
        v->slope_squares = v->slope_squares * decay + y * y;
        v->slope_rate = v->slope_rate * decay + b->rate[place];
        v->slope = 0;
        if (!is_sparse(v, g) && g->slope_pairs > 2.5 && g->slope_squares > 0) {
            double slope = v->slope_products / g->slope_squares, explained = slope * v->slope_products;
            double most = g->slope_other > 0 ? v->slope_rate / g->slope_other : 0;
            slope *= shrinkage(explained, v->slope_squares - explained, g->slope_pairs - 1);
            v->slope = fmax(-most, fmin(most, slope));
        }
    }
}

/* Compares the sample before it updates the slopes: the differences then use slopes that were fitted without this
 * sample, and measure how well slopes predict. */
void group_add_sample(struct estimates *e, uint32_t group, const struct sample *s)
{
    struct group_state *g = &e->group[group];
    uint64_t known = g->late_samples < RECENT_SLICES ? g->late_samples : RECENT_SLICES;
    g->samples++;
    g->last = *s;
    g->other_squares += s->other_rate * s->other_rate;
    for (size_t n = 0; n < g->counts; n++) {
        double rate = s->rate[e->plan->event[g->event[n]].place];
        e->event[g->event[n]].rate_squares += rate * rate;
    }
    if (s->early)
        return;
    decay_recent_pairs(e, g);
    for (uint64_t i = 1; i <= known; i++)
        compare_samples(e, g, &g->recent[(g->late_samples - i) % RECENT_SLICES], s, i == 1);
    if (e->ops->follows_other_clock && g->late_samples)
        update_slopes(e, g, &g->recent[(g->late_samples - 1) % RECENT_SLICES], s);
    g->recent[g->late_samples++ % RECENT_SLICES] = *s;
}

/* ---- intervals */

/* Degrees of freedom of the variance, by Satterthwaite: 2 (Σ d²)² / Σ d⁴ over the differences d of successive samples.
 * If a few large differences make up most of the variance, there are few degrees of freedom. There are at most 2/3 of
 * the number of differences, since neighboring differences share a sample, and at least 1. */
static double degrees_of_freedom(const struct event_state *v, const struct group_state *g)
{
    double most = ((double)g->late_samples - 1) * 2 / 3;
    double degrees = v->successive4 > 0 ? 2 * v->successive2 * v->successive2 / v->successive4 : most;
    return fmax(1, fmin(degrees, most));
}

/* t * sqrt(variance), with the noise and wander of recent samples. The noise is unknown with fewer than two late
 * samples: the result is then infinite, except for 0 if there is one late sample and the round needed no prediction. */
double estimate_half_of_round(const struct estimates *e, size_t event, const struct coefficient_sums *c)
{
    const struct event_state *v = &e->event[event];
    const struct group_state *g = &e->group[e->plan->event[event].group];
    struct variogram rate = variogram_fit(&g->recent_pairs, &v->recent_pairs);
    if (g->late_samples < 2)
        return c->squares > 0 || g->late_samples == 0 ? INFINITY : 0;
    return student_t_975(degrees_of_freedom(v, g)) * sqrt(rate.noise * c->squares + rate.wander * c->running_squares);
}

/* Upper end of the interval of a sparse event. Its counts come in clusters, and only a few clusters were seen, so a
 * symmetric interval is too low. This is the gamma interval of a weighted sum of Poisson counts (Fay and Feuer), as if
 * one more cluster had just been missed:
 *
 *     cluster = (Σ count² / Σ count) / share     events of one more cluster, scaled up; 1 / share if none was seen
 *     mean    = value + cluster
 *     spread  = max(variance, Σ count² * (1 - share) / share²) + cluster²
 *     high    = spread / (2 mean) * chi_squared_975(2 mean² / spread)
 *
 * Sums run over the late slices of the group; `share` is the fraction of time in which the event was counted. */
static double sparse_high(const struct event_state *v, double value, double variance, double share)
{
    double cluster = (v->late_counted ? v->squares / (double)v->late_counted : 1) / share;
    double sampled = v->squares * (1 - share) / (share * share);
    double spread = fmax(variance, sampled) + cluster * cluster, mean = value + cluster;
    return spread / (2 * mean) * chi_squared_975(2 * mean * mean / spread);
}

/* Variance from outliers: slots that the group did not count and that were unlike every slice that it counted, such as
 * the end of a program. Outliers show in the other clock, which is known in every slot: Σ excess² of the gaps is larger
 * than the value that noise and wander of the other clock lead to expect. How many events an outlier had is unknown.
 * The only guide is the usual number of events per tick of the other clock, so the variance is (Σ excess² - expected) *
 * Σ rate² / Σ other_rate². */
static double outlier_variance(const struct event_state *v, const struct group_state *g,
                               const struct remaining_prediction *p)
{
    struct variogram other = variogram_fit(&g->all_pairs, &g->other_pairs);
    double expected = other.noise * p->coefficients.squares + other.wander * p->coefficients.running_squares;
    return g->other_squares > 0 ? fmax(0, p->excess_squares - expected) * v->rate_squares / g->other_squares : 0;
}

/* Three independent parts of a variance. The degrees of freedom of the sum are those of Satterthwaite:
 * (Σ V)² / Σ (V² / d), d being the degrees of freedom of a part. */
struct variance_parts {
    double usual, usual_degrees; /* noise and wander */
    struct early_variance early;
    double outliers; /* see outlier_variance */
};

/* Degrees of freedom of the variance of an early gap, and of outliers: each comes from one observation with a known
 * range. */
enum { RANGE_DEGREES = 3 };

static double variance_of(const struct variance_parts *p)
{
    return p->usual + p->early.sum + p->outliers;
}

static double half_of(const struct variance_parts *p)
{
    double sum = variance_of(p);
    double squares =
        p->usual * p->usual / p->usual_degrees + (p->early.squares + p->outliers * p->outliers) / RANGE_DEGREES;
    return squares > 0 ? student_t_975(fmax(1, sum * sum / squares)) * sqrt(sum) : 0;
}

/* Sets low, high, variation and bursty of a total; value and share must be set. The counted events are certain, so
 * `low` is at least their number. The variation is sqrt(noise + wander * h) / mean rate, where h = (slots + 1) / 3 is
 * the average distance of two slots of a round. */
static void find_interval(const struct estimates *e, size_t event, const struct remaining_prediction *p,
                          struct estimate *to)
{
    const struct coefficient_sums *c = &p->coefficients;
    const struct event_state *v = &e->event[event];
    const struct group_state *g = &e->group[e->plan->event[event].group];
    struct variogram rate = variogram_fit(&g->all_pairs, &v->all_pairs);
    to->low = (double)v->counted;
    to->high = INFINITY;
    if (g->late_samples < 2 && (c->squares > 0 || g->samples < 2))
        return;
    struct variance_parts parts = {.usual = rate.noise * c->squares + rate.wander * c->running_squares,
                                   .usual_degrees = degrees_of_freedom(v, g),
                                   .early = p->early,
                                   .outliers = outlier_variance(v, g, p)};
    double variance = variance_of(&parts), half = half_of(&parts);
    to->low = fmax(to->low, to->value - half);
    to->high = to->value + half;
    if (is_sparse(v, g))
        to->high = fmax(to->high, sparse_high(v, to->value, variance, to->share));
    double within_round = rate.noise + rate.wander * (e->plan->slots + 1) / 3;
    to->variation = to->value > 0 ? sqrt(within_round) / (to->value / e->time) : 0;
    to->bursty = to->variation > 1;
}

/* The total is counted events + final predictions + the predictions that would be made if the run ended now. Events
 * that are counted always, and events of a group that had every slice, are exact: low = value = high. */
struct estimate estimates_total(const struct estimates *e, size_t event)
{
    const struct plan_event *p = &e->plan->event[event];
    struct estimate to = {.share = 1};
    if (p->group == PLAN_ALWAYS) {
        to.counted = p->place == CLOCK_CYCLES ? e->cycles : e->insns;
        to.value = to.low = to.high = (double)to.counted;
        return to;
    }
    const struct event_state *v = &e->event[event];
    const struct group_state *g = &e->group[p->group];
    to.counted = v->counted;
    to.slices = g->slices;
    to.value = to.low = to.high = (double)v->counted;
    if (e->time - g->weight < 1e-9 * e->time || e->time <= 0)
        return to;
    struct remaining_prediction remaining = e->ops->predict_remaining(e, event);
    to.share = g->weight / e->time;
    to.value += fmax(v->predicted + remaining.predicted, 0);
    find_interval(e, event, &remaining, &to);
    return to;
}

double estimate_half(const struct estimate *e)
{
    return (e->high - e->low) / 2;
}
