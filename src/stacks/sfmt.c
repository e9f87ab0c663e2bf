/* The shared front-end miss event table of Eyerman et al., section 4.1.2: rows have no counters of their own for
 * instruction misses; all share one set, and each entry of the ROB has a bit that says that its fetch missed.
 *
 * A cycle is counted once: one that the shared counters count is not counted by rows, and what the shared counters hold
 * when a misprediction clears them is part of its penalty. Most of that was lost on its wrong path; misses right before
 * the branch are among it, if their instructions have not retired.
 *
 * Bits are kept as numbers of the clearing that they come after, so that clearing all of them is one step. */
#include <string.h>

#include "stacks/fmt.h"

struct sfmt {
    struct books books;
    struct branch_rows rows;
    uint64_t from[FRONT_MISSES];                    /* STARVED when the shared counters were last cleared */
    uint64_t clearings;                             /* of the bits, plus 1 */
    uint64_t bit[CORE_SLOTS];                       /* by slot: set, if it is `clearings` */
    struct span cleared[BRANCH_ROWS][FRONT_MISSES]; /* by row of a mispredicted branch, what the shared counters held */
};

static const uint64_t *starved(const struct sfmt *f)
{
    return &f->books.tally[f->rows.gauge + STARVED];
}

static void clear_counters(struct sfmt *f)
{
    memcpy(f->from, starved(f), sizeof f->from);
}

static void begin(void *state)
{
    struct sfmt *f = state;
    branch_rows_begin(&f->rows, &f->books, TALLY_ROB, FED);
    f->clearings = 1;
}

static void fetched(void *state, const struct insn_view *v)
{
    struct sfmt *f = state;
    f->bit[v->slot] = 0;
    if (v->control && (v->mispredicted || f->rows.limited))
        branch_rows_take(&f->rows, v->slot);
}

static void dispatched(void *state, const struct insn_view *v)
{
    struct sfmt *f = state;
    bool missed = v->events & EVENTS_OF_FETCH;
    f->bit[v->slot] = missed ? f->clearings : 0;
    if (v->control)
        branch_rows_dispatch(&f->rows, v->slot);
}

static void mispredicted(void *state, const struct insn_view *v)
{
    struct sfmt *f = state;
    unsigned row = branch_rows_mispredict(&f->rows, v->slot);
    for (unsigned i = 0; row != NO_ROW && i < FRONT_MISSES; i++)
        f->cleared[row][i] = (struct span){f->from[i], starved(f)[i]};
    clear_counters(f);
}

static void squashed(void *state, const struct insn_view *v)
{
    struct sfmt *f = state;
    if (v->control)
        branch_rows_free(&f->rows, v->slot);
}

/* The shared counters become global ones. */
static void harvest(struct sfmt *f)
{
    for (unsigned i = 0; i < FRONT_MISSES; i++)
        charge(&f->books, component_of_miss(i), f->rows.gauge + STARVED + i, (struct span){f->from[i], starved(f)[i]});
    clear_counters(f);
    f->clearings++;
}

static void commit_branch(struct sfmt *f, unsigned slot)
{
    unsigned row = f->rows.of_slot[slot];
    if (row == NO_ROW)
        return;
    for (unsigned i = 0; f->rows.row[row].mispredicted && i < FRONT_MISSES; i++)
        charge(&f->books, COMPONENT_branch, f->rows.gauge + STARVED + i, f->cleared[row][i]);
    branch_rows_charge(&f->rows, row);
    branch_rows_free(&f->rows, slot);
}

static void committed(void *state, const struct insn_view *v)
{
    struct sfmt *f = state;
    if (f->bit[v->slot] == f->clearings)
        harvest(f);
    if (v->control)
        commit_branch(f, v->slot);
}

static void entered(void *state)
{
    branch_rows_entered(&((struct sfmt *)state)->rows);
}

static void close(const void *state, const uint64_t tally[TALLIES], const struct core_counts *counts, struct stack *s)
{
    (void)state;
    (void)counts;
    charge_blocked(tally, TALLY_ROB, s);
}

const struct stack_method stack_method_sfmt = {.state_bytes = sizeof(struct sfmt),
                                               .begin = begin,
                                               .fetched = fetched,
                                               .dispatched = dispatched,
                                               .mispredicted = mispredicted,
                                               .squashed = squashed,
                                               .committed = committed,
                                               .entered = entered,
                                               .close = close};
