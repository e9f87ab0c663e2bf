/* Caches, TLBs and predictors of a core kept warm by a functional run: each instruction leaves the state that it would
 * leave, without time and without a wrong path. */
#ifndef CYCLESCOPE_CORE_WARM_H
#define CYCLESCOPE_CORE_WARM_H

#include "branch/branch.h"
#include "core/core.h"
#include "emulate/engine.h"

struct warmer {
    struct core *core;
    uint64_t line;     /* last line fetched from */
    bool branch_waits; /* the last instruction was a control transfer: where it led is known now */
    bool conditional;
    struct branch_record branch;
};

/* An engine_hooks.insn function; the context is a struct warmer. */
void warm_insn(void *context, const struct hart *h, uint64_t pc, const struct insn *insn);

/* The core goes on by itself, and watches code itself from now on. */
void warm_end(struct warmer *w);

#endif
