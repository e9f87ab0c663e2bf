/* The front-end miss event table of Eyerman et al., section 4.1.1, and their back-end counters, 4.2 and 4.3.
 *
 * The row at the fetch pointer collects the instruction misses in front of the next branch, which takes it along. */
#include "stacks/fmt.h"

#include <string.h>

static const uint64_t *starved(const struct fmt *f)
{
    return &f->books.tally[f->rows.gauge + STARVED];
}

/* The row at the fetch pointer is zeroed. */
static void open_row(struct fmt *f)
{
    memcpy(f->open_from, starved(f), sizeof f->open_from);
    f->open = f->rows.used < f->rows.limit;
}

void fmt_begin(struct fmt *f, enum tally gauge)
{
    branch_rows_begin(&f->rows, &f->books, gauge, OPEN);
    open_row(f);
}

/* Without a limit all that are told of retire: their misses can be charged at once. */
static void fetched_for_sure(struct fmt *f, const struct insn_view *v)
{
    const uint64_t *now = starved(f);
    for (unsigned i = 0; i < FRONT_MISSES; i++)
        charge(&f->books, component_of_miss(i), f->rows.gauge + STARVED + i, (struct span){f->open_from[i], now[i]});
    if (v->mispredicted)
        f->missed[branch_rows_take(&f->rows, v->slot)].any = false;
    open_row(f);
}

void fmt_fetched(void *state, const struct insn_view *v)
{
    struct fmt *f = state;
    if (!v->control)
        return;
    if (!f->rows.limited) {
        fetched_for_sure(f, v);
        return;
    }
    unsigned row = branch_rows_take(&f->rows, v->slot);
    if (row == NO_ROW)
        return;
    const uint64_t *now = starved(f);
    bool any = f->open && memcmp(f->open_from, now, sizeof f->open_from) != 0;
    f->missed[row].any = any;
    for (unsigned i = 0; any && i < FRONT_MISSES; i++)
        f->missed[row].of[i] = (struct span){f->open_from[i], now[i]};
    open_row(f);
}

void fmt_dispatched(void *state, const struct insn_view *v)
{
    struct fmt *f = state;
    if (v->control)
        branch_rows_dispatch(&f->rows, v->slot);
}

void fmt_mispredicted(void *state, const struct insn_view *v)
{
    struct fmt *f = state;
    if (branch_rows_mispredict(&f->rows, v->slot) != NO_ROW)
        open_row(f);
}

void fmt_squashed(void *state, const struct insn_view *v)
{
    struct fmt *f = state;
    if (v->control && branch_rows_free(&f->rows, v->slot))
        open_row(f);
}

void fmt_committed(void *state, const struct insn_view *v)
{
    struct fmt *f = state;
    unsigned row = v->control ? f->rows.of_slot[v->slot] : NO_ROW;
    if (row == NO_ROW)
        return;
    branch_rows_charge(&f->rows, row);
    branch_rows_free(&f->rows, v->slot);
    for (unsigned i = 0; f->missed[row].any && i < FRONT_MISSES; i++)
        charge(&f->books, component_of_miss(i), f->rows.gauge + STARVED + i, f->missed[row].of[i]);
    if (!f->open)
        open_row(f);
}

void fmt_entered(void *state)
{
    branch_rows_entered(&((struct fmt *)state)->rows);
}

void charge_blocked(const uint64_t tally[TALLIES], enum tally gauge, struct stack *s)
{
    for (unsigned w = 0; w < HEAD_WAITS; w++)
        s->parts[component_of_wait((enum head_wait)w)] += (int64_t)tally[gauge + BLOCKED + w];
}

static void begin(void *state)
{
    fmt_begin(state, TALLY_ROB);
}

static void close(const void *state, const uint64_t tally[TALLIES], const struct core_counts *counts, struct stack *s)
{
    (void)state;
    (void)counts;
    charge_blocked(tally, TALLY_ROB, s);
}

const struct stack_method stack_method_fmt = {.state_bytes = sizeof(struct fmt),
                                              .begin = begin,
                                              .fetched = fmt_fetched,
                                              .dispatched = fmt_dispatched,
                                              .mispredicted = fmt_mispredicted,
                                              .squashed = fmt_squashed,
                                              .committed = fmt_committed,
                                              .entered = fmt_entered,
                                              .close = close};
