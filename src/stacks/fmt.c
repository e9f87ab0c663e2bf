/* The front-end miss event table of Eyerman et al., section 4.1.1, and their back-end counters, sections 4.2 and 4.3.
 *
 * The row at the fetch pointer is the open row: its local counters collect the instruction misses before the next
 * branch. That branch takes the row when it is fetched, and the misses are charged when it commits. */
#include "stacks/fmt.h"

#include <string.h>

/* Reads the counters of the tally that local counters follow. */
static inline void read_counters(const struct fmt *f, uint64_t now[LOCAL_COUNTERS])
{
    memcpy(now, &f->ledger.tally[f->rows.gauge + GAUGE_STARVED], FRONT_MISSES * sizeof *now);
    for (unsigned i = FRONT_MISSES; i < f->locals; i++)
        now[i] = f->ledger.tally[f->extra[i - FRONT_MISSES].source];
}

/* Reads the local counters of the open row. Returns whether any is not 0. */
static inline bool read_open_row(const struct fmt *f, struct span held[LOCAL_COUNTERS])
{
    uint64_t now[LOCAL_COUNTERS];
    bool any = false;
    read_counters(f, now);
    for (unsigned i = 0; i < f->locals; i++) {
        held[i] = (struct span){f->open_from[i], now[i]};
        any |= held[i].from != held[i].to;
    }
    return any;
}

static inline void charge_row(struct fmt *f, const struct span held[LOCAL_COUNTERS])
{
    for (unsigned i = 0; i < FRONT_MISSES; i++)
        charge(&f->ledger, component_of_miss(i), f->rows.gauge + GAUGE_STARVED + i, held[i]);
    for (unsigned i = FRONT_MISSES; i < f->locals; i++)
        charge(&f->ledger, f->extra[i - FRONT_MISSES].charged_to, f->extra[i - FRONT_MISSES].source, held[i]);
}

/* Clears the local counters of the row at the fetch pointer, which is open if a row is free. */
static void open_row(struct fmt *f)
{
    read_counters(f, f->open_from);
    f->open = f->rows.used < f->rows.limit;
}

void fmt_begin(struct fmt *f, enum tally gauge, const struct local_counter *extra, unsigned count)
{
    f->extra = extra;
    f->locals = FRONT_MISSES + count;
    branch_rows_begin(&f->rows, &f->ledger, gauge);
    open_row(f);
}

/* With an unlimited number of rows, the core reports only branches that will retire: their misses are charged at once.
 */
static void fetched_unlimited(struct fmt *f, const struct insn_view *v)
{
    struct span held[LOCAL_COUNTERS];
    if (read_open_row(f, held))
        charge_row(f, held);
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
        fetched_unlimited(f, v);
        return;
    }
    unsigned row = branch_rows_take(&f->rows, v->slot);
    if (row == NO_ROW)
        return;
    f->missed[row].any = f->open && read_open_row(f, f->missed[row].held);
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
    if (f->missed[row].any)
        charge_row(f, f->missed[row].held);
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
        s->parts[component_of_wait((enum head_wait)w)] += (int64_t)tally[gauge + GAUGE_BLOCKED + w];
}

static void begin(void *state)
{
    fmt_begin(state, TALLY_ROB, NULL, 0);
}

void fmt_close(const void *state, const uint64_t tally[TALLIES], const struct simulation_counts *counts,
               struct stack *s)
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
                                              .close = fmt_close};
