/* State and formulas that all estimators share (estimate.h).
 *
 * Units: time is measured in slots. One slot is `plan.slice` ticks of the slice clock. The weight of a slice is its
 * length in slots, nearly always 1; the time of a slice is the time of its middle. Rates are counts per slot. The other
 * clock is the one that is not the slice clock: instructions if slices are measured in cycles, and the reverse.
 *
 * A sample is a slice that counted a group and is long enough to predict others: at least half as long as planned for
 * its round. A sample of a round with short slices (plan.first_slice) is early, any other is late. Noise, wander and
 * slopes come from late samples only.
 *
 * The error of a prediction is a weighted sum of rates, Σ c·rate. The coefficient c is -1 for each predicted slot and
 * positive for each sample that the prediction uses; the coefficients sum to 0. They depend on the order of groups
 * alone, not on counts. The rate of an event is modeled as a random walk plus independent noise: half the mean squared
 * difference of two samples h slots apart is
 *
 *     noise + wander * h                       (struct variogram)
 *
 * Then the variance of the error is
 *
 *     noise * Σ c² + wander * 2 Σ C²           (struct coefficient_sums)
 *
 * where C is the running sum of the coefficients, taken at each step from one slot to the next. */
#ifndef CYCLESCOPE_SAMPLER_ESTIMATE_PRIV_H
#define CYCLESCOPE_SAMPLER_ESTIMATE_PRIV_H

#include "sampler/estimate.h"

enum {
    RECENT_SLICES = 4, /* earlier samples of the same group that a sample is compared with */
    MEMORY_SLICES = 64 /* samples over which moving sums reach: a new sample multiplies the old sums by 1 - 1/64 */
};

/* ---- the variance of a prediction */

/* Sums over the coefficients c of one prediction, or of all predictions of a group so far. */
struct coefficient_sums {
    double squares;         /* Σ c² */
    double running_squares; /* 2 Σ C² */
    double carry;           /* coefficient so far of the last sample: the next gap adds to this coefficient */
};

/* Pairs of late samples of a group; the lag of a pair is the number of slots between their middles. */
struct pair_sums {
    double pairs;     /* number of pairs */
    double lag, lag2; /* Σ lag, Σ lag² */
};

/* Sums over the same pairs for one event, q being half the squared difference of the two rates. */
struct difference_sums {
    double q, q_lag, q2; /* Σ q, Σ q * lag, Σ q² */
};

/* Half the mean squared difference of two samples as a function of their lag h: noise + wander * h. */
struct variogram {
    double noise;  /* independent in each sample */
    double wander; /* per slot: the level of the rate is a random walk with variance 2 * wander per slot */
};

/* Fits the straight line of a variogram to pairs by least squares; all 0 without pairs. */
struct variogram variogram_fit(const struct pair_sums *p, const struct difference_sums *d);

/* Variance of predictions in early rounds. There are few early samples, their length doubles from round to round, and
 * rates change a lot. So each early gap has its own variance, from the latest differences of successive samples. */
struct early_variance {
    double noise;        /* half the squared difference of successive samples; a new one has half of the weight */
    uint64_t pairs;      /* differences so far */
    double sum, squares; /* Σ variance, Σ variance² over early gaps */
};

/* ---- the state of groups and events */

/* The rates of one slice that counted a group. */
struct sample {
    double time;               /* middle of the slice, in slots since the start */
    bool early;                /* the slice belongs to a round with short slices (plan.first_slice) */
    double other_rate;         /* ticks of the other clock per slot, in units of plan.slice */
    double rate[SLICE_COUNTS]; /* counts per slot, indexed by plan_event.place */
};

struct group_state {
    uint64_t slices;                     /* slices that counted the group */
    uint64_t late_slices;                /* slices that counted the group, without those of early rounds */
    uint64_t samples;                    /* samples, early and late */
    uint64_t late_samples;               /* late samples */
    double weight;                       /* total length of its slices, in slots */
    struct sample last;                  /* the last sample, if `samples` is not 0 */
    struct sample recent[RECENT_SLICES]; /* ring of late samples: late sample n is at n % RECENT_SLICES */
    struct pair_sums all_pairs;          /* pairs of late samples since the start */
    struct pair_sums recent_pairs;       /* the same pairs in moving sums */
    double slope_squares, slope_pairs; /* moving sums over successive late samples: Σ x² and the number of pairs; x is
                                          the difference of other_rate */
    double slope_other;                /* moving sum of other_rate */
    struct difference_sums other_pairs;   /* differences of other_rate over all_pairs */
    double other_squares;                 /* Σ other_rate² of all samples */
    double excess_squares;                /* Σ excess² over late gaps with final predictions (remaining_prediction) */
    struct coefficient_sums coefficients; /* of all final predictions */
    double max_lag;                       /* pairs with a larger lag are not compared, unless successive */
    size_t event[SLICE_COUNTS], counts;   /* its events (indexes of plan.event), and their number */
};

struct event_state {
    uint64_t counted;                    /* events counted in slices of the group */
    double predicted;                    /* sum of final predictions, for slices of other groups */
    struct difference_sums all_pairs;    /* differences over group_state.all_pairs */
    struct difference_sums recent_pairs; /* differences over group_state.recent_pairs */
    double successive2, successive4; /* Σ d² and Σ d⁴ over successive late samples; d is the difference of rates less
                                        what `slope` predicts of it */
    double slope_products;           /* moving sum of x * y over successive late samples; x is the difference of
                                        other_rate, y that of the event's rate */
    double slope_squares;            /* moving sum of y² */
    double slope_rate;               /* moving sum of the event's rate */
    double slope;                    /* present change of the rate per unit of other_rate; 0: unrelated */
    double rate_squares;             /* Σ rate² of all samples */
    struct early_variance early;     /* of final predictions */
    uint64_t late_counted;           /* events counted in late slices */
    double squares;                  /* Σ count² of late slices */
    uint64_t nonzero;                /* late slices that counted at least one event */
};

