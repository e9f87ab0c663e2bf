/* A pseudo-random number generator. The sequence depends only on the seed: it is the same on every host and in every
 * version of the program. */
#ifndef CYCLESCOPE_BASE_RANDOM_H
#define CYCLESCOPE_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random {
    uint64_t state; /* the SplitMix64 counter */
};

void random_seed(struct random *r, uint64_t seed);
uint64_t random_u64(struct random *r);                          /* uniform over all 64-bit values */
void random_fill(struct random *r, void *bytes, size_t length); /* fills memory with random bytes */

#endif
