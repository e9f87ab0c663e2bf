/* The front-end miss event table of Eyerman et al., section 4.1.1, and their back-end counters, 4.2 and 4.3.
 *
 * The row at the fetch pointer collects the instruction misses in front of the next branch, which takes it along. */
#include "stacks/fmt.h"

/* What a local counter of the row at the fetch pointer holds. */
static struct span held(const struct fmt *f, unsigned i)
{
    return (struct span){f->open_from[i], f->books.tally[f->local[i].counts]};
}

static void charge_local(struct fmt *f, unsigned i, struct span s)
{
    charge(&f->books, f->local[i].charged_to, f->local[i].counts, s);
}

/* The row at the fetch pointer is zeroed. */
static void open_row(struct fmt *f)
{
    for (unsigned i = 0; i < f->locals; i++)
        f->open_from[i] = f->books.tally[f->local[i].counts];
    f->open = f->rows.used < f->rows.limit;
}

void fmt_begin(struct fmt *f, enum tally gauge, const struct local_counter *local, unsigned locals)
{
    f->local = local;
    f->locals = locals;
    branch_rows_begin(&f->rows, &f->books, gauge, OPEN);
    open_row(f);
}

/* Without a limit all that are told of retire: their misses can be charged at once. */
static void fetched_for_sure(struct fmt *f, const struct insn_view *v)
{
    for (unsigned i = 0; i < f->locals; i++)
        charge_local(f, i, held(f, i));
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
    bool any = false;
    for (unsigned i = 0; f->open && i < f->locals; i++) {
        struct span s = f->missed[row].of[i] = held(f, i);
        any |= s.from != s.to;
    }
    f->missed[row].any = any;
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
    for (unsigned i = 0; f->missed[row].any && i < f->locals; i++)
        charge_local(f, i, f->missed[row].of[i]);
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
    static const struct local_counter local[FRONT_MISSES] = {{TALLY_ROB + FETCH_L1I, COMPONENT_l1i},
                                                             {TALLY_ROB + FETCH_L2I, COMPONENT_l2i},
                                                             {TALLY_ROB + FETCH_ITLB, COMPONENT_itlb},
                                                             {TALLY_ROB + FETCH_MISFETCH, COMPONENT_branch}};
    fmt_begin(state, TALLY_ROB, local, FRONT_MISSES);
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
