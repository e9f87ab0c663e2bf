/* Control and status registers that user mode has: fflags, frm, fcsr, cycle, time, instret, hpmcounter3 to 31. */
#ifndef CYCLESCOPE_RISCV_CSR_H
#define CYCLESCOPE_RISCV_CSR_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/hart.h"

enum csr_access { CSR_WRITE, CSR_SET, CSR_CLEAR };

enum { CSR_COUNTERS = 0xc00, COUNTER_CYCLE = 0, COUNTER_TIME, COUNTER_INSTRET, COUNTER_HPM, COUNTERS = 32 };

static inline bool csr_is_counter(unsigned csr)
{
    return csr - CSR_COUNTERS < COUNTERS;
}

/* Reads and changes a CSR; `retired` are the hart's instructions before this one. False if there is no such register,
 * or if it is written and must not be. The host's FPU is in the guest's service (host_fpu.h). */
bool csr_access(struct hart *h, unsigned csr, enum csr_access access, bool writes, uint64_t operand, uint64_t retired,
                uint64_t *old);

#endif
