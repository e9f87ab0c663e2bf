/* Zfa: rounding to integers of the same format, the conversion that wraps, and the constants of fli. */
#include <string.h>

#include "riscv/softfp_priv.h"

/* A number whose lowest bit has the weight of 1 or more is an integer already. */
static uint64_t integral(uint64_t bits, const struct softfp_format *format, enum softfp_rm rm, bool exact,
                         unsigned *flags)
{
    struct softfp_num num = softfp_unpack(bits, format);
    bool inexact = false;

    if (num.class == SOFTFP_FINITE && num.exp + SOFTFP_TOP < format->precision - 1)
        num = softfp_normalize(num.sign, 0, softfp_round(num.sig, -num.exp, num.sign, rm, &inexact));
    if (inexact && exact)
        *flags |= FF_NX;
    return softfp_pack(num, format, rm, flags);
}

uint16_t softfp_integral16(uint16_t a, enum softfp_rm rm, bool exact, unsigned *flags)
{
    return (uint16_t)integral(a, &softfp_binary16, rm, exact, flags);
}

uint32_t softfp_integral32(uint32_t a, enum softfp_rm rm, bool exact, unsigned *flags)
{
    return (uint32_t)integral(a, &softfp_binary32, rm, exact, flags);
}

uint64_t softfp_integral64(uint64_t a, enum softfp_rm rm, bool exact, unsigned *flags)
{
    return integral(a, &softfp_binary64, rm, exact, flags);
}

int32_t softfp_f64_to_i32_modular(uint64_t a, unsigned *flags)
{
    struct softfp_num num = softfp_unpack(a, &softfp_binary64);
    uint64_t low = 0;

    softfp_to_integer(num, 32, true, RM_RTZ, flags);
    if (num.class == SOFTFP_FINITE && num.exp >= 0)
        low = num.exp < 32 ? (uint64_t)(num.sig << num.exp) : 0;
    else if (num.class == SOFTFP_FINITE && num.exp > -128)
        low = (uint64_t)(num.sig >> -num.exp);
    return (int32_t)(uint32_t)(num.sign ? -low : low);
}

double softfp_constant_value(unsigned number)
{
    static const double values[] = {-1.0,  0,      0x1p-16, 0x1p-15, 0x1p-8, 0x1p-7, 0.0625, 0.125, 0.25,   0.3125,
                                    0.375, 0.4375, 0.5,     0.625,   0.75,   0.875,  1.0,    1.25,  1.5,    1.75,
                                    2.0,   2.5,    3.0,     4.0,     8.0,    16.0,   128.0,  256.0, 0x1p15, 0x1p16};
    return values[number];
}

enum { SMALLEST_NORMAL = 1, INFINITE = 30, NOT_A_NUMBER = 31 };

/* 2^16 has no binary16: it overflows to infinity there. */
static uint64_t constant(unsigned number, const struct softfp_format *format)
{
    struct softfp_num special = {.class = number == INFINITE ? SOFTFP_INF : SOFTFP_NAN};
    unsigned ignored = 0;
    uint64_t bits;

    if (number == SMALLEST_NORMAL)
        return UINT64_C(1) << (format->precision - 1);
    if (number >= INFINITE)
        return softfp_pack(special, format, RM_RNE, &ignored);
    double value = softfp_constant_value(number);
    memcpy(&bits, &value, sizeof bits);
    return softfp_pack(softfp_unpack(bits, &softfp_binary64), format, RM_RNE, &ignored);
}

uint16_t softfp_constant16(unsigned number)
{
    return (uint16_t)constant(number, &softfp_binary16);
}

uint32_t softfp_constant32(unsigned number)
{
    return (uint32_t)constant(number, &softfp_binary32);
}

uint64_t softfp_constant64(unsigned number)
{
    return constant(number, &softfp_binary64);
}
