/* The options of commands that can simulate windows of a run instead of the whole run. */
#ifndef CYCLESCOPE_CMD_POINTS_OPTIONS_H
#define CYCLESCOPE_CMD_POINTS_OPTIONS_H

#include <stdbool.h>

#include "base/options.h"
#include "cmd/guest_run.h"
#include "phases/points.h"

struct points_options {
    const char *points;  /* "auto", or SimPoint's file of points; NULL: none */
    const char *weights; /* SimPoint's file of weights, or NULL */
    bool systematic;     /* instead of points: a window in every period */
    /* 0: not given; points_options_finish sets the default, except of `count`. */
    uint64_t window;            /* instructions of a window */
    uint64_t period;            /* with `systematic`: instructions from one window to the next */
    uint64_t lead;              /* instructions before a stretch, or a point of a file, that warm the core */
    uint64_t count;             /* with points auto: number of points; 0: chosen from the length of the run */
    uint64_t jobs;              /* windows that are simulated at the same time */
    const char *keep;           /* file for finished windows, or NULL */
    const char *precision_text; /* --precision as given, or NULL */
    double precision;           /* half interval of the CPI to reach, as a share of it; 0: as it comes */
    bool sized;                 /* the user said how many windows there are, and how long they are */
};

/* Which windows there are. */
#define WINDOWS_OPTION_ROWS(o)                                                                                         \
    {"points", OPTION_STRING, &(o)->points, "auto|FILE",                                                               \
     "simulate only points and estimate the run: auto chooses them by phases, FILE is SimPoint's"},                    \
        {"weights", OPTION_STRING, &(o)->weights, "FILE", "with --points FILE: SimPoint's weights of the points"},     \
        {"systematic", OPTION_FLAG, &(o)->systematic, NULL, "simulate a small window in every period instead"},        \
        {"window", OPTION_POSITIVE, &(o)->window, "N", "instructions per window (20K), or point of a FILE (10M)"},     \
        {"period", OPTION_POSITIVE, &(o)->period, "N",                                                                 \
         "with --systematic: instructions per window (chosen by precision)"},                                          \
        {"point-count", OPTION_POSITIVE, &(o)->count, "N",                                                             \
         "with --points auto: number of points (chosen by precision)"},                                                \
    {                                                                                                                  \
        "lead", OPTION_POSITIVE, &(o)->lead, "N", "instructions that warm a stretch (50M), or a point of a FILE (20M)" \
    }

#define POINTS_OPTION_ROWS(o)                                                                                          \
    WINDOWS_OPTION_ROWS(o),                                                                                            \
        {"jobs", OPTION_POSITIVE, &(o)->jobs, "N", "windows to simulate at the same time (number of processors)"},     \
        {"precision", OPTION_STRING, &(o)->precision_text, "P%",                                                       \
         "add windows until the CPI is known to ±P % (1, unless the windows are given)"},                              \
    {                                                                                                                  \
        "keep", OPTION_STRING, &(o)->keep, "FILE", "store finished windows; an interrupted run continues from them"    \
    }

bool points_options_given(const struct points_options *o);
/* Checks the options, also against those of the simulation, and sets the defaults of options that were not given.
 * Returns 0 or a negative code. */
int points_options_finish(struct points_options *o, struct simulation *s, struct error *err) MUST_CHECK;
/* Notes the files that the options name. Refuses a file of --keep that the command uses otherwise. Returns 0 or a
 * negative code. */
int points_options_names(const struct points_options *o, const struct own_output *own, struct error *err) MUST_CHECK;

#endif
