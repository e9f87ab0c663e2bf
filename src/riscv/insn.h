/* The instruction set: RV64GC with Zicsr, Zifencei, Zba, Zbb, Zbc, Zbkb, Zbkx, Zbs, Zcb, Zfa, Zfh, Zacas, Zicond,
 * Zihintpause, Zicbop and Zicboz, as listed in insn.def.
 *
 * A `struct insn` is one decoded instruction. `op` is the operation (a compressed instruction has that of its base
 * instruction), `form` the row of insn.def that matched. Reserved encodings do not decode. */
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

/* Kind of functional unit that executes an instruction. */
enum insn_unit {
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
    EXT_ZICOND,
    EXT_ZBC,
    EXT_ZBKB,
    EXT_ZBKX,
    EXT_ZICBOZ,
    EXT_ZACAS,
    EXT_ZFH,
    EXT_ZFA
};

enum { RM_DYN = 7 }; /* value of the rounding mode field that selects frm */

struct insn_desc {
    const char *text;     /* mnemonic without suffixes */
    const char *operands; /* operand letters, see insn.def */
    uint32_t match, mask; /* bits & mask == match */
    uint32_t nonzero;     /* 0, or bits that must not all be zero */
    enum insn_id op;      /* operation: the row itself, or the base of a compressed form */
    enum insn_unit unit;  /* UNIT_COUNT in a compressed form: see the row of `op` */
    enum insn_ext ext;    /* for tests */
    bool compressed;      /* 16-bit encoding */
};

struct insn {
    enum insn_id form; /* row of insn.def that matched, or INSN_ILLEGAL */
    enum insn_id op;   /* operation: `form`, or its base instruction; INSN_ILLEGAL if illegal */
    uint8_t length;    /* 2 or 4 bytes */
    uint8_t rd, rs1, rs2, rs3;
    uint8_t rm;    /* rounding mode field, or aq << 1 | rl of an atomic */
    int32_t imm;   /* immediate, offset, CSR number or fence sets; immediates and offsets are sign-extended */
    uint32_t bits; /* encoding; the upper half is 0 in a 16-bit instruction */
};

/* Row of insn.def; static, never NULL. `id` must not be INSN_ILLEGAL. */
const struct insn_desc *insn_describe(enum insn_id id);

/* Length in bytes, 2 or 4, of the instruction that starts with these 16 bits. Longer formats count as 4 and are
 * illegal. */
static inline unsigned insn_length(uint16_t first)
{
    return (first & 3) == 3 ? 4 : 2;
}

/* Decodes one instruction. Returns false if it is illegal; then only `form`, `op`, `length` and `bits` are valid. */
bool insn_decode(uint32_t bits, struct insn *out);

/* Writes assembler text to `text`, branch targets as `.+offset`. Returns the length of the whole text, which may
 * exceed `size`, as snprintf does. */
size_t insn_disassemble(const struct insn *insn, char *text, size_t size);

const char *insn_reg_name(unsigned reg);  /* ABI names: zero, ra, sp, ... */
const char *insn_freg_name(unsigned reg); /* ABI names: ft0, ft1, ... */
const char *insn_csr_name(unsigned csr);  /* user-mode CSRs; NULL for all others */

/* Bits of the encoding that matter: the mask and all operand fields. The decoder ignores the other bits. For tests,
 * which make encodings. */
uint32_t insn_meaningful_bits(enum insn_id id);

#endif
