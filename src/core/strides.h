/* Stride predictors for loads, as Sherwood, Perelman and Calder count them: each load instruction has one predictor for
 * its address and one for its value, in a table without limit.
 *
 * A predictor expects the last number plus its stride. The stride changes only when a new difference was seen twice in
 * a row. The first load of an instruction has no prediction, which counts as wrong. After it the predictor has a stride
 * of 0: it expects the same number again. So accesses with any other constant stride are predicted from the fourth load
 * on.
 *
 * The predictors have no effect on the core: its timing is the same with and without them.
 *
 * Limits: without memory for a new instruction, all loads of that instruction count as wrong. */
#ifndef CYCLESCOPE_CORE_STRIDES_H
#define CYCLESCOPE_CORE_STRIDES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/index_table.h"

struct stride {
    uint64_t last;      /* last number seen */
    uint64_t stride;    /* stride that it predicts with */
    uint64_t candidate; /* last difference that was seen */
};

struct stride_entry {
    uint64_t pc;
    struct stride addr, value;
};

/* Predictors of all load instructions. All zero is an empty table. */
struct strides {
    struct stride_entry *of;  /* one entry per load instruction */
    size_t count, room;       /* entries; entries that `of` has room for */
    struct index_table by_pc; /* pc → index in `of` */
};

/* Returns whether the number is as predicted, and trains the predictor with it. */
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

/* Compares one load with its predictors and trains them; call in program order. Returns EVENT_STRIDE_ADDR and
 * EVENT_STRIDE_VALUE (core/core.h) for what was mispredicted. */
unsigned strides_judge(struct strides *s, uint64_t pc, uint64_t addr, uint64_t value);
void strides_free(struct strides *s); /* the table is empty afterwards */

#endif
