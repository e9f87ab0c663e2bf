/* Hints change nothing: no register, no memory, no trap, whatever address a prefetch is given. */
#include <stdint.h>
#include <stdio.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const uint64_t addresses[] = {0, 1, UINT64_MAX, UINT64_C(1) << 47, 0xdeadbeefdeadbee0};

/* Runs hints with the address in a0 and returns what a0 holds afterwards. */
static uint64_t run_hints(uint64_t address)
{
    register uint64_t a0 __asm__("a0") = address;
    __asm__ volatile(".insn 0x00056013\n\t" /* prefetch.i 0(a0) */
                     ".insn 0x00156013\n\t" /* prefetch.r 0(a0) */
                     ".insn 0x00356013\n\t" /* prefetch.w 0(a0) */
                     ".insn 0x80356013\n\t" /* prefetch.w -2048(a0) */
                     ".insn 0x7e156013\n\t" /* prefetch.r 2016(a0) */
                     ".insn 0x0100000f\n\t" /* pause */
                     ".insn 0x8330000f\n\t" /* fence.tso */
                     ".insn 0x00002013\n\t" /* slti zero,zero,0 */
                     ".insn 0x02a51013\n\t" /* slli zero,a0,42 */
                     ".insn 0x0015\n\t"     /* c.addi zero,5 */
                     ".insn 0x0501\n\t"     /* c.addi a0,0 */
                     ".insn 0x4011\n\t"     /* c.li zero,4 */
                     ".insn 0x6005\n\t"     /* c.lui zero,1 */
                     ".insn 0x802a\n\t"     /* c.mv zero,a0 */
                     ".insn 0x902a\n\t"     /* c.add zero,a0 */
                     ".insn 0x0012\n\t"     /* c.slli zero,4 */
                     ".insn 0x0502\n\t"     /* c.slli a0,0 */
                     ".insn 0x8101\n\t"     /* c.srli a0,0 */
                     ".insn 0x8501\n\t"     /* c.srai a0,0 */
                     : "+r"(a0)
                     :
                     : "memory");
    return a0;
}

static uint64_t read_x0(void)
{
    uint64_t zero;
    __asm__ volatile("mv %0, x0" : "=r"(zero));
    return zero;
}

int main(void)
{
    for (unsigned i = 0; i < LENGTH(addresses); i++) {
        uint64_t after = run_hints(addresses[i]);
        if (after == addresses[i] && read_x0() == 0)
            continue;
        fprintf(stderr, "hints changed a register: 0x%llx to 0x%llx, x0 to 0x%llx\n", (unsigned long long)addresses[i],
                (unsigned long long)after, (unsigned long long)read_x0());
        return 1;
    }
    return 0;
}
