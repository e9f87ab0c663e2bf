/* Windows of a run measured on a core whose caches, TLBs and predictors are warm from what ran before:
 *
 *     [ functional, warm ][ warm-up ][ window ][ functional, warm ][ warm-up ][ window ] ...
 *
 * Each window but the last is measured by a copy of the process, which ends with it; the process itself goes on warming
 * as if there had been none. So windows do not disturb each other, and each is measured from the same state, whatever
 * the others are. What warming itself notes of every instruction, misses and mispredictions, tells how the windows
 * differ from all that lies between them. */
#ifndef CYCLESCOPE_CORE_WINDOWS_H
#define CYCLESCOPE_CORE_WINDOWS_H

#include "core/simulate.h"
#include "core/warm_count.h"

struct window {
    uint64_t start; /* in instructions of the process since it began */
    uint64_t insns;
};

struct windows {
    const struct simulation *simulation; /* of each; skip_insns, warm and max_insns are not used */
    const struct window *window;         /* in the order of the run, apart by at least warmup_insns */
    unsigned count;
    /* A window was measured, or not: then `r` is NULL and `err` says why. Called in the host process that measured it,
     * where simulation.sum has its numbers, except for one that died. */
    void (*told)(void *context, unsigned i, struct process *p, const struct simulation_result *r,
                 const struct error *err);
    /* Of a stretch that is warmed from `from` to `to` and has the windows in it: what happened to caches and predictors
     * in window `i`, and in the whole stretch, or as far as the program goes, when i is `count`. NULL: windows are all
     * that matters. */
    void (*warmed)(void *context, unsigned i, const uint64_t grown[WARM_COUNTS]);
    uint64_t from, to;
    void *context;
};

/* For a process that is a shadow (guest/shadow.h); it is of no use afterwards. 0 or a negative code. */
int simulate_windows(struct process *p, const struct windows *w, struct error *err) MUST_CHECK;

/* A process like fork's whose end sends no signal to its parent, for whom guests' children do. */
int fork_silently(void);

#endif
