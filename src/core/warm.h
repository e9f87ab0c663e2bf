/* Caches, TLBs and predictors of a core kept warm by a functional run: each instruction leaves the state that it would
 * leave, without time and without a wrong path.
 *
 * Predictors learn from a branch when it retires, and have predicted those that are in flight behind it by then. How
 * many these are, only time would tell; here it is one for each 16 entries of the ROB, that is half a window with a
 * branch in eight instructions, and none behind a misprediction, which is waited for. */
#ifndef CYCLESCOPE_CORE_WARM_H
#define CYCLESCOPE_CORE_WARM_H

#include "branch/branch.h"
#include "core/core.h"
#include "core/warm_count.h"
#include "emulate/engine.h"

enum { WARM_BRANCHES = 64 }; /* most in flight, and one: a power of two */

/* A branch that was predicted, and how it went. */
struct warm_branch {
    struct branch_record record;
    uint64_t next;
    bool taken;
};

struct warmer {
    struct core *core;
    bool strides; /* stride predictors learn as well */
    uint64_t mispredictions;
    uint64_t addr;               /* of the last access */
    unsigned predicted, learned; /* branches so far */
    unsigned in_flight;          /* between the two, at most */
    unsigned ring_mask;
    struct warm_branch branch[WARM_BRANCHES]; /* by number */
};

/* From now on what the engine executes warms the core. */
void warm_begin(struct warmer *w, const struct engine *engine, struct engine_state *e);

/* Misses of caches, page walks and mispredictions so far, by enum warm_count; instructions are the caller's to count.
 */
void warm_read(const struct warmer *w, uint64_t to[WARM_COUNTS]);

/* What is in flight retires. */
void warm_settle(struct warmer *w);

/* The core goes on by itself, and watches code itself from now on. */
void warm_end(struct warmer *w);

#endif
