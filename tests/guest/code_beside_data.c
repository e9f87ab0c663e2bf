/* Pages that hold code and data which change all the time, as a stack with trampolines does: a store to code shows at
 * the next instruction, in every engine, however often the page was stored to before. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

enum { PAGE = 4096, NOP = 0x00000013, RET = 0x00008067 };
enum { ROUNDS = 30000 }; /* many changes between stores and calls, whatever an engine does after some of them */

typedef uint64_t function(volatile void *code, uint64_t instruction, volatile void *place);

/* li a0, value */
static uint32_t load_value(unsigned value)
{
    return 0x00000513u | value << 20;
}

static uint64_t call(volatile uint32_t *code, uint32_t instruction, volatile uint32_t *place)
{
    return ((function *)(uintptr_t)code)(code, instruction, place);
}

static void write_code(volatile uint32_t *to, const uint32_t *code, unsigned words)
{
    for (unsigned i = 0; i < words; i++)
        to[i] = code[i];
}

/* Two trampolines in the stack's frames, one of which is written again before each call, and one now and then. */
static uint64_t call_trampolines(unsigned round)
{
    static volatile uint32_t *last;
    volatile uint32_t code[4], local = round;
    volatile uint32_t *kept = last ? last : code;
    code[0] = load_value(round % 2000);
    code[1] = code[2] = NOP;
    code[3] = RET;
    uint64_t sum = call(code, 0, 0) + local;
    code[2] = load_value(round % 7); /* what ran just now, but for one instruction */
    return sum + call(code, 0, 0) + (kept[3] == RET ? call(code, 0, 0) : 0);
}

static void test_trampolines(void)
{
    uint64_t here = (uint64_t)(uintptr_t)&here & ~(uint64_t)(PAGE - 1);
    CHECK(mprotect((void *)(here - 2 * PAGE), 3 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
    for (unsigned i = 0; i < ROUNDS; i++)
        if (!CHECK(call_trampolines(i) == i % 2000 + i + 2 * (i % 7)))
            return;
}

/* Code across two pages, of which only one is stored to. */
static void test_code_that_one_page_changes(volatile uint32_t *code, unsigned changed)
{
    volatile uint32_t *across = code + PAGE / 4 - 1;
    across[1 - changed] = NOP;
    across[2] = RET;
    for (unsigned i = 0; i < ROUNDS; i++) {
        code[changed * PAGE / 4 + 500] = i; /* data */
        across[changed] = load_value(i % 2000);
        if (!CHECK(call(across, 0, 0) == i % 2000))
            return;
    }
}

/* Stores change either half of an instruction that lies in two pages. */
static void test_instruction_across_pages(volatile uint32_t *code)
{
    volatile uint16_t *halves = (volatile uint16_t *)(code + PAGE / 4) - 1;
    for (unsigned i = 0; i < ROUNDS; i++) {
        halves[i % 2] = (uint16_t)(load_value(i % 2000) >> 16 * (i % 2));
        halves[1 - i % 2] = (uint16_t)(load_value(i % 2000) >> 16 * (1 - i % 2));
        halves[2] = 0x8082; /* ret */
        if (!CHECK(call((volatile uint32_t *)(volatile void *)halves, 0, 0) == i % 2000))
            return;
        halves[1] = (uint16_t)(load_value(i % 1000) >> 16);
        if (!CHECK(call((volatile uint32_t *)(volatile void *)halves, 0, 0) == i % 1000))
            return;
    }
}

/* A loop with a counter in memory beside it. */
static void test_loop_beside_its_data(volatile uint32_t *code)
{
    static const uint32_t loop[] = {
        0x00062283, /* 1: lw   t0, 0(a2) */
        0x00128293, /*    addi t0, t0, 1 */
        0x00562023, /*    sw   t0, 0(a2) */
        0xfff58593, /*    addi a1, a1, -1 */
        0xfe0598e3, /*    bnez a1, 1b */
        0x00062503, /*    lw   a0, 0(a2) */
        RET,
    };
    write_code(code, loop, 7);
    code[100] = 0;
    CHECK(call(code, 10 * ROUNDS, code + 100) == 10 * ROUNDS);
    for (unsigned i = 0; i < ROUNDS; i++) {
        code[1] = 0x00028293 | (i % 100) << 20; /* addi t0, t0, i % 100 */
        code[100] = i;
        if (!CHECK(call(code, 3, code + 100) == i + 3 * (i % 100)))
            return;
    }
}

/* The same page becomes data, is unmapped, and comes back with other code. */
static void test_page_that_comes_back(volatile uint32_t *code)
{
    const int all = PROT_READ | PROT_WRITE | PROT_EXEC;
    for (unsigned i = 0; i < 200; i++) {
        for (unsigned k = 0; k < 20; k++) {
            code[0] = load_value(i + k);
            code[1] = RET;
            CHECK(call(code, 0, 0) == i + k);
        }
        CHECK(mprotect((void *)(uintptr_t)code, PAGE, PROT_READ | PROT_WRITE) == 0);
        code[0] = load_value(i + 100);
        CHECK(mprotect((void *)(uintptr_t)code, PAGE, all) == 0 && call(code, 0, 0) == i + 100);
        CHECK(mmap((void *)(uintptr_t)code, PAGE, all, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED);
        code[0] = load_value(i + 200);
        code[1] = RET;
        if (!CHECK(call(code, 0, 0) == i + 200))
            return;
    }
}

static sigjmp_buf escape;

static void on_bus_error(int signal)
{
    siglongjmp(escape, signal);
}

/* The file of the code loses its contents: what ran before may run on, or there is no code any more. */
static void test_code_behind_the_end_of_its_file(void)
{
    int fd = open("code", O_RDWR | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && ftruncate(fd, PAGE) == 0 && signal(SIGBUS, on_bus_error) != SIG_ERR);
    volatile uint32_t *code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED, fd, 0);
    CHECK(code != MAP_FAILED);
    for (unsigned i = 0; i < 100; i++) {
        code[0] = load_value(i);
        code[1] = RET;
        CHECK(call(code, 0, 0) == i);
    }
    CHECK(ftruncate(fd, 0) == 0);
    if (sigsetjmp(escape, 1) == 0)
        CHECK(call(code, 0, 0) == 99);
    CHECK(ftruncate(fd, PAGE) == 0 && unlink("code") == 0);
    code[0] = load_value(5);
    code[1] = RET;
    CHECK(call(code, 0, 0) == 5);
}

int main(void)
{
    const int all = PROT_READ | PROT_WRITE | PROT_EXEC;
    volatile uint32_t *code = mmap(NULL, 8 * PAGE, all, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(code != MAP_FAILED);
    test_trampolines();
    test_code_that_one_page_changes(code, 0);
    test_code_that_one_page_changes(code + 2 * PAGE / 4, 1);
    test_instruction_across_pages(code + 4 * PAGE / 4);
    test_loop_beside_its_data(code + 6 * PAGE / 4);
    test_page_that_comes_back(code + 7 * PAGE / 4);
    test_code_behind_the_end_of_its_file();
    return check_result();
}
