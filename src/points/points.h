/* Which windows of a run are simulated, and what each of them stands for.
 *
 * Points: windows at places that were chosen, each of a phase; a phase has a weight, its share of the run. Several
 * points of a phase say how much it varies. Systematic: a window in the middle of every period, with caches and
 * predictors warm from all that ran before in its stretch; how many there are shows when the run ends. */
#ifndef CYCLESCOPE_POINTS_POINTS_H
#define CYCLESCOPE_POINTS_POINTS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/windows.h"

struct point {
    struct window window;
    unsigned phase; /* index of points.phase */
};

struct point_phase {
    unsigned id;      /* as the file calls it */
    double weight;    /* share of the run's instructions; all sum to 1 */
    size_t intervals; /* that it has in all, or 0: unknown */
};

struct points {
    struct point *point; /* in the order of the run, disjoint; NULL if systematic */
    size_t count;
    struct point_phase *phase;
    unsigned phases;
    uint64_t lead;   /* instructions before a point, or a stretch of them, that warm caches and predictors */
    uint64_t period; /* systematic: from window to window; else 0 */
    uint64_t insns;  /* of each window */
};

/* SimPoint's files: lines `interval cluster` and `weight cluster`, intervals of `interval` instructions. Without
 * weights every point counts the same. A cluster may have several points: its weights add up. 0 or a negative code. */
int points_read(struct points *p, const char *simpoints, const char *weights, uint64_t interval,
                struct error *err) MUST_CHECK;
void points_free(struct points *p);

/* Puts points in order and checks that they are disjoint and that weights sum to 1. */
int points_finish(struct points *p, struct error *err) MUST_CHECK;

/* Window number `i`; false if there are not so many. */
bool points_window(const struct points *p, size_t i, struct window *w);

#endif
