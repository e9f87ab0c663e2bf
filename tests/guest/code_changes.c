/* Code that a program writes itself: fence.i makes it visible, for the hart that executes it. */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"

/* li a0, value; ret */
static void write_function(uint32_t *at, unsigned value)
{
    at[0] = 0x00000513u | value << 20;
    at[1] = 0x00008067;
    __asm__ volatile("fence.i" ::: "memory");
}

static int call(void *code)
{
    return ((int (*)(void))code)();
}

int main(void)
{
    uint32_t *code = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(code != MAP_FAILED);
    for (unsigned value = 0; value < 50; value++) {
        write_function(code, value);
        write_function(code + 1023, value + 1000); /* across a page's end */
        CHECK(call(code) == (int)value && call(code + 1023) == (int)value + 1000);
    }
    /* New code in the place of old by mapping: no fence.i is needed. */
    write_function(code, 7);
    CHECK(call(code) == 7);
    uint32_t *other = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    write_function(other, 8);
    CHECK(mremap(other, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, code) == code);
    CHECK(call(code) == 8);
    return check_result();
}
