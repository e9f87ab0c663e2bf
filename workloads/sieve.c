/* The prime sieve of B. Sprunt, The Basics of Performance-Monitoring Hardware (IEEE Micro 2002), in two versions:
 *
 *     sieve blind    stores a mark to every multiple of every stride
 *     sieve test     loads the mark first, and stores only if it is not set yet
 *
 * Strides are 2, 3, 4 and so on, as in the article, not only primes: most marks are therefore set already. The array
 * is eight times as large as the second-level cache of pentium-pro. Strides of less than a line (32 bytes) are
 * finished after 26 (blind) or 34 (test) million instructions; from then on each mark lies in a line that no cache
 * holds. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { NUMBERS = 2 << 20 };

static uint8_t mark[NUMBERS];

__attribute__((noinline)) static void mark_blind(size_t stride)
{
    for (size_t i = 2 * stride; i < NUMBERS; i += stride)
        mark[i] = 1;
}

__attribute__((noinline)) static void mark_test(size_t stride)
{
    for (size_t i = 2 * stride; i < NUMBERS; i += stride)
        if (mark[i] == 0)
            mark[i] = 1;
}

int main(int argc, char **argv)
{
    if (argc != 2 || (strcmp(argv[1], "blind") != 0 && strcmp(argv[1], "test") != 0)) {
        fprintf(stderr, "usage: sieve blind|test\n");
        return 2;
    }
    void (*mark_multiples)(size_t) = argv[1][0] == 'b' ? mark_blind : mark_test;
    unsigned primes = 0;
    memset(mark, 0, sizeof mark);
    for (size_t stride = 2; stride * stride < NUMBERS; stride++)
        mark_multiples(stride);
    for (size_t i = 2; i < NUMBERS; i++)
        primes += mark[i] == 0;
    printf("%u primes below %u\n", primes, (unsigned)NUMBERS);
    return 0;
}
