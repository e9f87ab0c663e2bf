/* Bound by a long-latency unit: each division depends on the previous quotient. */
#include <stdint.h>
#include <stdio.h>

enum { DIVISIONS = 1500000 };

int main(void)
{
    const uint64_t dividend = UINT64_C(0xfedcba9876543210);
    uint64_t x = 1, sum = 0;
    for (uint64_t i = 1; i <= DIVISIONS; i++) {
        x = dividend / (x | 1) + i; /* never divides by zero, never reaches a fixed point */
        sum ^= x << 1;
    }
    printf("checksum %016llx\n", (unsigned long long)sum);
    return 0;
}
