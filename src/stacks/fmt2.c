/* The front-end miss event table for cores and programs that are out of balance. It differs from fmt in three ways.
 *
 * First, the back end is blocked when dispatch lacks room in any structure: the ROB, an issue queue, the load/store
 * queue or the register file. Any of them may fill up before the ROB does.
 *
 * Second, an open cycle may have two culprits: the front end, and what the oldest instruction waits for.
 * - A mispredicted branch is unresolved, and the wait is for a unit. The wait would have passed with a right
 * prediction, too, so the cycle is charged to the unit.
 * - A mispredicted branch is unresolved, and the wait is for data or a translation. Without the misprediction, the
 *   window would have hidden the wait; without the wait, the branch would be resolved. The cycle is lost only because
 *   of both; each is charged half.
 * - An instruction miss starves the front end, and the wait is for memory or a translation, which lasts longer than the
 *   window can hide. Either alone would lose the cycle. Again each is charged half. A wait for the second cache, in
 *   contrast, is hidden if there is something to fetch; the instruction miss is charged all of the cycle.
 * These shares are what the reference says on average over its orders (reference.h).
 *
 * Third, an instruction miss costs places for instructions, not whole cycles: the places that it leaves empty in the
 * last group before it are charged to it as well. */
#include "stacks/fmt.h"

/* The waits that share cycles with an unresolved misprediction. */
enum { WAITS = 6 };
static const enum head_wait waits[WAITS] = {HEAD_UNIT, HEAD_FPU, HEAD_L1D, HEAD_L2D, HEAD_DTLB, HEAD_WALKED};

struct fmt2 {
    struct fmt fmt;
    struct span waited[BRANCH_ROWS][WAITS]; /* by row, while its branch is unresolved: of under_branch(i) */
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

/* The part of the branch penalty that belongs to waits is charged to these, and taken off the penalty, which
 * fmt_committed charges as a whole. */
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
