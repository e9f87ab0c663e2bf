#include "riscv/fp.h"

/* The two formats differ only in widths: written once, on bit patterns. Zeros are ordered -0 < +0, a NaN loses against
 * a number, two NaNs give the canonical one, and a signaling NaN raises NV. */
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

DEFINE_MIN_MAX(32, UINT32_C(0x80000000))
DEFINE_MIN_MAX(64, UINT64_C(0x8000000000000000))

/* The ten classes in the order of fclass's result bits; negative ones mirror the positive ones. */
static unsigned class_bit(bool negative, bool zero, bool subnormal, bool infinite)
{
    unsigned rank = zero ? 0 : subnormal ? 1 : infinite ? 3 : 2;
    return 1u << (negative ? 3 - rank : 4 + rank);
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
