/* What stride predictors would have made of loads, as Sherwood, Perelman and Calder count it: for each instruction that
 * loads, one predictor for its address and one for its value, in a table that is never full.
 *
 * A predictor expects the last number plus its stride. The stride changes only when the new one was seen twice in a
 * row. The first load of an instruction is predicted by nobody, which counts as wrong; from then on it is expected to
 * repeat itself, with a stride of 0. So a walk with any other stride is predicted from its fourth load on.
 *
 * They predict nothing for the core: its timing is the same with and without them.
 *
 * Limits: without memory for one more instruction, that instruction's loads all count as wrong. */
#ifndef CYCLESCOPE_CORE_STRIDES_H
#define CYCLESCOPE_CORE_STRIDES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/index_table.h"

struct stride {
    uint64_t last;
    uint64_t stride;    /* that it predicts with */
    uint64_t candidate; /* the last difference that was seen */
};

struct stride_entry {
    uint64_t pc;
    struct stride addr, value;
};

/* All zero is an empty table. */
struct strides {
    struct stride_entry *of;
    size_t count, room;
    struct index_table by_pc;
};

/* Whether the number is as predicted; the predictor then knows it. */
static inline bool stride_follows(struct stride *s, uint64_t number)
{
    uint64_t seen = number - s->last;
    bool right = seen == s->stride;
    if (seen == s->candidate)
        s->stride = seen;
    s->candidate = seen;
    s->last = number;
    return right;
}

/* A load, in program order: EVENT_STRIDE_ADDR and EVENT_STRIDE_VALUE (core/core.h) for what was predicted wrongly. */
unsigned strides_judge(struct strides *s, uint64_t pc, uint64_t addr, uint64_t value);
void strides_free(struct strides *s); /* it is empty then */

#endif
