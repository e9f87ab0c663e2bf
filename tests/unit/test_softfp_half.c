/* Half precision (Zfh) and the rounding operations of Zfa against a model that knows no formats: all numbers of
 * binary16 in a sorted table, and exact values in binary128. Results and flags, in all five modes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "riscv/fp.h"
#include "riscv/softfp.h"

enum { INFINITE = 0x7c00, CASES = 40000 };

static unsigned random_below(struct random *r, unsigned n)
{
    return (unsigned)(random_u64(r) % n);
}

/* The value of a finite binary16, from its fields. */
static double value16(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
    double magnitude = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return bits & 0x8000 ? -magnitude : magnitude;
}

/* Chooses between two neighbors: the magnitude lies in [below, above], as `tie` says: -1 nearer to below, 0, 1. */
static bool goes_up(int nearer, bool odd, bool negative, enum softfp_rm rm)
{
    switch (rm) {
    case RM_RNE: return nearer > 0 || (nearer == 0 && odd);
    case RM_RTZ: return false;
    case RM_RDN: return negative;
    case RM_RUP: return !negative;
    default: return nearer >= 0;
    }
}

/* Rounds an exact value that is not zero by searching the binary16 numbers, whose order is that of their bits. Above
 * the largest one the next step would be 65536. */
static uint16_t model_round(__float128 exact, enum softfp_rm rm, unsigned *flags)
{
    bool negative = exact < 0;
    __float128 magnitude = negative ? -exact : exact;
    uint16_t sign = negative ? 0x8000 : 0, low = 0, high = INFINITE;
    while (high - low > 1) {
        uint16_t middle = (uint16_t)((low + high) / 2);
        if ((__float128)value16(middle) <= magnitude)
            low = middle;
        else
            high = middle;
    }
    __float128 below = value16(low), above = high == INFINITE ? 65536 : value16(high);
    if (magnitude == below)
        return sign | low;
    *flags |= FF_NX;
    __float128 twice = 2 * magnitude, sum = below + above;
    int nearer = magnitude >= above || twice > sum ? 1 : twice < sum ? -1 : 0;
    bool up = goes_up(nearer, low & 1, negative, rm);
    uint16_t result = up ? high : low;
    if (magnitude >= 65536 || result == INFINITE) {
        *flags |= FF_OF;
        return sign | (up ? INFINITE : INFINITE - 1);
    }
    /* Tiny after rounding: with an unbounded exponent, only values from 2^-14 - 2^-26 on may round to 2^-14. */
    __float128 smallest = value16(0x400), last = smallest - ldexpl(1, -25);
    bool tiny = magnitude < smallest;
    if (tiny && magnitude > last) {
        __float128 middle = (last + smallest) / 2;
        int to = magnitude > middle ? 1 : magnitude < middle ? -1 : 0;
        tiny = !goes_up(to, true, negative, rm);
    }
    if (tiny)
        *flags |= FF_UF;
    return sign | result;
}

static uint16_t draw16(struct random *r)
{
    static const uint16_t corners[] = {0, 1, 2, 0x3ff, 0x400, 0x401, 0x3c00, 0x3c01, 0x3bff, 0x7bff, 0x7bfe, 0x5bff};
    uint16_t bits = (uint16_t)random_u64(r);
    if (random_below(r, 4) == 0)
        bits = corners[random_below(r, 12)] | (bits & 0x8000);
    return (bits & INFINITE) == INFINITE ? bits & ~0x4000 : bits;
}

#define CHECK_ROUNDED(result, exact)                                                                                   \
    do {                                                                                                               \
        __float128 value = (exact);                                                                                    \
        unsigned flags = 0, wanted_flags = 0;                                                                          \
        uint16_t got = result;                                                                                         \
        if (value != 0) {                                                                                              \
            uint16_t wanted = model_round(value, rm, &wanted_flags);                                                   \
            if (got != wanted || flags != wanted_flags)                                                                \
                fail_msg(#result " of 0x%04x 0x%04x 0x%04x mode %u: 0x%04x flags %u instead of 0x%04x flags %u", a, b, \
                         c, rm, got, flags, wanted, wanted_flags);                                                     \
        }                                                                                                              \
    } while (0)

