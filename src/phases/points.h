/* Sampled runs: which windows of a run are simulated in detail, and what each of them represents.
 *
 * Terms of a sampled run:
 *
 *   window      stretch of instructions that is simulated in detail and measured (sim/windows.h)
 *   head        the first window: the start of the run, from a cold core. It represents only itself
 *   pass        the functional run of the whole program; copies of the process measure the windows meanwhile (pass.h)
 *   phase       a stratum of the sample: parts of the run that behave alike, and are represented by their windows
 *   weight      of a phase: its share of the run's instructions; the weights of all phases sum to 1
 *   point       window that was chosen to represent its phase; several points show how much a phase varies
 *   lead        instructions before a window that warm caches and predictors
 *   systematic  the other kind of sample: one window at a random place in every period
 *   period      of a systematic sample: a number of units
 *   unit        part of the run behind the head, as long as a window. Warming counts the misses and mispredictions of
 *               every unit, unless points were read from a file; these counts predict what was not measured
 *   twice       of a window: measured a second time with longer warming, to see what error the usual warming leaves
 *   batch       consecutive windows that one copy measures
 *   stretch     the part of the run that one copy measures at most
 *   kept        of a window: measured by an earlier, interrupted run and read from a file (kept.h)
 *
 * The windows of a batch are warm from the lead of its stretch on; points of files, from the lead of the first one on.
 * The number of systematic windows is known when the run ends. */
#ifndef CYCLESCOPE_PHASES_POINTS_H
#define CYCLESCOPE_PHASES_POINTS_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/windows.h"

struct point {
    struct window window;
    unsigned phase; /* index of points.phase */
    bool twice;     /* measured a second time, with longer warming */
    bool settled;   /* measured after points.settled_warmup; it may contain the points before it (settle.h) */
};

struct point_phase {
    unsigned id;      /* its number in the file it was read from, else its index; strata have that of their phase */
    double weight;    /* share of the run's instructions; the weights of all phases sum to 1 */
    size_t intervals; /* windows that the phase could have: its complete intervals or units; 0: unknown */
};

struct points {
    struct point *point; /* in the order of the run, disjoint; NULL: systematic */
    size_t count;
    struct point_phase *phase; /* systematic: made when the run has ended */
    unsigned phases;
    uint64_t head;        /* instructions of the head, which is the first window; 0: no head */
    uint64_t lead;        /* instructions before a batch that warm the core */
    uint64_t second_lead; /* points: the same for windows that are measured a second time */
    uint64_t period;      /* systematic: instructions from period to period, a multiple of `insns`; 0: points */
    uint64_t covered;     /* instructions of the run, every unit of which is warmed and counted; 0: systematic: unknown;
                             points: the core is warmed only before them */
    uint64_t first_stretch;  /* most instructions from the first to the last window of the first batch, about */
    uint64_t stretch;        /* the same of other batches, which have a lead to warm */
    bool one_stretch;        /* the run has no other batch than the head and one more */
    uint64_t insns;          /* length of each window but the head */
    uint64_t settled_warmup; /* instructions in detail before a settled window */
    uint64_t seed;           /* systematic: decides the place of the window in each period */
    uint64_t second_every;   /* systematic: every how many windows one is measured a second time; 0: about √(2n) of n
                                windows */
};

/* The phase of every unit of the run from the head on: `count` units of points.insns instructions. */
struct unit_phases {
    uint8_t *phase; /* index of points.phase, or UNIT_ALONE */
    size_t count;
};
enum { UNIT_ALONE = 255 }; /* the unit belongs to no phase: it is incomplete */

/* Reads points from SimPoint's files: lines `interval cluster`, and in the file of weights (NULL: all points have the
 * same weight) lines `weight cluster`. Intervals have `interval` instructions. Clusters become phases; the weights of
 * several points of a cluster add up. 0 or a negative code with a message; points_free is due in any case. */
int points_read(struct points *p, const char *simpoints, const char *weights, uint64_t interval,
                struct error *err) MUST_CHECK;
void points_free(struct points *p);

/* Sorts the points, checks that they are disjoint, and scales weights that sum to about 1 so that they sum to 1.
 * -EINVAL with a message if the points overlap or the weights are far off. */
int points_finish(struct points *p, struct error *err) MUST_CHECK;

/* Window number `i`. False: the sample has fewer windows. A systematic sample never ends. */
bool points_window(const struct points *p, size_t i, struct window *w);
/* Whether window `i` is measured a second time, with longer warming. */
bool points_twice(const struct points *p, size_t i);

#endif
