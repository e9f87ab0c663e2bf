/* riscv_hwprobe and riscv_flush_icache. */
/* not for qemu: 7.2 does not know these calls */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

enum { HWPROBE = 258, FLUSH_ICACHE = 259, BASE_BEHAVIOR = 3, IMA_EXT_0 = 4, CPUPERF_0 = 5, WHICH_CPUS = 1 };
#define FD_C_ZBA_ZBB_ZBS UINT64_C(0x3b)
#define NEWER            UINT64_C(0x3805180007c0) /* Zicboz Zbc Zbkb Zbkc Zbkx Zfh Zfhmin Zfa Zacas Zca Zcb Zcd */
#define VECTOR           UINT64_C(4)

struct pair {
    int64_t key;
    uint64_t value;
};

static void the_machine_is_described(void)
{
    struct pair pairs[] = {{BASE_BEHAVIOR, 0}, {IMA_EXT_0, 0}, {CPUPERF_0, 0}, {0, 9}, {123456, 9}};
    CHECK(syscall(HWPROBE, pairs, 5, 0, NULL, 0) == 0);
    CHECK(pairs[0].value == 1);
    CHECK((pairs[1].value & (FD_C_ZBA_ZBB_ZBS | VECTOR)) == FD_C_ZBA_ZBB_ZBS);
    CHECK((pairs[1].value & NEWER) == NEWER);
    CHECK((pairs[2].value & 7) == 3);
    CHECK(pairs[3].key == 0 && pairs[3].value == 0);
    CHECK(pairs[4].key == -1 && pairs[4].value == 0);
    CHECK(syscall(HWPROBE, 8, 1, 0, NULL, 0) == -1 && errno == EFAULT);
    CHECK(syscall(HWPROBE, pairs, 1, 0, NULL, 8) == -1 && errno == EINVAL);
}

static void processors_are_found_by_what_they_have(void)
{
    uint64_t cpus = 0;
    struct pair compressed = {IMA_EXT_0, 2}, vector = {IMA_EXT_0, VECTOR};
    CHECK(syscall(HWPROBE, &compressed, 1, sizeof cpus, &cpus, WHICH_CPUS) == 0 && cpus == 1);
    CHECK(syscall(HWPROBE, &vector, 1, sizeof cpus, &cpus, WHICH_CPUS) == 0 && cpus == 0);
}

static void new_code_is_seen(void)
{
    uint32_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int (*function)(void) = (int (*)(void))(uintptr_t)code;
    for (uint32_t i = 1; i <= 3; i++) {
        code[0] = 0x00000513 | i << 20; /* li a0, i */
        code[1] = 0x00008067;           /* ret */
        CHECK(syscall(FLUSH_ICACHE, code, code + 2, 0) == 0);
        CHECK(function() == (int)i);
    }
}

int main(void)
{
    the_machine_is_described();
    processors_are_found_by_what_they_have();
    new_code_is_seen();
    return check_result();
}
