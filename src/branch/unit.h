/* State of the branch unit, and the inline calls of branch.h. Public only for speed: other modules do not use the
 * fields. Functional warming predicts and retires every control transfer of a run. */
#ifndef CYCLESCOPE_BRANCH_UNIT_H
#define CYCLESCOPE_BRANCH_UNIT_H

#include "branch/branch.h"
#include "branch/btb.h"
#include "branch/hybrid.h"
#include "branch/indirect.h"
#include "branch/return_stack.h"

struct branch_unit {
    const struct direction_predictor *direction;
    void *direction_state; /* state of the direction predictor */
    struct hybrid *hybrid; /* the same, if the predictor is the hybrid, which is called directly; else NULL */
    uint64_t path;         /* speculative path of indirect targets (indirect.h) */
    struct btb btb;
    struct indirect indirect;
    struct return_stack stack; /* speculative return stack */
};

/* Properties of a kind of branch. */
enum { BRANCH_DIRECT = 1, BRANCH_POPS = 2, BRANCH_PUSHES = 4, BRANCH_ON_PATH = 8 };
extern const uint8_t branch_traits[]; /* by enum branch_kind */

/* r->ras_top_value and b->path are those before the branch. */
static inline void branch_predict_indirect(const struct branch_unit *b, struct branch_record *r)
{
    if (branch_traits[r->kind] & BRANCH_POPS && b->stack.count > 0) {
        r->next = r->ras_top_value;
        return;
    }
    if (indirect_find(&b->indirect, r->pc, b->path, &r->path_note, &r->next) || btb_find(&b->btb, r->pc, &r->next))
        return;
    r->has_target = false;
    r->next = r->fallthrough;
}

/* Advances the speculative state by an outcome, predicted or real. */
static inline void branch_advance(struct branch_unit *b, const struct branch_record *r, bool taken, uint64_t target)
{
    unsigned traits = branch_traits[r->kind];
    if (r->kind == BRANCH_CONDITIONAL) {
        if (b->direction->speculate)
            b->direction->speculate(b->direction_state, r->pc, taken);
        return;
    }
    if (traits & BRANCH_POPS)
        return_stack_pop(&b->stack);
    if (traits & BRANCH_PUSHES)
        return_stack_push(&b->stack, r->fallthrough);
    if (traits & BRANCH_ON_PATH)
        b->path = indirect_path(b->path, target);
}

static inline void branch_retire(struct branch_unit *b, const struct branch_record *r, bool taken, uint64_t target)
{
    if (r->kind == BRANCH_CONDITIONAL && b->direction->train)
        b->direction->train(b->direction_state, r->pc, taken, r->note);
    else if (r->kind != BRANCH_CONDITIONAL && r->path_note != UINT32_MAX)
        indirect_learn(&b->indirect, r->path_note, r->pc, r->path_before, target, r->next != target);
    btb_learn(&b->btb, r->pc, taken, target);
}

/* ---- warming
 *
 * The speculative state advances once, by the outcome: to advance it by a wrong prediction and to recover would leave
 * the same. Whether the BTB knows a direct target changes nothing here. */

static inline bool branch_warm_jump(struct branch_unit *b, struct branch_record *r, uint64_t target)
{
    r->path_note = UINT32_MAX;
    r->next = r->direct;
    if (!(branch_traits[r->kind] & BRANCH_DIRECT)) {
        r->ras_top_value = b->stack.address[b->stack.top];
        r->path_before = b->path;
        branch_predict_indirect(b, r);
    }
    branch_advance(b, r, true, target);
    return r->next != target;
}

/* A prediction may be wrong about the direction and right about the next instruction, if the branch leads there either
 * way; then it stands, as on the core. */
static inline bool branch_warm_conditional(struct branch_unit *b, struct branch_record *r, bool taken, uint64_t target)
{
    bool either_way = r->direct == r->fallthrough;
    bool predicted = b->direction->predict(b->direction_state, r->pc, r->direct <= r->pc, r->note);
    branch_advance(b, r, either_way ? predicted : taken, target);
    return predicted != taken && !either_way;
}

/* The branch unit as a loop over many transfers uses it, with the hybrid as its direction predictor. */
struct branch_view {
    struct branch_unit *unit;
    struct btb btb;
    struct hybrid_view hybrid;
};

static inline bool branch_can_view(const struct branch_unit *b)
{
    return b->hybrid != NULL;
}

static inline struct branch_view branch_open(struct branch_unit *b)
{
    return (struct branch_view){b, b->btb, hybrid_open(b->hybrid)};
}

static inline void branch_close(const struct branch_view *v)
{
    v->unit->hybrid->gshare.history = v->hybrid.history;
}

static inline bool branch_view_conditional(struct branch_view *v, struct branch_record *r, bool taken)
{
    bool either_way = r->direct == r->fallthrough, predicted = hybrid_predict(&v->hybrid, r->pc, r->note);
    hybrid_push(&v->hybrid, taken | (either_way & predicted));
    return (predicted != taken) & !either_way;
}

static inline void branch_view_retire(const struct branch_view *v, const struct branch_record *r, bool taken,
                                      uint64_t target)
{
    if (r->kind != BRANCH_CONDITIONAL) {
        branch_retire(v->unit, r, taken, target);
        return;
    }
    hybrid_train(&v->hybrid, r->pc, taken, r->note[0]);
    struct btb btb = v->btb;
    btb_learn(&btb, r->pc, taken, target);
}

#endif
