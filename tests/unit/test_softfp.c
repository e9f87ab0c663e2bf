/*
 * softfp against the host's floating-point unit in the four modes that both
 * know, result and flags, over corner values and random operands; RMM against
 * RNE and the ties that binary128 arithmetic finds; and the choices that are
 * RISC-V's own by hand-made vectors.
 *
 * Needs a host that detects tininess after rounding, as x86-64 does. Operands
 * and results of the host pass through volatile variables, which keeps each
 * operation between the calls that set the mode and read the flags.
 */
#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "softfp_operands.h"

static unsigned host_flags(void)
{
    int raised = fetestexcept(FE_ALL_EXCEPT);

    return (raised & FE_INEXACT ? FF_NX : 0u) | (raised & FE_UNDERFLOW ? FF_UF : 0u) |
           (raised & FE_OVERFLOW ? FF_OF : 0u) | (raised & FE_DIVBYZERO ? FF_DZ : 0u) |
           (raised & FE_INVALID ? FF_NV : 0u);
}

/*
 * One operation as the module computes it, as the host does, and in binary128,
 * whose FE_INEXACT tells whether `wide` is the exact result. A tie between two
 * neighbours of either format always has an exact binary128 value.
 */
struct operation {
    const char *name;
    int operands;      /* how many, 1 to 3 */
    int operand_width; /* 32, 64, or 0 for 64-bit integers */
    int result_width;  /* 32 or 64 */
    uint64_t (*soft)(const uint64_t *in, enum softfp_rm rm, unsigned *flags);
    uint64_t (*host)(const uint64_t *in);
    __float128 (*wide)(const uint64_t *in);
};

