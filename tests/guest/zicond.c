/* Zicond by its definition, for all pairs of a few values. It is written with .insn, since neither the assembler nor
 * qemu of Debian 12 knows it, which is also why the fuzzer leaves it out: not for qemu. */
#include <stdint.h>
#include <stdio.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* The destination is another register than the sources. */
#define CZERO(funct3, value, condition)                                                                                \
    ({                                                                                                                 \
        uint64_t result;                                                                                               \
        __asm__ volatile(".insn r 0x33, " #funct3 ", 0x07, %0, %1, %2"                                                 \
                         : "=&r"(result)                                                                               \
                         : "r"((uint64_t)(value)), "r"((uint64_t)(condition)));                                        \
        result;                                                                                                        \
    })
#define CZERO_EQZ(value, condition) CZERO(5, value, condition)
#define CZERO_NEZ(value, condition) CZERO(7, value, condition)

static const uint64_t values[] = {
    0, 1, 2, UINT64_MAX, UINT64_C(1) << 31, UINT64_C(1) << 32, UINT64_C(1) << 63, 0x123456789abcdef0};

static unsigned expect(const char *fact, uint64_t got, uint64_t want)
{
    if (got == want)
        return 0;
    fprintf(stderr, "%s: 0x%llx instead of 0x%llx\n", fact, (unsigned long long)got, (unsigned long long)want);
    return 1;
}

int main(void)
{
    unsigned failed = 0;
    for (unsigned i = 0; i < LENGTH(values); i++) {
        for (unsigned k = 0; k < LENGTH(values); k++) {
            uint64_t value = values[i], condition = values[k];
            failed += expect("czero.eqz", CZERO_EQZ(value, condition), condition == 0 ? 0 : value);
            failed += expect("czero.nez", CZERO_NEZ(value, condition), condition != 0 ? 0 : value);
        }
        uint64_t same = values[i];
        __asm__ volatile(".insn r 0x33, 5, 0x07, %0, %0, %0" : "+r"(same));
        failed += expect("czero.eqz of one register", same, values[i]);
        same = values[i];
        __asm__ volatile(".insn r 0x33, 7, 0x07, %0, %0, %0" : "+r"(same));
        failed += expect("czero.nez of one register", same, 0);

        /* x0 as condition, as value, and as destination */
        uint64_t result;
        __asm__ volatile(".insn r 0x33, 5, 0x07, %0, %1, x0" : "=r"(result) : "r"(values[i]));
        failed += expect("czero.eqz by x0", result, 0);
        __asm__ volatile(".insn r 0x33, 7, 0x07, %0, %1, x0" : "=r"(result) : "r"(values[i]));
        failed += expect("czero.nez by x0", result, values[i]);
        __asm__ volatile(".insn r 0x33, 7, 0x07, x0, %1, x0\n\tmv %0, x0" : "=r"(result) : "r"(values[i]));
        failed += expect("czero.nez to x0", result, 0);
    }
    return failed != 0;
}
