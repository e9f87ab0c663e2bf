#include "pmu/stall_meter.h"

enum stall_part stall_part_of(const struct cycle_record *r)
{
    static const uint8_t by_cause[CAUSES] = {
        [CAUSE_NONE] = PART_OTHER,  [CAUSE_L1I] = PART_ICACHE,      [CAUSE_L2I] = PART_ICACHE,
        [CAUSE_ITLB] = PART_ICACHE, [CAUSE_MISFETCH] = PART_BRANCH, [CAUSE_BRANCH] = PART_BRANCH,
        [CAUSE_SERIAL] = PART_OTHER};
    static const uint8_t by_wait[HEAD_WAITS] = {
        [HEAD_NOTHING] = PART_OTHER, [HEAD_ISSUE] = PART_OTHER,   [HEAD_ALU] = PART_INTEGER,
        [HEAD_UNIT] = PART_INTEGER,  [HEAD_FPU] = PART_FPU,       [HEAD_L1D_HIT] = PART_HIT,
        [HEAD_L1D] = PART_DCACHE,    [HEAD_L2D] = PART_DCACHE,    [HEAD_DTLB] = PART_TRANSLATION,
        [HEAD_WALKED] = PART_DCACHE, [HEAD_REJECT] = PART_REJECT, [HEAD_STORES] = PART_STORES};
    return r->commit_stop == COMMIT_EMPTY ? by_cause[r->cause] : by_wait[r->head_wait];
}

/* The wait that the stall is charged to if these n cycles are its last. */
static uint8_t charged_wait(struct stall_meter *m, uint8_t wait, uint64_t n)
{
    uint8_t before = m->before;
    switch (wait) {
    case HEAD_REJECT:
    case HEAD_DTLB:
    case HEAD_STORES: m->before = wait; return wait;
    case HEAD_L1D_HIT: return before ? before : wait;
    case HEAD_ISSUE: /* an atomic or a fence issues when the older stores have left; else another instruction is the
                        head now */
        if (before != HEAD_STORES || m->wait == HEAD_L1D_HIT)
            m->before = HEAD_NOTHING;
        return wait;
    case HEAD_ALU: /* after a hit, another instruction is the head now; a store takes one cycle */
        m->before = HEAD_NOTHING;
        return before && n == 1 && m->wait != HEAD_L1D_HIT ? before : wait;
    default: m->before = HEAD_NOTHING; return wait;
    }
}

void stall_meter_add(struct stall_meter *m, const struct cycle_record *r, uint64_t n)
{
    m->last = *r;
    m->last.head_wait = charged_wait(m, r->head_wait, n);
    m->wait = r->head_wait;
    m->cycles += n;
}
