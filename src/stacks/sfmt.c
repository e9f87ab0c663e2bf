/* The shared front-end miss event table of Eyerman et al., section 4.1.2: rows have no counters of their own for
 * instruction misses. All rows share one set of counters, and each ROB entry has a miss bit: its fetch missed. When an
 * instruction with its bit set commits, the shared counters are charged, and the counters and all bits are cleared. A
 * misprediction clears the shared counters when it resolves; their values are not charged.
 *
 * The penalty of a branch grows in every open cycle, as in fmt. So the row of a mispredicted branch and the shared
 * counters both count the starved cycles of its wrong path. If an instruction with its bit set commits before the
 * branch resolves, these cycles are charged twice: the inaccuracy that the paper states. The base is then too small,
 * and may be negative in a short interval.
 *
 * A miss bit is stored as a number and is set if the number equals `clearings`, so that all bits are cleared in one
 * step. */
#include <string.h>

#include "stacks/fmt.h"

struct sfmt {
    struct ledger ledger;
    struct branch_rows rows;
    uint64_t from[FRONT_MISSES];   /* GAUGE_STARVED when the shared counters were last cleared */
    uint64_t clearings;            /* times that the miss bits were cleared, plus 1 */
    uint64_t miss_bit[CORE_SLOTS]; /* miss bit by slot: set if equal to `clearings` */
};

/* Current values of the counters that the shared counters follow. */
static const uint64_t *starved(const struct sfmt *f)
{
    return &f->ledger.tally[f->rows.gauge + GAUGE_STARVED];
}

static void clear_counters(struct sfmt *f)
{
    memcpy(f->from, starved(f), sizeof f->from);
}

static void begin(void *state)
{
    struct sfmt *f = state;
    branch_rows_begin(&f->rows, &f->ledger, TALLY_ROB);
    f->clearings = 1;
}

static void fetched(void *state, const struct insn_view *v)
{
    struct sfmt *f = state;
    f->miss_bit[v->slot] = 0;
    if (v->control && (v->mispredicted || f->rows.limited))
        branch_rows_take(&f->rows, v->slot);
}

static void dispatched(void *state, const struct insn_view *v)
{
    struct sfmt *f = state;
    bool missed = v->events & EVENTS_OF_FETCH;
    f->miss_bit[v->slot] = missed ? f->clearings : 0;
    if (v->control)
        branch_rows_dispatch(&f->rows, v->slot);
}

static void mispredicted(void *state, const struct insn_view *v)
{
    struct sfmt *f = state;
    branch_rows_mispredict(&f->rows, v->slot);
    clear_counters(f);
}

static void squashed(void *state, const struct insn_view *v)
{
    struct sfmt *f = state;
    if (v->control)
        branch_rows_free(&f->rows, v->slot);
}

/* Charges the shared counters, and clears them and all miss bits. */
static void charge_shared(struct sfmt *f)
{
    for (unsigned i = 0; i < FRONT_MISSES; i++)
        charge(&f->ledger, component_of_miss(i), f->rows.gauge + GAUGE_STARVED + i,
               (struct span){f->from[i], starved(f)[i]});
    clear_counters(f);
    f->clearings++;
}

static void commit_branch(struct sfmt *f, unsigned slot)
{
    unsigned row = f->rows.of_slot[slot];
    if (row == NO_ROW)
        return;
    branch_rows_charge(&f->rows, row);
    branch_rows_free(&f->rows, slot);
}

static void committed(void *state, const struct insn_view *v)
{
    struct sfmt *f = state;
    if (f->miss_bit[v->slot] == f->clearings)
        charge_shared(f);
    if (v->control)
        commit_branch(f, v->slot);
}

static void entered(void *state)
{
    branch_rows_entered(&((struct sfmt *)state)->rows);
}

const struct stack_method stack_method_sfmt = {.state_bytes = sizeof(struct sfmt),
                                               .begin = begin,
                                               .fetched = fetched,
                                               .dispatched = dispatched,
                                               .mispredicted = mispredicted,
                                               .squashed = squashed,
                                               .committed = committed,
                                               .entered = entered,
                                               .close = fmt_close};
