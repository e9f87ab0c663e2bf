/* State and formulas that all estimators share (estimate.h).
 *
 * Units: time is measured in slots. One slot is `plan.slice` ticks of the slice clock. The weight of a slice is its
 * length in slots, nearly always 1; the time of a slice is the time of its middle. Rates are counts per slot. The other
 * clock is the one that is not the slice clock: instructions if slices are measured in cycles, and the reverse.
 *
 * Error of a prediction: it is a weighted sum of rates, Σ c·rate. The coefficient c is -1 for each predicted slot and
 * positive for each counted slice that the prediction uses; the coefficients sum to 0. They depend on the order of
 * groups alone, not on counts. The rate of an event is modeled as a random walk plus independent noise: half the mean
 * squared difference of two slices h slots apart is
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
    RECENT_SLICES = 4, /* earlier slices of the same group that a slice is compared with */
    MEMORY_SLICES = 64 /* slices over which moving averages reach: one slice multiplies old sums by 1 - 1/64 */
};

/* ---- the variance of a prediction */

/* Sums over the coefficients c of one prediction, or of all predictions of a group so far. */
struct coefficient_sums {
    double squares;         /* Σ c² */
    double running_squares; /* 2 Σ C² */
    double carry;           /* coefficient so far of the last counted slice: the next gap adds to this coefficient */
};

/* Pairs of slices of a group; the lag of a pair is the number of slots between their middles. */
struct pair_sums {
    double pairs;     /* number of pairs */
    double lag, lag2; /* Σ lag, Σ lag² */
};

/* Sums over the same pairs for one event, q being half the squared difference of the two rates. */
struct difference_sums {
    double q, q_lag, q2; /* Σ q, Σ q * lag, Σ q² */
};

/* Half the mean squared difference of two slices as a function of their lag h: noise + wander * h. */
struct variogram {
    double noise;  /* independent in each slice */
    double wander; /* per slot: the level of the rate is a random walk with variance 2 * wander per slot */
};

/* Fits the straight line of a variogram to pairs by least squares; all 0 without pairs. */
struct variogram variogram_fit(const struct pair_sums *p, const struct difference_sums *d);

/* Variance of predictions among early slices. There are few, each twice as long as the one before, and rates change a
 * lot: every gap has a variance of its own, from the last differences. */
struct early_variance {
    double noise;        /* half the mean squared difference of successive slices, the last one with half the weight */
    uint64_t pairs;      /* differences so far */
    double sum, squares; /* Σ variance, Σ variance² over gaps */
};

/* ---- the state of groups and events */

/* The rates of one slice that counted a group. */
struct sample {
    double time;               /* middle of the slice, in slots since the start */
    bool early;                /* of a round with short slices (plan.first_slice) */
    double other_rate;         /* ticks of the other clock per slot, in units of plan.slice */
    double rate[SLICE_COUNTS]; /* counts per slot, indexed by plan_event.place */
};

struct group_state {
    uint64_t slices;                      /* slices that counted the group */
    uint64_t late_slices;                 /* those that are not early */
    uint64_t predicting;                  /* slices that are long enough for their round to predict others */
    uint64_t samples;                     /* those that are not early: they show noise, wander and slopes */
    double weight;                        /* total length of its slices, in slots */
    struct sample last;                   /* the last slice that predicts, if there is one */
    struct sample recent[RECENT_SLICES];  /* ring of the last samples: sample n is at n % RECENT_SLICES */
    struct pair_sums all_pairs;           /* pairs of samples since the start */
    struct pair_sums recent_pairs;        /* moving sums of the same */
    double slope_squares, slope_pairs;    /* moving sums over successive samples: Σ x², and their number, with x the
                                             difference of other_rate */
    double slope_other;                   /* moving sum of other_rate */
    struct difference_sums other_pairs;   /* differences of other_rate over all_pairs */
    double other_squares;                 /* Σ other_rate² of all slices that predict */
    double excess_squares;                /* Σ over final predictions of excess², see struct remaining_prediction */
    struct coefficient_sums coefficients; /* of all final predictions */
    double max_lag;                       /* pairs with a larger lag are not compared, unless successive */
    size_t event[SLICE_COUNTS], counts;   /* its events (indexes of plan.event), and their number */
};

