/* Caches, TLBs and predictors of a core kept warm by a functional run: each instruction leaves the state that it would
 * leave, without time and without a wrong path. */
#ifndef CYCLESCOPE_CORE_WARM_H
#define CYCLESCOPE_CORE_WARM_H

#include "branch/branch.h"
#include "core/core.h"
#include "core/warm_count.h"
#include "emulate/engine.h"

struct warmer {
    struct core *core;
    bool strides; /* stride predictors learn as well */
    uint64_t mispredictions;
    uint64_t addr;               /* of the last access */
    struct branch_record branch; /* of the transfer being learned; here since it is large */
};

/* From now on what the engine executes warms the core. */
void warm_begin(struct warmer *w, const struct engine *engine, struct engine_state *e);

/* Misses of caches, page walks and mispredictions so far, by enum warm_count; instructions are the caller's to count.
 */
void warm_read(const struct warmer *w, uint64_t to[WARM_COUNTS]);

/* The core goes on by itself, and watches code itself from now on. */
void warm_end(struct warmer *w);

#endif
