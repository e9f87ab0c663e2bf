/* Pairs of neighboring ops that run as one: every FIRST with every SECOND.
 *
 * A pair saves a dispatch. More important: where the second op's rs1 is the first op's rd, the forwarded form of the
 * pair passes the value in a register. Otherwise the value goes through memory, which costs the host several cycles and
 * dominates the time of chains of dependent instructions. `make bench` shows the effect.
 *
 * The first op gets the pair's function. The second op, which follows the first op's tally if it has one, keeps its own
 * function and only supplies operands. Plain kinds fall through; branches leave when taken; jumps always leave, so they
 * can only be second. */
#ifndef CYCLESCOPE_EMULATE_INTERPRETER_FUSED_H
#define CYCLESCOPE_EMULATE_INTERPRETER_FUSED_H

#include "emulate/interpreter/access.h"

// clang-format off
/* First ops that write an integer register. */
#define FUSED_FIRST_ALU(PLAIN)                                                                                         \
    PLAIN(li) PLAIN(mv) PLAIN(sext_w) PLAIN(addi) PLAIN(add) PLAIN(sub) PLAIN(addiw) PLAIN(addw) PLAIN(subw)           \
    PLAIN(slli) PLAIN(srli) PLAIN(srai) PLAIN(slliw) PLAIN(srliw) PLAIN(sraiw) PLAIN(sll) PLAIN(srl) PLAIN(and)        \
    PLAIN(or) PLAIN(xor) PLAIN(andi) PLAIN(ori) PLAIN(xori) PLAIN(sltu) PLAIN(sltiu) PLAIN(mul) PLAIN(mulw)
#define FUSED_FIRST_LOAD(PLAIN)                                                                                        \
    PLAIN(lb) PLAIN(lbu) PLAIN(lh) PLAIN(lhu) PLAIN(lw) PLAIN(lwu) PLAIN(ld)

/* First ops that do not write an integer register. */
#define FUSED_FIRST_OTHER(PLAIN)                                                                                       \
    PLAIN(sb) PLAIN(sh) PLAIN(sw) PLAIN(sd) PLAIN(fld) PLAIN(fsd) PLAIN(flw) PLAIN(fsw) PLAIN(fsgnj_d)
#define FUSED_FIRST_ROUNDED(ROUNDED)                                                                                   \
    ROUNDED(fadd_d) ROUNDED(fsub_d) ROUNDED(fmul_d) ROUNDED(fmadd_d)
#define FUSED_FIRST_BRANCH(BRANCH)                                                                                     \
    BRANCH(beq) BRANCH(bne) BRANCH(blt) BRANCH(bge) BRANCH(bltu) BRANCH(bgeu) BRANCH(beqz) BRANCH(bnez)

/* Second ops. LEAVER: read an integer rs1 and may leave the block; READER: all that read an integer rs1; OTHER: the
 * rest. */
#define FUSED_LEAVER(first, BRANCH, JUMP)                                                                              \
    BRANCH(first, beq) BRANCH(first, bne) BRANCH(first, blt) BRANCH(first, bge) BRANCH(first, bltu)                    \
    BRANCH(first, bgeu) BRANCH(first, beqz) BRANCH(first, bnez) JUMP(first, jr) JUMP(first, jalr)
#define FUSED_READER(first, PLAIN, BRANCH, JUMP)                                                                       \
    PLAIN(first, mv) PLAIN(first, sext_w) PLAIN(first, addi) PLAIN(first, add) PLAIN(first, sub) PLAIN(first, addiw)   \
    PLAIN(first, addw) PLAIN(first, subw) PLAIN(first, slli) PLAIN(first, srli) PLAIN(first, srai)                     \
    PLAIN(first, slliw) PLAIN(first, srliw) PLAIN(first, sraiw) PLAIN(first, sll) PLAIN(first, srl)                    \
    PLAIN(first, and) PLAIN(first, or) PLAIN(first, xor) PLAIN(first, andi) PLAIN(first, ori) PLAIN(first, xori)       \
    PLAIN(first, sltu) PLAIN(first, sltiu) PLAIN(first, mul) PLAIN(first, mulw) PLAIN(first, lb) PLAIN(first, lbu)     \
    PLAIN(first, lh) PLAIN(first, lhu) PLAIN(first, lw) PLAIN(first, lwu) PLAIN(first, ld) PLAIN(first, sb)            \
    PLAIN(first, sh) PLAIN(first, sw) PLAIN(first, sd) PLAIN(first, fld) PLAIN(first, fsd) PLAIN(first, flw)           \
    PLAIN(first, fsw) FUSED_LEAVER(first, BRANCH, JUMP)