/* Slices of one round in which a group was not counted and for which it has no prediction yet. */
struct unpredicted_slots {
    double weight;                /* Σ weight: length in slots; 0: none */
    double count;                 /* number of slices */
    double time, other;           /* Σ weight * time, Σ weight * other_rate */
    double first_time, last_time; /* middles of the first and the last of these slices */
};

struct round_group {
    struct unpredicted_slots unpredicted;
    struct coefficient_sums coefficients; /* of the predictions in this round */
};

/* A round that has not been reported: it lacks slices or predictions. */
struct pending_round {
    struct pending_round *next;
    struct estimate_round result; /* what `ready` receives */
    double weight;                /* total length of its slices so far, in slots */
    bool ended;                   /* the round has all its slices */
    double *value;                /* by event: counts plus predictions so far */
    struct round_group *group;    /* by group */
};

/* A slice of the current round, for estimators that scale a whole round. */
struct round_slice {
    uint32_t group; /* SLICE_IDLE: no group was counted */
    double weight;  /* length in slots */
};

struct estimates {
    const struct plan *plan;
    const struct estimator_ops *ops;
    estimate_round_ready *ready;
    void *context;                      /* argument of `ready` */
    struct group_state *group;          /* by group of the plan */
    struct event_state *event;          /* by event of the plan */
    struct pending_round *first, *last; /* rounds that are not reported yet; the last one is the current round */
    struct pending_round *spare;        /* free list */
    struct round_slice *round_slice;    /* slices of the current round */
    size_t round_slices;                /* elements of round_slice in use */
    size_t round_slice_room;            /* elements of round_slice allocated */
    double *half;                       /* buffer for estimate_round.half */
    double time;                        /* length of all slices so far, in slots: start of the next slice */
    uint64_t cycles, insns;             /* of all slices so far */
};

/* ---- estimators */

/* The prediction, for one event, of the slices that have no final prediction yet. */
struct remaining_prediction {
    double predicted;
    struct coefficient_sums coefficients; /* those of the group with this prediction included */
    /* Σ excess² over all late gaps of the group, with the gap of this prediction included. The excess of a gap is the
     * number of ticks of the other clock in its slots, less the interpolation of that number between the samples at
     * both ends. */
    double excess_squares;
    struct early_variance early; /* with this prediction included */
};

/* The functions of an estimator. A function may be NULL if the estimator has nothing to do, except predict_remaining.
 */
struct estimator_ops {
    bool follows_other_clock; /* group_add_sample fits event_state.slope, and differences of rates exclude it */
    /* A slice counted `group`. The sums of the round, the group and its events, and the clocks, include the slice
     * already; group_state.last and group_state.recent do not. `s` is the sample; NULL: the slice is too short to be
     * one. */
    void (*slice_counted)(struct estimates *e, uint32_t group, const struct sample *s);
    /* The current round, e->last, has all its slices. */
    void (*round_ended)(struct estimates *e);
    /* The run has ended: makes all predictions that are still missing. */
    void (*run_ended)(struct estimates *e);
    /* What run_ended would predict if the run ended now. Changes nothing. */
    struct remaining_prediction (*predict_remaining)(const struct estimates *e, size_t event);
};

extern const struct estimator_ops linear_ops, interpolation_ops, regression_ops;

/* Adds a sample to its group. A late sample is compared with the late samples before it and updates the slopes. */
void group_add_sample(struct estimates *e, uint32_t group, const struct sample *s);

/* Half the width of the 95 % interval of an event in a round, from the coefficients of its predictions. */
double estimate_half_of_round(const struct estimates *e, size_t event, const struct coefficient_sums *c);

/* Whether at most half of the late slices that counted the event saw one. */
static inline bool is_sparse(const struct event_state *v, const struct group_state *g)
{
    return 2 * v->nonzero <= g->late_slices;
}

/* The last sample of the group. NULL: there is none yet. */
static inline const struct sample *group_last(const struct group_state *g)
{
    return g->samples ? &g->last : NULL;
}

/* Adds the difference of the rates of two successive samples. */
static inline void add_early_difference(struct early_variance *to, double d)
{
    to->noise = to->pairs++ ? (to->noise + d * d / 2) / 2 : d * d / 2;
}

/* Adds the variance of the prediction of one early gap. */
static inline void add_early_variance(struct early_variance *to, double variance)
{
    to->sum += variance;
    to->squares += variance * variance;
}

/* Adds to Σ c² the prediction of `weight` slots in which the sample before them has the coefficient `before`, and the
 * sample after them `after`. The sample before already has the coefficient `carry` from the preceding gap, so its
 * square grows from carry² to (carry + before)². */
static inline void add_coefficient_squares(struct coefficient_sums *c, double weight, double before, double after)
{
    c->squares += weight + (2 * c->carry + before) * before + after * after;
    c->carry = after;
}

/* 2 Σ C² of n slots that one sample next to them predicts: C runs through n, n - 1, ..., 1. */
static inline double tail_running_squares(double n)
{
    return n * (n + 1) * (2 * n + 1) / 3;
}

#endif
