/* Bound by mispredicted branches: a branch for each bit of a pseudo-random generator of period 2^64 - 1. A predictor
 * would have to see the same history twice to learn anything; all it finds is that a bit is set as often as not.
 *
 * The generator makes 64 bits at a time, long before they are tested, and testing one takes two operations: a branch
 * resolves soon after it enters the window. */
#include <stdint.h>
#include <stdio.h>

enum { WORDS = 30000 };

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

int main(void)
{
    uint64_t state = 88172645463325252u, ones = 0, mixed = 0;
    uint64_t bits = next_random(&state);
    for (unsigned i = 0; i < WORDS; i++) {
        uint64_t next = next_random(&state);
        for (unsigned j = 0; j < 64; j++) {
            if (bits >> j & 1) {
                ones++;
                __asm__("" : "+r"(ones)); /* keeps the compiler from counting without a branch */
            } else {
                mixed ^= j;
                __asm__("" : "+r"(mixed));
            }
        }
        bits = next;
    }
    printf("checksum %016llx\n", (unsigned long long)(ones << 8 ^ mixed));
    return 0;
}