#define FUSED_OTHER(first, PLAIN, ROUNDED, JUMP)                                                                       \
    PLAIN(first, li) PLAIN(first, fsgnj_d) ROUNDED(first, fadd_d) ROUNDED(first, fsub_d) ROUNDED(first, fmul_d)        \
    ROUNDED(first, fmadd_d) JUMP(first, j)
// clang-format on

/* The halves of a pair. If the host lacks the rounding mode of a ROUNDED op, the op's soft form runs instead, and the
 * pair ends there. */
#define FIRST_PLAIN(a) do_##a(h, op, mem);
#define FIRST_ROUNDED(a)                                                                                               \
    if (HOST_CANNOT_ROUND(h))                                                                                          \
        return interp_soft_##a(h, op, mem);                                                                            \
    do_##a(h, op, mem);
#define FIRST_BRANCH(a)                                                                                                \
    if (if_##a(h, op, mem))                                                                                            \
        return take(h, op, mem);
#define SECOND_PLAIN(b)                                                                                                \
    FIRST_PLAIN(b)                                                                                                     \
    return GO(op + 1);
#define SECOND_ROUNDED(b)                                                                                              \
    FIRST_ROUNDED(b)                                                                                                   \
    return GO(op + 1);
#define SECOND_BRANCH(b)                                                                                               \
    FIRST_BRANCH(b)                                                                                                    \
    return GO(op + LEAVER_SLOTS);
#define SECOND_JUMP(b) return leave_##b(h, op, mem);

#define FUSE(a, b, first, slots, second)                                                                               \
    static const struct op *a##_then_##b(OP_ARGUMENTS)                                                                 \
    {                                                                                                                  \
        first op += (slots);                                                                                           \
        second                                                                                                         \
    }
#define PLAIN_PLAIN(a, b)     FUSE(a, b, FIRST_PLAIN(a), 1, SECOND_PLAIN(b))
#define PLAIN_ROUNDED(a, b)   FUSE(a, b, FIRST_PLAIN(a), 1, SECOND_ROUNDED(b))
#define PLAIN_BRANCH(a, b)    FUSE(a, b, FIRST_PLAIN(a), 1, SECOND_BRANCH(b))
#define PLAIN_JUMP(a, b)      FUSE(a, b, FIRST_PLAIN(a), 1, SECOND_JUMP(b))
#define ROUNDED_PLAIN(a, b)   FUSE(a, b, FIRST_ROUNDED(a), 1, SECOND_PLAIN(b))
#define ROUNDED_ROUNDED(a, b) FUSE(a, b, FIRST_ROUNDED(a), 1, SECOND_ROUNDED(b))
#define ROUNDED_BRANCH(a, b)  FUSE(a, b, FIRST_ROUNDED(a), 1, SECOND_BRANCH(b))
#define ROUNDED_JUMP(a, b)    FUSE(a, b, FIRST_ROUNDED(a), 1, SECOND_JUMP(b))
#define BRANCH_PLAIN(a, b)    FUSE(a, b, FIRST_BRANCH(a), LEAVER_SLOTS, SECOND_PLAIN(b))
#define BRANCH_ROUNDED(a, b)  FUSE(a, b, FIRST_BRANCH(a), LEAVER_SLOTS, SECOND_ROUNDED(b))
#define BRANCH_BRANCH(a, b)   FUSE(a, b, FIRST_BRANCH(a), LEAVER_SLOTS, SECOND_BRANCH(b))
#define BRANCH_JUMP(a, b)     FUSE(a, b, FIRST_BRANCH(a), LEAVER_SLOTS, SECOND_JUMP(b))

/* The forwarded form. Reading x[rd] right after it is written compiles to no load: the compiler still has the value. */
#define FUSE_FORWARDED(a, b, second)                                                                                   \
    static const struct op *a##_into_##b(OP_ARGUMENTS)                                                                 \
    {                                                                                                                  \
        const uint8_t rd = op->o.rd;                                                                                   \
        do_##a(h, op, mem);                                                                                            \
        const uint64_t value = h->x[rd];                                                                               \
        op++;                                                                                                          \
        second                                                                                                         \
    }
#define FORWARDED_PLAIN(a, b) FUSE_FORWARDED(a, b, do_forwarded_##b(h, op, mem, value); return GO(op + 1);)
#define STAY_OR_TAKE(b)                                                                                                \
    if (if_forwarded_##b(h, op, mem, value))                                                                           \
        return take(h, op, mem);                                                                                       \
    return GO(op + LEAVER_SLOTS);
#define FORWARDED_BRANCH(a, b) FUSE_FORWARDED(a, b, STAY_OR_TAKE(b))
#define FORWARDED_JUMP(a, b)   FUSE_FORWARDED(a, b, return leave_forwarded_##b(h, op, mem, value);)

/* The pairs of one first op, indexed by the second op's kind; NULL: no such pair. */
struct fused_row {
    op_function *pair[OP_KINDS];
    op_function *forwarded[OP_KINDS];
};
#define FUSED_ENTRY(a, b)     [OP_##b] = a##_then_##b,
#define FORWARDED_ENTRY(a, b) [OP_##b] = a##_into_##b,
#define FUSED_PAIRS(a)                                                                                                 \
    .pair = {FUSED_READER(a, FUSED_ENTRY, FUSED_ENTRY, FUSED_ENTRY)                                                    \
                 FUSED_OTHER(a, FUSED_ENTRY, FUSED_ENTRY, FUSED_ENTRY)}
#define FUSED_FORWARDED(a) .forwarded = {FUSED_READER(a, FORWARDED_ENTRY, FORWARDED_ENTRY, FORWARDED_ENTRY)}

#define WRITER_ROW(a)                                                                                                  \
    FUSED_READER(a, PLAIN_PLAIN, PLAIN_BRANCH, PLAIN_JUMP)                                                             \
    FUSED_OTHER(a, PLAIN_PLAIN, PLAIN_ROUNDED, PLAIN_JUMP)                                                             \
    FUSED_READER(a, FORWARDED_PLAIN, FORWARDED_BRANCH, FORWARDED_JUMP)                                                 \
    static const struct fused_row row_##a = {FUSED_PAIRS(a), FUSED_FORWARDED(a)};
#define PLAIN_ROW(a)                                                                                                   \
    FUSED_READER(a, PLAIN_PLAIN, PLAIN_BRANCH, PLAIN_JUMP)                                                             \
    FUSED_OTHER(a, PLAIN_PLAIN, PLAIN_ROUNDED, PLAIN_JUMP)                                                             \
    static const struct fused_row row_##a = {FUSED_PAIRS(a)};
#define ROUNDED_ROW(a)                                                                                                 \
    FUSED_READER(a, ROUNDED_PLAIN, ROUNDED_BRANCH, ROUNDED_JUMP)                                                       \
    FUSED_OTHER(a, ROUNDED_PLAIN, ROUNDED_ROUNDED, ROUNDED_JUMP)                                                       \
    static const struct fused_row row_##a = {FUSED_PAIRS(a)};
#define BRANCH_ROW(a)                                                                                                  \
    FUSED_READER(a, BRANCH_PLAIN, BRANCH_BRANCH, BRANCH_JUMP)                                                          \
    FUSED_OTHER(a, BRANCH_PLAIN, BRANCH_ROUNDED, BRANCH_JUMP)                                                          \
    static const struct fused_row row_##a = {FUSED_PAIRS(a)};
#define FUSED_ROW_OF(a) [OP_##a] = &row_##a,

extern const struct fused_row *const fused_alu[OP_KINDS];
extern const struct fused_row *const fused_load[OP_KINDS];
extern const struct fused_row *const fused_other[OP_KINDS];

#endif
