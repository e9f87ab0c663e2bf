/* Bound by mispredicted branches: one branch for each bit of a pseudo-random generator with period 2^64 - 1. The
 * history never repeats within the run, so a predictor can learn nothing except that a bit is set half of the time.
 *
 * The generator makes 64 bits at a time, long before the program tests them. Testing one takes two operations, so a
 * branch resolves soon after it enters the window. */
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
