/*
 * The internal number format of softfp. It is wide enough for an exact product
 * of two binary64 values, so every operation is "unpack, compute in the common
 * form, pack", and only unpack and pack depend on the width.
 *
 * Invariant of a SOFTFP_FINITE number: the highest set bit of sig is bit
 * SOFTFP_TOP, which leaves bit 127 free for the carry of an addition. Unpacked
 * values, integers and products are exact. In a quotient, a root or a sum the
 * lowest set bit may stand for lower bits that were lost ("sticky"); it is
 * always far below the last bit that either format keeps.
 */
#ifndef RISCV_SOFTFP_PRIV_H
#define RISCV_SOFTFP_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#include "riscv/softfp.h"

typedef unsigned __int128 softfp_u128;

#define SOFTFP_TOP 126

enum softfp_class {
    SOFTFP_ZERO,
    SOFTFP_FINITE,
    SOFTFP_INF,
    SOFTFP_NAN,     /* a quiet NaN */
    SOFTFP_INVALID, /* a signaling NaN or the result of an invalid operation: packing raises NV */
};

/* A number: sign, class and, if finite, the value sig * 2^exp. */
struct softfp_num {
    enum softfp_class class; /* decides which of the fields below are valid */
    bool sign;               /* negative; meaningless for NaNs */
    int exp;                 /* weight of bit 0 of sig, finite numbers only */
    softfp_u128 sig;         /* magnitude, finite numbers only */
};

/* An IEEE 754 interchange format. All other properties follow from these three. */
struct softfp_format {
    int width;     /* total bits */
    int precision; /* bits of the significand, including the hidden bit */
    int emin;      /* exponent of the smallest normal number */
};

extern const struct softfp_format softfp_binary16;
extern const struct softfp_format softfp_binary32;
extern const struct softfp_format softfp_binary64;

/* Returns sig * 2^exp in the common form; sig may be zero. */
struct softfp_num softfp_normalize(bool sign, int exp, softfp_u128 sig);

/* Returns sig >> count; if any bit shifted out was 1, bit 0 of the result is 1. */
softfp_u128 softfp_shift_right_sticky(softfp_u128 sig, int count);

/* Drops the low `drop` (> 0) bits of sig and rounds; *inexact is set if any of them was 1. Bit 127 of sig must be 0. */
softfp_u128 softfp_round(softfp_u128 sig, int drop, bool sign, enum softfp_rm rm, bool *inexact);

/* The integer of `width` bits that num rounds to, in two's complement in the low bits; out of range saturates with NV.
 */
uint64_t softfp_to_integer(struct softfp_num num, int width, bool is_signed, enum softfp_rm rm, unsigned *flags);

/* Converts a bit pattern of this format to the common form. Raises no flags. */
struct softfp_num softfp_unpack(uint64_t bits, const struct softfp_format *format);

/* Rounds to the format, ORs the exceptions of the result into *flags, and returns the bit pattern. */
uint64_t softfp_pack(struct softfp_num num, const struct softfp_format *format, enum softfp_rm rm, unsigned *flags);

#endif
