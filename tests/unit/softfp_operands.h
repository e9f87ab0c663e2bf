/* What the tests of softfp share: floats as bits, corner values, random values near an exponent, the host's modes. */
#ifndef TESTS_SOFTFP_OPERANDS_H
#define TESTS_SOFTFP_OPERANDS_H

#include <fenv.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/random.h"
#include "riscv/softfp.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define RANDOM_CASES  60000 /* per operation and mode */
#define MAX_CORNERS   80

static const int host_modes[] = {
    [RM_RNE] = FE_TONEAREST,
    [RM_RTZ] = FE_TOWARDZERO,
    [RM_RDN] = FE_DOWNWARD,
    [RM_RUP] = FE_UPWARD,
};

static inline float f32(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;

    memcpy(&value, &low, sizeof(value));
    return value;
}

static inline double f64(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline uint64_t bits32(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return (bits & 0x7fffffff) > 0x7f800000 ? SOFTFP_QNAN32 : bits;
}

static inline uint64_t bits64(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return (bits & INT64_MAX) > UINT64_C(0x7ff) << 52 ? SOFTFP_QNAN64 : bits;
}

static inline int fraction_bits(int width)
{
    return width == 32 ? 23 : 52;
}

/* The biased exponent of 1.0; the all-ones exponent is twice this plus one. */
static inline uint64_t bias(int width)
{
    return width == 32 ? 127 : 1023;
}

/* Corner values of a format or, for width 0, of the integers; returns how many. */
static inline size_t corner_values(int width, uint64_t *corners)
{
    size_t count = 0;

    if (width == 0) {
        for (int k = 22; k < 64; k++) {
            corners[count++] = UINT64_C(1) << k;
            if (k % 2)
                corners[count++] = (UINT64_C(1) << k) - 1;
        }
        corners[count++] = 0;
        corners[count++] = UINT64_MAX;
        return count;
    }

    int p = fraction_bits(width) + 1;
    uint64_t one = bias(width) << (p - 1), ulp = UINT64_C(1) << (p - 1);
    uint64_t inf = (2 * bias(width) + 1) << (p - 1);
    const uint64_t positive[] = {
        0,
        1,
        3,
        ulp - 1,
        ulp,
        ulp + 1,
        inf - 1,
        inf - 2,
        inf - ulp,
        one - 1,
        one,
        one + 1,
        one + ulp / 2,
        one + ulp - 1,
        one + ulp,
        one - ulp,
        one - (uint64_t)p * ulp,
        one - (uint64_t)p * ulp + 1,
        one - (uint64_t)(p - 1) * ulp,
        one + (uint64_t)p * ulp,
        one + (uint64_t)(p - 1) * ulp - 1,
        one / 2 & ~(ulp - 1),
        inf,
        inf + 1,
        inf + ulp / 2,
        inf + ulp / 2 + 5,
    };

    for (size_t i = 0; i < LENGTH(positive); i++) {
        corners[count++] = positive[i];
        corners[count++] = positive[i] | UINT64_C(1) << (width - 1);
    }
    return count;
}

/* A value whose biased exponent is near `exponent`; half of them with few fraction bits, for ties. */
static inline uint64_t random_near(int width, uint64_t exponent, uint64_t reach, struct random *random)
{
    int fraction = fraction_bits(width);
    uint64_t r = random_u64(random);
    uint64_t significand = random_u64(random) & ((UINT64_C(1) << fraction) - 1);
    uint64_t biased = exponent + r % (2 * reach + 1) - reach;

    if (r >> 32 & 1)
        significand &= UINT64_MAX << (r >> 33) % (unsigned)fraction;
    if (biased > 2 * bias(width))
        biased = 0;
    return (r >> 63) << (width - 1) | biased << fraction | significand;
}

static inline int restore_rounding(void **unused)
{
    (void)unused;
    return fesetround(FE_TONEAREST);
}

#endif
