#include "stacks/branch_rows.h"

/* The counters of the gauge, current except for GAUGE_OPEN. */
static const uint64_t *gauge_of(const struct branch_rows *r)
{
    return &r->ledger->tally[r->gauge];
}

void branch_rows_begin(struct branch_rows *r, struct ledger *l, enum tally gauge)
{
    r->ledger = l;
    r->gauge = gauge;
    r->limit = l->core->fmt_rows ? (unsigned)l->core->fmt_rows : BRANCH_ROWS;
    r->limited = l->core->fmt_rows != 0;
    r->refill = REFILL_NONE;
    for (unsigned i = 0; i < CORE_SLOTS; i++)
        r->of_slot[i] = NO_ROW;
    for (unsigned i = 0; i < BRANCH_ROWS; i++)
        r->free[i] = (uint16_t)i;
}

unsigned branch_rows_take(struct branch_rows *r, unsigned slot)
{
    unsigned row = r->used < r->limit ? r->free[r->used++] : NO_ROW;
    r->of_slot[slot] = (uint16_t)row;
    if (row != NO_ROW)
        r->row[row].mispredicted = false;
    return row;
}

void branch_rows_dispatch(struct branch_rows *r, unsigned slot)
{
    unsigned row = r->of_slot[slot];
    if (row != NO_ROW)
        r->row[row].resolving.from = open_cycles(gauge_of(r));
}

unsigned branch_rows_mispredict(struct branch_rows *r, unsigned slot)
{
    unsigned row = r->of_slot[slot];
    r->refill = row == NO_ROW ? REFILL_NONE : row;
    if (row == NO_ROW)
        return row;
    r->row[row].mispredicted = true;
    r->row[row].resolving.to = open_cycles(gauge_of(r));
    r->row[row].refilling.from = gauge_of(r)[GAUGE_NOT_STARVED];
    return row;
}

bool branch_rows_free(struct branch_rows *r, unsigned slot)
{
    unsigned row = r->of_slot[slot];
    if (row == NO_ROW)
        return false;
    r->of_slot[slot] = NO_ROW;
    r->free[--r->used] = (uint16_t)row;
    return true;
}

void branch_rows_charge(struct branch_rows *r, unsigned row)
{
    struct branch_row *of = &r->row[row];
    if (!of->mispredicted)
        return;
    charge(r->ledger, COMPONENT_branch, r->gauge + GAUGE_OPEN, of->resolving);
    if (r->refill == row) {
        r->refill = REFILL_RETIRED;
        r->retired_refill_from = of->refilling.from;
    } else {
        charge(r->ledger, COMPONENT_branch, r->gauge + GAUGE_NOT_STARVED, of->refilling);
    }
}

void branch_rows_entered(struct branch_rows *r)
{
    if (r->refill == REFILL_RETIRED)
        charge(r->ledger, COMPONENT_branch, r->gauge + GAUGE_NOT_STARVED,
               (struct span){r->retired_refill_from, gauge_of(r)[GAUGE_NOT_STARVED]});
    else if (r->refill != REFILL_NONE)
        r->row[r->refill].refilling.to = gauge_of(r)[GAUGE_NOT_STARVED];
    r->refill = REFILL_NONE;
}
