/*
 * The number format that the files of softfp share: wide enough for an exact
 * product of two binary64 values, so that every operation is "unpack, compute
 * in the common form, pack", and only unpack and pack know the width.
 *
 * Invariant of a SOFTFP_FINITE number: the highest set bit of sig is bit
 * SOFTFP_TOP, which leaves bit 127 free for the carry of an addition. Unpacked
 * values, integers and products are exact. A quotient, a root or a sum may have
 * bits that lie further down folded into its lowest set bit ("sticky"); that
 * bit is always far below the last bit that either format keeps.
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
    SOFTFP_INVALID, /* a signalling NaN, or what an invalid operation gives: NV once packed */
};

/* sign, class and, when finite, the value sig * 2^exp. */
struct softfp_num {
    enum softfp_class class; /* which of the fields below mean something */
    bool sign;               /* negative; meaningless for NaNs */
    int exp;                 /* weight of bit 0 of sig, finite numbers only */
    softfp_u128 sig;         /* magnitude, finite numbers only */
};

/* An interchange format; all else follows from these three. */
struct softfp_format {
    int width;     /* bits in all */
    int precision; /* bits of significand, the hidden one included */
    int emin;      /* exponent of the smallest normal number */
};

extern const struct softfp_format softfp_binary32;
extern const struct softfp_format softfp_binary64;

/* sig * 2^exp in the common form; sig may be zero. */
struct softfp_num softfp_normalize(bool sign, int exp, softfp_u128 sig);

/* sig >> count, with a lost one bit folded into bit 0. */
softfp_u128 softfp_shift_right_sticky(softfp_u128 sig, int count);

/*
 * The significand without its low `drop` (> 0) bits, rounded; *inexact tells
 * whether they held anything. sig must leave bit 127 clear.
 */
softfp_u128 softfp_round(softfp_u128 sig, int drop, bool sign, enum softfp_rm rm, bool *inexact);

struct softfp_num softfp_unpack(uint64_t bits, const struct softfp_format *format);

/* Rounds to the format and raises whatever the result calls for. */
uint64_t softfp_pack(struct softfp_num num, const struct softfp_format *format, enum softfp_rm rm, unsigned *flags);

#endif