#define OPERATION(NAME, TO, TYPE, READ, SOFT, HOST, WIDE)                                                              \
    static uint64_t soft_##NAME(const uint64_t *in, enum softfp_rm rm, unsigned *flags)                                \
    {                                                                                                                  \
        return SOFT;                                                                                                   \
    }                                                                                                                  \
    static uint64_t host_##NAME(const uint64_t *in)                                                                    \
    {                                                                                                                  \
        volatile TYPE a = READ(in[0]), b = READ(in[1]), c = READ(in[2]);                                               \
        volatile __typeof__(f##TO(0)) result;                                                                          \
        (void)b, (void)c;                                                                                              \
        result = HOST;                                                                                                 \
        return bits##TO(result);                                                                                       \
    }                                                                                                                  \
    static __float128 wide_##NAME(const uint64_t *in)                                                                  \
    {                                                                                                                  \
        volatile __float128 a = READ(in[0]), b = READ(in[1]), c = READ(in[2]);                                         \
        (void)a, (void)b, (void)c;                                                                                     \
        return WIDE;                                                                                                   \
    }

#define ARITHMETIC(W, TYPE, SQRT, FMA)                                                                                 \
    OPERATION(add##W, W, TYPE, f##W, softfp_add##W(in[0], in[1], rm, flags), a + b, a + b)                             \
    OPERATION(sub##W, W, TYPE, f##W, softfp_sub##W(in[0], in[1], rm, flags), a - b, a - b)                             \
    OPERATION(mul##W, W, TYPE, f##W, softfp_mul##W(in[0], in[1], rm, flags), a *b, a *b)                               \
    OPERATION(div##W, W, TYPE, f##W, softfp_div##W(in[0], in[1], rm, flags), a / b, a / b)                             \
    OPERATION(sqrt##W, W, TYPE, f##W, softfp_sqrt##W(in[0], rm, flags), SQRT(a), (__float128)NAN)                      \
    OPERATION(fma##W, W, TYPE, f##W, softfp_fma##W(in[0], in[1], in[2], rm, flags), FMA(a, b, c), a *b + c)

/* RISC-V calls infinity * 0 + qNaN invalid; IEEE 754 leaves it open and x86 does not. */
static void raise_riscv_invalid(double a, double b)
{
    if ((isinf(a) && b == 0) || (a == 0 && isinf(b)))
        feraiseexcept(FE_INVALID);
}

static float riscv_fmaf(float a, float b, float c)
{
    raise_riscv_invalid(a, b);
    return fmaf(a, b, c);
}

static double riscv_fma(double a, double b, double c)
{
    raise_riscv_invalid(a, b);
    return fma(a, b, c);
}

/* Some compilers' own conversion goes wrong in directed modes; halving with a sticky bit is exact. */
static float float_of_u64(uint64_t a)
{
    return a >> 63 ? 2 * (float)(int64_t)(a >> 1 | (a & 1)) : (float)(int64_t)a;
}

static double double_of_u64(uint64_t a)
{
    return a >> 63 ? 2 * (double)(int64_t)(a >> 1 | (a & 1)) : (double)(int64_t)a;
}

ARITHMETIC(32, float, sqrtf, riscv_fmaf)
ARITHMETIC(64, double, sqrt, riscv_fma)
OPERATION(f64_to_f32, 32, double, f64, softfp_f64_to_f32(in[0], rm, flags), (float)a, a)
OPERATION(i32_to_f32, 32, int64_t, (int32_t), softfp_i32_to_f32(in[0], rm, flags), (float)a, a)
OPERATION(u32_to_f32, 32, int64_t, (uint32_t), softfp_u32_to_f32(in[0], rm, flags), (float)a, a)
OPERATION(i64_to_f32, 32, int64_t, (int64_t), softfp_i64_to_f32(in[0], rm, flags), (float)a, a)
OPERATION(u64_to_f32, 32, uint64_t, , softfp_u64_to_f32(in[0], rm, flags), float_of_u64(a), a)
OPERATION(i64_to_f64, 64, int64_t, (int64_t), softfp_i64_to_f64(in[0], rm, flags), (double)a, a)
OPERATION(u64_to_f64, 64, uint64_t, , softfp_u64_to_f64(in[0], rm, flags), double_of_u64(a), a)

#define ROW(NAME, OPERANDS, FROM, TO)                                                                                  \
    {                                                                                                                  \
#NAME, OPERANDS, FROM, TO, soft_##NAME, host_##NAME, wide_##NAME                                               \
    }

static const struct operation operations[] = {
    ROW(add32, 2, 32, 32),      ROW(sub32, 2, 32, 32),     ROW(mul32, 2, 32, 32),     ROW(div32, 2, 32, 32),
    ROW(sqrt32, 1, 32, 32),     ROW(fma32, 3, 32, 32),     ROW(add64, 2, 64, 64),     ROW(sub64, 2, 64, 64),
    ROW(mul64, 2, 64, 64),      ROW(div64, 2, 64, 64),     ROW(sqrt64, 1, 64, 64),    ROW(fma64, 3, 64, 64),
    ROW(f64_to_f32, 1, 64, 32), ROW(i32_to_f32, 1, 0, 32), ROW(u32_to_f32, 1, 0, 32), ROW(i64_to_f32, 1, 0, 32),
    ROW(u64_to_f32, 1, 0, 32),  ROW(i64_to_f64, 1, 0, 64), ROW(u64_to_f64, 1, 0, 64),
};

/* Operands anywhere, around one another, around underflow, and such that a product meets the addend. */
static void random_operands(const struct operation *op, uint64_t *in, struct random *random)
{
    int width = op->operand_width;
    uint64_t r = random_u64(random);

    if (width == 0) {
        in[0] = random_u64(random) >> r % 64;
        in[0] &= UINT64_MAX << (r >> 8) % 64;
        in[0] = r >> 63 ? -in[0] : in[0];
        return;
    }

    uint64_t p = (uint64_t)fraction_bits(width) + 1, limit = 2 * bias(width);
    const uint64_t centers[] = {r >> 16, bias(width), 2, limit, bias(width) / 2, bias(width)};
    uint64_t center = centers[r % LENGTH(centers)] % (limit + 1);
    uint64_t reach = r >> 40 & 1 ? 2 : p + 2;

    for (int i = 0; i < 3; i++)
        in[i] = r >> 44 & 7 ? random_near(width, center, reach, random) : random_u64(random) >> (64 - width);
    if (op->operands == 3 && (r >> 48 & 3) == 0) {
        const struct operation *multiply = &operations[width == 32 ? 2 : 8];
        unsigned ignored = 0;

        in[2] = multiply->soft(in, RM_RNE, &ignored) ^ UINT64_C(1) << (width - 1);
    }
}

/* A check fails the test by itself; what it returns is counted. */
typedef int check_operation(const struct operation *op, const uint64_t *in, enum softfp_rm rm);

static void fail_operation(const struct operation *op, const uint64_t *in, enum softfp_rm rm, uint64_t got,
                           unsigned got_flags, uint64_t want, unsigned want_flags)
{
    fail_msg("%s(%#llx, %#llx, %#llx) rm %d: %#llx flags %#x, expected %#llx flags %#x", op->name,
             (unsigned long long)in[0], (unsigned long long)in[1], (unsigned long long)in[2], rm,
             (unsigned long long)got, got_flags, (unsigned long long)want, want_flags);
}

static size_t for_all_operands(const struct operation *op, enum softfp_rm rm, check_operation *check)
{
    uint64_t corners[MAX_CORNERS];
    size_t n = corner_values(op->operand_width, corners), total = 1;
    struct random random;

    random_seed(&random, 1 + (uint64_t)rm); /* alike in every run, so a failure repeats */
    size_t counted = 0;

    for (int i = 0; i < op->operands; i++)
        total *= n;
    for (size_t i = 0; i < total; i++) {
        const uint64_t in[3] = {corners[i % n], corners[i / n % n], corners[i / n / n]};

        counted += (size_t)check(op, in, rm);
    }
    for (int i = 0; i < RANDOM_CASES; i++) {
        uint64_t in[3] = {0};

        random_operands(op, in, &random);
        counted += (size_t)check(op, in, rm);
    }
    return counted;
}

static int check_against_host(const struct operation *op, const uint64_t *in, enum softfp_rm rm)
{
    feclearexcept(FE_ALL_EXCEPT);

    uint64_t want = op->host(in);
    unsigned want_flags = host_flags(), flags = 0;
    uint64_t got = op->soft(in, rm, &flags);

    if (got != want || flags != want_flags)
        fail_operation(op, in, rm, got, flags, want, want_flags);
    return 0;
}

static void operations_agree_with_the_host_in_its_four_modes(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < LENGTH(operations); i++)
        for (enum softfp_rm rm = RM_RNE; rm <= RM_RUP; rm++) {
            assert_int_equal(fesetround(host_modes[rm]), 0);
            for_all_operands(&operations[i], rm, check_against_host);
        }
}

/* Whether the exact result lies midway between its neighbours towards and away from zero. */
static int is_tie(const struct operation *op, const uint64_t *in, uint64_t *away)
{
    unsigned ignored = 0;
    uint64_t towards = op->soft(in, RM_RTZ, &ignored);

    *away = op->soft(in, towards >> (op->result_width - 1) ? RM_RDN : RM_RUP, &ignored);
    if (towards == *away)
        return 0;
    feclearexcept(FE_ALL_EXCEPT);

    volatile __float128 exact = op->wide(in);
    int inexact = fetestexcept(FE_INEXACT);
    __float128 low = op->result_width == 32 ? f32(towards) : f64(towards);
    __float128 high = op->result_width == 32 ? f32(*away) : f64(*away);

    return !inexact && low + high == 2 * exact;
}

static int check_rmm(const struct operation *op, const uint64_t *in, enum softfp_rm rm)
{
    unsigned flags = 0, want_flags = 0;
    uint64_t away, got = op->soft(in, rm, &flags);
    uint64_t want = op->soft(in, RM_RNE, &want_flags);
    int tie = is_tie(op, in, &away);

    if (tie)
        want = away;
    if (got != want || flags != want_flags)
        fail_operation(op, in, rm, got, flags, want, want_flags);
    return tie;
}

static void rmm_differs_from_rne_only_in_taking_ties_away_from_zero(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < LENGTH(operations); i++) {
        const struct operation *op = &operations[i];
        size_t ties = for_all_operands(op, RM_RMM, check_rmm);
        int always_exact = op->result_width == 64 && (strstr(op->name, "32_to") != NULL);

        /* A root is never midway; quotients are so only among subnormals. */
        if (!always_exact && !strstr(op->name, "sqrt"))
            assert_in_range(ties, 20, SIZE_MAX);
    }
}

static void rmm_takes_ties_away_from_zero(void **unused)
{
    const uint32_t one = 0x3f800000, half_ulp = 0x33800000, sign = 0x80000000;
    unsigned flags = 0;

    (void)unused;
    assert_int_equal(softfp_add32(one, half_ulp, RM_RNE, &flags), one);
    assert_int_equal(softfp_add32(one, half_ulp, RM_RMM, &flags), one + 1);
    assert_int_equal(softfp_add32(one, half_ulp - 1, RM_RMM, &flags), one);
    assert_int_equal(softfp_add32(one | sign, half_ulp | sign, RM_RMM, &flags), (one + 1) | sign);
    assert_int_equal(softfp_sub32(one + 1, half_ulp, RM_RMM, &flags), one + 1);
    assert_int_equal(softfp_add64(bits64(0x1p53), bits64(1), RM_RMM, &flags), bits64(0x1p53 + 2));
    assert_int_equal(flags, FF_NX);

    /* Half of the smallest subnormal, and half an ulp past the largest number. */
    flags = 0;
    assert_int_equal(softfp_mul64(1, bits64(0.5), RM_RNE, &flags), 0);
    assert_int_equal(softfp_mul64(1, bits64(0.5), RM_RMM, &flags), 1);
    assert_int_equal(flags, FF_UF | FF_NX);
    flags = 0;
    assert_int_equal(softfp_f64_to_f32(bits64(0x1.ffffffp127), RM_RMM, &flags), 0x7f800000);
    assert_int_equal(flags, FF_OF | FF_NX);

    flags = 0;
    assert_int_equal(softfp_f64_to_i32(bits64(0.5), RM_RMM, &flags), 1);
    assert_int_equal(softfp_f64_to_i32(bits64(2.5), RM_RMM, &flags), 3);
    assert_int_equal(softfp_f64_to_i32(bits64(-2.5), RM_RMM, &flags), -3);
    assert_int_equal(flags, FF_NX);
}

static void fma_of_inf_and_zero_is_invalid(void **unused)
{
    unsigned flags = 0;

    (void)unused;
    assert_int_equal(softfp_fma32(0x7f800000, 0, SOFTFP_QNAN32, RM_RNE, &flags), SOFTFP_QNAN32);
    assert_int_equal(flags, FF_NV);
    flags = 0;
    assert_int_equal(softfp_fma64(1u, bits64(-INFINITY), SOFTFP_QNAN64, RM_RNE, &flags), SOFTFP_QNAN64);
    assert_int_equal(flags, 0);
    assert_int_equal(softfp_fma64(0, bits64(-INFINITY), bits64(1), RM_RNE, &flags), SOFTFP_QNAN64);
    assert_int_equal(flags, FF_NV);
}

static void nan_results_are_canonical(void **unused)
{
    unsigned flags = 0;

    (void)unused;
    assert_int_equal(softfp_add32(0xffc12345, 0, RM_RNE, &flags), SOFTFP_QNAN32);
    assert_int_equal(flags, 0);
    assert_int_equal(softfp_f64_to_f32(UINT64_C(0xfff0000000000001), RM_RNE, &flags), SOFTFP_QNAN32);
    assert_int_equal(softfp_sqrt64(bits64(-1), RM_RNE, &flags), SOFTFP_QNAN64);
    assert_int_equal(flags, FF_NV);
}

/* Both round to the smallest normal binary32; the second only because subnormals are coarser. */
static void tininess_is_detected_after_rounding(void **unused)
{
    unsigned flags = 0;

    (void)unused;
    assert_int_equal(softfp_f64_to_f32(bits64(0x1.ffffffp-127), RM_RNE, &flags), 0x00800000);
    assert_int_equal(flags, FF_NX);
    assert_int_equal(softfp_f64_to_f32(bits64(0x1.fffffep-127), RM_RNE, &flags), 0x00800000);
    assert_int_equal(flags, FF_NX | FF_UF);
}

static void exact_cancellation_is_negative_only_when_rounding_down(void **unused)
{
    unsigned flags = 0;

    (void)unused;
    for (enum softfp_rm rm = RM_RNE; rm <= RM_RMM; rm++)
        assert_int_equal(softfp_sub32(0x40490fdb, 0x40490fdb, rm, &flags), rm == RM_RDN ? 0x80000000 : 0);
    assert_int_equal(flags, 0);
}

static void flags_accumulate(void **unused)
{
    unsigned flags = FF_NV;

    (void)unused;
    softfp_div32(0x3f800000, 0, RM_RNE, &flags);
    assert_int_equal(flags, FF_NV | FF_DZ);
    softfp_div32(0x3f800000, 0x40400000, RM_RNE, &flags);
    assert_int_equal(flags, FF_NV | FF_DZ | FF_NX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(operations_agree_with_the_host_in_its_four_modes, restore_rounding),
        cmocka_unit_test(rmm_differs_from_rne_only_in_taking_ties_away_from_zero),
        cmocka_unit_test(rmm_takes_ties_away_from_zero),
        cmocka_unit_test(fma_of_inf_and_zero_is_invalid),
        cmocka_unit_test(nan_results_are_canonical),
        cmocka_unit_test(tininess_is_detected_after_rounding),
        cmocka_unit_test(exact_cancellation_is_negative_only_when_rounding_down),
        cmocka_unit_test(flags_accumulate),
    };

    return cmocka_run_group_tests_name("softfp", tests, NULL, NULL);
}
