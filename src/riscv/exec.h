/* Macros and helpers that the instruction bodies in exec.def use.
 *
 * An executor (hart.h) that includes exec.def has a hart `h` and operands `o` in scope, and defines these macros
 * itself: LOAD(type, addr)   STORE(type, addr, value)   FENCE()             type is u8 u16 u32 u64 i8 i16 i32
 *     LOAD_RESERVED(type, addr)   STORE_CONDITIONAL(type, addr, value)   AMO(type, addr, new value in terms of `old`)
 *     ZERO_BLOCK(addr)   zeroes 64 bytes    CAS(type, addr, expected, new value)    CAS_PAIR(addr): amocas.q
 *     EXEC_RM            rounding mode of this instruction; a reserved mode traps
 *
 * Invariants: operands name register slots, so rd is X_SINK where the instruction names x0. A floating-point
 * instruction has its rounding mode in `imm`. */
#ifndef CYCLESCOPE_RISCV_EXEC_H
#define CYCLESCOPE_RISCV_EXEC_H

#include <stdint.h>

#include "riscv/hart.h"
#include "riscv/fp.h"
#include "riscv/softfp.h"

struct operands {
    uint8_t rd, rs1, rs2, rs3;
    int32_t imm;
};

/* Integer operands. */
#define RD    h->x[o->rd]
#define RS1   h->x[o->rs1]
#define RS2   h->x[o->rs2]
#define IMM   ((uint64_t)(int64_t)o->imm)
#define SHAMT (o->imm & 63)
/* The expected value of amocas is in rd. A pair is a register and the next one; the pair of x0 is zero. */
#define EXPECTED       (o->rd == X_SINK ? 0 : h->x[o->rd])
#define EXPECTED_UPPER (o->rd == X_SINK ? 0 : h->x[o->rd + 1])
#define RS2_UPPER      (o->rs2 == 0 ? 0 : h->x[o->rs2 + 1])
#define SEXT32(v)      ((uint64_t)(int64_t)(int32_t)(v))
#define ZEXT32(v)      ((uint64_t)(uint32_t)(v))

/* Floating-point operands: FRSn are register bits, Sn unboxed single bits, F32_n and F64_n host values. */
#define FRD         h->f[o->rd]
#define FRS1        h->f[o->rs1]
#define FRS2        h->f[o->rs2]
#define FRS3        h->f[o->rs3]
#define S1          fp_unbox(FRS1)
#define S2          fp_unbox(FRS2)
#define S3          fp_unbox(FRS3)
#define F32_1       fp_value32(S1)
#define F32_2       fp_value32(S2)
#define F32_3       fp_value32(S3)
#define F64_1       fp_value64(FRS1)
#define F64_2       fp_value64(FRS2)
#define F64_3       fp_value64(FRS3)
#define H1          fp_unbox16(FRS1)
#define H2          fp_unbox16(FRS2)
#define H3          fp_unbox16(FRS3)
#define BOX16(bits) (UINT64_C(0xffffffffffff0000) | (uint16_t)(bits))
#define SIGN16      0x8000
#define BOX(bits)   (UINT64_C(0xffffffff00000000) | (uint32_t)(bits))
#define CANON32(v)  BOX(fp_canonical32(v))
#define CANON64(v)  fp_canonical64(v)
#define SIGN32      UINT32_C(0x80000000)
#define SIGN64      UINT64_C(0x8000000000000000)

/* Division as the M extension defines it: x / 0 is all ones, x % 0 is x, and the overflow of the smallest integer
 * divided by -1 wraps. The host's division would trap in these cases. */
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

/* amocas.q: leaves what `at` held in *low and *high, and stores the new pair if the two were equal. `at` is a multiple
 * of 16. */
#define EXEC_CAS128(at, low, high, new_low, new_high)                                                                  \
    __asm__ volatile("lock cmpxchg16b %2"                                                                              \
                     : "+a"(low), "+d"(high), "+m"(*(unsigned __int128 *)(at))                                         \
                     : "b"(new_low), "c"(new_high)                                                                     \
                     : "cc", "memory")

/* Carry-less products: the lower and the upper half. */
static inline uint64_t exec_clmul(uint64_t a, uint64_t b)
{
    uint64_t product = 0;
    for (; b; b &= b - 1)
        product ^= a << __builtin_ctzll(b);
    return product;
}

static inline uint64_t exec_clmulh(uint64_t a, uint64_t b)
{
    uint64_t product = 0;
    for (b &= ~UINT64_C(1); b; b &= b - 1)
        product ^= a >> (64 - __builtin_ctzll(b));
    return product;
}

/* Reverses the bits of each byte. */
static inline uint64_t exec_brev8(uint64_t v)
{
    v = (v & UINT64_C(0x5555555555555555)) << 1 | (v >> 1 & UINT64_C(0x5555555555555555));
    v = (v & UINT64_C(0x3333333333333333)) << 2 | (v >> 2 & UINT64_C(0x3333333333333333));
    return (v & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4 | (v >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f));
}

/* Each element of `indices` selects an element of `table`; an index out of range gives 0. */
static inline uint64_t exec_xperm4(uint64_t table, uint64_t indices)
{
    uint64_t result = 0;
    for (unsigned i = 0; i < 64; i += 4)
        result |= (table >> 4 * (indices >> i & 15) & 15) << i;
    return result;
}

static inline uint64_t exec_xperm8(uint64_t table, uint64_t indices)
{
    uint64_t result = 0;
    for (unsigned i = 0; i < 64; i += 8)
        if ((indices >> i & 0xff) < 8)
            result |= (table >> 8 * (indices >> i & 7) & 0xff) << i;
    return result;
}

static inline uint64_t exec_ror64(uint64_t v, uint64_t n)
{
    return v >> (n & 63) | v << (-n & 63);
}

static inline uint32_t exec_ror32(uint32_t v, uint32_t n)
{
    return v >> (n & 31) | v << (-n & 31);
}

/* Each nonzero byte becomes 0xff. Adding 0x7f to the low seven bits of a byte carries into bit 7 unless they are all
 * zero; the OR with the byte itself covers bytes in which only bit 7 is set. */
static inline uint64_t exec_orc_b(uint64_t v)
{
    const uint64_t low7 = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t high = (((v & low7) + low7) | v) & ~low7;
    return (high >> 7) * 0xff;
}

#endif
