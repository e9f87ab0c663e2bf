/* Measures windows of a run on a core that functional warming keeps warm up to each window:
 *
 *     [ functional, warm ][ warm-up ][ window ][ functional, warm ][ warm-up ][ window ] ...
 *
 * A copy of the process measures a window and ends with it; the process itself goes on warming through the window.
 * (Where nothing is warmed after the last window, the process measures that one itself.) So windows do not disturb each
 * other, and the state at the start of a window does not depend on the choice of the other windows. The misses and
 * mispredictions that warming counts on every instruction show how the windows differ from the instructions between
 * them. */
#ifndef CYCLESCOPE_SIM_WINDOWS_H
#define CYCLESCOPE_SIM_WINDOWS_H

#include "sim/simulate.h"
#include "sim/warm_count.h"

struct window {
    uint64_t start; /* instructions of the process before the window */
    uint64_t insns;
};

struct windows {
    const struct simulation *simulation; /* of each window; skip_insns, warm and max_insns are not used */
    const struct window *window;         /* in the order of the run */
    unsigned count;
    const bool *twice;            /* by window: measure it a second time, with a longer warm-up. NULL: none */
    uint64_t second_warmup_insns; /* warm-up of the second measurement of a window */
    unsigned beside;              /* measurements that run while warming goes on; 0: warming waits for each */
    /* Called once per measurement. The call comes in the host process that measured, where simulation.sum has the
     * numbers; or in the caller's process, if the measuring process died or the window was not reached. `second`: this
     * is the second measurement of the window. If `r` is NULL, the window was not measured, and `err` says why. */
    void (*measured)(void *context, unsigned i, bool second, struct process *p, const struct simulation_result *r,
                     const struct error *err);
    /* Called with what warming counted in unit `i`, the stretch of unit_insns instructions that begins at
     * from + i * unit_insns; for each unit that ends at or before `to`, or before the program's end. NULL: do not warm
     * beyond the last window. */
    void (*warmed)(void *context, uint64_t i, const uint64_t grown[WARM_COUNTS]);
    uint64_t from, to; /* with `warmed`: the stretch that contains all windows */
    uint64_t unit_insns;
    /* Called at the start of unit `i`, before anything else in it, with the warm state there; with `warmed`, for every
     * save_units-th unit. NULL: nothing is saved. Returns 0 or a negative code: then no more is saved. */
    int (*save)(void *context, uint64_t i, const void *state, size_t bytes);
    uint64_t save_units;
    const bool
        *stop; /* with `warmed`, in shared memory: warming ends at the end of a unit when this is set. NULL: never */
    const void *state; /* from `save`: the warm state of the process now. NULL: caches and predictors start cold */
    size_t state_bytes;
    void *context;
};

/* `p` must be a copy (guest/process_copy.h); it is of no use afterwards. 0 or a negative code. */
int simulate_windows(struct process *p, const struct windows *w, struct error *err) MUST_CHECK;

#endif
