/* Stores to code without fence.i: the next instruction that executes sees them, in every engine. */
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { PAGE = 4096, RET = 0x00008067 };

/* li a0, value */
static uint32_t load_value(unsigned value)
{
    return 0x00000513u | value << 20;
}

static void write_function(volatile uint32_t *at, unsigned value)
{
    at[0] = load_value(value);
    at[1] = RET;
}

static unsigned call(volatile void *code)
{
    return ((unsigned (*)(void))(uintptr_t)code)();
}

/* Stores of all sizes, atomics and stores across two pages replace code that has run often enough to be cached. */
static void test_store_shows_at_once(volatile uint32_t *code)
{
    for (unsigned value = 0; value < 200; value++) {
        write_function(code, value);
        write_function(code + 1023, value + 1000); /* across the end of the page */
        CHECK(call(code) == value && call(code + 1023) == value + 1000);
    }
    for (unsigned value = 0; value < 50; value++) {
        ((volatile uint8_t *)code)[3] = (uint8_t)value; /* the upper eight bits of the immediate */
        ((volatile uint16_t *)code)[1] = (uint16_t)(value << 4);
        CHECK(call(code) == value);
        __atomic_store_n(&code[0], load_value(value + 1), __ATOMIC_SEQ_CST);
        CHECK(call(code) == value + 1);
        __atomic_fetch_add(&code[0], UINT32_C(1) << 20, __ATOMIC_SEQ_CST);
        CHECK(call(code) == value + 2);
        uint64_t both = (uint64_t)RET << 32 | load_value(value + 3);
        memcpy((void *)(uintptr_t)(code + 1023), &both, sizeof both);
        CHECK(call(code + 1023) == value + 3);
    }
}

/* Data beside code in one page: stores to the data leave the code as it is. */
static void test_data_beside_code(volatile uint32_t *code)
{
    volatile uint32_t *data = code + 100;
    write_function(code, 5);
    *data = 0;
    for (unsigned i = 0; i < 500; i++) {
        *data += call(code);
        CHECK(*data == 5 * (i + 1));
    }
}

/* A loop that increments the immediate of its own addi. A stale instruction gives another sum. */
static void test_loop_that_changes_itself(volatile uint32_t *code)
{
    const uint32_t loop[] = {
        0x00462283, /*    lw   t0, 4(a2) */
        0x00150513, /* 1: addi a0, a0, 1: the changed instruction */
        0x00b282b3, /*    add  t0, t0, a1 */
        0x00562223, /*    sw   t0, 4(a2) */
        0xfff68693, /*    addi a3, a3, -1 */
        0xfe0698e3, /*    bnez a3, 1b */
        RET,
    };
    memcpy((void *)(uintptr_t)code, loop, sizeof loop);
    uint64_t (*run)(uint64_t, uint64_t, volatile void *, uint64_t) =
        (uint64_t(*)(uint64_t, uint64_t, volatile void *, uint64_t))(uintptr_t)code;
    /* The immediate is 1 in the first round and one more in each that follows. */
    CHECK(run(0, UINT64_C(1) << 20, code, 100) == 100 * 101 / 2);
}

/* System calls write to code as stores do. */
static void test_system_calls_write_code(volatile uint32_t *code)
{
    int fd = open("code", O_RDWR | O_CREAT | O_TRUNC, 0600), ends[2];
    CHECK(fd >= 0 && pipe(ends) == 0);
    for (unsigned value = 0; value < 50; value++) {
        write_function(code, value + 1);
        CHECK(call(code) == value + 1);
        uint32_t text = load_value(value);
        CHECK(write(ends[1], &text, sizeof text) == sizeof text);
        CHECK(read(ends[0], (void *)(uintptr_t)code, sizeof text) == sizeof text);
        CHECK(call(code) == value);
        text = load_value(value + 3);
        CHECK(pwrite(fd, &text, sizeof text, 0) == sizeof text);
        CHECK(pread(fd, (void *)(uintptr_t)code, sizeof text, 0) == sizeof text);
        CHECK(call(code) == value + 3);
    }
    CHECK(unlink("code") == 0);
}

/* Protection that is taken away and given back, a child, and memory that moves keep the rule. */
static void test_rule_survives_memory_calls(volatile uint32_t *code)
{
    const int all = PROT_READ | PROT_WRITE | PROT_EXEC;
    write_function(code, 1);
    CHECK(call(code) == 1);
    CHECK(mprotect((void *)(uintptr_t)code, PAGE, PROT_READ | PROT_EXEC) == 0 && call(code) == 1);
    CHECK(mprotect((void *)(uintptr_t)code, PAGE, all) == 0);
    write_function(code, 2);
    CHECK(call(code) == 2);
    write_function(code, 3);
    CHECK(call(code) == 3);
    pid_t child = fork();
    if (child == 0) {
        write_function(code, 4);
        _exit(call(code) == 4 ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(call(code) == 3);
    write_function(code, 5);
    CHECK(call(code) == 5);
    void *moved =
        mremap((void *)(uintptr_t)code, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, (char *)(uintptr_t)code + 64 * PAGE);
    CHECK(moved != MAP_FAILED && call(moved) == 5);
    write_function(moved, 6);
    CHECK(call(moved) == 6);
    CHECK(madvise(moved, PAGE, MADV_DONTNEED) == 0);
    write_function(moved, 7);
    CHECK(call(moved) == 7);
}

int main(void)
{
    const int all = PROT_READ | PROT_WRITE | PROT_EXEC;
    volatile uint32_t *code = mmap(NULL, 65 * PAGE, all, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(code != MAP_FAILED);
    test_store_shows_at_once(code);
    test_data_beside_code(code);
    test_loop_that_changes_itself(code);
    test_system_calls_write_code(code);
    test_rule_survives_memory_calls(code);
    return check_result();
}
