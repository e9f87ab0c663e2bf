#include "values.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const uint64_t integer_corners[] = {
    0,
    1,
    2,
    UINT64_MAX,
    UINT64_MAX - 1,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x10000,
    0x7fffffff,
    0x80000000,
    0x80000001,
    0xffffffff,
    0x100000000,
    0xffffffff80000000,
    0xffffffff7fffffff,
    0xffffffff00000000,
    INT64_MAX,
    UINT64_C(1) << 63,
    (UINT64_C(1) << 63) + 1,
    0x5555555555555555,
    0xaaaaaaaaaaaaaaaa,
    0x0102030405060708,
    0x8000000080000000,
    0x00ff00ff00ff00ff,
    0x0000000001000001,
    0x0020000000000001,
    0x7fffffffffffff00,
    0x7ffffffffffffc00, /* ties of fcvt.s.l, fcvt.d.l */
};

static const uint32_t single_corners[] = {
    0x00000000, 0x00000001, 0x00000002, 0x007fffff, 0x00800000, 0x00800001, /* zero, subnormals, least normal */
    0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fbfffff, 0x7fc00000, 0x7fc00001, 0x7fffffff, /* greatest, infinity, NaNs */
    0x3f800000, 0x3f800001, 0x3f7fffff, 0x3fc00000, 0x40000000, 0x40400000, 0x3f000000, 0x3effffff, 0x4b000000,
    0x4b7fffff, 0x4a7fffff, 0x4affffff,             /* 2^23, 2^24 - 1, and halves below */
    0x4effffff, 0x4f000000, 0x4f7fffff, 0x4f800000, /* around 2^31 and 2^32 */
    0x5effffff, 0x5f000000, 0x5f7fffff, 0x5f800000, /* around 2^63 and 2^64 */
    0x3dcccccd, 0x40490fdb, 0x1fffffff, 0x20000000, 0x5f3504f3, 0x33800000, 0x34000000, 0x00400000, 0x0c000000,
};

static const uint64_t double_corners[] = {
    0x0000000000000000, 0x0000000000000001, 0x000fffffffffffff, 0x0010000000000000, 0x0010000000000001,
    0x7fefffffffffffff, 0x7ff0000000000000, 0x7ff0000000000001, 0x7ff7ffffffffffff, 0x7ff8000000000000,
    0x7ff8000000000001, 0x7fffffffffffffff, 0x3ff0000000000000, 0x3ff0000000000001, 0x3fefffffffffffff,
    0x3ff8000000000000, 0x4000000000000000, 0x4008000000000000, 0x3fe0000000000000, 0x3fdfffffffffffff,
    0x4004000000000000, 0x4330000000000000, 0x433fffffffffffff, 0x431fffffffffffff, 0x432fffffffffffff,
    0x41dfffffffc00000, 0x41dfffffffe00000, 0x41e0000000000000, 0xc1e0000000200000, /* around 2^31 */
    0x41efffffffe00000, 0x41effffffff00000, 0x41f0000000000000, 0x43dfffffffffffff, 0x43e0000000000000,
    0x43efffffffffffff, 0x43f0000000000000, 0x47efffffe0000000, 0x47efffffefffffff, 0x47effffff0000000,
    0x47f0000000000000,                                                             /* the end of single's range */
    0x3810000000000000, 0x380fffffffffffff, 0x380fffffe0000000, 0x380ffffff0000000, /* its least normal */
    0x36a0000000000000, 0x3690000000000000, 0x3690000000000001, 0x36b8000000000000, /* and subnormal numbers */
    0x3ff0000010000000, 0x3ff0000030000000, 0x3ff0000010000001,                     /* ties of fcvt.s.d */
    0x3fb999999999999a, 0x400921fb54442d18, 0x1ff0000000000000, 0x5fefffffffffffff, 0x3ca0000000000000,
};

static const uint32_t single_kinds[] = {0x00000000, 0x7f800000, 0x7fc00000, 0x7f800001,
                                        0x3f800000, 0x00000001, 0x7f7fffff};
static const uint64_t double_kinds[] = {0x0000000000000000, 0x7ff0000000000000, 0x7ff8000000000000, 0x7ff0000000000001,
                                        0x3ff0000000000000, 0x0000000000000001, 0x7fefffffffffffff};

