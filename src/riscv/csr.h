/* User-mode control and status registers: fflags, frm, fcsr, cycle, time, instret, hpmcounter3 to hpmcounter31.
 *
 * Machine-mode CSRs have only their numbers here; the core implements them (core/machine.h). */
#ifndef CYCLESCOPE_RISCV_CSR_H
#define CYCLESCOPE_RISCV_CSR_H

#include <stdbool.h>
#include <stdint.h>

#include "riscv/hart.h"

enum csr_access { CSR_WRITE, CSR_SET, CSR_CLEAR };

enum { CSR_FFLAGS = 0x001, CSR_FRM = 0x002, CSR_FCSR = 0x003 };
enum { CSR_COUNTERS = 0xc00, COUNTER_CYCLE = 0, COUNTER_TIME, COUNTER_INSTRET, COUNTER_HPM, COUNTERS = 32 };

/* Machine-mode CSRs. Counter n is CSR_MCOUNTERS + n, and its event selector is CSR_MHPMEVENTS + n. */
enum {
    CSR_SATP = 0x180,
    CSR_MSTATUS = 0x300,
    CSR_MISA = 0x301,
    CSR_MIE = 0x304,
    CSR_MTVEC = 0x305,
    CSR_MCOUNTEREN = 0x306,
    CSR_MCOUNTINHIBIT = 0x320,
    CSR_MHPMEVENTS = 0x320, /* base only: the first selector is mhpmevent3, at 0x323 */
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

/* Value that csrrw, csrrs or csrrc leaves in a CSR that held `old`. */
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

/* Executes a CSR instruction: stores the CSR's value in `*old` and, if `writes`, updates the CSR. `retired` is the
 * number of instructions that the hart retired before this one. Returns false, which means an illegal instruction, if
 * the CSR does not exist or is written but read-only. May only be called between host_fpu_begin and host_fpu_end
 * (host_fpu.h): moves pending host flags to fflags and applies a new frm to the host. */
bool csr_access(struct hart *h, unsigned csr, enum csr_access access, bool writes, uint64_t operand, uint64_t retired,
                uint64_t *old);

#endif
