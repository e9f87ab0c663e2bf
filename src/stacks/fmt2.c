/* The front-end miss event table for cores and programs that are out of balance.
 *
 * The back end blocks when dispatch stops for want of any room, be it in the ROB, an issue queue, the load/store queue
 * or the register file, since any of them may fill up before the ROB does.
 *
 * Other cycles may have two culprits: the front end, and what the oldest instruction waits for.
 * - A mispredicted branch is unresolved, and the wait is for a unit: it would have passed with the right prediction,
 *   too, and so is charged to the unit.
 * - The same with a wait for data or a translation: without the misprediction the window would have hidden it, without
 *   the wait the branch would be resolved. Both are needed to lose the cycle; each is charged half.
 * - An instruction miss starves the front end, and the wait is for memory or a translation, which outlasts what the
 *   window holds: either would do to lose the cycle. Again each is charged half. A wait for the second cache is hidden
 *   if there is something to fetch; the instruction miss is charged all.
 * That is what the reference says on average over its orders (reference.h).
 *
 * And an instruction miss costs places, not cycles: those that it leaves empty in the group before it count as well. */
#include "stacks/fmt.h"

enum { WAITS = 6 };
static const enum head_wait waits[WAITS] = {HEAD_UNIT, HEAD_FPU, HEAD_L1D, HEAD_L2D, HEAD_DTLB, HEAD_WALKED};

struct fmt2 {
    struct fmt fmt;
    struct span waited[BRANCH_ROWS][WAITS]; /* by row, of TALLY_UNDER_BRANCH */
};

static void begin(void *state)
{
    static const struct local_counter more[MORE_COUNTERS] = {{TALLY_UNDER_MISS + HEAD_L2D, COMPONENT_l2d},
                                                             {TALLY_UNDER_MISS + HEAD_DTLB, COMPONENT_dtlb},
                                                             {TALLY_UNDER_MISS + HEAD_WALKED, COMPONENT_dtlb}};
    fmt_begin(state, TALLY_WINDOW, more, MORE_COUNTERS);
}

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
        f->waited[row][i].from = f->fmt.books.tally[under_branch(i)];
}

static void mispredicted(void *state, const struct insn_view *v)
{
    struct fmt2 *f = state;
    unsigned row = f->fmt.rows.of_slot[v->slot];
    fmt_mispredicted(state, v);
    for (unsigned i = 0; row != NO_ROW && i < WAITS; i++)
        f->waited[row][i].to = f->fmt.books.tally[under_branch(i)];
}

static void committed(void *state, const struct insn_view *v)
{
    struct fmt2 *f = state;
    unsigned row = v->control ? f->fmt.rows.of_slot[v->slot] : NO_ROW;
    bool mispredicted_row = row != NO_ROW && f->fmt.rows.row[row].mispredicted;
    for (unsigned i = 0; mispredicted_row && i < WAITS; i++) {
        struct span s = f->waited[row][i];
        charge(&f->fmt.books, component_of_wait(waits[i]), under_branch(i), s);
        discharge(&f->fmt.books, COMPONENT_branch, under_branch(i), s);
    }
    fmt_committed(state, v);
}

static void close(const void *state, const uint64_t tally[TALLIES], const struct core_counts *counts, struct stack *s)
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