static void arithmetic_rounds_exact_values(void **state)
{
    (void)state;
    struct random r;
    random_seed(&r, 1);
    for (unsigned n = 0; n < CASES; n++) {
        uint16_t a = draw16(&r), b = draw16(&r), c = draw16(&r);
        double x = value16(a), y = value16(b), z = value16(c);
        for (enum softfp_rm rm = RM_RNE; rm <= RM_RMM; rm++) {
            CHECK_ROUNDED(softfp_add16(a, b, rm, &flags), (__float128)x + y);
            CHECK_ROUNDED(softfp_sub16(a, b, rm, &flags), (__float128)x - y);
            CHECK_ROUNDED(softfp_mul16(a, b, rm, &flags), (__float128)x * y);
            CHECK_ROUNDED(softfp_fma16(a, b, c, rm, &flags), (__float128)x * y + z);
            /* A quotient or root of such short numbers that is not exact is far from any tie. */
            if (y != 0)
                CHECK_ROUNDED(softfp_div16(a, b, rm, &flags), (__float128)x / y);
            if (x > 0)
                CHECK_ROUNDED(softfp_sqrt16(a, rm, &flags), (__float128)sqrtl(x));
        }
    }
}

static void conversions_round_exact_values(void **state)
{
    (void)state;
    struct random r;
    random_seed(&r, 2);
    for (unsigned n = 0; n < CASES; n++) {
        uint16_t a = draw16(&r), b = 0, c = 0;
        double near = value16(a) * (1 + ldexp((double)(int64_t)random_u64(&r), -74));
        float single = (float)near;
        int64_t integer = (int64_t)random_u64(&r) >> random_below(&r, 64);
        for (enum softfp_rm rm = RM_RNE; rm <= RM_RMM; rm++) {
            CHECK_ROUNDED(softfp_f64_to_f16(fp_bits64(near), rm, &flags), near);
            CHECK_ROUNDED(softfp_f32_to_f16(fp_bits32(single), rm, &flags), single);
            CHECK_ROUNDED(softfp_i64_to_f16(integer, rm, &flags), integer);
            CHECK_ROUNDED(softfp_u64_to_f16((uint64_t)integer, rm, &flags), (uint64_t)integer);
        }
        unsigned flags = 0;
        assert_true(fp_value32(softfp_f16_to_f32(a, RM_RNE, &flags)) == (float)value16(a) && flags == 0);
        assert_true(fp_value64(softfp_f16_to_f64(a, RM_RNE, &flags)) == value16(a) && flags == 0);
    }
}

static double model_integral(double v, enum softfp_rm rm)
{
    double low = floor(v), rest = v - low;
    switch (rm) {
    case RM_RNE: return rest > 0.5 || (rest == 0.5 && fmod(low, 2) != 0) ? low + 1 : low;
    case RM_RTZ: return trunc(v);
    case RM_RDN: return low;
    case RM_RUP: return ceil(v);
    default: return v < 0 ? -floor(-v + 0.5) : floor(v + 0.5);
    }
}

static void rounding_to_integers(void **state)
{
    (void)state;
    struct random r;
    random_seed(&r, 3);
    for (unsigned n = 0; n < CASES; n++) {
        uint16_t a = draw16(&r);
        double v = value16(a);
        for (enum softfp_rm rm = RM_RNE; rm <= RM_RMM; rm++) {
            unsigned quiet = 0, exact = 0, converted = 0, modular = 0;
            double wanted = model_integral(v, rm);
            uint16_t half = softfp_integral16(a, rm, false, &quiet);
            assert_true(value16(half) == wanted && quiet == 0 && (half >> 15) == (a >> 15));
            assert_int_equal(softfp_integral16(a, rm, true, &exact), half);
            assert_int_equal(exact, wanted != v ? FF_NX : 0);
            uint32_t single = softfp_integral32(fp_bits32((float)v), rm, false, &quiet);
            uint64_t whole = softfp_integral64(fp_bits64(v), rm, false, &quiet);
            assert_true(fp_value32(single) == (float)wanted && fp_value64(whole) == wanted && quiet == 0);
            assert_true(softfp_f16_to_i64(a, rm, &converted) == (int64_t)wanted);
            assert_int_equal(converted, wanted != v ? FF_NX : 0);
            assert_true(softfp_f64_to_i32_modular(fp_bits64(v), &modular) == (int32_t)trunc(v));
            assert_int_equal(modular, trunc(v) != v ? FF_NX : 0);
        }
        /* Beyond 32 bits the modular conversion keeps the low bits and raises NV. */
        int64_t wide = (int64_t)random_u64(&r) >> 11;
        unsigned flags = 0;
        assert_int_equal(softfp_f64_to_i32_modular(fp_bits64((double)wide), &flags), (int32_t)wide);
        assert_int_equal(flags, wide != (int32_t)wide ? FF_NV : 0);
    }
}

