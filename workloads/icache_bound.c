/* Bound by the first-level instruction cache: a loop over 192 KB of straight code. A smaller cache replaces each line
 * before the next round reaches it again; a second-level cache holds all of it.
 *
 * The assembler generates the code: 3072 blocks of 16 four-byte instructions. They add and mix in four independent
 * registers. One of the 16 is a branch that is never taken. None accesses data. */
#include <stdint.h>
#include <stdio.h>

enum { ROUNDS = 200 };

static __attribute__((noinline)) uint64_t run_through(uint64_t a, uint64_t b)
{
    uint64_t c = a ^ b, d = a + b;
    __asm__ volatile(".option push\n\t"
                     ".option norvc\n\t"
                     ".balign 64\n\t"
                     ".rept 3072\n\t"
                     "addi %0, %0, 1\n\t"
                     "xori %1, %1, 3\n\t"
                     "addi %2, %2, 5\n\t"
                     "xori %3, %3, 7\n\t"
                     "add %0, %0, %4\n\t"
                     "xor %1, %1, %5\n\t"
                     "add %2, %2, %5\n\t"
                     "beqz %4, 1f\n\t"
                     "xor %3, %3, %4\n\t"
                     "slli %0, %0, 1\n\t"
                     "addi %1, %1, 9\n\t"
                     "xori %2, %2, 11\n\t"
                     "addi %3, %3, 13\n\t"
                     "xori %0, %0, 15\n\t"
                     "addi %1, %1, 17\n\t"
                     "xori %2, %2, 19\n"
                     "1:\n\t"
                     ".endr\n\t"
                     ".option pop"
                     : "+r"(a), "+r"(b), "+r"(c), "+r"(d)
                     : "r"(UINT64_C(0x9e3779b97f4a7c15)), "r"(UINT64_C(0xbf58476d1ce4e5b9)));
    return a + b + c + d;
}

int main(void)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < ROUNDS; i++)
        sum = sum * 31 + run_through(i, sum);
    printf("checksum %016llx\n", (unsigned long long)sum);
    return 0;
}
