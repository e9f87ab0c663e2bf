#include "riscv/csr.h"

#include "riscv/host_fpu.h"

/* `counter` is the offset from CSR_COUNTERS. Time has a resolution of 1 ns: each retired instruction takes 1 ns. */
static uint64_t read_counter(const struct hart *h, unsigned counter, uint64_t retired)
{
    if (counter == COUNTER_TIME)
        return retired + h->time_offset;
    if (h->counters)
        return h->counters->read(h->counters->context, counter);
    return counter < COUNTER_HPM ? retired : 0;
}

bool csr_access(struct hart *h, unsigned csr, enum csr_access access, bool writes, uint64_t operand, uint64_t retired,
                uint64_t *old)
{
    h->fflags |= host_fpu_end();
    host_fpu_begin(h->frm);
    switch (csr) {
    case CSR_FFLAGS: *old = h->fflags; break;
    case CSR_FRM: *old = h->frm; break;
    case CSR_FCSR: *old = h->frm << 5 | h->fflags; break;
    default:
        if (!csr_is_counter(csr))
            return false;
        *old = read_counter(h, csr - CSR_COUNTERS, retired);
    }
    if (!writes)
        return true;
    uint64_t value = csr_new_value(access, *old, operand);
    switch (csr) {
    case CSR_FFLAGS: h->fflags = value & 31; break;
    case CSR_FRM: h->frm = value & 7; break;
    case CSR_FCSR:
        h->fflags = value & 31;
        h->frm = value >> 5 & 7;
        break;
    default: return false;
    }
    host_fpu_begin(h->frm);
    return true;
}
