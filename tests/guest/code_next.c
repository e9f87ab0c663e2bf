/* A store to an instruction behind it in the same basic block, without fence.i: it shows at once. This is not for qemu,
 * which ends no block of translated code at a store. */
#include <stdint.h>
#include <sys/mman.h>

#include "check.h"

enum { NOP = 0x00000013, ILLEGAL = 0, RET = 0x00008067 };
enum { ROUNDS = 30000 }; /* the page holds code and data that change, for long */

/* li a0, value */
static uint32_t load_value(unsigned value)
{
    return 0x00000513u | value << 20;
}

/* Writes the code, with an illegal instruction that the code itself replaces when it runs; then lets it run with other
 * instructions. */
static int check_code(volatile uint32_t *to, const uint32_t *code, unsigned words, unsigned replaced, unsigned value)
{
    uint64_t (*run)(uint64_t, uint64_t, volatile void *) =
        (uint64_t(*)(uint64_t, uint64_t, volatile void *))(uintptr_t)to;
    int good = 1;
    for (unsigned i = 0; i < words; i++)
        to[i] = code[i];
    for (unsigned i = 0; i < 4; i++) /* the second one stores what is there already */
        good &= CHECK(run(0, load_value(value + i / 2), to + replaced) == value + i / 2);
    return good;
}

int main(void)
{
    static const uint32_t store_next[] = {0x00b62023 /* sw a1, 0(a2) */, ILLEGAL, RET};
    static const uint32_t store_later[] = {0x00b62023, NOP, ILLEGAL, RET};
    static const uint32_t atomic_next[] = {0x08b6202f /* amoswap.w zero, a1, (a2) */, ILLEGAL, RET};
    const int all = PROT_READ | PROT_WRITE | PROT_EXEC;
    volatile uint32_t *code = mmap(NULL, 4096, all, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(code != MAP_FAILED);
    for (unsigned i = 0; i < ROUNDS; i++)
        if (!check_code(code, store_next, 3, 1, i % 2000) || !check_code(code + 100, store_later, 4, 2, i % 2000) ||
            !check_code(code + 200, atomic_next, 3, 1, i % 2000))
            break;
    return check_result();
}
