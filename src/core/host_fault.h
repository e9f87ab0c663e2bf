/* Host faults in guest memory.
 *
 * The core looks up whether the guest may make an access and remembers it (paths.h); what it remembers can become wrong
 * behind its back, when another process cuts a file that is mapped here. Then the host faults in the middle of fetch.
 * The handler notes what happened and jumps back to core_run, which ends the cycle there and lets the guest have its
 * trap. Faults outside the guest's memory are ours and kill us. */
#ifndef CYCLESCOPE_CORE_HOST_FAULT_H
#define CYCLESCOPE_CORE_HOST_FAULT_H

#include <setjmp.h>
#include <stdint.h>

#include "guest/hart.h"

struct host_fault {
    sigjmp_buf escape;  /* where to go on */
    const uint8_t *mem; /* the guest's memory */
    enum trap trap;     /* what the guest gets */
    uint64_t addr;
    uint32_t mxcsr; /* the host's floating-point state at the fault */
};

/* From here on faults of this host thread go to `f`; NULL: to nobody. */
void host_fault_catch(struct host_fault *f);

#endif
