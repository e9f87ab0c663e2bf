/* Limited only by the width of the core: eight independent chains of single-cycle operations, all in registers. Each
 * step of a round is done for all eight chains before the next step. */
#include <stdint.h>
#include <stdio.h>

enum { ROUNDS = 400000, CHAINS = 8 };

int main(void)
{
    uint64_t x[CHAINS] = {1, 2, 3, 4, 5, 6, 7, 8}, sum = 0;
    for (uint64_t i = 0; i < ROUNDS; i++) {
#pragma GCC unroll 8
        for (unsigned j = 0; j < CHAINS; j++) {
            x[j] += i;
            x[j] ^= x[j] << 7;
            x[j] ^= x[j] >> 9;
        }
    }
    for (unsigned j = 0; j < CHAINS; j++)
        sum = sum * 31 + x[j];
    printf("checksum %016llx\n", (unsigned long long)sum);
    return 0;
}
