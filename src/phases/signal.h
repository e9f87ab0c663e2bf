/* A run as a signal: a sample for each interval, which is the difference to the whole run (the paper's difference
 * graph, one number) or the projected vector itself (several numbers). What the paper does with the first is done with
 * the second as well: two parts of a program that differ from the whole by the same amount are the same in the
 * difference graph, and a period of two such halves is a straight line there. */
#ifndef CYCLESCOPE_PHASES_SIGNAL_H
#define CYCLESCOPE_PHASES_SIGNAL_H

#include <stddef.h>

#include "base/error.h"

struct signal {
    const float *at; /* samples one after the other */
    unsigned width;  /* numbers of each */
    size_t count;    /* samples */
};

/* Samples from `start` on. */
static inline struct signal signal_from(const struct signal *s, size_t start)
{
    return (struct signal){s->at + start * s->width, s->width, s->count - start};
}

/* How unlike two stretches of `length` samples are: the sum of absolute differences. */
double signal_distance(const struct signal *s, size_t a, size_t b, size_t length);

/* The first `piece` samples against those that lie 0, 1 ... `shifts` - 1 further on. */
void signal_slide(const struct signal *s, size_t piece, double *graph, size_t shifts);

/* The distances at which the signal repeats, ascending, at most `room`, the longest ones; how many, or -ENOMEM. `graph`
 * has room for as many numbers as there are samples: the period difference graph, `*shifts` of them. */
int signal_periods(const struct signal *s, double *graph, size_t *shifts, size_t *periods, unsigned room) MUST_CHECK;

/* The longest period that a graph of mismatches by distance shows, of `piece` samples each, or 0. Minima that are less
 * than `floor` deep do not count. 0 or -ENOMEM. */
int signal_longest_period(const double *graph, size_t shifts, size_t piece, double floor, size_t *period) MUST_CHECK;

/* The first sample behind initialization, or 0 where there is none, by the paper's rule: the corner of the
 * initialization difference graph, count / 2 + 1 numbers. `period` of the second half, or 0. */
size_t signal_corner(const struct signal *s, size_t period, double *graph);

/* The same to the interval: it ends with the last sample of the first half that is like none of the second half; where
 * it comes in steps, between which is what comes again, with the last one of these in the last period that is unlike
 * the next; where all samples are like some, with the last one that is unlike the one a period later, if a whole period
 * is nearer to what unrelated samples differ by than to nothing. 0 or -ENOMEM. */
int signal_initialization(const struct signal *s, size_t period, double unrelated, size_t *end) MUST_CHECK;

/* The longest period of the signal's autocorrelation, or 0: a second opinion. 0 or -ENOMEM. */
int signal_correlation(const struct signal *s, size_t *period) MUST_CHECK;

#endif
