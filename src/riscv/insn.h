/* The instruction set RV64GC with Zicsr, Zifencei, Zba, Zbb, Zbs, Zicond, Zihintpause and Zicbop, as insn.def lists it.
 *
 * A `struct insn` is one decoded instruction. Its `op` is what it does (compressed forms name their base instruction),
 * its `form` the row that it was written as. Reserved encodings do not decode. */
#ifndef CYCLESCOPE_RISCV_INSN_H
#define CYCLESCOPE_RISCV_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum insn_id {
#define INSN(id, text, operands, match, mask, unit, ext)      INSN_##id,
#define CINSN(id, text, operands, match, mask, nonzero, base) INSN_##id,
#include "riscv/insn.def"
#undef INSN
#undef CINSN
    INSN_COUNT,
    INSN_ILLEGAL = INSN_COUNT
};

enum insn_unit { /* the kind of functional unit that executes it */
                 UNIT_ALU,
                 UNIT_MUL,
                 UNIT_DIV,
                 UNIT_BRANCH,
                 UNIT_JUMP,
                 UNIT_JUMP_REG,
                 UNIT_LOAD,
                 UNIT_STORE,
                 UNIT_ATOMIC,
                 UNIT_PREFETCH,
                 UNIT_FP_ADD,
                 UNIT_FP_MUL,
                 UNIT_FP_FMA,
                 UNIT_FP_DIV,
                 UNIT_FP_SQRT,
                 UNIT_FP_CONVERT,
                 UNIT_FP_COMPARE,
                 UNIT_FP_MOVE,
                 UNIT_FENCE,
                 UNIT_SYSTEM,
                 UNIT_HINT,
                 UNIT_COUNT
};

enum insn_ext {
    EXT_I,
    EXT_M,
    EXT_A,
    EXT_F,
    EXT_D,
    EXT_C,
    EXT_ZICSR,
    EXT_ZIFENCEI,
    EXT_ZIHINTPAUSE,
    EXT_ZICBOP,
    EXT_ZBA,
    EXT_ZBB,
    EXT_ZBS,
    EXT_ZICOND
};

enum { RM_DYN = 7 }; /* rounding mode field: take it from frm */

struct insn_desc {
    const char *text;     /* mnemonic without suffixes */
    const char *operands; /* letters, see insn.def */
    uint32_t match, mask; /* bits & mask == match */
    uint32_t nonzero;     /* if not 0: bits & nonzero != 0 */
    enum insn_id op;      /* what it does: itself, or the base of a compressed form */
    enum insn_unit unit;
    enum insn_ext ext;
    bool compressed;
};

struct insn {
    enum insn_id form; /* row of insn.def, or INSN_ILLEGAL */
    enum insn_id op;   /* what it does */
    uint8_t length;    /* 2 or 4 bytes */
    uint8_t rd, rs1, rs2, rs3;
    uint8_t rm;    /* rounding mode field, or aq << 1 | rl of an atomic */
    int32_t imm;   /* immediate, offset, CSR number, or fence sets; sign-extended */
    uint32_t bits; /* the encoding */
};

const struct insn_desc *insn_describe(enum insn_id id);

/* Bytes that the instruction beginning with these 16 bits has: 2 or 4. Longer encodings are taken as 4 and illegal. */
static inline unsigned insn_length(uint16_t first)
{
    return (first & 3) == 3 ? 4 : 2;
}

/* Decodes; false for an illegal instruction, which still has `form`, `op`, `length` and `bits`. */
bool insn_decode(uint32_t bits, struct insn *out);

/* Writes assembler text, targets as `.+offset`; returns its length, which may exceed `size` as with snprintf. */
size_t insn_disassemble(const struct insn *insn, char *text, size_t size);

const char *insn_reg_name(unsigned reg);  /* zero, ra, sp, ... */
const char *insn_freg_name(unsigned reg); /* ft0, ... */
const char *insn_csr_name(unsigned csr);  /* NULL if it has none */

/* Bits that mean something: mask and operands. The others are ignored by the decoder. */
uint32_t insn_meaningful_bits(enum insn_id id);

#endif
