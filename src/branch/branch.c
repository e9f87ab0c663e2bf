#include "branch/branch.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "branch/btb.h"
#include "branch/direction.h"
#include "branch/indirect.h"
#include "branch/return_stack.h"

const struct direction_predictor *const branch_directions[] = {
#define DIRECTION(name) &direction_##name,
#include "branch/direction.def"
#undef DIRECTION
    NULL,
};

struct branch_unit {
    const struct direction_predictor *direction;
    void *direction_state; /* state of the direction predictor */
    uint64_t path;         /* speculative path of indirect targets (indirect.h) */
    struct btb btb;
    struct indirect indirect;
    struct return_stack stack; /* speculative return stack */
};

/* Properties of a kind of branch. */
enum { DIRECT = 1, POPS = 2, PUSHES = 4, ON_PATH = 8 };

static const uint8_t kind_traits[] = {
    [BRANCH_CONDITIONAL] = DIRECT,
    [BRANCH_JUMP] = DIRECT,
    [BRANCH_CALL] = DIRECT | PUSHES,
    [BRANCH_INDIRECT] = ON_PATH,
    [BRANCH_INDIRECT_CALL] = ON_PATH | PUSHES,
    [BRANCH_RETURN] = POPS,
    [BRANCH_CORETURN] = POPS | PUSHES,
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

/* Advances the speculative state by an outcome, predicted or real. */
static void advance(struct branch_unit *b, const struct branch_record *r, bool taken, uint64_t target)
{
    unsigned traits = kind_traits[r->kind];
    if (r->kind == BRANCH_CONDITIONAL) {
        if (b->direction->speculate)
            b->direction->speculate(b->direction_state, r->pc, taken);
        return;
    }
    if (traits & POPS)
        return_stack_pop(&b->stack);
    if (traits & PUSHES)
        return_stack_push(&b->stack, r->fallthrough);
    if (traits & ON_PATH)
        b->path = indirect_path(b->path, target);
}

/* The instruction contains the target. Without a BTB, fetch is assumed to know it. */
static void predict_direct(const struct branch_unit *b, struct branch_record *r)
{
    uint64_t target;
    r->next = r->direct;
    r->misfetch = b->btb.entries && !(btb_find(&b->btb, r->pc, &target) && target == r->direct);
}

static void predict_indirect(const struct branch_unit *b, struct branch_record *r)
{
    if (kind_traits[r->kind] & POPS && b->stack.count > 0) {
        r->next = r->ras_top_value;
        return;
    }
    if (indirect_find(&b->indirect, r->pc, b->path, &r->path_note, &r->next) || btb_find(&b->btb, r->pc, &r->next))
        return;
    r->has_target = false;
    r->next = r->fallthrough;
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
    else if (kind_traits[r->kind] & DIRECT)
        predict_direct(b, r);
    else
        predict_indirect(b, r);
    advance(b, r, r->taken, r->next);
}

void branch_recover(struct branch_unit *b, const struct branch_record *r, bool taken, uint64_t target)
{
    return_stack_restore(&b->stack, r->ras_top, r->ras_top_value);
    b->path = r->path_before;
    if (b->direction->recover)
        b->direction->recover(b->direction_state, r->note);
    advance(b, r, taken, target);
}

void branch_retire(struct branch_unit *b, const struct branch_record *r, bool taken, uint64_t target)
{
    if (r->kind == BRANCH_CONDITIONAL && b->direction->train)
        b->direction->train(b->direction_state, r->pc, taken, r->note);
    if (!taken)
        return;
    if (r->path_note != UINT32_MAX)
        indirect_learn(&b->indirect, r->path_note, r->pc, r->path_before, target, r->next != target);
    btb_learn(&b->btb, r->pc, target);
}
