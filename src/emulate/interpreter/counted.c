/* Counting forms (count.c) of the ops and pairs of ops that may leave a block. Pairs that cannot leave have no counting
 * form: those of fused_*.c are used. */
#define COUNTED
#include "emulate/interpreter/fused.h"

#if !TRAMPOLINE
#define COUNTED_PAIRS(a)     .pair = {FUSED_LEAVER(a, FUSED_ENTRY, FUSED_ENTRY) FUSED_ENTRY(a, j)}
#define COUNTED_FORWARDED(a) .forwarded = {FUSED_LEAVER(a, FORWARDED_ENTRY, FORWARDED_ENTRY)}
#define COUNTED_WRITER_ROW(a)                                                                                          \
    FUSED_LEAVER(a, PLAIN_BRANCH, PLAIN_JUMP)                                                                          \
    PLAIN_JUMP(a, j)                                                                                                   \
    FUSED_LEAVER(a, FORWARDED_BRANCH, FORWARDED_JUMP)                                                                  \
    static const struct fused_row row_##a = {COUNTED_PAIRS(a), COUNTED_FORWARDED(a)};
#define COUNTED_PLAIN_ROW(a)                                                                                           \
    FUSED_LEAVER(a, PLAIN_BRANCH, PLAIN_JUMP)                                                                          \
    PLAIN_JUMP(a, j)                                                                                                   \
    static const struct fused_row row_##a = {COUNTED_PAIRS(a)};
#define COUNTED_ROUNDED_ROW(a)                                                                                         \
    FUSED_LEAVER(a, ROUNDED_BRANCH, ROUNDED_JUMP)                                                                      \
    ROUNDED_JUMP(a, j)                                                                                                 \
    static const struct fused_row row_##a = {COUNTED_PAIRS(a)};

FUSED_FIRST_ALU(COUNTED_WRITER_ROW)
FUSED_FIRST_LOAD(COUNTED_WRITER_ROW)
FUSED_FIRST_OTHER(COUNTED_PLAIN_ROW)
FUSED_FIRST_ROUNDED(COUNTED_ROUNDED_ROW)
FUSED_FIRST_BRANCH(BRANCH_ROW)

static const struct fused_row *const rows[OP_KINDS] = {FUSED_FIRST_ALU(FUSED_ROW_OF) FUSED_FIRST_LOAD(
    FUSED_ROW_OF) FUSED_FIRST_OTHER(FUSED_ROW_OF) FUSED_FIRST_ROUNDED(FUSED_ROW_OF) FUSED_FIRST_BRANCH(FUSED_ROW_OF)};
#else
static const struct fused_row *const rows[OP_KINDS] = {NULL};
#endif

op_function *interp_counted_pair(enum op_kind first, enum op_kind second)
{
    return rows[first] ? rows[first]->pair[second] : NULL;
}

op_function *interp_counted_forwarded_pair(enum op_kind first, enum op_kind second)
{
    return rows[first] ? rows[first]->forwarded[second] : NULL;
}

/* ---- single ops */

#define COUNTED_BRANCH(id)                                                                                             \
    static const struct op *counted_##id(OP_ARGUMENTS)                                                                 \
    {                                                                                                                  \
        if (if_##id(h, op, mem))                                                                                       \
            return take(h, op, mem);                                                                                   \
        return GO(op + LEAVER_SLOTS);                                                                                  \
    }
#define COUNTED_JUMP(id)                                                                                               \
    static const struct op *counted_##id(OP_ARGUMENTS)                                                                 \
    {                                                                                                                  \
        return leave_##id(h, op, mem);                                                                                 \
    }
FUSED_FIRST_BRANCH(COUNTED_BRANCH)
COUNTED_JUMP(j)
COUNTED_JUMP(jr)
COUNTED_JUMP(jalr)

#define COUNTED_SINGLE(id) [OP_##id] = counted_##id,
op_function *const interp_counted_single[OP_KINDS] = {FUSED_FIRST_BRANCH(COUNTED_SINGLE) COUNTED_SINGLE(j)
                                                          COUNTED_SINGLE(jr) COUNTED_SINGLE(jalr)};
