/* The sampler as machine-mode firmware. It handles two interrupts: the counter that is the clock of a slice overflows
 * (LCOFI), and another program gets the core (MSI). */
#include "firmware/csr_driver.h"

#include "sampler/sampler_steps.h"

#define MINH  (UINT64_C(1) << 62) /* do not count in machine mode */
#define MSI   (UINT64_C(1) << 3)
#define LCOFI (UINT64_C(1) << 13)
#define ASID  44 /* first bit of the address space id in satp, which is the program's context */

void firmware_start(struct sampler_memory *e);
void firmware_interrupt(struct sampler_memory *e);

void firmware_start(struct sampler_memory *e)
{
    CSR_WRITE(0x321, MINH); /* mcyclecfg and minstretcfg: count in user mode only */
    CSR_WRITE(0x322, MINH);
    e->current = (uint32_t)(CSR_READ(satp) >> ASID);
    sampler_start(e);
    CSR_SET(mie, LCOFI | (e->contexts > 1 ? MSI : 0));
}

/* Ends a slice before it switches: a slice that ended just before the switch belongs to the previous program. */
void firmware_interrupt(struct sampler_memory *e)
{
    uint64_t pending = e->contexts > 1 ? CSR_READ(mip) : LCOFI;
    CSR_CLEAR(mip, pending);
    if (pending & LCOFI)
        sampler_end_slice(e);
    if (pending & MSI)
        sampler_switch(e, (uint32_t)(CSR_READ(satp) >> ASID));
}
