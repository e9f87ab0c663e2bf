/*
 * softfp: IEEE 754-2008 binary16, binary32 and binary64 arithmetic in integer
 * code, with the choices that the RISC-V Zfh, F, D and Zfa extensions make:
 *
 *   - all five rounding modes, including round-to-nearest-ties-to-max-magnitude,
 *     which no common host offers;
 *   - every NaN result is the canonical quiet NaN; payloads do not propagate;
 *   - tininess is detected after rounding;
 *   - infinity * 0 + qNaN is an invalid operation;
 *   - a float that does not fit the integer type saturates and raises only NV.
 *
 * Values are raw bit patterns. Exceptions are ORed into *flags in the layout of
 * the fflags CSR and are never cleared here. There is no hidden state: a result
 * depends only on the arguments, and the host's floating-point environment is
 * neither read nor changed.
 *
 * Every function takes a rounding mode, even if its result is always exact, so
 * that an instruction table can treat all conversions alike.
 *
 * Limits: the caller handles NaN boxing, the dynamic rounding mode (rm = 7) and
 * the sign extension of 32-bit results to XLEN. Comparisons, min/max, sign
 * injection and classification need no rounding and are not here. The code is
 * written for clarity, not speed: a call takes tens of nanoseconds, a square
 * root about 150. It serves only operations that the host cannot do.
 */
#ifndef RISCV_SOFTFP_H
#define RISCV_SOFTFP_H

#include <stdbool.h>
#include <stdint.h>

/* Encodings of the rm field and of the frm CSR. */
enum softfp_rm {
    RM_RNE = 0, /* to nearest, ties to even */
    RM_RTZ = 1, /* towards zero */
    RM_RDN = 2, /* down, towards -infinity */
    RM_RUP = 3, /* up, towards +infinity */
    RM_RMM = 4, /* to nearest, ties to max magnitude */
};

/* Bits of the fflags CSR. */
enum softfp_flag {
    FF_NX = 1,  /* inexact */
    FF_UF = 2,  /* underflow: tiny and inexact */
    FF_OF = 4,  /* overflow */
    FF_DZ = 8,  /* divide by zero */
    FF_NV = 16, /* invalid operation */
};

#define SOFTFP_QNAN16 UINT16_C(0x7e00)
#define SOFTFP_QNAN32 UINT32_C(0x7fc00000)
#define SOFTFP_QNAN64 UINT64_C(0x7ff8000000000000)

/* Arithmetic; fma is a * b + c, rounded once. */
uint32_t softfp_add32(uint32_t a, uint32_t b, enum softfp_rm rm, unsigned *flags);
uint32_t softfp_sub32(uint32_t a, uint32_t b, enum softfp_rm rm, unsigned *flags);
uint32_t softfp_mul32(uint32_t a, uint32_t b, enum softfp_rm rm, unsigned *flags);
uint32_t softfp_div32(uint32_t a, uint32_t b, enum softfp_rm rm, unsigned *flags);
uint32_t softfp_sqrt32(uint32_t a, enum softfp_rm rm, unsigned *flags);
uint32_t softfp_fma32(uint32_t a, uint32_t b, uint32_t c, enum softfp_rm rm, unsigned *flags);

uint64_t softfp_add64(uint64_t a, uint64_t b, enum softfp_rm rm, unsigned *flags);
uint64_t softfp_sub64(uint64_t a, uint64_t b, enum softfp_rm rm, unsigned *flags);
uint64_t softfp_mul64(uint64_t a, uint64_t b, enum softfp_rm rm, unsigned *flags);
uint64_t softfp_div64(uint64_t a, uint64_t b, enum softfp_rm rm, unsigned *flags);
uint64_t softfp_sqrt64(uint64_t a, enum softfp_rm rm, unsigned *flags);
uint64_t softfp_fma64(uint64_t a, uint64_t b, uint64_t c, enum softfp_rm rm, unsigned *flags);

