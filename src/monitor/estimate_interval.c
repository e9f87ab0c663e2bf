/* How far estimates may be off. */
#include <math.h>

#include "base/student.h"
#include "monitor/estimate_priv.h"

/* ---- quantiles of 97.5 % */

/* Chi squared, as Wilson and Hilferty have it: less than 1 % off from two degrees on. */
static double chi_squared(double degrees)
{
    double k = 2 / (9 * degrees), root = 1 - k + 1.960 * sqrt(k);
    return degrees * root * root * root;
}

/* ---- how slices of a group differ */

/* How much of a slope to believe: none if it explains no more than chance would (a positive-part James-Stein factor).
 */
static double trust(double explained, double left, double degrees)
{
    if (degrees <= 0 || explained <= 0)
        return 0;
    return fmax(0, 1 - fmax(left, 0) / degrees / explained);
}

struct variogram variogram_fit(const struct pair_sums *p, const struct difference_sums *d)
{
    struct variogram v = {0, 0};
    if (p->pairs <= 0)
        return v;
    double lag = p->lag / p->pairs, mean = d->q / p->pairs, spread = p->lag2 - lag * p->lag;
    double product = d->q_lag - lag * d->q;
    if (spread > 0 && product > 0) {
        double slope = product / spread, explained = slope * product;
        v.wander = slope * trust(explained, d->q2 - mean * d->q - explained, p->pairs - 2);
    }
    v.noise = mean - v.wander * lag;
    if (v.noise < 0) {
        v.noise = 0;
        v.wander = mean / lag;
    }
    return v;
}

static void compare(struct estimates *e, struct group_state *g, const struct sample *a, const struct sample *b,
                    bool successive)
{
    double lag = b->time - a->time;
    struct pair_sums *const pairs[] = {&g->all, &g->lately};
    if (lag > g->reach && !successive)
        return;
    for (int i = 0; i < 2; i++) {
        pairs[i]->pairs++;
        pairs[i]->lag += lag;
        pairs[i]->lag2 += lag * lag;
    }
    for (size_t n = 0; n < g->counts; n++) {
        struct event_state *v = &e->event[g->event[n]];
        uint32_t place = e->plan->event[g->event[n]].place;
        double d = b->rate[place] - a->rate[place] - v->slope * (b->other - a->other), q = d * d / 2;
        struct difference_sums *const sums[] = {&v->all, &v->lately};
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

static const double keeps = 1 - 1.0 / MEMORY_SLICES;

static void forget(struct estimates *e, struct group_state *g)
{
    g->lately = (struct pair_sums){g->lately.pairs * keeps, g->lately.lag * keeps, g->lately.lag2 * keeps};
    for (size_t n = 0; n < g->counts; n++) {
        struct difference_sums *d = &e->event[g->event[n]].lately;
        *d = (struct difference_sums){d->q * keeps, d->q_lag * keeps, d->q2 * keeps};
    }
}

/* How rates changed with the other clock from a slice to the next. */
static void follow(struct estimates *e, struct group_state *g, const struct sample *a, const struct sample *b)
{
    double x = b->other - a->other;
    g->slope_squares = g->slope_squares * keeps + x * x;
    g->slope_pairs = g->slope_pairs * keeps + 1;
    for (size_t n = 0; n < g->counts; n++) {
        struct event_state *v = &e->event[g->event[n]];
        uint32_t place = e->plan->event[g->event[n]].place;
        double y = b->rate[place] - a->rate[place];
        v->slope_products = v->slope_products * keeps + x * y;
        v->slope_squares = v->slope_squares * keeps + y * y;
        v->slope = 0;
        if (!is_sparse(v, g) && g->slope_pairs > 2.5 && g->slope_squares > 0) {
            double slope = v->slope_products / g->slope_squares, explained = slope * v->slope_products;
            v->slope = slope * trust(explained, v->slope_squares - explained, g->slope_pairs - 1);
        }
    }
}

void group_add_sample(struct estimates *e, uint32_t group, const struct sample *s)
{
    struct group_state *g = &e->group[group];
    uint64_t known = g->samples < RECENT_SLICES ? g->samples : RECENT_SLICES;
    forget(e, g);
    for (uint64_t i = 1; i <= known; i++)
        compare(e, g, &g->recent[(g->samples - i) % RECENT_SLICES], s, i == 1);
    if (e->how->follows && g->samples)
        follow(e, g, group_last(g), s);
    g->recent[g->samples++ % RECENT_SLICES] = *s;
}

/* ---- intervals */

/* Of the variance, as Satterthwaite has it: a few large differences are worth few. Neighbouring differences share a
 * slice, which leaves two thirds of them. */
static double degrees_of(const struct event_state *v, const struct group_state *g)
{
    double most = ((double)g->samples - 1) * 2 / 3;
    double degrees = v->successive4 > 0 ? 2 * v->successive2 * v->successive2 / v->successive4 : most;
    return fmax(1, fmin(degrees, most));
}

double estimate_half_of_round(const struct estimates *e, size_t event, const struct design *d)
{
    const struct event_state *v = &e->event[event];
    const struct group_state *g = &e->group[e->plan->event[event].group];
    struct variogram of = variogram_fit(&g->lately, &v->lately);
    if (g->samples < 2)
        return d->squares > 0 || g->samples == 0 ? INFINITY : 0;
    return student(degrees_of(v, g)) * sqrt(of.noise * d->squares + of.wander * d->walk);
}

/* An event that most slices do not see comes in clusters, of which few were seen: a gamma interval for a weighted sum
 * of Poisson counts (Fay and Feuer), as if the next cluster had just been missed. */
static double high_if_sparse(const struct event_state *v, double value, double variance, double share)
{
    double cluster = (v->counted ? v->squares / (double)v->counted : 1) / share;
    double sampled = v->squares * (1 - share) / (share * share);
    double spread = fmax(variance, sampled) + cluster * cluster, mean = value + cluster;
    return spread / (2 * mean) * chi_squared(2 * mean * mean / spread);
}

static void find_interval(const struct estimates *e, size_t event, const struct design *d, struct estimate *to)
{
    const struct event_state *v = &e->event[event];
    const struct group_state *g = &e->group[e->plan->event[event].group];
    struct variogram of = variogram_fit(&g->all, &v->all);
    to->low = (double)v->counted;
    to->high = INFINITY;
    if (g->samples < 2)
        return;
    double variance = of.noise * d->squares + of.wander * d->walk;
    double half = student(degrees_of(v, g)) * sqrt(variance);
    to->low = fmax(to->low, to->value - half);
    to->high = to->value + half;
    if (is_sparse(v, g))
        to->high = fmax(to->high, high_if_sparse(v, to->value, variance, to->share));
    /* Two slots of a round are a third of it apart, on the average. */
    double within = of.noise + of.wander * (e->plan->slots + 1) / 3;
    to->variation = to->value > 0 ? sqrt(within) / (to->value / e->time) : 0;
    to->bursty = to->variation > 1;
}

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
    struct open_end o = e->how->open(e, event);
    to.share = g->weight / e->time;
    to.value += fmax(v->predicted + o.predicted, 0);
    find_interval(e, event, &o.design, &to);
    return to;
}

double estimate_half(const struct estimate *e)
{
    return (e->high - e->low) / 2;
}
