/* Conversion between bit patterns and the common form. All rounding of softfp happens here. */
#include "riscv/softfp_priv.h"

#include <assert.h>

const struct softfp_format softfp_binary16 = {.width = 16, .precision = 11, .emin = -14};
const struct softfp_format softfp_binary32 = {.width = 32, .precision = 24, .emin = -126};
const struct softfp_format softfp_binary64 = {.width = 64, .precision = 53, .emin = -1022};

static int format_emax(const struct softfp_format *format)
{
    return 1 - format->emin;
}

/* Bit pattern of +infinity. The pattern below it is the largest finite number. */
static uint64_t format_infinity(const struct softfp_format *format)
{
    uint64_t exponent_ones = 2 * (uint64_t)format_emax(format) + 1;

    return exponent_ones << (format->precision - 1);
}

static uint64_t format_quiet_bit(const struct softfp_format *format)
{
    return UINT64_C(1) << (format->precision - 2);
}

static int highest_bit(softfp_u128 sig)
{
    uint64_t high = (uint64_t)(sig >> 64);

    return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)sig);
}

softfp_u128 softfp_shift_right_sticky(softfp_u128 sig, int count)
{
    if (count == 0)
        return sig;
    if (count > 127)
        return sig != 0;
    return sig >> count | ((sig << (128 - count)) != 0);
}

struct softfp_num softfp_normalize(bool sign, int exp, softfp_u128 sig)
{
    struct softfp_num num = {.class = SOFTFP_ZERO, .sign = sign};

    if (sig == 0)
        return num;

    int up = SOFTFP_TOP - highest_bit(sig);

    num.class = SOFTFP_FINITE;
    num.exp = exp - up;
    num.sig = up >= 0 ? sig << up : softfp_shift_right_sticky(sig, -up);
    return num;
}

struct softfp_num softfp_unpack(uint64_t bits, const struct softfp_format *format)
{
    int fraction_bits = format->precision - 1;
    uint64_t infinity = format_infinity(format);
    bool sign = bits >> (format->width - 1) & 1;
    uint64_t fraction = bits & ((UINT64_C(1) << fraction_bits) - 1);
    int biased = (int)((bits & infinity) >> fraction_bits);

    if ((bits & infinity) == infinity) {
        struct softfp_num num = {.class = SOFTFP_INF, .sign = sign};

        if (fraction)
            num.class = bits & format_quiet_bit(format) ? SOFTFP_NAN : SOFTFP_INVALID;
        return num;
    }

    /* Subnormal numbers have the exponent of the smallest normal ones and no hidden bit. */
    int lsb_of_subnormal = format->emin - fraction_bits;

    if (biased == 0)
        return softfp_normalize(sign, lsb_of_subnormal, fraction);
    return softfp_normalize(sign, lsb_of_subnormal + biased - 1, fraction | UINT64_C(1) << fraction_bits);
}

softfp_u128 softfp_round(softfp_u128 sig, int drop, bool sign, enum softfp_rm rm, bool *inexact)
{
    /* Here sig is below half of the last kept bit: rounding only depends on whether sig is zero. */
    if (drop > 127) {
        sig = softfp_shift_right_sticky(sig, drop - 127);
        drop = 127;
    }

    softfp_u128 half = (softfp_u128)1 << (drop - 1);
    softfp_u128 rest = sig & (2 * half - 1);
    softfp_u128 kept = sig >> drop;
    bool away = false;

    switch (rm) {
    case RM_RNE: away = rest > half || (rest == half && (kept & 1)); break;
    case RM_RTZ: break;
    case RM_RDN: away = sign && rest; break;
    case RM_RUP: away = !sign && rest; break;
    case RM_RMM: away = rest >= half; break;
    default: assert(!"rounding mode");
    }
    *inexact = rest != 0;
    return kept + away;
}

/* Result of an overflow, without its sign: infinity, or the largest finite number if rm rounds towards zero here. */
static uint64_t overflow(bool sign, const struct softfp_format *format, enum softfp_rm rm, unsigned *flags)
{
    bool towards_zero = rm == RM_RTZ || rm == (sign ? RM_RUP : RM_RDN);

    *flags |= FF_OF | FF_NX;
    return format_infinity(format) - towards_zero;
}

/*
 * Tininess after rounding (IEEE 754 section 7.5): true if a number below the
 * smallest normal one stays below it when rounded to full precision with an
 * unbounded exponent. Only a carry out of the significand can raise its exponent
 * to emin.
 */
static bool tiny_after_rounding(const struct softfp_num *num, const struct softfp_format *format, enum softfp_rm rm)
{
    bool inexact;
    softfp_u128 full = softfp_round(num->sig, SOFTFP_TOP + 1 - format->precision, num->sign, rm, &inexact);
    bool carry = full >> format->precision;

    return num->exp + SOFTFP_TOP + carry < format->emin;
}

/* Bit pattern of a finite number, without its sign. */
static uint64_t pack_finite(const struct softfp_num *num, const struct softfp_format *format, enum softfp_rm rm,
                            unsigned *flags)
{
    int exponent = num->exp + SOFTFP_TOP;

    if (exponent > format_emax(format))
        return overflow(num->sign, format, rm, flags);

    /* Below emin a number loses one bit of precision for each step of the exponent. */
    int above_emin = exponent > format->emin ? exponent - format->emin : 0;
    int below_emin = exponent < format->emin ? format->emin - exponent : 0;
    int drop = SOFTFP_TOP + 1 - format->precision + below_emin;
    bool inexact;
    uint64_t kept = (uint64_t)softfp_round(num->sig, drop, num->sign, rm, &inexact);

    /*
     * The hidden bit is added to the exponent field instead of being masked
     * out: it makes the field one larger for normal numbers and leaves it 0 for
     * subnormal ones, and a carry from rounding increments the exponent.
     */
    uint64_t bits = ((uint64_t)above_emin << (format->precision - 1)) + kept;

    if (bits >= format_infinity(format))
        return overflow(num->sign, format, rm, flags);
    if (inexact) {
        *flags |= FF_NX;
        if (below_emin && tiny_after_rounding(num, format, rm))
            *flags |= FF_UF;
    }
    return bits;
}

uint64_t softfp_pack(struct softfp_num num, const struct softfp_format *format, enum softfp_rm rm, unsigned *flags)
{
    uint64_t sign_bit = (uint64_t)num.sign << (format->width - 1);

    switch (num.class) {
    case SOFTFP_ZERO: return sign_bit;
    case SOFTFP_FINITE: return sign_bit | pack_finite(&num, format, rm, flags);
    case SOFTFP_INF: return sign_bit | format_infinity(format);
    case SOFTFP_INVALID: *flags |= FF_NV; break;
    case SOFTFP_NAN: break;
    }
    return format_infinity(format) | format_quiet_bit(format);
}
