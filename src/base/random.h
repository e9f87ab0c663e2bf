/* Random numbers that are a function of a seed: the same on every host and in every version. */
#ifndef CYCLESCOPE_BASE_RANDOM_H
#define CYCLESCOPE_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random {
    uint64_t state; /* the SplitMix64 counter */
};

void random_seed(struct random *r, uint64_t seed);
uint64_t random_u64(struct random *r);
void random_fill(struct random *r, void *bytes, size_t length);

#endif
