/* Conversions between the formats, and from and to integers. */
#include "riscv/softfp_priv.h"

uint32_t softfp_f64_to_f32(uint64_t a, enum softfp_rm rm, unsigned *flags)
{
    return (uint32_t)softfp_pack(softfp_unpack(a, &softfp_binary64), &softfp_binary32, rm, flags);
}

/*
 * Returns an integer of `width` bits in two's complement, in the low bits of the
 * result. The range is checked after rounding: -0.75 rounded towards zero is an
 * inexact 0 of any type; rounded down it is -1, which no unsigned type holds.
 */
uint64_t softfp_to_integer(struct softfp_num num, int width, bool is_signed, enum softfp_rm rm, unsigned *flags)
{
    uint64_t max = UINT64_MAX >> (64 - width + is_signed);
    uint64_t min_magnitude = is_signed ? max + 1 : 0;
    bool inexact = false;

    switch (num.class) {
    case SOFTFP_ZERO: return 0;
    case SOFTFP_NAN:
    case SOFTFP_INVALID: *flags |= FF_NV; return max;
    case SOFTFP_INF: break;
    case SOFTFP_FINITE:
        if (num.exp + SOFTFP_TOP >= 64)
            break; /* at least 2^64: fits no integer type */

        softfp_u128 magnitude = softfp_round(num.sig, -num.exp, num.sign, rm, &inexact);

        if (magnitude > (num.sign ? min_magnitude : max))
            break;
        if (inexact)
            *flags |= FF_NX;
        return num.sign ? -(uint64_t)magnitude : (uint64_t)magnitude;
    }
    *flags |= FF_NV;
    return num.sign ? -min_magnitude : max;
}

uint32_t softfp_f32_to_u32(uint32_t a, enum softfp_rm rm, unsigned *flags)
{
    return (uint32_t)softfp_to_integer(softfp_unpack(a, &softfp_binary32), 32, false, rm, flags);
}

uint64_t softfp_f32_to_u64(uint32_t a, enum softfp_rm rm, unsigned *flags)
{
    return softfp_to_integer(softfp_unpack(a, &softfp_binary32), 64, false, rm, flags);
}

int32_t softfp_f64_to_i32(uint64_t a, enum softfp_rm rm, unsigned *flags)
{
    return (int32_t)softfp_to_integer(softfp_unpack(a, &softfp_binary64), 32, true, rm, flags);
}

uint32_t softfp_f64_to_u32(uint64_t a, enum softfp_rm rm, unsigned *flags)
{
    return (uint32_t)softfp_to_integer(softfp_unpack(a, &softfp_binary64), 32, false, rm, flags);
}

int64_t softfp_f64_to_i64(uint64_t a, enum softfp_rm rm, unsigned *flags)
{
    return (int64_t)softfp_to_integer(softfp_unpack(a, &softfp_binary64), 64, true, rm, flags);
}

uint64_t softfp_f64_to_u64(uint64_t a, enum softfp_rm rm, unsigned *flags)
{
    return softfp_to_integer(softfp_unpack(a, &softfp_binary64), 64, false, rm, flags);
}

static struct softfp_num from_unsigned(uint64_t a)
{
    return softfp_normalize(false, 0, a);
}

/* Negates as unsigned, because the smallest integer has no positive counterpart. */
static struct softfp_num from_signed(int64_t a)
{
    return softfp_normalize(a < 0, 0, a < 0 ? -(uint64_t)a : (uint64_t)a);
}

uint32_t softfp_i32_to_f32(int32_t a, enum softfp_rm rm, unsigned *flags)
{
    return softfp_i64_to_f32(a, rm, flags);
}

uint32_t softfp_u32_to_f32(uint32_t a, enum softfp_rm rm, unsigned *flags)
{
    return softfp_u64_to_f32(a, rm, flags);
}

uint32_t softfp_i64_to_f32(int64_t a, enum softfp_rm rm, unsigned *flags)
{
    return (uint32_t)softfp_pack(from_signed(a), &softfp_binary32, rm, flags);
}

uint32_t softfp_u64_to_f32(uint64_t a, enum softfp_rm rm, unsigned *flags)
{
    return (uint32_t)softfp_pack(from_unsigned(a), &softfp_binary32, rm, flags);
}

uint64_t softfp_i64_to_f64(int64_t a, enum softfp_rm rm, unsigned *flags)
{
    return softfp_pack(from_signed(a), &softfp_binary64, rm, flags);
}

uint64_t softfp_u64_to_f64(uint64_t a, enum softfp_rm rm, unsigned *flags)
{
    return softfp_pack(from_unsigned(a), &softfp_binary64, rm, flags);
}
