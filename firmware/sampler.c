/* The sampling engine in machine mode. Interrupts: the overflow of the slice's clock, and another program. */
#include "firmware/csr_driver.h"

#include "engine/engine_steps.h"

#define MINH  (UINT64_C(1) << 62)
#define MSI   (UINT64_C(1) << 3)
#define LCOFI (UINT64_C(1) << 13)
#define ASID  44 /* where satp has the address space */

void sampler_start(struct engine *e);
void sampler_interrupt(struct engine *e);

void sampler_start(struct engine *e)
{
    CSR_WRITE(0x321, MINH); /* mcyclecfg and minstretcfg: user mode only */
    CSR_WRITE(0x322, MINH);
    e->current = (uint32_t)(CSR_READ(satp) >> ASID);
    engine_start(e);
    CSR_SET(mie, LCOFI | (e->contexts > 1 ? MSI : 0));
}

/* A slice that ended just before the switch is still that of the program before. */
void sampler_interrupt(struct engine *e)
{
    uint64_t pending = e->contexts > 1 ? CSR_READ(mip) : LCOFI;
    CSR_CLEAR(mip, pending);
    if (pending & LCOFI)
        engine_end_slice(e);
    if (pending & MSI)
        engine_switch(e, (uint32_t)(CSR_READ(satp) >> ASID));
}
