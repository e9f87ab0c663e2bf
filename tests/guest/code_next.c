/* A store to the instruction right behind it, without fence.i: it shows at once. This is not for qemu, which ends no
 * block of translated code at a store. */
#include <stdint.h>
#include <sys/mman.h>

#include "check.h"

/* li a0, value */
static uint32_t load_value(unsigned value)
{
    return 0x00000513u | value << 20;
}

int main(void)
{
    const int all = PROT_READ | PROT_WRITE | PROT_EXEC;
    volatile uint32_t *code = mmap(NULL, 4096, all, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(code != MAP_FAILED);
    for (unsigned i = 0; i < 100; i++) {
        code[0] = 0x00b62023; /* sw a1, 0(a2) */
        code[1] = load_value(1);
        code[2] = 0x00008067; /* ret */
        uint64_t (*run)(uint64_t, uint64_t, volatile void *) =
            (uint64_t(*)(uint64_t, uint64_t, volatile void *))(uintptr_t)code;
        CHECK(run(0, load_value(i + 2), code + 1) == i + 2);
    }
    return check_result();
}
