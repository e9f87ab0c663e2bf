/* The options of commands that can simulate windows of a run instead of all of it. */
#ifndef CYCLESCOPE_CMD_POINTS_OPTIONS_H
#define CYCLESCOPE_CMD_POINTS_OPTIONS_H

#include <stdbool.h>

#include "base/options.h"
#include "points/points.h"

struct points_options {
    const char *points;                         /* `auto` or SimPoint's file of points; NULL: none */
    const char *weights;                        /* SimPoint's file of weights, or NULL */
    bool systematic;                            /* a window in every period instead */
    uint64_t window, period, lead, count, jobs; /* 0: not given */
    const char *keep;                           /* a file for finished windows, or NULL */
};

#define POINTS_OPTION_ROWS(o)                                                                                          \
    {"points", OPTION_STRING, &(o)->points, "auto|FILE",                                                               \
     "simulate points of the run and estimate the whole: chosen by phases, or of a simpoints file"},                   \
        {"weights", OPTION_STRING, &(o)->weights, "FILE", "with --points FILE: SimPoint's weights of its clusters"},   \
        {"systematic", OPTION_FLAG, &(o)->systematic, NULL, "instead, simulate a small window in every period"},       \
        {"window", OPTION_COUNT, &(o)->window, "N", "instructions of a point (auto 1M, FILE 10M), or window (20K)"},   \
        {"period", OPTION_COUNT, &(o)->period, "N", "with --systematic: from window to window (1M)"},                  \
        {"count", OPTION_COUNT, &(o)->count, "N", "with --points auto: how many (4 % of the run, 12 to 60)"},          \
        {"lead", OPTION_COUNT, &(o)->lead, "N", "instructions before a point that warm caches, predictors (20M)"},     \
        {"jobs", OPTION_COUNT, &(o)->jobs, "N", "windows that are simulated at once (as many as processors)"},         \
    {                                                                                                                  \
        "keep", OPTION_STRING, &(o)->keep, "FILE", "keep finished windows there; an interrupted run goes on from it"   \
    }

bool points_options_given(const struct points_options *o);
/* What they ask for makes sense, also beside the other options of a simulation; fills in what was not given. 0 or a
 * negative code. */
int points_options_finish(struct points_options *o, struct simulation *s, struct error *err) MUST_CHECK;

#endif
