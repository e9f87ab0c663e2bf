/* Floating-point operations on the host's FPU, with RISC-V's results.
 *
 * The host computes in its current rounding mode and collects its own exception flags. The caller keeps that mode
 * equal to frm and adds the flags to fflags (riscv/host_fpu.h). The functions here implement what differs from the
 * host: canonical NaNs, NaN boxing, minimum and maximum, classification, saturating conversions. Rounding mode RMM is
 * left to softfp. Files that include this header are compiled with strict floating-point options (STRICT_FP in the
 * Makefile). */
#ifndef CYCLESCOPE_RISCV_FP_H
#define CYCLESCOPE_RISCV_FP_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "riscv/softfp.h"

static inline float fp_value32(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline double fp_value64(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline uint32_t fp_bits32(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static inline uint64_t fp_bits64(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* NaN unboxing: a single is valid only if the upper half of its register is all ones; any other value reads as NaN. */
static inline uint32_t fp_unbox(uint64_t reg)
{
    return __builtin_expect(reg >> 32 == 0xffffffff, 1) ? (uint32_t)reg : SOFTFP_QNAN32;
}

static inline uint16_t fp_unbox16(uint64_t reg)
{
    return __builtin_expect(reg >> 16 == UINT64_C(0xffffffffffff), 1) ? (uint16_t)reg : SOFTFP_QNAN16;
}

static inline bool fp_is_nan16(uint16_t bits)
{
    return (bits & 0x7fff) > 0x7c00;
}

static inline bool fp_is_signaling16(uint16_t bits)
{
    return fp_is_nan16(bits) && !(bits & 0x0200);
}

static inline bool fp_is_nan32(uint32_t bits)
{
    return (bits & 0x7fffffff) > 0x7f800000;
}

static inline bool fp_is_nan64(uint64_t bits)
{
    return (bits & INT64_MAX) > UINT64_C(0x7ff0000000000000);
}

static inline bool fp_is_signaling32(uint32_t bits)
{
    return fp_is_nan32(bits) && !(bits & 0x00400000);
}

static inline bool fp_is_signaling64(uint64_t bits)
{
    return fp_is_nan64(bits) && !(bits & UINT64_C(0x0008000000000000));
}

static inline uint32_t fp_canonical32(float v)
{
    return __builtin_expect(v == v, 1) ? fp_bits32(v) : SOFTFP_QNAN32;
}

static inline uint64_t fp_canonical64(double v)
{
    return __builtin_expect(v == v, 1) ? fp_bits64(v) : SOFTFP_QNAN64;
}

static inline float fp_sqrt32(float v)
{
    float r;
    __asm__("sqrtss %1, %0" : "=x"(r) : "x"(v));
    return r;
}

static inline double fp_sqrt64(double v)
{
    double r;
    __asm__("sqrtsd %1, %0" : "=x"(r) : "x"(v));
    return r;
}

/* infinity * 0 + quiet NaN is an invalid operation on RISC-V but not on every host. In that case the product is
 * computed again on its own, which raises the flag on every host. */
static inline double fp_fma64(double a, double b, double c)
{
    double r = c;
    if (__builtin_expect(__builtin_cpu_supports("fma"), 1))
        __asm__ volatile("vfmadd231sd %2, %1, %0" : "+x"(r) : "x"(a), "x"(b));
    else
        r = fma(a, b, c);
    if (__builtin_expect(r != r, 0) && ((isinf(a) && b == 0) || (a == 0 && isinf(b)))) {
        volatile double product = a;
        product *= b;
        (void)product;
    }
    return r;
}

static inline float fp_fma32(float a, float b, float c)
{
    float r = c;
    if (__builtin_expect(__builtin_cpu_supports("fma"), 1))
        __asm__ volatile("vfmadd231ss %2, %1, %0" : "+x"(r) : "x"(a), "x"(b));
    else
        r = fmaf(a, b, c);
    if (__builtin_expect(r != r, 0) && ((isinf(a) && b == 0) || (a == 0 && isinf(b)))) {
        volatile float product = a;
        product *= b;
        (void)product;
    }
    return r;
}

/* Ordered comparisons raise NV for any NaN; equality, left to the host, raises NV only for signaling NaNs. */
static inline bool fp_less32(float a, float b, unsigned *flags)
{
    if (__builtin_expect(__builtin_isunordered(a, b), 0)) {
        *flags |= FF_NV;
        return false;
    }
    return a < b;
}

static inline bool fp_less_equal32(float a, float b, unsigned *flags)
{
    if (__builtin_expect(__builtin_isunordered(a, b), 0)) {
        *flags |= FF_NV;
        return false;
    }
    return a <= b;
}

static inline bool fp_less64(double a, double b, unsigned *flags)
{
    if (__builtin_expect(__builtin_isunordered(a, b), 0)) {
        *flags |= FF_NV;
        return false;
    }
    return a < b;
}

static inline bool fp_less_equal64(double a, double b, unsigned *flags)
{
    if (__builtin_expect(__builtin_isunordered(a, b), 0)) {
        *flags |= FF_NV;
        return false;
    }
    return a <= b;
}

/* Minimum, maximum and class on bit patterns. Exceptions are ORed into *flags; the host's flags do not change. */
uint32_t fp_min32(uint32_t a, uint32_t b, unsigned *flags);
uint32_t fp_max32(uint32_t a, uint32_t b, unsigned *flags);
uint64_t fp_min64(uint64_t a, uint64_t b, unsigned *flags);
uint64_t fp_max64(uint64_t a, uint64_t b, unsigned *flags);
uint16_t fp_min16(uint16_t a, uint16_t b, unsigned *flags);
uint16_t fp_max16(uint16_t a, uint16_t b, unsigned *flags);
/* fminm and fmaxm: a NaN gives the canonical NaN. */
uint16_t fp_minm16(uint16_t a, uint16_t b, unsigned *flags);
uint16_t fp_maxm16(uint16_t a, uint16_t b, unsigned *flags);
uint32_t fp_minm32(uint32_t a, uint32_t b, unsigned *flags);
uint32_t fp_maxm32(uint32_t a, uint32_t b, unsigned *flags);
uint64_t fp_minm64(uint64_t a, uint64_t b, unsigned *flags);
uint64_t fp_maxm64(uint64_t a, uint64_t b, unsigned *flags);
/* Comparisons on bit patterns. The quiet ones, and equality, raise NV only for signaling NaNs. */
bool fp_equal16(uint16_t a, uint16_t b, unsigned *flags);
bool fp_less16(uint16_t a, uint16_t b, unsigned *flags);
bool fp_less_equal16(uint16_t a, uint16_t b, unsigned *flags);
bool fp_quiet_less16(uint16_t a, uint16_t b, unsigned *flags);
bool fp_quiet_less_equal16(uint16_t a, uint16_t b, unsigned *flags);
bool fp_quiet_less32(uint32_t a, uint32_t b, unsigned *flags);
bool fp_quiet_less_equal32(uint32_t a, uint32_t b, unsigned *flags);
bool fp_quiet_less64(uint64_t a, uint64_t b, unsigned *flags);
bool fp_quiet_less_equal64(uint64_t a, uint64_t b, unsigned *flags);
unsigned fp_class16(uint16_t bits);
unsigned fp_class32(uint32_t bits);
unsigned fp_class64(uint64_t bits);

/* Conversions to integer. The host does those that round towards zero and are in range, which is what C casts compile
 * to; softfp does the others. */
static inline int32_t fp_f64_to_i32(uint64_t bits, enum softfp_rm rm, unsigned *flags)
{
    double v = fp_value64(bits);
    if (__builtin_expect(rm == RM_RTZ && v > -2147483649.0 && v < 2147483648.0, 1))
        return (int32_t)v;
    return softfp_f64_to_i32(bits, rm, flags);
}

static inline int64_t fp_f64_to_i64(uint64_t bits, enum softfp_rm rm, unsigned *flags)
{
    double v = fp_value64(bits);
    if (__builtin_expect(rm == RM_RTZ && v >= -0x1p63 && v < 0x1p63, 1))
        return (int64_t)v;
    return softfp_f64_to_i64(bits, rm, flags);
}

static inline int32_t fp_f32_to_i32(uint32_t bits, enum softfp_rm rm, unsigned *flags)
{
    return fp_f64_to_i32(fp_bits64((double)fp_value32(bits)), rm, flags);
}

static inline int64_t fp_f32_to_i64(uint32_t bits, enum softfp_rm rm, unsigned *flags)
{
    return fp_f64_to_i64(fp_bits64((double)fp_value32(bits)), rm, flags);
}

#endif