uint16_t softfp_add16(uint16_t a, uint16_t b, enum softfp_rm rm, unsigned *flags);
uint16_t softfp_sub16(uint16_t a, uint16_t b, enum softfp_rm rm, unsigned *flags);
uint16_t softfp_mul16(uint16_t a, uint16_t b, enum softfp_rm rm, unsigned *flags);
uint16_t softfp_div16(uint16_t a, uint16_t b, enum softfp_rm rm, unsigned *flags);
uint16_t softfp_sqrt16(uint16_t a, enum softfp_rm rm, unsigned *flags);
uint16_t softfp_fma16(uint16_t a, uint16_t b, uint16_t c, enum softfp_rm rm, unsigned *flags);

/* Conversions between the formats. */
uint32_t softfp_f64_to_f32(uint64_t a, enum softfp_rm rm, unsigned *flags);
uint32_t softfp_f16_to_f32(uint16_t a, enum softfp_rm rm, unsigned *flags);
uint64_t softfp_f16_to_f64(uint16_t a, enum softfp_rm rm, unsigned *flags);
uint16_t softfp_f32_to_f16(uint32_t a, enum softfp_rm rm, unsigned *flags);
uint16_t softfp_f64_to_f16(uint64_t a, enum softfp_rm rm, unsigned *flags);

/* Conversions to integers: a NaN gives the largest value, a value out of range the nearest one. */
uint32_t softfp_f32_to_u32(uint32_t a, enum softfp_rm rm, unsigned *flags);
uint64_t softfp_f32_to_u64(uint32_t a, enum softfp_rm rm, unsigned *flags);

int32_t softfp_f64_to_i32(uint64_t a, enum softfp_rm rm, unsigned *flags);
uint32_t softfp_f64_to_u32(uint64_t a, enum softfp_rm rm, unsigned *flags);
int64_t softfp_f64_to_i64(uint64_t a, enum softfp_rm rm, unsigned *flags);
uint64_t softfp_f64_to_u64(uint64_t a, enum softfp_rm rm, unsigned *flags);

int32_t softfp_f16_to_i32(uint16_t a, enum softfp_rm rm, unsigned *flags);
uint32_t softfp_f16_to_u32(uint16_t a, enum softfp_rm rm, unsigned *flags);
int64_t softfp_f16_to_i64(uint16_t a, enum softfp_rm rm, unsigned *flags);
uint64_t softfp_f16_to_u64(uint16_t a, enum softfp_rm rm, unsigned *flags);

/* Zfa: rounds towards zero and wraps; NaNs and infinities give 0. Out of the range of int32_t raises NV only. */
int32_t softfp_f64_to_i32_modular(uint64_t a, unsigned *flags);

/* Zfa: rounds to an integer of the same format. `exact`: raises NX if the value changes. */
uint16_t softfp_integral16(uint16_t a, enum softfp_rm rm, bool exact, unsigned *flags);
uint32_t softfp_integral32(uint32_t a, enum softfp_rm rm, bool exact, unsigned *flags);
uint64_t softfp_integral64(uint64_t a, enum softfp_rm rm, bool exact, unsigned *flags);

/* Zfa: the constants of fli, by number, 0 to 31. */
uint16_t softfp_constant16(unsigned number);
uint32_t softfp_constant32(unsigned number);
uint64_t softfp_constant64(unsigned number);
double softfp_constant_value(unsigned number); /* not of numbers 1, 30 and 31, which depend on the format */

/* Conversions from integers. */
uint16_t softfp_i64_to_f16(int64_t a, enum softfp_rm rm, unsigned *flags);
uint16_t softfp_u64_to_f16(uint64_t a, enum softfp_rm rm, unsigned *flags);
uint32_t softfp_i32_to_f32(int32_t a, enum softfp_rm rm, unsigned *flags);
uint32_t softfp_u32_to_f32(uint32_t a, enum softfp_rm rm, unsigned *flags);
uint32_t softfp_i64_to_f32(int64_t a, enum softfp_rm rm, unsigned *flags);
uint32_t softfp_u64_to_f32(uint64_t a, enum softfp_rm rm, unsigned *flags);

uint64_t softfp_i64_to_f64(int64_t a, enum softfp_rm rm, unsigned *flags);
uint64_t softfp_u64_to_f64(uint64_t a, enum softfp_rm rm, unsigned *flags);

#endif
