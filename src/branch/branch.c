#include "branch/branch.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "branch/unit.h"

const struct direction_predictor *const branch_directions[] = {
#define DIRECTION(name) &direction_##name,
#include "branch/direction.def"
#undef DIRECTION
    NULL,
};

const uint8_t branch_traits[] = {
    [BRANCH_CONDITIONAL] = BRANCH_DIRECT,
    [BRANCH_JUMP] = BRANCH_DIRECT,
    [BRANCH_CALL] = BRANCH_DIRECT | BRANCH_PUSHES,
    [BRANCH_INDIRECT] = BRANCH_ON_PATH,
    [BRANCH_INDIRECT_CALL] = BRANCH_ON_PATH | BRANCH_PUSHES,
    [BRANCH_RETURN] = BRANCH_POPS,
    [BRANCH_CORETURN] = BRANCH_POPS | BRANCH_PUSHES,
};

const char *branch_direction_name(unsigned i)
{
    unsigned count = sizeof branch_directions / sizeof *branch_directions - 1;
    return i < count ? branch_directions[i]->name : NULL;
}

struct limit {
    const char *name;
    size_t offset; /* offset of the unsigned in struct branch_config */
    unsigned least, most;
};

#define LIMIT(field, least, most)                                                                                      \
    {                                                                                                                  \
#field, offsetof(struct branch_config, field), least, most                                                     \
    }
static const struct limit limits[] = {
    LIMIT(bimodal_bits, 1, 24),
    LIMIT(gshare_bits, 1, 24),
    LIMIT(history_bits, 1, 24),
    LIMIT(chooser_bits, 1, 24),
    LIMIT(tage_tables, 1, BRANCH_TAGE_TABLES),
    LIMIT(tage_bits, 4, 16),
    LIMIT(tage_tag_bits, 4, 12),
    LIMIT(tage_min_history, 1, BRANCH_TAGE_HISTORY),
    LIMIT(tage_max_history, 1, BRANCH_TAGE_HISTORY),
    LIMIT(btb_entries, 0, 1 << 24),
    LIMIT(btb_ways, 1, 64),
    LIMIT(ras_entries, 0, RETURN_STACK_MAX),
    LIMIT(indirect_bits, 0, 24),
};
#undef LIMIT

static int check(const struct branch_config *c, struct error *err)
{
    if (!branch_direction_name(c->direction))
        return error_set(err, -EINVAL, "there is no direction predictor number %u", c->direction);
    for (const struct limit *l = limits; l < limits + sizeof limits / sizeof *limits; l++) {
        unsigned value = *(const unsigned *)((const char *)c + l->offset);
        if (value < l->least || value > l->most)
            return error_set(err, -EINVAL, "branch.%s is %u, must be %u to %u", l->name, value, l->least, l->most);
    }
    if (c->history_bits > c->gshare_bits)
        return error_set(err, -EINVAL, "branch.history_bits is %u, must be at most branch.gshare_bits, %u",
                         c->history_bits, c->gshare_bits);
    if (c->tage_max_history < c->tage_min_history + c->tage_tables - 1)
        return error_set(err, -EINVAL, "branch.tage_max_history is %u, must be at least %u: %u histories begin at %u",
                         c->tage_max_history, c->tage_min_history + c->tage_tables - 1, c->tage_tables,
                         c->tage_min_history);
    unsigned sets = c->btb_entries / c->btb_ways;
    if (c->btb_entries % c->btb_ways != 0 || (sets & (sets - 1)) != 0)
        return error_set(err, -EINVAL, "branch.btb_entries is %u, must be branch.btb_ways, %u, times a power of two",
                         c->btb_entries, c->btb_ways);
    return 0;
}

struct branch_unit *branch_new(const struct branch_config *c, struct error *err)
{
    if (check(c, err) < 0)
        return NULL;
    struct branch_unit *b = calloc(1, sizeof *b);
    if (!b) {
        error_set(err, -ENOMEM, "out of memory for the branch unit");
        return NULL;
    }
    b->direction = branch_directions[c->direction];
    b->direction_state = b->direction->create ? b->direction->create(c) : NULL;
    b->hybrid = b->direction == &direction_hybrid ? b->direction_state : NULL;
    b->stack.size = c->ras_entries;
    if ((b->direction->create && !b->direction_state) || !btb_init(&b->btb, c->btb_entries, c->btb_ways) ||
        !indirect_init(&b->indirect, c->indirect_bits)) {
        branch_free(b);
        error_set(err, -ENOMEM, "out of memory for the tables of the branch unit");
        return NULL;
    }
    return b;
}

void branch_free(struct branch_unit *b)
{
    if (!b)
        return;
    if (b->direction_state)
        b->direction->destroy(b->direction_state);
    btb_free(&b->btb);
    indirect_free(&b->indirect);
    free(b);
}

void branch_visit_state(struct branch_unit *b, state_visitor *visit, void *context)
{
    visit(context, &b->path, sizeof b->path);
    visit(context, &b->stack.top, sizeof b->stack.top);
    visit(context, &b->stack.count, sizeof b->stack.count);
    visit(context, b->stack.address, sizeof b->stack.address);
    if (b->direction->visit)
        b->direction->visit(b->direction_state, visit, context);
    if (b->btb.entries)
        visit(context, b->btb.entries, (b->btb.set_mask + 1) * b->btb.ways * sizeof *b->btb.entries);
    if (b->indirect.entries)
        visit(context, b->indirect.entries, sizeof *b->indirect.entries << (64 - b->indirect.shift));
}

bool branch_state_is_possible(const struct branch_unit *b)
{
    const struct return_stack *s = &b->stack;
    return s->count <= s->size && (s->top < s->size || s->top == 0);
}

/* The instruction contains the target. Without a BTB, fetch is assumed to know it. */
static void predict_direct(const struct branch_unit *b, struct branch_record *r)
{
    uint64_t target;
    r->next = r->direct;
    r->misfetch = b->btb.entries && !(btb_find(&b->btb, r->pc, &target) && target == r->direct);
}

/* Fast because the record gets only what recovery and training need, and all tables are flat arrays with masked
 * indices. */
void branch_predict(struct branch_unit *b, struct branch_record *r)
{
    const struct direction_predictor *d = b->direction;
    r->ras_top = return_stack_place(&b->stack);
    r->ras_top_value = b->stack.address[b->stack.top];
    r->path_before = b->path;
    r->path_note = UINT32_MAX;
    r->misfetch = false;
    r->has_target = true;
    r->taken = true;
    if (r->kind == BRANCH_CONDITIONAL)
        r->taken = d->predict(b->direction_state, r->pc, r->direct <= r->pc, r->note);
    else if (d->mark)
        d->mark(b->direction_state, r->note);
    if (!r->taken)
        r->next = r->fallthrough;
    else if (branch_traits[r->kind] & BRANCH_DIRECT)
        predict_direct(b, r);
    else
        branch_predict_indirect(b, r);
    branch_advance(b, r, r->taken, r->next);
}

void branch_recover(struct branch_unit *b, const struct branch_record *r, bool taken, uint64_t target)
{
    return_stack_restore(&b->stack, r->ras_top, r->ras_top_value);
    b->path = r->path_before;
    if (b->direction->recover)
        b->direction->recover(b->direction_state, r->note);
    branch_advance(b, r, taken, target);
}
