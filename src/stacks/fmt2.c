/* The front-end miss event table for cores and programs that are out of balance. It differs from fmt in four ways.
 *
 * First, the back end is blocked when dispatch lacks room in any structure: the ROB, an issue queue, the load/store
 * queue or the register file. Any of them may fill up before the ROB does.
 *
 * Second, an open cycle in which a mispredicted branch is unresolved and the oldest instruction waits for a unit is
 * charged to the unit, which would have taken as long with a right prediction.
 *
 * Third, other open cycles may have two causes: the front end, and what the oldest instruction waits for.
 *
 *   - A mispredicted branch is unresolved, and the oldest instruction waits for data or a translation. Without the
 *     misprediction, the window would have hidden the wait; without the wait, the branch would be resolved. Only both
 *     together lose the cycle, so each is charged half of it.
 *   - An instruction miss starves the front end, and the oldest instruction waits for memory or a translation, which
 *     takes longer than the window can hide. Each alone would lose the cycle, so each is charged half of it. A wait for
 *     the second cache, in contrast, would be hidden if there were instructions to fetch: the whole cycle is charged to
 *     the instruction miss.
 *
 * These shares are what the reference says on average over its orders (reference.h).
 *
 * Fourth, an instruction miss costs decode slots, not whole cycles: the slots that it leaves empty in the last decode
 * group before it are charged to it as well. */
#include "stacks/fmt.h"

/* The waits that share cycles with an unresolved misprediction. */
enum { WAITS = 6 };
static const enum head_wait waits[WAITS] = {HEAD_UNIT, HEAD_FPU, HEAD_L1D, HEAD_L2D, HEAD_DTLB, HEAD_WALKED};

struct fmt2 {
    struct fmt fmt;
    /* By row and wait i: span of counter under_branch(i) from dispatch to resolution of the row's branch. */
    struct span waited[BRANCH_ROWS][WAITS];
};

static void begin(void *state)
{
    static const struct local_counter extra[EXTRA_COUNTERS] = {{TALLY_UNDER_MISS + HEAD_L2D, COMPONENT_l2d},
                                                               {TALLY_UNDER_MISS + HEAD_DTLB, COMPONENT_dtlb},
                                                               {TALLY_UNDER_MISS + HEAD_WALKED, COMPONENT_dtlb}};
    fmt_begin(state, TALLY_WINDOW, extra, EXTRA_COUNTERS);
}

/* The counter for waits[i] under an unresolved misprediction. */
static enum tally under_branch(unsigned i)
{
    return TALLY_UNDER_BRANCH + waits[i];
}

static void dispatched(void *state, const struct insn_view *v)
{
    struct fmt2 *f = state;
    unsigned row = v->control ? f->fmt.rows.of_slot[v->slot] : NO_ROW;
    fmt_dispatched(state, v);
    for (unsigned i = 0; row != NO_ROW && i < WAITS; i++)
        f->waited[row][i].from = f->fmt.ledger.tally[under_branch(i)];
}

static void mispredicted(void *state, const struct insn_view *v)
{
    struct fmt2 *f = state;
    unsigned row = f->fmt.rows.of_slot[v->slot];
    fmt_mispredicted(state, v);
    for (unsigned i = 0; row != NO_ROW && i < WAITS; i++)
        f->waited[row][i].to = f->fmt.ledger.tally[under_branch(i)];
}

/* Charges the part of the branch penalty that belongs to waits to the components of these waits. fmt_committed charges
 * the whole penalty to the branch, so that part is discharged from the branch first. */
static void committed(void *state, const struct insn_view *v)
{
    struct fmt2 *f = state;
    unsigned row = v->control ? f->fmt.rows.of_slot[v->slot] : NO_ROW;
    bool mispredicted_row = row != NO_ROW && f->fmt.rows.row[row].mispredicted;
    for (unsigned i = 0; mispredicted_row && i < WAITS; i++) {
        struct span s = f->waited[row][i];
        charge(&f->fmt.ledger, component_of_wait(waits[i]), under_branch(i), s);
        discharge(&f->fmt.ledger, COMPONENT_branch, under_branch(i), s);
    }
    fmt_committed(state, v);
}

static void close(const void *state, const uint64_t tally[TALLIES], const struct simulation_counts *counts,
                  struct stack *s)
{
    (void)state;
    (void)counts;
    charge_blocked(tally, TALLY_WINDOW, s);
}

const struct stack_method stack_method_fmt2 = {.state_bytes = sizeof(struct fmt2),
                                               .begin = begin,
                                               .fetched = fmt_fetched,
                                               .dispatched = dispatched,
                                               .mispredicted = mispredicted,
                                               .squashed = fmt_squashed,
                                               .committed = committed,
                                               .entered = fmt_entered,
                                               .close = close,
                                               .parts = window_parts};
