/* What the record of a cycle says of events. */
#include "pmu/event_table_priv.h"
#include "pmu/stall_meter.h"

#define QUESTION(name, value)                                                                                          \
    uint64_t name(const struct cycle_record *r, uint32_t selection)                                                    \
    {                                                                                                                  \
        (void)r;                                                                                                       \
        (void)selection;                                                                                               \
        return value;                                                                                                  \
    }

static uint64_t selects(uint32_t selection, uint32_t bit)
{
    return (selection & bit) != 0;
}

/* ---- what the stages did */

QUESTION(cycle_each, 1)
QUESTION(cycle_fetched, r->fetched)
QUESTION(cycle_dispatched, r->dispatched)
QUESTION(cycle_issued, r->issued)
QUESTION(cycle_committed, r->committed)
QUESTION(cycle_dispatched_wrong, r->dispatched_wrong)
QUESTION(cycle_issued_wrong, r->issued_wrong)
QUESTION(cycle_wrong_path, (r->flags & CYCLE_WRONG_PATH) != 0)

QUESTION(cycle_fetches, r->fetched != 0)
QUESTION(cycle_dispatches, r->dispatched != 0)
QUESTION(cycle_issues, r->issued != 0)

/* ---- why they did not more, and why they did nothing */

QUESTION(cycle_fetch_stop, selects(selection, REASON_BIT(r->fetch_stop)))
QUESTION(cycle_dispatch_stop, selects(selection, REASON_BIT(r->dispatch_stop)))
QUESTION(cycle_issue_stop, selects(selection, REASON_BIT(r->issue_stop)))
QUESTION(cycle_commit_stop, selects(selection, REASON_BIT(r->commit_stop)))

/* The first reason is that there is none. */
static uint64_t stalls(uint32_t selection, unsigned moved, unsigned reason)
{
    return moved == 0 && reason > 0 && selects(selection, STALL_BIT(reason));
}

QUESTION(cycle_fetch_stall, stalls(selection, r->fetched, r->fetch_stop))
QUESTION(cycle_dispatch_stall, stalls(selection, r->dispatched, r->dispatch_stop))
QUESTION(cycle_issue_stall, stalls(selection, r->issued, r->issue_stop))
QUESTION(cycle_commit_stall, stalls(selection, r->committed, r->commit_stop))
QUESTION(cycle_head_stall, stalls(selection, 0, r->head_wait))

static bool lacks_room(const struct cycle_record *r)
{
    return r->dispatch_stop >= DISPATCH_ROB && r->dispatch_stop <= DISPATCH_REGS;
}

QUESTION(cycle_front_end_stall, r->dispatched == 0 && r->dispatch_stop == DISPATCH_EMPTY)
QUESTION(cycle_back_end_stall, r->dispatched == 0 && lacks_room(r))

/* ---- the stall breakdown: cycles in which something retires, in which nothing is there to retire, and by what the
 * oldest instruction waits for */

static bool nothing_to_retire(const struct cycle_record *r)
{
    return r->committed == 0 && r->commit_stop == COMMIT_EMPTY;
}

QUESTION(cycle_completes, r->committed != 0)
QUESTION(cycle_window_empty, nothing_to_retire(r) && selects(selection, REASON_BIT(r->cause)))
QUESTION(cycle_window_entered, nothing_to_retire(r) && r->dispatched != 0)
QUESTION(cycle_moves, r->committed != 0 || (nothing_to_retire(r) && r->dispatched != 0))
QUESTION(cycle_translation_stall, r->head_wait == HEAD_DTLB)
QUESTION(cycle_reject_stall, r->head_wait == HEAD_REJECT)
QUESTION(cycle_turn_stall, r->head_wait == HEAD_ISSUE)
QUESTION(cycle_fpu_stall, r->head_wait == HEAD_FPU)
QUESTION(cycle_store_stall, r->head_wait == HEAD_STORES)

/* A bit for some of the waits; 0 for the others. */
static const uint32_t data_bit[HEAD_WAITS] = {
    [HEAD_L1D_HIT] = WAITS_L1, [HEAD_L1D] = WAITS_LOWER, [HEAD_L2D] = WAITS_MEMORY, [HEAD_WALKED] = WAITS_WALKED};
static const uint32_t integer_bit[HEAD_WAITS] = {[HEAD_ALU] = WAITS_ALU, [HEAD_UNIT] = WAITS_LONG};

QUESTION(cycle_data_stall, selects(selection, data_bit[r->head_wait]))
QUESTION(cycle_integer_stall, selects(selection, integer_bit[r->head_wait]))

/* Asked of a stall's last cycle. */
QUESTION(cycle_stall_part, r->committed == 0 && selects(selection, REASON_BIT(stall_part_of(r))))

/* ---- the counters of fmt, sfmt and fmt2 (stacks/stacks_priv.h). The back end is blocked by a full ROB or load/store
 * queue; for fmt2 by anything that stops dispatch for want of room. The other cycles are open. */

static bool rob_blocked(const struct cycle_record *r)
{
    return r->flags & CYCLE_ROB_FULL || r->dispatch_stop == DISPATCH_LSQ;
}

static bool window_blocked(const struct cycle_record *r)
{
    return rob_blocked(r) || lacks_room(r);
}

static bool starved(const struct cycle_record *r, uint32_t selection)
{
    return r->flags & CYCLE_STARVED && selects(selection, REASON_BIT(r->fetch_stop - FETCH_L1I));
}

QUESTION(cycle_rob_blocked, rob_blocked(r) && selects(selection, REASON_BIT(r->head_wait)))
QUESTION(cycle_rob_starved, !rob_blocked(r) && starved(r, selection))
QUESTION(cycle_window_blocked, window_blocked(r) && selects(selection, REASON_BIT(r->head_wait)))
QUESTION(cycle_window_starved, !window_blocked(r) && starved(r, selection))
QUESTION(cycle_window_open, !window_blocked(r) && selects(selection, REASON_BIT(r->head_wait)))

/* ---- resources */

QUESTION(cycle_rob_occupancy, r->rob)
QUESTION(cycle_rob_full, (r->flags & CYCLE_ROB_FULL) != 0)
QUESTION(cycle_rob_empty, r->rob == 0)
QUESTION(cycle_iq_full, r->dispatch_stop == DISPATCH_IQ)
QUESTION(cycle_lsq_full, r->dispatch_stop == DISPATCH_LSQ)
QUESTION(cycle_registers_full, r->dispatch_stop == DISPATCH_REGS)
QUESTION(cycle_store_buffer_full, r->commit_stop == COMMIT_STORES)
QUESTION(cycle_units_taken, r->issue_stop == ISSUE_UNITS)
