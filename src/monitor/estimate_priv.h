/* What estimators share.
 *
 * Units: time is in slots, as the slice clock tells it; a slice is where its middle is and weighs what it lasts, nearly
 * always 1. Rates are counts per slot. `other` is the rate of the clock that is not the slice clock.
 *
 * The error of a prediction is a sum of rates with coefficients: -1 for each slot that is predicted, and what the
 * slices that it is made from have in it. These coefficients depend on the order of groups alone. Rates are taken as a
 * level that wanders, and noise: half the mean squared difference of two slices at distance h is `noise + wander * h`.
 * Then the variance of the error is noise * Σ c² + wander * 2 Σ C², C being the sums of the coefficients so far. */
#ifndef CYCLESCOPE_MONITOR_ESTIMATE_PRIV_H
#define CYCLESCOPE_MONITOR_ESTIMATE_PRIV_H

#include "monitor/estimate.h"

enum {
    RECENT_SLICES = 4, /* with how many before it a slice is compared */
    MEMORY_SLICES = 64 /* over how many slopes, and the variation of single rounds, are averaged */
};

/* The coefficients of an error, summed up. */
struct design {
    double squares; /* Σ c² */
    double walk;    /* 2 Σ C² */
    double carry;   /* the coefficient, so far, of the last slice that was counted */
};

/* Pairs of slices of a group, by their distance. */
struct pair_sums {
    double pairs, lag, lag2;
};

/* Of an event: half the squared difference of the pairs. */
struct difference_sums {
    double q, q_lag, q2;
};

struct variogram {
    double noise, wander;
};

struct variogram variogram_fit(const struct pair_sums *p, const struct difference_sums *d);

/* What has been counted by one slice. */
struct sample {
    double time, other;
    double rate[SLICE_COUNTS]; /* by place */
};

struct group_state {
    uint64_t slices;                     /* that counted it */
    uint64_t samples;                    /* those of them that predict */
    double weight;                       /* of its slices */
    struct sample recent[RECENT_SLICES]; /* sample n is in n % RECENT_SLICES */
    struct pair_sums all, lately;        /* `lately` forgets */
    double slope_squares, slope_pairs;   /* of differences of `other`; they forget */
    struct design design;                /* of all that is predicted for good */
    double reach;                        /* pairs farther apart are not compared */
    size_t event[SLICE_COUNTS], counts;  /* its events, by place */
};

struct event_state {
    uint64_t counted;                     /* events, for certain */
    double predicted;                     /* for good, of slices in which it was not counted */
    struct difference_sums all, lately;   /* of its group's pairs */
    double successive2, successive4;      /* differences of neighbouring slices, squared and to the fourth power */
    double slope_products, slope_squares; /* differences with those of `other`, and with themselves; they forget */
    double slope;                         /* by which it follows `other`, at present */
    double squares;                       /* of its counts */
    uint64_t nonzero;                     /* slices that have any */
};

/* Slices of a round in which a group was not counted, and which are not predicted yet. */
struct part {
    double weight, time, other; /* sums; the latter two times the weight */
    double first, last;         /* times */
};

struct round_group {
    struct part open;
    struct design design; /* of what is predicted */
};

struct pending_round {
    struct pending_round *next;
    struct estimate_round told;
    double weight;             /* of its slices so far */
    bool ended;                /* it has all its slices */
    double *value;             /* by event */
    struct round_group *group; /* by group */
};

/* A slice of the current round, for estimators that look at it as a whole. */
struct round_slot {
    uint32_t group;
    double weight;
};

struct estimates {
    const struct plan *plan;
    const struct estimating *how;
    estimate_round_ready *ready;
    void *context;
    struct group_state *group;
    struct event_state *event;
    struct pending_round *first, *last; /* rounds that are not ready; the last is the current one */
    struct pending_round *spare;        /* to be used again */
    struct round_slot *slot;            /* of the current round */
    size_t slots, slot_room;
    double *half;           /* room for a round's */
    double time;            /* where the next slice begins */
    uint64_t cycles, insns; /* so far */
};

/* What a run that ends here would add to an event. */
struct open_end {
    double predicted;
    struct design design; /* the group's, with it */
};

struct estimating {
    bool follows; /* rates follow the other clock */
    /* A slice, which is in the round's and the events' sums and in the clocks, has counted a group; `s` is the sample
     * that it makes, not yet among the recent ones, or NULL if it was too short. */
    void (*counted)(struct estimates *e, uint32_t group, const struct sample *s);
    /* The current round ends, or the run does. */
    void (*round_ended)(struct estimates *e);
    void (*run_ended)(struct estimates *e);
    struct open_end (*open)(const struct estimates *e, size_t event);
};

extern const struct estimating estimating_linear, estimating_interpolation, estimating_regression;

/* A slice that predicts: it is compared with those before it, and slopes are found anew. */
void group_add_sample(struct estimates *e, uint32_t group, const struct sample *s);

/* Half of the 95 % interval of a round that has these coefficients. */
double estimate_half_of_round(const struct estimates *e, size_t event, const struct design *d);

/* Most slices do not see the event. */
static inline bool is_sparse(const struct event_state *v, const struct group_state *g)
{
    return 2 * v->nonzero <= g->slices;
}

static inline const struct sample *group_last(const struct group_state *g)
{
    return &g->recent[(g->samples - 1) % RECENT_SLICES];
}

/* Predicted slots whose error has the coefficients `before` and `behind` on the slices to either side. */
static inline void design_add_ends(struct design *d, double weight, double before, double behind)
{
    d->squares += weight + (2 * d->carry + before) * before + behind * behind;
    d->carry = behind;
}

/* 2 Σ i² of n predicted slots beside a single slice. */
static inline double walk_of_tail(double n)
{
    return n * (n + 1) * (2 * n + 1) / 3;
}

#endif
