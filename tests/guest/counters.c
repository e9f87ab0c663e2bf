/* The guest's view of its counters: cycle, instret and hpmcounter3 around loops whose instructions are known. What
 * hpmcounter3 counts is the caller's choice: without an argument it may read anything; `loads` says that it counts
 * retired loads, as `stat -e loads` does. Instructions are counted exactly: not for qemu. */
#include <stdint.h>
#include <string.h>

#include "check.h"

enum { ROUNDS = 1000, LOADS_PER_ROUND = 3, INSNS_PER_ROUND = 5 };

#define READ(counter)                                                                                                  \
    ({                                                                                                                 \
        uint64_t read;                                                                                                 \
        __asm__ volatile("csrr %0, " #counter : "=r"(read));                                                           \
        read;                                                                                                          \
    })

struct reading {
    uint64_t cycle, instret, events;
};

static uint64_t memory[64];

/* Reads the counters, executes the loop, and reads them again. Between the readings of instret are the loop and the
 * first of the two. */
static void loop(struct reading *before, struct reading *after)
{
    uint64_t rounds = ROUNDS;
    __asm__ volatile(".option push\n"
                     ".option norvc\n"
                     "csrr %[cycle0], cycle\n"
                     "csrr %[events0], hpmcounter3\n"
                     "csrr %[instret0], instret\n"
                     "1: ld t0, 0(%[at])\n"
                     "lw t1, 8(%[at])\n"
                     "lbu t2, 13(%[at])\n"
                     "addi %[rounds], %[rounds], -1\n"
                     "bnez %[rounds], 1b\n"
                     "csrr %[instret1], instret\n"
                     "csrr %[events1], hpmcounter3\n"
                     "csrr %[cycle1], cycle\n"
                     ".option pop"
                     : [cycle0] "=&r"(before->cycle), [events0] "=&r"(before->events),
                       [instret0] "=&r"(before->instret), [instret1] "=&r"(after->instret),
                       [events1] "=&r"(after->events), [cycle1] "=&r"(after->cycle), [rounds] "+&r"(rounds)
                     : [at] "r"(memory)
                     : "t0", "t1", "t2", "memory");
}

/* Loads and stores at odd addresses, which are counted as such and work as others do. */
static void touch_misaligned(void)
{
    char *odd = (char *)memory + 1;
    for (int i = 0; i < 100; i++) {
        uint64_t read;
        __asm__ volatile("sd %1, 0(%2)\n\tld %0, 0(%2)" : "=&r"(read) : "r"((uint64_t)i), "r"(odd) : "memory");
        CHECK(read == (uint64_t)i);
    }
}

int main(int argc, char **argv)
{
    struct reading before, after;
    for (int i = 0; i < 3; i++) {
        loop(&before, &after);
        CHECK(after.instret - before.instret == ROUNDS * INSNS_PER_ROUND + 1);
        CHECK(after.cycle > before.cycle);
        if (argc > 1 && strcmp(argv[1], "loads") == 0)
            CHECK(after.events - before.events == ROUNDS * LOADS_PER_ROUND);
    }
    uint64_t cycle = READ(cycle), instret = READ(instret);
    touch_misaligned();
    CHECK(READ(instret) > instret && READ(cycle) > cycle);
    return check_result();
}
