/*
 * Add, subtract, multiply, divide, square root and fused multiply-add, each
 * implemented once in the common form. Special operands are handled first; the
 * rest is integer arithmetic on finite, nonzero numbers.
 */
#include "riscv/softfp_priv.h"

static struct softfp_num special(enum softfp_class class, bool sign)
{
    return (struct softfp_num){.class = class, .sign = sign};
}

static bool either(struct softfp_num a, struct softfp_num b, enum softfp_class class)
{
    return a.class == class || b.class == class;
}

static bool either_nan(struct softfp_num a, struct softfp_num b)
{
    return either(a, b, SOFTFP_NAN) || either(a, b, SOFTFP_INVALID);
}

static struct softfp_num propagate_nan(struct softfp_num a, struct softfp_num b)
{
    return special(either(a, b, SOFTFP_INVALID) ? SOFTFP_INVALID : SOFTFP_NAN, false);
}

static struct softfp_num negate(struct softfp_num a)
{
    a.sign = !a.sign;
    return a;
}

/*
 * The significand of an unpacked number in 64 bits, with its highest 1 in bit
 * 63. Nothing is lost: no format has more than 53 bits. Bit 0 has the weight
 * 2^(exp + 63).
 */
static uint64_t narrow_sig(struct softfp_num a)
{
    return (uint64_t)(a.sig >> (SOFTFP_TOP - 63));
}

/*
 * Sum of two finite numbers. Folding the lost bits of the smaller operand into
 * bit 0 is safe: an operand has at most 106 significant bits, so bits are lost
 * only if the exponents differ by 22 or more. Then a subtraction cancels at most
 * one leading bit, and more than 70 bits remain between the sticky bit and the
 * last bit that rounding keeps.
 */
static struct softfp_num add_finite(struct softfp_num a, struct softfp_num b, enum softfp_rm rm)
{
    if (a.exp < b.exp || (a.exp == b.exp && a.sig < b.sig)) {
        struct softfp_num larger = b;

        b = a;
        a = larger;
    }

    softfp_u128 aligned = softfp_shift_right_sticky(b.sig, a.exp - b.exp);

    if (a.sign == b.sign)
        return softfp_normalize(a.sign, a.exp, a.sig + aligned);
    if (a.sig == aligned)
        return special(SOFTFP_ZERO, rm == RM_RDN);
    return softfp_normalize(a.sign, a.exp, a.sig - aligned);
}

/* The rounding mode only decides the sign of an exact zero (IEEE 754 section 6.3). */
static struct softfp_num add(struct softfp_num a, struct softfp_num b, enum softfp_rm rm)
{
    if (either_nan(a, b))
        return propagate_nan(a, b);
    if (a.class == SOFTFP_INF && b.class == SOFTFP_INF && a.sign != b.sign)
        return special(SOFTFP_INVALID, false);
    if (either(a, b, SOFTFP_INF))
        return a.class == SOFTFP_INF ? a : b;
    if (a.class == SOFTFP_ZERO && b.class == SOFTFP_ZERO)
        return special(SOFTFP_ZERO, a.sign == b.sign ? a.sign : rm == RM_RDN);
    if (either(a, b, SOFTFP_ZERO))
        return a.class == SOFTFP_ZERO ? b : a;
    return add_finite(a, b, rm);
}

/*
 * Exact product. Infinity times zero is SOFTFP_INVALID, and stays so when a
 * quiet NaN is added: fma raises NV in this case, as RISC-V requires.
 */
static struct softfp_num multiply(struct softfp_num a, struct softfp_num b)
{
    bool sign = a.sign != b.sign;

    if (either_nan(a, b))
        return propagate_nan(a, b);
    if (either(a, b, SOFTFP_INF))
        return special(either(a, b, SOFTFP_ZERO) ? SOFTFP_INVALID : SOFTFP_INF, sign);
    if (either(a, b, SOFTFP_ZERO))
        return special(SOFTFP_ZERO, sign);

    int exp = a.exp + b.exp + 2 * (SOFTFP_TOP - 63);

    return softfp_normalize(sign, exp, (softfp_u128)narrow_sig(a) * narrow_sig(b));
}

static struct softfp_num divide(struct softfp_num a, struct softfp_num b, unsigned *flags)
{
    bool sign = a.sign != b.sign;

    if (either_nan(a, b))
        return propagate_nan(a, b);
    if (a.class == b.class && a.class != SOFTFP_FINITE)
        return special(SOFTFP_INVALID, false);
    if (a.class == SOFTFP_INF || b.class == SOFTFP_ZERO) {
        if (a.class == SOFTFP_FINITE)
            *flags |= FF_DZ;
        return special(SOFTFP_INF, sign);
    }
    if (a.class == SOFTFP_ZERO || b.class == SOFTFP_INF)
        return special(SOFTFP_ZERO, sign);

    /* The quotient has 63 or 64 bits; a sticky bit below it stands for the remainder. */
    softfp_u128 dividend = (softfp_u128)narrow_sig(a) << 63;
    uint64_t divisor = narrow_sig(b);
    softfp_u128 quotient = dividend / divisor;
    bool sticky = quotient * divisor != dividend;

    return softfp_normalize(sign, a.exp - b.exp - 64, quotient << 1 | sticky);
}

/* Returns floor(sqrt(n)), computed bit by bit. Sets *exact if n is a perfect square. */
static uint64_t integer_sqrt(softfp_u128 n, bool *exact)
{
    softfp_u128 root = 0;

    for (softfp_u128 bit = (softfp_u128)1 << 126; bit; bit >>= 2) {
        softfp_u128 trial = root + bit;

        root >>= 1;
        if (n >= trial) {
            n -= trial;
            root += bit;
        }
    }
    *exact = n == 0;
    return (uint64_t)root;
}

