/* A run as a signal over time, and its analysis: periods and the end of initialization.
 *
 * The signal has one sample per interval of the run. A sample is either the difference of the interval to the whole run
 * (one number: the difference graph of the paper) or the projected basic block vector (several numbers). The paper
 * analyzes the difference graph only. There, two parts of a program that differ from the whole by the same amount look
 * equal, and a period of two such halves is a straight line; so the same analysis is applied to the vectors as well. */
#ifndef CYCLESCOPE_PHASES_RUN_SIGNAL_H
#define CYCLESCOPE_PHASES_RUN_SIGNAL_H

#include <stddef.h>

#include "base/error.h"

struct run_signal {
    const float *at; /* the samples, one after the other; belongs to the caller */
    unsigned width;  /* numbers of a sample */
    size_t count;    /* samples */
};

/* The signal from sample `start` on. */
static inline struct run_signal run_signal_from(const struct run_signal *s, size_t start)
{
    return (struct run_signal){s->at + start * s->width, s->width, s->count - start};
}

/* Distance of two stretches of `length` samples, from `a` and from `b` on: the sum of absolute differences. */
double run_signal_distance(const struct run_signal *s, size_t a, size_t b, size_t length);

/* Sets graph[k] to the distance of the first `piece` samples from those k later, for each k < shifts. */
void run_signal_slide(const struct run_signal *s, size_t piece, double *graph, size_t shifts);

/* Sets graph[k] to the mean distance of samples that are k apart, for each k < shifts, which is less than the number of
 * samples. Returns the mean of all but the first. */
double run_signal_self_distance(const struct run_signal *s, double *graph, size_t shifts);

struct run_signal_period {
    size_t length; /* samples */
    double left;   /* mismatch from 0 (equal) to 1 (unrelated) */
};

/* Finds all periods in a graph of mean distance by shift, in which each value is a mean over at least `piece` samples.
 * Stores at most `room` of them, the shortest ones, in ascending order, and returns their number, or -ENOMEM. A period
 * and its multiples may be among them. */
int run_signal_graph_periods(const double *graph, size_t shifts, size_t piece, struct run_signal_period *periods,
                             unsigned room) MUST_CHECK;

/* Finds a short period in a part of a long one; 0: none. 0 or -ENOMEM. */
int run_signal_period_within(const struct run_signal *s, size_t period, size_t *found) MUST_CHECK;

/* Finds the periods of the signal, in samples. Stores at most `room` of them, the longest ones, in ascending order, and
 * returns their number, or -ENOMEM. `graph` must have room for `count` numbers; it receives the period difference graph
 * with `*shifts` numbers. */
int run_signal_periods(const struct run_signal *s, double *graph, size_t *shifts, size_t *periods,
                       unsigned room) MUST_CHECK;

/* Finds the longest period in a graph of mismatch by shift, each value being a sum over `piece` samples; 0: none.
 * Minima less deep than `floor` do not count. 0 or -ENOMEM. */
int run_signal_longest_period(const double *graph, size_t shifts, size_t piece, double floor,
                              size_t *period) MUST_CHECK;

/* The first sample after initialization by the rule of the paper: the sharpest corner of the initialization difference
 * graph; 0: none. `graph` receives this graph, count / 2 + 1 numbers. `period` is that of the second half, or 0. */
size_t run_signal_corner(const struct run_signal *s, size_t period, double *graph);

/* Finds the first sample after initialization, exact to one interval; 0: none. Initialization ends with one of these:
 *   - the last sample of the first half that resembles no sample of the second half;
 *   - if such samples alternate with recurring ones (initialization in steps): the last such sample in the last period
 *     that does not resemble the next period;
 *   - if all samples recur: the last sample that does not resemble the one a period later, provided that a whole period
 *     is closer to unrelated (`unrelated`: average distance of unrelated samples) than to equal.
 * 0 or -ENOMEM. */
int run_signal_initialization(const struct run_signal *s, size_t period, double unrelated, size_t *end) MUST_CHECK;

/* Finds the longest period of the signal's autocorrelation, as a second opinion; 0: none. 0 or -ENOMEM. */
int run_signal_correlation(const struct run_signal *s, size_t *period) MUST_CHECK;

#endif
