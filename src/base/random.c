#include "base/random.h"

#include <string.h>

void random_seed(struct random *r, uint64_t seed)
{
    r->state = seed;
}

/* SplitMix64 (Steele, Lea, Flood 2014): a Weyl sequence through a mixing function of full period. */
uint64_t random_u64(struct random *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void random_fill(struct random *r, void *bytes, size_t length)
{
    unsigned char *to = bytes;
    while (length > 0) {
        uint64_t word = random_u64(r);
        size_t n = length < sizeof word ? length : sizeof word;
        memcpy(to, &word, n);
        to += n;
        length -= n;
    }
}
