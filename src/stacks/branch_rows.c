#include "stacks/branch_rows.h"

static uint64_t tally(const struct branch_rows *r, enum gauge_counter c)
{
    return r->books->tally[r->gauge + c];
}

void branch_rows_begin(struct branch_rows *r, struct books *b, enum tally gauge, enum gauge_counter while_unresolved)
{
    r->books = b;
    r->gauge = gauge;
    r->while_unresolved = while_unresolved;
    r->limit = b->core->fmt_rows ? (unsigned)b->core->fmt_rows : CORE_SLOTS;
    r->refill = REFILL_NONE;
}

bool branch_rows_take(struct branch_rows *r, unsigned slot)
{
    bool taken = r->used < r->limit;
    r->used += taken;
    r->row[slot] = (struct branch_row){.taken = taken};
    return taken;
}

void branch_rows_dispatch(struct branch_rows *r, unsigned slot)
{
    r->row[slot].resolving.from = tally(r, r->while_unresolved);
}

void branch_rows_mispredict(struct branch_rows *r, unsigned slot)
{
    struct branch_row *row = &r->row[slot];
    r->refill = row->taken ? slot : REFILL_NONE;
    row->mispredicted = true;
    row->resolving.to = tally(r, r->while_unresolved);
    row->refilling.from = tally(r, FED);
}

bool branch_rows_free(struct branch_rows *r, unsigned slot)
{
    bool taken = r->row[slot].taken;
    r->row[slot].taken = false;
    r->used -= taken;
    return taken;
}

void branch_rows_charge(struct branch_rows *r, unsigned slot)
{
    struct branch_row *row = &r->row[slot];
    if (!row->taken || !row->mispredicted)
        return;
    charge(r->books, COMPONENT_branch, r->gauge + r->while_unresolved, row->resolving);
    if (r->refill == slot) {
        r->refill = REFILL_RETIRED;
        r->retired_refill_from = row->refilling.from;
    } else {
        charge(r->books, COMPONENT_branch, r->gauge + FED, row->refilling);
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
