/* The words in which exec.def says what instructions do.
 *
 * An engine that includes exec.def has a hart `h` and operands `o` in scope and defines besides:
 *     LOAD(type, addr)   STORE(type, addr, value)   FENCE()             type is u8 u16 u32 u64 i8 i16 i32
 *     LOAD_RESERVED(type, addr)   STORE_CONDITIONAL(type, addr, value)   AMO(type, addr, new value in terms of `old`)
 *     EXEC_RM            the rounding mode of this instruction, a trap if it is reserved
 *
 * Invariants: operands name register slots, so rd is X_SINK where the instruction says x0; a floating-point
 * instruction has its rounding mode in `imm`. */
#ifndef CYCLESCOPE_RISCV_EXEC_H
#define CYCLESCOPE_RISCV_EXEC_H

#include <stdint.h>

#include "guest/hart.h"
#include "riscv/fp.h"
#include "riscv/softfp.h"

struct operands {
    uint8_t rd, rs1, rs2, rs3;
    int32_t imm;
};

#define RD        h->x[o->rd]
#define RS1       h->x[o->rs1]
#define RS2       h->x[o->rs2]
#define IMM       ((uint64_t)(int64_t)o->imm)
#define SHAMT     (o->imm & 63)
#define SEXT32(v) ((uint64_t)(int64_t)(int32_t)(v))
#define ZEXT32(v) ((uint64_t)(uint32_t)(v))

#define FRD        h->f[o->rd]
#define FRS1       h->f[o->rs1]
#define FRS2       h->f[o->rs2]
#define FRS3       h->f[o->rs3]
#define S1         fp_unbox(FRS1)
#define S2         fp_unbox(FRS2)
#define S3         fp_unbox(FRS3)
#define F32_1      fp_value32(S1)
#define F32_2      fp_value32(S2)
#define F32_3      fp_value32(S3)
#define F64_1      fp_value64(FRS1)
#define F64_2      fp_value64(FRS2)
#define F64_3      fp_value64(FRS3)
#define BOX(bits)  (UINT64_C(0xffffffff00000000) | (uint32_t)(bits))
#define CANON32(v) BOX(fp_canonical32(v))
#define CANON64(v) fp_canonical64(v)
#define SIGN32     UINT32_C(0x80000000)
#define SIGN64     UINT64_C(0x8000000000000000)

static inline uint64_t exec_div64(int64_t a, int64_t b)
{
    if (b == 0)
        return UINT64_MAX;
    if (b == -1)
        return -(uint64_t)a;
    return (uint64_t)(a / b);
}

static inline uint64_t exec_rem64(int64_t a, int64_t b)
{
    if (b == 0)
        return (uint64_t)a;
    return b == -1 ? 0 : (uint64_t)(a % b);
}

static inline uint64_t exec_div32(int32_t a, int32_t b)
{
    if (b == 0)
        return UINT64_MAX;
    if (b == -1)
        return SEXT32(-(uint32_t)a);
    return SEXT32(a / b);
}

static inline uint64_t exec_rem32(int32_t a, int32_t b)
{
    if (b == 0)
        return SEXT32(a);
    return b == -1 ? 0 : SEXT32(a % b);
}

static inline uint64_t exec_ror64(uint64_t v, uint64_t n)
{
    return v >> (n & 63) | v << (-n & 63);
}

static inline uint32_t exec_ror32(uint32_t v, uint32_t n)
{
    return v >> (n & 31) | v << (-n & 31);
}

/* Bytes that are not zero become 0xff: the high bit of each byte is set by carry out of its low seven bits or itself.
 */
static inline uint64_t exec_orc_b(uint64_t v)
{
    const uint64_t low7 = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t high = (((v & low7) + low7) | v) & ~low7;
    return (high >> 7) * 0xff;
}

#endif
