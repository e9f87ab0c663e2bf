#include "riscv/fp.h"

/* Minimum and maximum, defined once for both widths, on bit patterns. -0 is less than +0. If one operand is a NaN the
 * result is the other operand; if both are, it is the canonical NaN. A signaling NaN raises NV. */
#define DEFINE_MIN_MAX(width, sign_bit)                                                                                \
    static bool is_below##width(uint##width##_t a, uint##width##_t b)                                                  \
    {                                                                                                                  \
        if ((a ^ b) & (sign_bit))                                                                                      \
            return (a & (sign_bit)) != 0;                                                                              \
        return a & (sign_bit) ? a > b : a < b;                                                                         \
    }                                                                                                                  \
    static uint##width##_t select##width(uint##width##_t a, uint##width##_t b, bool smaller, unsigned *flags)          \
    {                                                                                                                  \
        if (fp_is_signaling##width(a) || fp_is_signaling##width(b))                                                    \
            *flags |= FF_NV;                                                                                           \
        if (fp_is_nan##width(a))                                                                                       \
            return fp_is_nan##width(b) ? SOFTFP_QNAN##width : b;                                                       \
        if (fp_is_nan##width(b))                                                                                       \
            return a;                                                                                                  \
        return is_below##width(a, b) == smaller ? a : b;                                                               \
    }                                                                                                                  \
    uint##width##_t fp_min##width(uint##width##_t a, uint##width##_t b, unsigned *flags)                               \
    {                                                                                                                  \
        return select##width(a, b, true, flags);                                                                       \
    }                                                                                                                  \
    uint##width##_t fp_max##width(uint##width##_t a, uint##width##_t b, unsigned *flags)                               \
    {                                                                                                                  \
        return select##width(a, b, false, flags);                                                                      \
    }

/* The forms of Zfa, and comparisons by bit patterns: any zero equals any zero. */
#define DEFINE_COMPARISONS(width, sign_bit)                                                                            \
    static bool any_nan##width(uint##width##_t a, uint##width##_t b)                                                   \
    {                                                                                                                  \
        return fp_is_nan##width(a) || fp_is_nan##width(b);                                                             \
    }                                                                                                                  \
    uint##width##_t fp_minm##width(uint##width##_t a, uint##width##_t b, unsigned *flags)                              \
    {                                                                                                                  \
        uint##width##_t least = select##width(a, b, true, flags);                                                      \
        return any_nan##width(a, b) ? SOFTFP_QNAN##width : least;                                                      \
    }                                                                                                                  \
    uint##width##_t fp_maxm##width(uint##width##_t a, uint##width##_t b, unsigned *flags)                              \
    {                                                                                                                  \
        uint##width##_t most = select##width(a, b, false, flags);                                                      \
        return any_nan##width(a, b) ? SOFTFP_QNAN##width : most;                                                       \
    }                                                                                                                  \
    static bool equal##width(uint##width##_t a, uint##width##_t b)                                                     \
    {                                                                                                                  \
        return a == b || ((a | b) & ~(sign_bit)) == 0;                                                                 \
    }                                                                                                                  \
    bool fp_quiet_less##width(uint##width##_t a, uint##width##_t b, unsigned *flags)                                   \
    {                                                                                                                  \
        if (fp_is_signaling##width(a) || fp_is_signaling##width(b))                                                    \
            *flags |= FF_NV;                                                                                           \
        return !any_nan##width(a, b) && !equal##width(a, b) && is_below##width(a, b);                                  \
    }                                                                                                                  \
    bool fp_quiet_less_equal##width(uint##width##_t a, uint##width##_t b, unsigned *flags)                             \
    {                                                                                                                  \
        if (fp_is_signaling##width(a) || fp_is_signaling##width(b))                                                    \
            *flags |= FF_NV;                                                                                           \
        return !any_nan##width(a, b) && (equal##width(a, b) || is_below##width(a, b));                                 \
    }

DEFINE_MIN_MAX(32, UINT32_C(0x80000000))
DEFINE_MIN_MAX(64, UINT64_C(0x8000000000000000))
DEFINE_MIN_MAX(16, 0x8000)
DEFINE_COMPARISONS(32, UINT32_C(0x80000000))
DEFINE_COMPARISONS(64, UINT64_C(0x8000000000000000))
DEFINE_COMPARISONS(16, 0x8000)

bool fp_equal16(uint16_t a, uint16_t b, unsigned *flags)
{
    if (fp_is_signaling16(a) || fp_is_signaling16(b))
        *flags |= FF_NV;
    return !any_nan16(a, b) && equal16(a, b);
}

bool fp_less16(uint16_t a, uint16_t b, unsigned *flags)
{
    if (any_nan16(a, b))
        *flags |= FF_NV;
    return fp_quiet_less16(a, b, flags);
}

bool fp_less_equal16(uint16_t a, uint16_t b, unsigned *flags)
{
    if (any_nan16(a, b))
        *flags |= FF_NV;
    return fp_quiet_less_equal16(a, b, flags);
}

/* Result bit of fclass for a value that is not a NaN. Bits 0 to 3 are negative infinity, normal, subnormal and zero;
 * bits 4 to 7 are the positive classes in mirrored order. */
static unsigned class_bit(bool negative, bool zero, bool subnormal, bool infinite)
{
    unsigned rank = zero ? 0 : subnormal ? 1 : infinite ? 3 : 2;
    return 1u << (negative ? 3 - rank : 4 + rank);
}

unsigned fp_class16(uint16_t bits)
{
    if (fp_is_nan16(bits))
        return fp_is_signaling16(bits) ? 1u << 8 : 1u << 9;
    unsigned magnitude = bits & 0x7fff;
    return class_bit(bits >> 15, magnitude == 0, magnitude < 0x0400, magnitude == 0x7c00);
}

unsigned fp_class32(uint32_t bits)
{
    if (fp_is_nan32(bits))
        return fp_is_signaling32(bits) ? 1u << 8 : 1u << 9;
    uint32_t magnitude = bits & 0x7fffffff;
    return class_bit(bits >> 31, magnitude == 0, magnitude < 0x00800000, magnitude == 0x7f800000);
}

unsigned fp_class64(uint64_t bits)
{
    if (fp_is_nan64(bits))
        return fp_is_signaling64(bits) ? 1u << 8 : 1u << 9;
    uint64_t magnitude = bits & INT64_MAX;
    return class_bit(bits >> 63, magnitude == 0, magnitude < UINT64_C(0x0010000000000000),
                     magnitude == UINT64_C(0x7ff0000000000000));
}
