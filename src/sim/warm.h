/* Functional warming: a functional run keeps the caches, TLBs and predictors of a core warm. Each instruction leaves
 * the state that it would leave in a detailed run, without timing and without a wrong path.
 *
 * A predictor learns from a branch when the branch retires. By then it has already predicted the younger branches in
 * flight. Their number depends on timing, which warming does not have. The model assumes one branch in flight per 16
 * ROB entries, that is half a window with a branch in eight instructions, and none behind a mispredicted branch,
 * because fetch waits for its resolution. */
#ifndef CYCLESCOPE_SIM_WARM_H
#define CYCLESCOPE_SIM_WARM_H

#include "branch/branch.h"
#include "core/core.h"
#include "emulate/engine.h"
#include "sim/warm_count.h"

enum { WARM_BRANCHES = 64 }; /* ring size: most branches in flight, plus 1; a power of two */

/* A predicted branch and its outcome. */
struct warm_branch {
    uint64_t next; /* pc of the next instruction */
    bool taken;
    struct branch_record record;
};

struct warmer {
    struct core *core;            /* set by the caller before warm_begin */
    struct core_warm_parts parts; /* of the core, since warm_begin */
    const struct engine *engine;  /* since warm_begin */
    const struct engine_state *engine_state;
    bool strides;              /* set by the caller: stride predictors learn as well */
    uint64_t code[WARM_CODES]; /* WARM_CODE ... so far */
    uint64_t transfers;        /* branches and jumps so far that the predictors have seen */
    uint64_t mispredictions;   /* so far */
    uint64_t load_misses;      /* loads so far that missed the last cache */
    uint64_t leading_misses;   /* of these, those that no earlier one overlaps with */
    uint64_t leading_at;       /* transfers before the last leading miss */
    uint64_t addr;             /* of the last data access; only with `strides` */
    unsigned predicted;        /* branches predicted so far; wraps */
    unsigned learned;          /* branches retired so far; wraps */
    unsigned in_flight;        /* largest difference of `predicted` and `learned` */
    unsigned ring_mask;        /* branch number & ring_mask: its index in `branch` */
    struct warm_branch branch[WARM_BRANCHES];
    struct memsys_sets sets[2];     /* of fetches and of data */
    struct engine_filter recent[2]; /* the same: lines and pages used last in their sets, so that to use them again
                                       changes nothing */
};

/* Branches in flight, the oldest first, and what else tells how warming counts go on. */
struct warm_flight {
    uint64_t since_leading; /* transfers since the last leading miss */
    unsigned count;
    struct warm_branch branch[WARM_BRANCHES];
};

/* Installs hooks in the engine: every instruction that it executes from now on warms the core. */
void warm_begin(struct warmer *w, const struct engine *engine, struct engine_state *e);

/* Reads cache misses, page walks and mispredictions so far, by enum warm_count. Leaves to[WARM_INSNS] to the caller. */
void warm_read(const struct warmer *w, uint64_t to[WARM_COUNTS]);

/* Copy the branches in flight out of a warmer, and into one that has begun and has none: with the core's warm state
 * (core_put_warm) they are all that a later warming and its counts depend on. */
void warm_put_flight(const struct warmer *w, struct warm_flight *to);
void warm_get_flight(struct warmer *w, const struct warm_flight *from);

/* Retires all branches in flight: the predictors learn from them. */
void warm_settle(struct warmer *w);

/* Ends warming: settles, and makes the core decode guest code anew and watch it for changes. Leaves the hooks in the
 * engine. */
void warm_end(struct warmer *w);

#endif
