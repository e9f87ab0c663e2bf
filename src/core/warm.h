/* Caches, TLBs and predictors of a core kept warm by a functional run: each instruction leaves the state that it would
 * leave, without time and without a wrong path. */
#ifndef CYCLESCOPE_CORE_WARM_H
#define CYCLESCOPE_CORE_WARM_H

#include "branch/branch.h"
#include "core/core.h"
#include "emulate/engine.h"

/* What warm instructions did to caches, TLBs and predictors. */
enum warm_count {
    WARM_INSNS,
    WARM_L1I,
    WARM_L1D,
    WARM_L2I,
    WARM_L2D,
    WARM_L3,
    WARM_WALKS,
    WARM_MISPREDICTIONS,
    WARM_COUNTS
};

struct warmer {
    struct core *core;
    uint64_t mispredictions;
    uint64_t line;     /* last line fetched from */
    bool branch_waits; /* the last instruction was a control transfer: where it led is known now */
    bool conditional;
    struct branch_record branch;
};

/* An engine_hooks.insn function; the context is a struct warmer. */
void warm_insn(void *context, const struct hart *h, uint64_t pc, const struct insn *insn);

/* Misses of caches, page walks and mispredictions so far, by enum warm_count; instructions are the caller's to count.
 */
void warm_read(const struct warmer *w, uint64_t to[WARM_COUNTS]);

/* The core goes on by itself, and watches code itself from now on. */
void warm_end(struct warmer *w);

#endif
