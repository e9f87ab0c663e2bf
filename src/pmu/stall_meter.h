/* Stalls as wholes, made of the records of single cycles.
 *
 * A stall is a run of cycles in which nothing retires. Cycles with an empty window are charged one by one, to the most
 * recent instruction miss, misfetch or misprediction. A run of cycles with something in the window is charged as a
 * whole when retirement goes on, to what finished last: what the oldest instruction (of bundles: the oldest that is not
 * done of the first) waited for in the last cycle. But a data hit, and the one cycle in which a store or a fence
 * finishes, count for what that instruction waited for before, if it was a translation, a rejection or older stores.
 * What waits for its turn is thus charged by its own class, whatever its operands waited for.
 *
 * Modes change, counters are read by firmware and runs end with an empty window, so no whole is ever cut there.
 *
 * Limits: units of one cycle are integer units. What befell an instruction before it was the oldest is not known. */
#ifndef CYCLESCOPE_PMU_STALL_METER_H
#define CYCLESCOPE_PMU_STALL_METER_H

#include "core/core.h"

/* In the order of the mask of the event stall-breakdown. */
enum stall_part {
    PART_ICACHE,      /* an instruction miss, that of a translation included */
    PART_BRANCH,      /* a misprediction or a misfetch */
    PART_DCACHE,      /* data from beyond the first cache */
    PART_TRANSLATION, /* of data */
    PART_REJECT,      /* sent back */
    PART_FPU,         /* latency of floating point */
    PART_INTEGER,     /* latency of integer units */
    PART_HIT,         /* data from the first cache, or forwarded */
    PART_STORES,      /* older stores, or room in the store buffer */
    PART_OTHER,       /* the window drained, or nothing has been fetched yet */
    STALL_PARTS
};

/* What the cycles of this record are charged to. It is one of a stall. */
enum stall_part stall_part_of(const struct cycle_record *r);

static inline bool stall_is_whole(const struct cycle_record *r)
{
    return r->committed == 0 && r->commit_stop != COMMIT_EMPTY;
}

struct stall_meter {
    uint64_t cycles;          /* of the stall that is under way; 0: none is */
    struct cycle_record last; /* its last, as it is to be charged */
    uint8_t wait;             /* enum head_wait of that, as it was told */
    uint8_t before;           /* what a quick end would count for, or HEAD_NOTHING */
};

/* These cycles are part of a stall that is charged as a whole. */
void stall_meter_add(struct stall_meter *m, const struct cycle_record *r, uint64_t n);

/* These are not: how long the stall was that they end, if there was one; it is charged by `m->last`. */
static inline uint64_t stall_meter_end(struct stall_meter *m)
{
    uint64_t cycles = m->cycles;
    m->cycles = 0;
    m->wait = m->before = HEAD_NOTHING;
    return cycles;
}

#endif
