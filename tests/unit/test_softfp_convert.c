/* softfp's conversions from floats to integers against libm, and what RISC-V says of values that do not fit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "softfp_operands.h"

/* A float-to-integer conversion, its result extended to 64 bits according to its type. */
struct to_integer {
    const char *name;
    int from_width; /* of the float: 32 or 64 */
    int width;      /* of the integer: 32 or 64 */
    int is_signed;  /* 1 or 0, used in shifts */
    uint64_t (*soft)(uint64_t in, enum softfp_rm rm, unsigned *flags);
};

#define TO_INTEGER(FROM, LETTER, WIDTH)                                                                                \
    static uint64_t soft_f##FROM##_to_##LETTER##WIDTH(uint64_t in, enum softfp_rm rm, unsigned *flags)                 \
    {                                                                                                                  \
        return (uint64_t)softfp_f##FROM##_to_##LETTER##WIDTH(in, rm, flags);                                           \
    }
// clang-format off
TO_INTEGER(32, u, 32)
TO_INTEGER(32, u, 64)
TO_INTEGER(64, i, 32)
TO_INTEGER(64, u, 32)
TO_INTEGER(64, i, 64)
TO_INTEGER(64, u, 64)
// clang-format on

static const struct to_integer to_integers[] = {
    {"f32_to_u32", 32, 32, 0, soft_f32_to_u32}, {"f32_to_u64", 32, 64, 0, soft_f32_to_u64},
    {"f64_to_i32", 64, 32, 1, soft_f64_to_i32}, {"f64_to_u32", 64, 32, 0, soft_f64_to_u32},
    {"f64_to_i64", 64, 64, 1, soft_f64_to_i64}, {"f64_to_u64", 64, 64, 0, soft_f64_to_u64},
};

/* libm rounds to a whole number, rint in the host's mode and round as RMM; ranges are checked here. */
static void check_to_integer(const struct to_integer *conversion, uint64_t in, enum softfp_rm rm)
{
    volatile double value = conversion->from_width == 32 ? f32(in) : f64(in);
    /* Volatile, lest the compiler put its own rint here, one that assumes the default mode. */
    double (*volatile whole_of)(double) = rm == RM_RMM ? round : rint;
    double whole = whole_of(value);
    double low = conversion->is_signed ? -ldexp(1, conversion->width - 1) : 0;
    double high = ldexp(1, conversion->width - conversion->is_signed);
    uint64_t max = UINT64_MAX >> (64 - conversion->width + conversion->is_signed);
    uint64_t want;
    unsigned want_flags = FF_NV, flags = 0;

    if (whole >= low && whole < high) {
        want = whole < 0 ? (uint64_t)(int64_t)whole : (uint64_t)whole;
        want_flags = whole != value ? FF_NX : 0;
    } else {
        want = whole < low ? (conversion->is_signed ? ~max : 0) : max;
    }

    uint64_t got = conversion->soft(in, rm, &flags);

    if (got != want || flags != want_flags)
        fail_msg("%s(%#llx) rm %d: %#llx flags %#x, expected %#llx flags %#x", conversion->name, (unsigned long long)in,
                 rm, (unsigned long long)got, flags, (unsigned long long)want, want_flags);
}

static void check_to_integer_near_powers(const struct to_integer *conversion, enum softfp_rm rm)
{
    const double offsets[] = {0, 0.25, 0.5, 0.75, 1, 1.5, 2};

    for (int k = -2; k <= 66; k++)
        for (size_t i = 0; i < 4 * LENGTH(offsets); i++) {
            double offset = i & 1 ? -offsets[i / 4] : offsets[i / 4];
            double value = i & 2 ? -ldexp(1, k) + offset : ldexp(1, k) + offset;
            uint64_t in = conversion->from_width == 32 ? bits32((float)value) : bits64(value);

            check_to_integer(conversion, in, rm);
            check_to_integer(conversion, in + 1, rm);
            check_to_integer(conversion, in - 1, rm);
        }
}

static void conversions_to_integers_round_as_libm_and_saturate(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < LENGTH(to_integers); i++)
        for (enum softfp_rm rm = RM_RNE; rm <= RM_RMM; rm++) {
            const struct to_integer *conversion = &to_integers[i];
            uint64_t corners[MAX_CORNERS];
            struct random random;
            size_t n = corner_values(conversion->from_width, corners);

            random_seed(&random, 1 + (uint64_t)rm);
            assert_int_equal(fesetround(rm == RM_RMM ? FE_TONEAREST : host_modes[rm]), 0);
            for (size_t j = 0; j < n; j++)
                check_to_integer(conversion, corners[j], rm);
            check_to_integer_near_powers(conversion, rm);
            for (int j = 0; j < RANDOM_CASES; j++)
                check_to_integer(conversion,
                                 random_near(conversion->from_width, bias(conversion->from_width) + 32, 36, &random),
                                 rm);
        }
}

static void a_conversion_that_does_not_fit_raises_invalid_alone(void **unused)
{
    unsigned flags = 0;

    (void)unused;
    assert_int_equal(softfp_f64_to_i32(bits64(2147483647.5), RM_RUP, &flags), INT32_MAX);
    assert_int_equal(softfp_f64_to_u32(bits64(-0.75), RM_RDN, &flags), 0);
    assert_int_equal(softfp_f64_to_u64(bits64(-INFINITY), RM_RNE, &flags), 0);
    assert_int_equal(softfp_f64_to_i64(bits64(-0x1p64), RM_RNE, &flags), INT64_MIN);
    assert_int_equal(flags, FF_NV);
    flags = 0;
    assert_int_equal(softfp_f64_to_u32(bits64(-0.75), RM_RTZ, &flags), 0);
    assert_int_equal(flags, FF_NX);
}

static void nan_converts_to_the_largest_integer(void **unused)
{
    unsigned flags = 0;

    (void)unused;
    assert_int_equal(softfp_f32_to_u32(0xffc00000, RM_RNE, &flags), UINT32_MAX);
    assert_int_equal(softfp_f32_to_u64(0xff800001, RM_RNE, &flags), UINT64_MAX);
    assert_int_equal(softfp_f64_to_i64(SOFTFP_QNAN64, RM_RNE, &flags), INT64_MAX);
    assert_int_equal(flags, FF_NV);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(conversions_to_integers_round_as_libm_and_saturate, restore_rounding),
        cmocka_unit_test(a_conversion_that_does_not_fit_raises_invalid_alone),
        cmocka_unit_test(nan_converts_to_the_largest_integer),
    };
    return cmocka_run_group_tests_name("softfp conversions", tests, NULL, NULL);
}