static struct softfp_num square_root(struct softfp_num a)
{
    if (a.class == SOFTFP_NAN || a.class == SOFTFP_INVALID || a.class == SOFTFP_ZERO)
        return a;
    if (a.sign)
        return special(SOFTFP_INVALID, false);
    if (a.class == SOFTFP_INF)
        return a;

    /* The exponent is halved, so it must be even first. */
    int odd = a.exp & 1;
    bool exact;
    softfp_u128 root = integer_sqrt(a.sig << odd, &exact);

    return softfp_normalize(false, (a.exp - odd) / 2 - 1, root << 1 | !exact);
}

static struct softfp_num unpack32(uint32_t bits)
{
    return softfp_unpack(bits, &softfp_binary32);
}

static uint32_t pack32(struct softfp_num num, enum softfp_rm rm, unsigned *flags)
{
    return (uint32_t)softfp_pack(num, &softfp_binary32, rm, flags);
}

uint32_t softfp_add32(uint32_t a, uint32_t b, enum softfp_rm rm, unsigned *flags)
{
    return pack32(add(unpack32(a), unpack32(b), rm), rm, flags);
}

uint32_t softfp_sub32(uint32_t a, uint32_t b, enum softfp_rm rm, unsigned *flags)
{
    return pack32(add(unpack32(a), negate(unpack32(b)), rm), rm, flags);
}

uint32_t softfp_mul32(uint32_t a, uint32_t b, enum softfp_rm rm, unsigned *flags)
{
    return pack32(multiply(unpack32(a), unpack32(b)), rm, flags);
}

uint32_t softfp_div32(uint32_t a, uint32_t b, enum softfp_rm rm, unsigned *flags)
{
    return pack32(divide(unpack32(a), unpack32(b), flags), rm, flags);
}

uint32_t softfp_sqrt32(uint32_t a, enum softfp_rm rm, unsigned *flags)
{
    return pack32(square_root(unpack32(a)), rm, flags);
}

uint32_t softfp_fma32(uint32_t a, uint32_t b, uint32_t c, enum softfp_rm rm, unsigned *flags)
{
    return pack32(add(multiply(unpack32(a), unpack32(b)), unpack32(c), rm), rm, flags);
}

static struct softfp_num unpack64(uint64_t bits)
{
    return softfp_unpack(bits, &softfp_binary64);
}

static uint64_t pack64(struct softfp_num num, enum softfp_rm rm, unsigned *flags)
{
    return softfp_pack(num, &softfp_binary64, rm, flags);
}

uint64_t softfp_add64(uint64_t a, uint64_t b, enum softfp_rm rm, unsigned *flags)
{
    return pack64(add(unpack64(a), unpack64(b), rm), rm, flags);
}

uint64_t softfp_sub64(uint64_t a, uint64_t b, enum softfp_rm rm, unsigned *flags)
{
    return pack64(add(unpack64(a), negate(unpack64(b)), rm), rm, flags);
}

uint64_t softfp_mul64(uint64_t a, uint64_t b, enum softfp_rm rm, unsigned *flags)
{
    return pack64(multiply(unpack64(a), unpack64(b)), rm, flags);
}

uint64_t softfp_div64(uint64_t a, uint64_t b, enum softfp_rm rm, unsigned *flags)
{
    return pack64(divide(unpack64(a), unpack64(b), flags), rm, flags);
}

uint64_t softfp_sqrt64(uint64_t a, enum softfp_rm rm, unsigned *flags)
{
    return pack64(square_root(unpack64(a)), rm, flags);
}

uint64_t softfp_fma64(uint64_t a, uint64_t b, uint64_t c, enum softfp_rm rm, unsigned *flags)
{
    return pack64(add(multiply(unpack64(a), unpack64(b)), unpack64(c), rm), rm, flags);
}

static struct softfp_num unpack16(uint16_t bits)
{
    return softfp_unpack(bits, &softfp_binary16);
}

static uint16_t pack16(struct softfp_num num, enum softfp_rm rm, unsigned *flags)
{
    return (uint16_t)softfp_pack(num, &softfp_binary16, rm, flags);
}

uint16_t softfp_add16(uint16_t a, uint16_t b, enum softfp_rm rm, unsigned *flags)
{
    return pack16(add(unpack16(a), unpack16(b), rm), rm, flags);
}

uint16_t softfp_sub16(uint16_t a, uint16_t b, enum softfp_rm rm, unsigned *flags)
{
    return pack16(add(unpack16(a), negate(unpack16(b)), rm), rm, flags);
}

uint16_t softfp_mul16(uint16_t a, uint16_t b, enum softfp_rm rm, unsigned *flags)
{
    return pack16(multiply(unpack16(a), unpack16(b)), rm, flags);
}

uint16_t softfp_div16(uint16_t a, uint16_t b, enum softfp_rm rm, unsigned *flags)
{
    return pack16(divide(unpack16(a), unpack16(b), flags), rm, flags);
}

uint16_t softfp_sqrt16(uint16_t a, enum softfp_rm rm, unsigned *flags)
{
    return pack16(square_root(unpack16(a)), rm, flags);
}

uint16_t softfp_fma16(uint16_t a, uint16_t b, uint16_t c, enum softfp_rm rm, unsigned *flags)
{
    return pack16(add(multiply(unpack16(a), unpack16(b)), unpack16(c), rm), rm, flags);
}
