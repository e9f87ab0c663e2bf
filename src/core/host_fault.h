/* Host faults in guest memory.
 *
 * The core checks whether the guest may make an access and caches the answer (paths.h). A cached answer can become
 * wrong without notice when another process truncates a file that is mapped here. The host then faults in the middle of
 * fetch. The handler records the fault and jumps back to core_run, which ends the cycle there and gives the guest its
 * trap. A fault outside guest memory is a bug in the simulator and kills it. */
#ifndef CYCLESCOPE_CORE_HOST_FAULT_H
#define CYCLESCOPE_CORE_HOST_FAULT_H

#include <setjmp.h>
#include <stdint.h>

#include "riscv/hart.h"

struct host_fault {
    sigjmp_buf escape;  /* where core_run continues */
    const uint8_t *mem; /* host address of the guest's memory */
    enum trap trap;     /* trap for the guest */
    uint64_t addr;      /* guest address of the fault */
    uint32_t mxcsr;     /* the host's floating-point state at the fault */
};

/* From now on faults of this host thread go to `f`; NULL: they are not caught. */
void host_fault_catch(struct host_fault *f);

#endif
