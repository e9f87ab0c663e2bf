/* Values of events computed from the record of a cycle. */
#include "pmu/event_table_priv.h"
#include "pmu/stall_meter.h"

/* Defines a function of type cycle_value; the expression may use `r` and `selection`. */
#define CYCLE_VALUE(name, value)                                                                                       \
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

/* ---- what stages did */

CYCLE_VALUE(cycle_each, 1)
CYCLE_VALUE(cycle_fetched, r->fetched)
CYCLE_VALUE(cycle_dispatched, r->dispatched)
CYCLE_VALUE(cycle_issued, r->issued)
CYCLE_VALUE(cycle_committed, r->committed)
CYCLE_VALUE(cycle_dispatched_wrong, r->dispatched_wrong)
CYCLE_VALUE(cycle_issued_wrong, r->issued_wrong)
CYCLE_VALUE(cycle_wrong_path, (r->flags & CYCLE_WRONG_PATH) != 0)

CYCLE_VALUE(cycle_fetches, r->fetched != 0)
CYCLE_VALUE(cycle_dispatches, r->dispatched != 0)
CYCLE_VALUE(cycle_issues, r->issued != 0)

/* ---- stops: why a stage did not do more; stalls: why it did nothing */

CYCLE_VALUE(cycle_fetch_stop, selects(selection, REASON_BIT(r->fetch_stop)))
CYCLE_VALUE(cycle_dispatch_stop, selects(selection, REASON_BIT(r->dispatch_stop)))
CYCLE_VALUE(cycle_issue_stop, selects(selection, REASON_BIT(r->issue_stop)))
CYCLE_VALUE(cycle_commit_stop, selects(selection, REASON_BIT(r->commit_stop)))

/* 1 if the stage moved no instruction for a selected reason. Reason 0 means no stall. */
static uint64_t stalls(uint32_t selection, unsigned moved, unsigned reason)
{
    return moved == 0 && reason > 0 && selects(selection, STALL_BIT(reason));
}

CYCLE_VALUE(cycle_fetch_stall, stalls(selection, r->fetched, r->fetch_stop))
CYCLE_VALUE(cycle_dispatch_stall, stalls(selection, r->dispatched, r->dispatch_stop))
CYCLE_VALUE(cycle_issue_stall, stalls(selection, r->issued, r->issue_stop))
CYCLE_VALUE(cycle_commit_stall, stalls(selection, r->committed, r->commit_stop))
CYCLE_VALUE(cycle_head_stall, stalls(selection, 0, r->head_wait))

static bool lacks_room(const struct cycle_record *r)
{
    return r->dispatch_stop >= DISPATCH_ROB && r->dispatch_stop <= DISPATCH_REGS;
}

CYCLE_VALUE(cycle_front_end_stall, r->dispatched == 0 && r->dispatch_stop == DISPATCH_EMPTY)
CYCLE_VALUE(cycle_back_end_stall, r->dispatched == 0 && lacks_room(r))

/* ---- the stall breakdown: cycles in which something retires, in which the ROB is empty, and else by what the oldest
 * instruction waits for */

static bool nothing_to_retire(const struct cycle_record *r)
{
    return r->committed == 0 && r->commit_stop == COMMIT_EMPTY;
}

CYCLE_VALUE(cycle_completes, r->committed != 0)
CYCLE_VALUE(cycle_window_empty, nothing_to_retire(r) && selects(selection, REASON_BIT(r->cause)))
CYCLE_VALUE(cycle_window_entered, nothing_to_retire(r) && r->dispatched != 0)
CYCLE_VALUE(cycle_moves, r->committed != 0 || (nothing_to_retire(r) && r->dispatched != 0))
CYCLE_VALUE(cycle_translation_stall, r->head_wait == HEAD_DTLB)
CYCLE_VALUE(cycle_reject_stall, r->head_wait == HEAD_REJECT)
CYCLE_VALUE(cycle_turn_stall, r->head_wait == HEAD_ISSUE)
CYCLE_VALUE(cycle_fpu_stall, r->head_wait == HEAD_FPU)
CYCLE_VALUE(cycle_store_stall, r->head_wait == HEAD_STORES)

/* Mask bits of the waits that these events count; 0 for other waits. */
static const uint32_t data_bit[HEAD_WAITS] = {
    [HEAD_L1D_HIT] = WAITS_L1, [HEAD_L1D] = WAITS_LOWER, [HEAD_L2D] = WAITS_MEMORY, [HEAD_WALKED] = WAITS_WALKED};
static const uint32_t integer_bit[HEAD_WAITS] = {[HEAD_ALU] = WAITS_ALU, [HEAD_UNIT] = WAITS_LONG};

CYCLE_VALUE(cycle_data_stall, selects(selection, data_bit[r->head_wait]))
CYCLE_VALUE(cycle_integer_stall, selects(selection, integer_bit[r->head_wait]))

/* Applied to the last record of a stall. */
CYCLE_VALUE(cycle_stall_part, r->committed == 0 && selects(selection, REASON_BIT(stall_part_of(r))))

/* ---- inputs of fmt, sfmt and fmt2 (stacks/stacks_priv.h). For fmt and sfmt, the back end is blocked by a full ROB or
 * load/store queue; for fmt2, by the lack of room in any structure that dispatch needs. Other cycles are open. */

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

CYCLE_VALUE(cycle_rob_blocked, rob_blocked(r) && selects(selection, REASON_BIT(r->head_wait)))
CYCLE_VALUE(cycle_rob_starved, !rob_blocked(r) && starved(r, selection))
CYCLE_VALUE(cycle_window_blocked, window_blocked(r) && selects(selection, REASON_BIT(r->head_wait)))
CYCLE_VALUE(cycle_window_starved, !window_blocked(r) && starved(r, selection))
CYCLE_VALUE(cycle_window_open, !window_blocked(r) && selects(selection, REASON_BIT(r->head_wait)))

/* ---- resources */

CYCLE_VALUE(cycle_rob_occupancy, r->rob)
CYCLE_VALUE(cycle_rob_full, (r->flags & CYCLE_ROB_FULL) != 0)
CYCLE_VALUE(cycle_rob_empty, r->rob == 0)
CYCLE_VALUE(cycle_iq_full, r->dispatch_stop == DISPATCH_IQ)
CYCLE_VALUE(cycle_lsq_full, r->dispatch_stop == DISPATCH_LSQ)
CYCLE_VALUE(cycle_registers_full, r->dispatch_stop == DISPATCH_REGS)
CYCLE_VALUE(cycle_store_buffer_full, r->commit_stop == COMMIT_STORES)
CYCLE_VALUE(cycle_units_taken, r->issue_stop == ISSUE_UNITS)
