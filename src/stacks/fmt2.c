/* The front-end miss event table for cores and programs that are out of balance.
 *
 * The back end blocks when dispatch stops for want of any room, be it in the ROB, an issue queue, the load/store queue
 * or the register file, since any of them may fill up before the ROB does. And of the cycles in which a mispredicted
 * branch was waited for, those in which the oldest instruction waited for a long latency (a unit, memory, a
 * translation) are charged to that: they would have passed with the right prediction, too. */
#include "stacks/fmt.h"

enum { LONG_WAITS = 5 };
static const enum head_wait long_waits[LONG_WAITS] = {HEAD_UNIT, HEAD_FPU, HEAD_L2D, HEAD_DTLB, HEAD_WALKED};

struct fmt2 {
    struct fmt fmt;
    struct span waited[BRANCH_ROWS][LONG_WAITS]; /* by row, of TALLY_SHADE */
};

static void begin(void *state)
{
    fmt_begin(state, TALLY_WINDOW);
}

static uint64_t shade(const struct fmt2 *f, unsigned i)
{
    return f->fmt.books.tally[TALLY_SHADE + long_waits[i]];
}

static void dispatched(void *state, const struct insn_view *v)
{
    struct fmt2 *f = state;
    unsigned row = v->control ? f->fmt.rows.of_slot[v->slot] : NO_ROW;
    fmt_dispatched(state, v);
    for (unsigned i = 0; row != NO_ROW && i < LONG_WAITS; i++)
        f->waited[row][i].from = shade(f, i);
}

static void mispredicted(void *state, const struct insn_view *v)
{
    struct fmt2 *f = state;
    unsigned row = f->fmt.rows.of_slot[v->slot];
    fmt_mispredicted(state, v);
    for (unsigned i = 0; row != NO_ROW && i < LONG_WAITS; i++)
        f->waited[row][i].to = shade(f, i);
}

static void committed(void *state, const struct insn_view *v)
{
    struct fmt2 *f = state;
    unsigned row = v->control ? f->fmt.rows.of_slot[v->slot] : NO_ROW;
    bool mispredicted_row = row != NO_ROW && f->fmt.rows.row[row].mispredicted;
    for (unsigned i = 0; mispredicted_row && i < LONG_WAITS; i++) {
        struct span s = f->waited[row][i];
        charge(&f->fmt.books, component_of_wait(long_waits[i]), TALLY_SHADE + long_waits[i], s);
        discharge(&f->fmt.books, COMPONENT_branch, TALLY_SHADE + long_waits[i], s);
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
                                               .close = close};
