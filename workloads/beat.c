/* A loop that runs in step with the rounds of multiplexed counters.
 *
 * Two kinds of work alternate, half a period each: one stores and divides, the other loads and multiplies. The program
 * chooses the kind by the cycles it has used so far (the counter `cycle`, which does not count in machine mode).
 * Slices are measured in the program's cycles as well, so the program stays in step with them even when it is
 * interrupted. If a period is as long as a round and the groups have a fixed order, each group always sees the same
 * kind of work.
 *
 *     beat [PERIOD [PERIODS]]      period in cycles (200000); number of periods (100) */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 64, ITERATIONS = 16 };

static inline uint64_t cycles(void)
{
    uint64_t now;
    __asm__ volatile("rdcycle %0" : "=r"(now));
    return now;
}

static volatile uint64_t cell[CELLS];

/* One store and one division per iteration. */
static uint64_t store_and_divide(uint64_t x)
{
    for (unsigned i = 0; i < ITERATIONS; i++) {
        x = (x | 1) / (i + 3) + 0x123456789;
        cell[i % CELLS] = x;
    }
    return x;
}

/* One load and one multiplication per iteration. */
static uint64_t load_and_multiply(uint64_t x)
{
    for (unsigned i = 0; i < ITERATIONS; i++)
        x = x * 6364136223846793005u + cell[i % CELLS];
    return x;
}

int main(int argc, char **argv)
{
    uint64_t period = argc > 1 ? strtoull(argv[1], NULL, 0) : 200000;
    uint64_t end = period * (argc > 2 ? strtoull(argv[2], NULL, 0) : 100);
    uint64_t x = 1;
    if (period == 0)
        return 1;
    for (uint64_t now = cycles(); now < end; now = cycles())
        x = now % period < period / 2 ? store_and_divide(x) : load_and_multiply(x);
    printf("beat: %s\n", x ? "done" : "done with 0");
    return 0;
}
