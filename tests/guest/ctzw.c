/* The word forms of the counting instructions look at the lower word only, also when it is zero and the upper one is
 * not. qemu 7.2 gets that wrong for ctzw, so the fuzzer cannot compare it: not for qemu. Written with .insn, so that
 * the compiler need not know Zbb. */
#include <stdint.h>
#include <stdio.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#define COUNT_WORD(which, value)                                                                                       \
    ({                                                                                                                 \
        uint64_t result;                                                                                               \
        __asm__ volatile(".insn r 0x1b, 1, 0x30, %0, %1, x" #which : "=r"(result) : "r"((uint64_t)(value)));           \
        result;                                                                                                        \
    })

static const struct {
    uint64_t value;
    unsigned leading, trailing, ones;
} rows[] = {
    {0, 32, 32, 0},
    {UINT64_C(1) << 32, 32, 32, 0},
    {UINT64_C(1) << 63, 32, 32, 0},
    {0xffffffff00000000, 32, 32, 0},
    {UINT64_C(1) << 31, 0, 31, 1},
    {0xffffffff00000001, 31, 0, 1},
    {0x7fffffff00010000, 15, 16, 1},
    {UINT64_MAX, 0, 0, 32},
};

static unsigned expect(const char *name, uint64_t value, uint64_t got, unsigned want)
{
    if (got == want)
        return 0;
    fprintf(stderr, "%s of 0x%llx: %llu instead of %u\n", name, (unsigned long long)value, (unsigned long long)got,
            want);
    return 1;
}

int main(void)
{
    unsigned failed = 0;
    for (unsigned i = 0; i < LENGTH(rows); i++) {
        failed += expect("clzw", rows[i].value, COUNT_WORD(0, rows[i].value), rows[i].leading);
        failed += expect("ctzw", rows[i].value, COUNT_WORD(1, rows[i].value), rows[i].trailing);
        failed += expect("cpopw", rows[i].value, COUNT_WORD(2, rows[i].value), rows[i].ones);
    }
    return failed != 0;
}
