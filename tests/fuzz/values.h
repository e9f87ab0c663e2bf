/* Operands that are worth trying: the corners of the formats, what lies next to them, and random numbers. */
#ifndef CYCLESCOPE_FUZZ_VALUES_H
#define CYCLESCOPE_FUZZ_VALUES_H

#include "base/random.h"

/* An integer below `limit`. */
unsigned random_below(struct random *random, unsigned limit);

uint64_t value_integer(struct random *random);

/* Which floating-point operands meet: a sequence whose registers hold them all alike tries what chance would not. */
enum value_mix {
    MIX_ALL,
    MIX_KINDS, /* zeros, ones, infinities, NaNs, extremes */
    MIX_NEAR,  /* numbers of like size, whose sums cancel and whose quotients tie */
    MIX_COUNT
};

/* The content of a floating-point register: a double, a single boxed in ones, or a single that is not boxed. */
uint64_t value_float(struct random *random, enum value_mix mix);

#endif
