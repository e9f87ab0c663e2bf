#include "stacks/branch_rows.h"

static uint64_t tally(const struct branch_rows *r, enum gauge_counter c)
{
    const uint64_t *gauge = &r->books->tally[r->gauge];
    return c == OPEN ? open_cycles(gauge) : gauge[c];
}

void branch_rows_begin(struct branch_rows *r, struct books *b, enum tally gauge, enum gauge_counter while_unresolved)
{
    r->books = b;
    r->gauge = gauge;
    r->while_unresolved = while_unresolved;
    r->limit = b->core->fmt_rows ? (unsigned)b->core->fmt_rows : BRANCH_ROWS;
    r->limited = b->core->fmt_rows != 0;
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
        r->row[row].resolving.from = tally(r, r->while_unresolved);
}

unsigned branch_rows_mispredict(struct branch_rows *r, unsigned slot)
{
    unsigned row = r->of_slot[slot];
    r->refill = row == NO_ROW ? REFILL_NONE : row;
    if (row == NO_ROW)
        return row;
    r->row[row].mispredicted = true;
    r->row[row].resolving.to = tally(r, r->while_unresolved);
    r->row[row].refilling.from = tally(r, FED);
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
    charge(r->books, COMPONENT_branch, r->gauge + r->while_unresolved, of->resolving);
    if (r->refill == row) {
        r->refill = REFILL_RETIRED;
        r->retired_refill_from = of->refilling.from;
    } else {
        charge(r->books, COMPONENT_branch, r->gauge + FED, of->refilling);
    }
}

void branch_rows_entered(struct branch_rows *r)
{
    if (r->refill == REFILL_RETIRED)
        charge(r->books, COMPONENT_branch, r->gauge + FED, (struct span){r->retired_refill_from, tally(r, FED)});
    else if (r->refill != REFILL_NONE)
        r->row[r->refill].refilling.to = tally(r, FED);
    r->refill = REFILL_NONE;
}