static void special_values(void **state)
{
    (void)state;
    unsigned flags = 0;
    assert_int_equal(softfp_integral64(SOFTFP_QNAN64 | 5, RM_RNE, true, &flags), SOFTFP_QNAN64);
    assert_int_equal(flags, 0);
    assert_int_equal(softfp_integral32(0x7f800001, RM_RNE, false, &flags), SOFTFP_QNAN32);
    assert_int_equal(flags, FF_NV);
    flags = 0;
    assert_int_equal(softfp_f64_to_i32_modular(UINT64_C(0x7ff0) << 48, &flags), 0);
    assert_int_equal(softfp_f64_to_i32_modular(fp_bits64(ldexp(1, 90)), &flags), 0);
    assert_int_equal(softfp_f64_to_i32_modular(fp_bits64(ldexp(3, 31)), &flags), INT32_MIN);
    assert_int_equal(flags, FF_NV);
    flags = 0;
    assert_int_equal(fp_minm32(0x3f800000, SOFTFP_QNAN32 | 1, &flags), SOFTFP_QNAN32);
    assert_int_equal(fp_maxm64(SOFTFP_QNAN64, 0, &flags), SOFTFP_QNAN64);
    assert_int_equal(fp_minm16(0, 0x8000, &flags), 0x8000);
    assert_int_equal(fp_maxm16(0x8000, 0, &flags), 0);
    assert_false(fp_quiet_less32(SOFTFP_QNAN32, 0, &flags));
    assert_true(fp_quiet_less_equal64(UINT64_C(1) << 63, 0, &flags));
    assert_false(fp_quiet_less64(UINT64_C(1) << 63, 0, &flags));
    assert_int_equal(flags, 0);
    assert_false(fp_quiet_less_equal16(0x7c01, 0, &flags));
    assert_int_equal(flags, FF_NV);
    flags = 0;
    assert_false(fp_less16(SOFTFP_QNAN16, 0, &flags));
    assert_int_equal(flags, FF_NV);
    flags = 0;
    assert_false(fp_equal16(SOFTFP_QNAN16, SOFTFP_QNAN16, &flags));
    assert_true(fp_equal16(0, 0x8000, &flags) && fp_less16(0xbc00, 0x3c00, &flags) &&
                !fp_less16(0x3c00, 0xbc00, &flags));
    assert_int_equal(flags, 0);
    assert_int_equal(fp_class16(0xfc00), 1);
    assert_int_equal(fp_class16(0x8001), 1 << 2);
    assert_int_equal(fp_class16(0x7c01), 1 << 8);
    assert_int_equal(fp_unbox16(UINT64_C(0xffffffffffff1234)), 0x1234);
    assert_int_equal(fp_unbox16(UINT64_C(0xffffffff00001234)), SOFTFP_QNAN16);
}

/* The table of the manual, by value; the smallest normal number, infinity and NaN by their bits. */
static void constants_of_fli(void **state)
{
    (void)state;
    static const double values[] = {-1.0, 0,      1.0 / 65536, 1.0 / 32768, 1.0 / 256, 1.0 / 128, 0.0625, 0.125,
                                    0.25, 0.3125, 0.375,       0.4375,      0.5,       0.625,     0.75,   0.875,
                                    1,    1.25,   1.5,         1.75,        2,         2.5,       3,      4,
                                    8,    16,     128,         256,         32768,     65536};
    for (unsigned i = 0; i < 30; i++) {
        if (i == 1)
            continue;
        assert_true(fp_value64(softfp_constant64(i)) == values[i] && fp_value32(softfp_constant32(i)) == values[i]);
        assert_true(i == 29 || value16(softfp_constant16(i)) == values[i]);
    }
    assert_int_equal(softfp_constant16(1), 0x0400);
    assert_int_equal(softfp_constant32(1), 0x00800000);
    assert_int_equal(softfp_constant64(1), UINT64_C(1) << 52);
    assert_int_equal(softfp_constant16(29), INFINITE);
    assert_int_equal(softfp_constant32(30), 0x7f800000);
    assert_int_equal(softfp_constant64(31), SOFTFP_QNAN64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_rounds_exact_values),
        cmocka_unit_test(conversions_round_exact_values),
        cmocka_unit_test(rounding_to_integers),
        cmocka_unit_test(special_values),
        cmocka_unit_test(constants_of_fli),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
