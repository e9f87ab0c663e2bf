/* Chooses the neighboring ops of a block that run as one. */
#include "emulate/interpreter/translate_priv.h"

/* Swaps the operands of a commutative op if the op before it computes rs2: only rs1 can be forwarded. */
static void put_forwarded_first(struct builder *b, uint32_t k)
{
    switch (b->kinds[k]) {
    case OP_add:
    case OP_addw:
    case OP_and:
    case OP_or:
    case OP_xor:
    case OP_mul:
    case OP_mulw:
    case OP_beq:
    case OP_bne: {
        struct operands *o = &b->ops[k].o;
        uint8_t result = b->ops[k - 1].o.rd;
        if (o->rs2 == result && o->rs1 != result) {
            o->rs2 = o->rs1;
            o->rs1 = result;
        }
        break;
    }
    default: break;
    }
}

/* Index of the op after op k and its data slots. */
static uint32_t next_op(const struct builder *b, uint32_t k)
{
    do
        k++;
    while (k < b->count && b->kinds[k] == OP_DATA);
    return k;
}

/* The function that runs ops k and `next` as one, or NULL. Sets `forwarded` if it forwards the first's result. */
static op_function *pair_at(const struct builder *b, uint32_t k, uint32_t next, bool *forwarded)
{
    *forwarded = false;
    if (next >= b->count)
        return NULL;
    enum op_kind first = b->kinds[k], second = b->kinds[next];
    bool counted = b->e->hooks.count_blocks;
    op_function *run = NULL;
    if (b->ops[next].o.rs1 == b->ops[k].o.rd) {
        run = counted ? interp_counted_forwarded_pair(first, second) : NULL;
        run = run ? run : interp_forwarded_pair(first, second);
        *forwarded = run != NULL;
        if (run)
            return run;
    }
    run = counted ? interp_counted_pair(first, second) : NULL;
    return run ? run : interp_pair(first, second);
}

/* Minimizes the cost of the block by dynamic programming from its end: as few dispatches as possible, and values
 * forwarded in registers rather than stored and loaded. The weights are roughly host cycles. */
void interp_fuse(struct builder *b)
{
    enum { DISPATCH = 2, FORWARD = 2 };
    int cost[BLOCK_OPS + 1];
    bool paired[BLOCK_OPS], forwarded;
    cost[b->count] = 0;
    for (uint32_t k = 1; k < b->count; k++)
        if (b->kinds[k - 1] != OP_DATA && interp_forwarded_pair(b->kinds[k - 1], OP_mv))
            put_forwarded_first(b, k);
    for (uint32_t k = b->count; k-- > 0;) {
        if (b->kinds[k] == OP_DATA)
            continue;
        uint32_t next = next_op(b, k);
        cost[k] = cost[next] + DISPATCH;
        paired[k] = false;
        if (pair_at(b, k, next, &forwarded)) {
            int as_pair = cost[next_op(b, next)] + DISPATCH - (forwarded ? FORWARD : 0);
            paired[k] = as_pair < cost[k];
            cost[k] = paired[k] ? as_pair : cost[k];
        }
    }
    for (uint32_t k = 0, next; k < b->count; k = paired[k] ? next_op(b, next) : next) {
        next = next_op(b, k);
        if (paired[k])
            b->ops[k].run = pair_at(b, k, next, &forwarded);
    }
}
