/* Control and status registers that user mode has: fflags, frm, fcsr, cycle, time, instret, hpmcounter3 to 31. Those of
 * machine mode have their numbers here and belong to the core (core/machine.h). */
#ifndef CYCLESCOPE_RISCV_CSR_H
#define CYCLESCOPE_RISCV_CSR_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/hart.h"

enum csr_access { CSR_WRITE, CSR_SET, CSR_CLEAR };

enum { CSR_FFLAGS = 0x001, CSR_FRM = 0x002, CSR_FCSR = 0x003 };
enum { CSR_COUNTERS = 0xc00, COUNTER_CYCLE = 0, COUNTER_TIME, COUNTER_INSTRET, COUNTER_HPM, COUNTERS = 32 };

/* Of machine mode. A counter, or what it counts, has the number of the first one below and its own on top. */
enum {
    CSR_SATP = 0x180,
    CSR_MSTATUS = 0x300,
    CSR_MISA = 0x301,
    CSR_MIE = 0x304,
    CSR_MTVEC = 0x305,
    CSR_MCOUNTEREN = 0x306,
    CSR_MCOUNTINHIBIT = 0x320,
    CSR_MHPMEVENTS = 0x320, /* the first is mhpmevent3 */
    CSR_MCYCLECFG = 0x321,
    CSR_MINSTRETCFG = 0x322,
    CSR_MSCRATCH = 0x340,
    CSR_MEPC = 0x341,
    CSR_MCAUSE = 0x342,
    CSR_MTVAL = 0x343,
    CSR_MIP = 0x344,
    CSR_MCOUNTERS = 0xb00,
    CSR_SCOUNTOVF = 0xda0,
    CSR_MVENDORID = 0xf11,
    CSR_MARCHID = 0xf12,
    CSR_MIMPID = 0xf13,
    CSR_MHARTID = 0xf14
};

static inline uint64_t csr_new_value(enum csr_access access, uint64_t old, uint64_t operand)
{
    return access == CSR_WRITE ? operand : access == CSR_SET ? old | operand : old & ~operand;
}

static inline bool csr_is_fp(unsigned csr)
{
    return csr >= CSR_FFLAGS && csr <= CSR_FCSR;
}

static inline bool csr_is_counter(unsigned csr)
{
    return csr - CSR_COUNTERS < COUNTERS;
}

/* Reads and changes a CSR; `retired` are the hart's instructions before this one. False if there is no such register,
 * or if it is written and must not be. The host's FPU is in the guest's service (host_fpu.h). */
bool csr_access(struct hart *h, unsigned csr, enum csr_access access, bool writes, uint64_t operand, uint64_t retired,
                uint64_t *old);

#endif
