/* Counter driver of the sampler for a RISC-V core with Sscofpmf and Smcntrpmf. Counter i of the sampler is
 * mhpmcounter(i + 3). sampler/sampler_steps.h documents the functions that a driver implements.
 *
 * The number of a CSR is part of the instruction that accesses it, so each function has one instruction per counter
 * and executes the first n of them. */
#ifndef CYCLESCOPE_FIRMWARE_CSR_DRIVER_H
#define CYCLESCOPE_FIRMWARE_CSR_DRIVER_H

#include <stdint.h>

#include "sampler/sampler_memory.h"

#define CSR_READ(csr)                                                                                                  \
    ({                                                                                                                 \
        uint64_t csr_value;                                                                                            \
        __asm__ volatile("csrr %0, " #csr : "=r"(csr_value)::"memory");                                                \
        csr_value;                                                                                                     \
    })
#define CSR_WRITE(csr, value) __asm__ volatile("csrw " #csr ", %0" ::"rK"((uint64_t)(value)) : "memory")
#define CSR_CLEAR(csr, bits)  __asm__ volatile("csrc " #csr ", %0" ::"rK"((uint64_t)(bits)) : "memory")
#define CSR_SET(csr, bits)    __asm__ volatile("csrs " #csr ", %0" ::"rK"((uint64_t)(bits)) : "memory")

/* Expands to DO(i, n) for every counter: counter i of the sampler is mhpmcounter n. */
/* clang-format off */
#define EACH_COUNTER(DO) \
    DO(0, 3) DO(1, 4) DO(2, 5) DO(3, 6) DO(4, 7) DO(5, 8) DO(6, 9) DO(7, 10) \
    DO(8, 11) DO(9, 12) DO(10, 13) DO(11, 14) DO(12, 15) DO(13, 16) DO(14, 17) DO(15, 18) \
    DO(16, 19) DO(17, 20) DO(18, 21) DO(19, 22) DO(20, 23) DO(21, 24) DO(22, 25) DO(23, 26) \
    DO(24, 27) DO(25, 28) DO(26, 29) DO(27, 30) DO(28, 31)
/* clang-format on */

static inline void driver_read(uint64_t *to, uint32_t n)
{
#define READ(i, number)                                                                                                \
    if (n == i)                                                                                                        \
        return;                                                                                                        \
    to[i] = CSR_READ(mhpmcounter##number);
    EACH_COUNTER(READ)
#undef READ
}

static inline void driver_write(const uint64_t *from, uint32_t n)
{
#define WRITE(i, number)                                                                                               \
    if (n == i)                                                                                                        \
        return;                                                                                                        \
    CSR_WRITE(mhpmcounter##number, from[i]);
    EACH_COUNTER(WRITE)
#undef WRITE
}

static inline void driver_select(const uint64_t *code, uint32_t n)
{
#define SELECT(i, number)                                                                                              \
    if (n == i)                                                                                                        \
        return;                                                                                                        \
    CSR_WRITE(mhpmevent##number, code[i]);
    EACH_COUNTER(SELECT)
#undef SELECT
}

/* Reads each counter twice: the difference is the number of events of one CSR access, the first read. The second read
 * and the two writes come after the count was taken, so their events belong to no group yet; each is assumed to have as
 * many events as the first read, and three times the difference is added. */
static inline void driver_exchange(uint64_t *to, const uint64_t *code, uint32_t n)
{
#define EXCHANGE(i, number)                                                                                            \
    if (n == i)                                                                                                        \
        return;                                                                                                        \
    {                                                                                                                  \
        uint64_t first, second;                                                                                        \
        __asm__ volatile("csrr %0, mhpmcounter" #number "\n\t"                                                         \
                         "csrr %1, mhpmcounter" #number "\n\t"                                                         \
                         "csrw mhpmevent" #number ", %2\n\t"                                                           \
                         "csrw mhpmcounter" #number ", zero"                                                           \
                         : "=&r"(first), "=&r"(second)                                                                 \
                         : "r"(code[i])                                                                                \
                         : "memory");                                                                                  \
        to[i] = second + 3 * (second - first);                                                                         \
    }
    EACH_COUNTER(EXCHANGE)
#undef EXCHANGE
}

/* driver_select has cleared OF, so the next overflow raises an interrupt. */
static inline void driver_start_clock(unsigned counter, uint64_t value)
{
    switch (counter) {
#define START(i, number)                                                                                               \
    case i: CSR_WRITE(mhpmcounter##number, value); break;
        EACH_COUNTER(START)
#undef START
    }
}

static inline uint64_t driver_cycles(void)
{
    return CSR_READ(mcycle);
}

static inline uint64_t driver_insns(void)
{
    return CSR_READ(minstret);
}

static inline void driver_set_cycles_and_insns(uint64_t cycles, uint64_t insns)
{
    CSR_WRITE(mcycle, cycles);
    CSR_WRITE(minstret, insns);
}

#endif
