/* Finds whole stalls in the records of single cycles, and what each stall is charged to.
 *
 * A stall is a run of cycles in which nothing retires. Cycles with an empty ROB are charged one by one, to the most
 * recent instruction miss, misfetch or misprediction. A run of cycles with instructions in the ROB is charged as a
 * whole when retirement resumes. It is charged to what finished last: what the oldest instruction waited for in the
 * last cycle (with bundles: the oldest unfinished instruction of the first bundle). There are two exceptions: a last
 * cycle with a data hit, and the single cycle in which a store or a fence finishes. If the same instruction waited for
 * a translation, a rejection or older stores before, the stall is charged to that wait. An instruction that waits for
 * its turn to issue is therefore charged by its own class, regardless of what its operands waited for.
 *
 * Mode changes, reads of counters by firmware and the end of a run happen with nothing in flight, so they never divide
 * a stall.
 *
 * Limits: units with a latency of one cycle count as integer units. What an instruction waited for before it was the
 * oldest is not known. */
#ifndef CYCLESCOPE_PMU_STALL_METER_H
#define CYCLESCOPE_PMU_STALL_METER_H

#include "core/core.h"

/* What a stall is charged to, in the order of the mask of event stall_breakdown. */
enum stall_part {
    PART_ICACHE,      /* instruction miss of a cache or the TLB */
    PART_BRANCH,      /* misprediction or misfetch */
    PART_DCACHE,      /* data from beyond the first cache */
    PART_TRANSLATION, /* translation of a data address */
    PART_REJECT,      /* rejected access: an overlap with a store, or no MSHR */
    PART_FPU,         /* latency of floating-point units */
    PART_INTEGER,     /* latency of integer units */
    PART_HIT,         /* data from the first cache, or forwarded */
    PART_STORES,      /* older stores, or room in the store buffer */
    PART_OTHER,       /* the window drained, or nothing has been fetched yet */
    STALL_PARTS
};

/* What this record of a stall is charged to. */
enum stall_part stall_part_of(const struct cycle_record *r);

/* Whether these cycles belong to a stall that is charged as a whole: nothing retires, and the ROB is not empty. */
static inline bool stall_is_whole(const struct cycle_record *r)
{
    return r->committed == 0 && r->commit_stop != COMMIT_EMPTY;
}

struct stall_meter {
    uint64_t cycles;          /* length so far of the current stall; 0: no stall */
    struct cycle_record last; /* its last record, with head_wait replaced by the wait that the stall is charged to */
    uint8_t wait;             /* head_wait of the last record, as the core reported it */
    uint8_t before;           /* earlier wait that a data hit or a single cycle is charged to, or HEAD_NOTHING */
};

/* Adds n cycles for which stall_is_whole holds. */
void stall_meter_add(struct stall_meter *m, const struct cycle_record *r, uint64_t n);

/* Ends the current stall, if any, and returns its length. It is charged to stall_part_of(&m->last). */
static inline uint64_t stall_meter_end(struct stall_meter *m)
{
    uint64_t cycles = m->cycles;
    m->cycles = 0;
    m->wait = m->before = HEAD_NOTHING;
    return cycles;
}

#endif
