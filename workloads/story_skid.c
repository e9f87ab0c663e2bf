/* One load that misses, in a loop of 64 instructions that otherwise only work on registers: which instruction do
 * samples of cache misses point to?
 *
 *     story_skid steady    all iterations are alike
 *     story_skid tossed    a branch skips 16 instructions in half of the iterations, at random
 *
 * The load reads a random byte of 16 MB. Its address depends on no other load, so several misses are outstanding at
 * once. The loop is in assembly, so that it is the same with every compiler. It has no compressed instructions, so
 * that distances in instructions follow from addresses. `skid_load` is the load. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BYTES = 16 << 20, TURNS = 100000 };

static uint8_t table[BYTES];

/* Runs `count` iterations. If the highest bit of `toss` is set, the highest bit of a random number decides whether to
 * skip; otherwise nothing is skipped. */
__attribute__((noinline, noclone)) static uint64_t turns(uint64_t count, uint64_t toss)
{
    uint64_t state = 1, sum = 0, a = 1, b = 2, c = 3, d = 5, place, value, bit;
    __asm__ volatile(".macro work times\n\t"
                     ".rept \\times\n\t"
                     "addi %[a], %[a], 1\n\t"
                     "xor  %[b], %[b], %[a]\n\t"
                     "addi %[c], %[c], 3\n\t"
                     "xor  %[d], %[d], %[c]\n\t"
                     ".endr\n\t"
                     ".endm\n\t"
                     ".option push\n\t"
                     ".option norvc\n\t"
                     ".balign 64\n\t"
                     ".globl skid_loop, skid_load\n"
                     "skid_loop:\n\t"
                     "mul  %[state], %[state], %[factor]\n\t"
                     "addi %[state], %[state], 1\n\t"
                     "srli %[place], %[state], 40\n\t"
                     "add  %[place], %[place], %[table]\n"
                     "skid_load:\n\t"
                     "lbu  %[value], 0(%[place])\n\t"
                     "and  %[bit], %[state], %[toss]\n\t"
                     "work 3\n\t"
                     "bltz %[bit], 1f\n\t"
                     "work 4\n"
                     "1:\n\t"
                     "work 6\n\t"
                     "xor  %[a], %[a], %[d]\n\t"
                     "xor  %[c], %[c], %[b]\n\t"
                     "add  %[sum], %[sum], %[value]\n\t"
                     "addi %[count], %[count], -1\n\t"
                     "bnez %[count], skid_loop\n\t"
                     ".option pop"
                     : [state] "+r"(state), [sum] "+r"(sum), [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d),
                       [count] "+r"(count), [place] "=&r"(place), [value] "=&r"(value), [bit] "=&r"(bit)
                     : [factor] "r"(UINT64_C(6364136223846793005)), [table] "r"(table), [toss] "r"(toss)
                     : "memory");
    return sum + a + b + c + d;
}

int main(int argc, char **argv)
{
    if (argc != 2 || (strcmp(argv[1], "steady") != 0 && strcmp(argv[1], "tossed") != 0)) {
        fprintf(stderr, "usage: story_skid steady|tossed\n");
        return 2;
    }
    printf("checksum %016llx\n", (unsigned long long)turns(TURNS, argv[1][0] == 't' ? UINT64_MAX : 0));
    return 0;
}