unsigned random_below(struct random *random, unsigned limit)
{
    return (unsigned)((random_u64(random) >> 32) * limit >> 32);
}

uint64_t value_integer(struct random *random)
{
    uint64_t word = random_u64(random);
    switch (random_below(random, 8)) {
    case 0:
    case 1:
    case 2: return integer_corners[random_below(random, LENGTH(integer_corners))];
    case 3: return (uint64_t)((int64_t)word >> 57);
    case 4: return (uint64_t)((int64_t)word >> 32);
    case 5: return (UINT64_C(1) << (word & 63)) + (uint64_t)((int64_t)word >> 62);
    case 6: return word >> random_below(random, 64);
    default: return word;
    }
}

/* A fraction: random, few bits, or a run of ones or zeros at either end, as roundings with carries need them. */
static uint64_t fraction(struct random *random, unsigned width)
{
    uint64_t all = (UINT64_C(1) << width) - 1, word = random_u64(random) & all;
    unsigned shift = random_below(random, width);
    switch (random_below(random, 6)) {
    case 0: return all << shift & all;
    case 1: return all >> shift;
    case 2: return UINT64_C(1) << shift;
    case 3: return word << shift & all;
    case 4: return (word | all << shift) & all;
    default: return word;
    }
}

/* A biased exponent: anything, close to 1, or close to an end of the range. */
static uint64_t exponent(struct random *random, unsigned greatest)
{
    unsigned near = random_below(random, 16);
    switch (random_below(random, 8)) {
    case 0: return near;
    case 1: return greatest - near;
    case 2: return random_below(random, greatest + 1);
    case 3: return greatest / 2 + random_below(random, 70); /* the range of integers */
    default: return greatest / 2 + near - 8;
    }
}

static uint64_t single_precision(struct random *random, enum value_mix mix)
{
    uint64_t sign = (random_u64(random) & 1) << 31;
    if (mix == MIX_KINDS)
        return sign | single_kinds[random_below(random, LENGTH(single_kinds))];
    if (mix == MIX_NEAR)
        return sign | (uint64_t)(125 + random_below(random, 5)) << 23 | fraction(random, 23);
    if (random_below(random, 2) == 0)
        return sign | single_corners[random_below(random, LENGTH(single_corners))];
    return sign | exponent(random, 255) << 23 | fraction(random, 23);
}

static uint64_t double_precision(struct random *random, enum value_mix mix)
{
    uint64_t sign = random_u64(random) << 63;
    if (mix == MIX_KINDS)
        return sign | double_kinds[random_below(random, LENGTH(double_kinds))];
    if (mix == MIX_NEAR)
        return sign | (uint64_t)(1021 + random_below(random, 5)) << 52 | fraction(random, 52);
    if (random_below(random, 2) == 0)
        return sign ^ double_corners[random_below(random, LENGTH(double_corners))];
    return sign | exponent(random, 2047) << 52 | fraction(random, 52);
}

static uint64_t half_precision(struct random *random, enum value_mix mix)
{
    static const uint16_t kinds[] = {0, 1, 0x3ff, 0x400, 0x3c00, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7fff};
    uint64_t sign = random_u64(random) & 0x8000;
    if (mix == MIX_KINDS || random_below(random, 8) == 0)
        return sign | kinds[random_below(random, sizeof kinds / sizeof kinds[0])];
    if (mix == MIX_NEAR)
        return sign | 0x3800 | (random_u64(random) & 0xfff);
    return random_u64(random) & 0xffff;
}

uint64_t value_float(struct random *random, enum value_mix mix)
{
    const uint64_t box = UINT64_C(0xffffffff) << 32;
    switch (random_below(random, 16)) {
    case 0: return random_u64(random);
    case 1: return single_precision(random, mix) | (random_u64(random) << 32);
    case 3: return half_precision(random, mix) | ~UINT64_C(0xffff);
    case 2: return (single_precision(random, mix) | box) ^ UINT64_C(1) << 32;
    case 4:
    case 5:
    case 6:
    case 7:
    case 8: return single_precision(random, mix) | box;
    default: return double_precision(random, mix);
    }
}
