/*
 * softfp: IEEE 754-2008 binary32 and binary64 arithmetic in integer code, with
 * the choices that the RISC-V F and D extensions make:
 *
 *   - all five rounding modes, round-to-nearest-ties-to-max-magnitude included,
 *     which no common host offers;
 *   - every NaN result is the canonical quiet NaN, payloads do not propagate;
 *   - tininess is detected after rounding;
 *   - infinity * 0 + qNaN is an invalid operation;
 *   - a float that does not fit an integer saturates and raises NV alone.
 *
 * Values are raw bit patterns. Exceptions are ORed into *flags in the layout of
 * the fflags CSR and are never cleared here. There is no hidden state: a result
 * depends on its arguments only, and the host's floating-point environment is
 * neither read nor changed.
 *
 * Every call takes a rounding mode, also where the result is always exact, so
 * that an instruction table can treat conversions alike.
 *
 * Limits: NaN boxing, the dynamic rounding mode (rm = 7) and the sign extension
 * of 32-bit results to XLEN belong to the caller. Comparisons, min/max, sign
 * injection and classification are not here: they need no rounding. Built for
 * clarity: tens of nanoseconds a call, a square root some 150; the path for
 * what the host cannot do.
 */
#ifndef RISCV_SOFTFP_H
#define RISCV_SOFTFP_H

#include <stdint.h>

/* The encodings of the rm field and of the frm CSR. */
enum softfp_rm {
    RM_RNE = 0, /* to nearest, ties to even */
    RM_RTZ = 1, /* towards zero */
    RM_RDN = 2, /* down, towards -infinity */
    RM_RUP = 3, /* up, towards +infinity */
    RM_RMM = 4, /* to nearest, ties to max magnitude */
};

/* The bits of the fflags CSR. */
enum softfp_flag {
    FF_NX = 1,  /* inexact */
    FF_UF = 2,  /* underflow: tiny and inexact */
    FF_OF = 4,  /* overflow */
    FF_DZ = 8,  /* divide by zero */
    FF_NV = 16, /* invalid operation */
};

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

/* Between the two formats. */
uint64_t softfp_f32_to_f64(uint32_t a, enum softfp_rm rm, unsigned *flags);
uint32_t softfp_f64_to_f32(uint64_t a, enum softfp_rm rm, unsigned *flags);

/* To integers: NaN gives the largest value, out of range the nearest one. */
int32_t softfp_f32_to_i32(uint32_t a, enum softfp_rm rm, unsigned *flags);
uint32_t softfp_f32_to_u32(uint32_t a, enum softfp_rm rm, unsigned *flags);
int64_t softfp_f32_to_i64(uint32_t a, enum softfp_rm rm, unsigned *flags);
uint64_t softfp_f32_to_u64(uint32_t a, enum softfp_rm rm, unsigned *flags);

int32_t softfp_f64_to_i32(uint64_t a, enum softfp_rm rm, unsigned *flags);
uint32_t softfp_f64_to_u32(uint64_t a, enum softfp_rm rm, unsigned *flags);
int64_t softfp_f64_to_i64(uint64_t a, enum softfp_rm rm, unsigned *flags);
uint64_t softfp_f64_to_u64(uint64_t a, enum softfp_rm rm, unsigned *flags);

/* From integers. */
uint32_t softfp_i32_to_f32(int32_t a, enum softfp_rm rm, unsigned *flags);
uint32_t softfp_u32_to_f32(uint32_t a, enum softfp_rm rm, unsigned *flags);
uint32_t softfp_i64_to_f32(int64_t a, enum softfp_rm rm, unsigned *flags);
uint32_t softfp_u64_to_f32(uint64_t a, enum softfp_rm rm, unsigned *flags);

uint64_t softfp_i32_to_f64(int32_t a, enum softfp_rm rm, unsigned *flags);
uint64_t softfp_u32_to_f64(uint32_t a, enum softfp_rm rm, unsigned *flags);
uint64_t softfp_i64_to_f64(int64_t a, enum softfp_rm rm, unsigned *flags);
uint64_t softfp_u64_to_f64(uint64_t a, enum softfp_rm rm, unsigned *flags);

#endif
