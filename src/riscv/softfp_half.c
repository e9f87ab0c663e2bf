/* Conversions of binary16: Zfh. */
#include "riscv/softfp_priv.h"

uint32_t softfp_f16_to_f32(uint16_t a, enum softfp_rm rm, unsigned *flags)
{
    return (uint32_t)softfp_pack(softfp_unpack(a, &softfp_binary16), &softfp_binary32, rm, flags);
}

uint64_t softfp_f16_to_f64(uint16_t a, enum softfp_rm rm, unsigned *flags)
{
    return softfp_pack(softfp_unpack(a, &softfp_binary16), &softfp_binary64, rm, flags);
}

uint16_t softfp_f32_to_f16(uint32_t a, enum softfp_rm rm, unsigned *flags)
{
    return (uint16_t)softfp_pack(softfp_unpack(a, &softfp_binary32), &softfp_binary16, rm, flags);
}

uint16_t softfp_f64_to_f16(uint64_t a, enum softfp_rm rm, unsigned *flags)
{
    return (uint16_t)softfp_pack(softfp_unpack(a, &softfp_binary64), &softfp_binary16, rm, flags);
}

int32_t softfp_f16_to_i32(uint16_t a, enum softfp_rm rm, unsigned *flags)
{
    return (int32_t)softfp_to_integer(softfp_unpack(a, &softfp_binary16), 32, true, rm, flags);
}

uint32_t softfp_f16_to_u32(uint16_t a, enum softfp_rm rm, unsigned *flags)
{
    return (uint32_t)softfp_to_integer(softfp_unpack(a, &softfp_binary16), 32, false, rm, flags);
}

int64_t softfp_f16_to_i64(uint16_t a, enum softfp_rm rm, unsigned *flags)
{
    return (int64_t)softfp_to_integer(softfp_unpack(a, &softfp_binary16), 64, true, rm, flags);
}

uint64_t softfp_f16_to_u64(uint16_t a, enum softfp_rm rm, unsigned *flags)
{
    return softfp_to_integer(softfp_unpack(a, &softfp_binary16), 64, false, rm, flags);
}

/* Negates as unsigned, because the smallest integer has no positive counterpart. */
uint16_t softfp_i64_to_f16(int64_t a, enum softfp_rm rm, unsigned *flags)
{
    uint64_t magnitude = a < 0 ? -(uint64_t)a : (uint64_t)a;

    return (uint16_t)softfp_pack(softfp_normalize(a < 0, 0, magnitude), &softfp_binary16, rm, flags);
}

uint16_t softfp_u64_to_f16(uint64_t a, enum softfp_rm rm, unsigned *flags)
{
    return (uint16_t)softfp_pack(softfp_normalize(false, 0, a), &softfp_binary16, rm, flags);
}