struct event_state {
    uint64_t counted;                    /* events counted in slices of the group */
    double predicted;                    /* sum of final predictions, for slices of other groups */
    struct difference_sums all_pairs;    /* differences over group_state.all_pairs */
    struct difference_sums recent_pairs; /* differences over group_state.recent_pairs */
    double successive2, successive4; /* Σ d² and Σ d⁴ over successive samples, d being the difference of rates less what
                                        `slope` predicts */
    double slope_products;           /* moving sum of x * y over successive samples, x being the difference of
                                        other_rate and y that of the event's rate */
    double slope_squares;            /* moving sum of y² */
    double slope_rate;               /* moving sum of the event's rate */
    double slope;                    /* present change of the rate per unit of other_rate; 0: unrelated */
    double rate_squares;             /* Σ rate² of all slices that predict */
    struct early_variance early; /* of final predictions */
    uint64_t late_counted;       /* events counted in slices that are not early */
    double squares;              /* sum of the squared counts of these slices */
    uint64_t nonzero;            /* those of these slices that counted at least one event */
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
struct round_slot {
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
    struct round_slot *slot;            /* slices of the current round */
    size_t slots, slot_room;            /* elements used and allocated */
    double *half;                       /* buffer for estimate_round.half */
    double time;                        /* length of all slices so far, in slots: start of the next slice */
    uint64_t cycles, insns;             /* of all slices so far */
};

/* ---- estimators */

/* The prediction, for one event, of the slices that have no final prediction yet. */
struct remaining_prediction {
    double predicted;
    struct coefficient_sums coefficients; /* those of the group with this prediction included */
    /* Σ of squares, over all predictions of the group with this one included, of what the other clock did in the
     * predicted slots less what the slices that predict them had led to expect. */
    double excess_squares;
    struct early_variance early; /* with this prediction included */
};

/* The functions of an estimator. A function may be NULL if the estimator has nothing to do, except predict_remaining.
 */
struct estimator_ops {
    bool follows_other_clock; /* group_add_sample fits event_state.slope, and differences of rates exclude it */
    /* A slice counted `group`. The sums of the round, the group and its events, and the clocks, include the slice
     * already; group_state.recent does not. `s` holds its rates; NULL: the slice is too short to predict others. */
    void (*slice_counted)(struct estimates *e, uint32_t group, const struct sample *s);
    /* The current round, e->last, has all its slices. */
    void (*round_ended)(struct estimates *e);
    /* The run has ended: makes all predictions that are still missing. */
    void (*run_ended)(struct estimates *e);
    /* What run_ended would predict if the run ended now. Changes nothing. */
    struct remaining_prediction (*predict_remaining)(const struct estimates *e, size_t event);
};

extern const struct estimator_ops linear_ops, interpolation_ops, regression_ops;

/* Compares a sample with the samples before it, updates slopes, and stores the sample in group_state.recent. */
void group_add_sample(struct estimates *e, uint32_t group, const struct sample *s);

/* Half the width of the 95 % interval of an event in a round, from the coefficients of its predictions. */
double estimate_half_of_round(const struct estimates *e, size_t event, const struct coefficient_sums *c);

/* At most half of the slices that counted the event saw one. */
static inline bool is_sparse(const struct event_state *v, const struct group_state *g)
{
    return 2 * v->nonzero <= g->late_slices;
}

/* The last slice of the group that predicts others. NULL: there is none. */
static inline const struct sample *group_last(const struct group_state *g)
{
    return g->predicting ? &g->last : NULL;
}

static inline void add_early_difference(struct early_variance *to, double d)
{
    to->noise = to->pairs++ ? (to->noise + d * d / 2) / 2 : d * d / 2;
}

static inline void add_early_variance(struct early_variance *to, double variance)
{
    to->sum += variance;
    to->squares += variance * variance;
}

/* Adds to Σ c² the prediction of `weight` slots that uses `before` slots' worth of the counted slice before them, and
 * `after` slots' worth of the one after them. The slice before has the coefficient `carry` from the preceding gap, so
 * its square grows from carry² to (carry + before)². */
static inline void add_coefficient_squares(struct coefficient_sums *c, double weight, double before, double after)
{
    c->squares += weight + (2 * c->carry + before) * before + after * after;
    c->carry = after;
}

/* 2 Σ C² of n slots that are predicted by the single slice next to them: C runs through n, n - 1, ..., 1. */
static inline double tail_running_squares(double n)
{
    return n * (n + 1) * (2 * n + 1) / 3;
}

#endif
