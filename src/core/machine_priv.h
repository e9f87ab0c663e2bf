/* Machine mode's state, shared by machine.c, machine_csr.c and handover.c. */
#ifndef CYCLESCOPE_CORE_MACHINE_PRIV_H
#define CYCLESCOPE_CORE_MACHINE_PRIV_H

#include "core/core_priv.h"
#include "core/machine.h"
#include "riscv/csr.h"

#define LCOFI        13
#define LCOFI_BIT    (UINT64_C(1) << LCOFI)
#define MSI          3
#define MSI_BIT      (UINT64_C(1) << MSI)
#define SATP_ASID_AT 44
#define IS_INTERRUPT (UINT64_C(1) << 63) /* in mcause */
#define MSTATUS_MIE  (UINT64_C(1) << 3)
#define MSTATUS_MPIE (UINT64_C(1) << 7)
#define MSTATUS_MPP  (UINT64_C(3) << 11)

/* What machine mode does when the window is empty. */
enum due { DUE_NOTHING, DUE_WRITE, DUE_RETURN, DUE_EXCEPTION };

struct machine {
    struct firmware firmware;                /* its memory and entry */
    char *name;                              /* name of the firmware's file, for messages */
    const struct machine_counters *counters; /* implementation of mhpmcounter3 to 31 */
    void *counting;                          /* state of `counters` */

    /* ---- from here to `due`: hardware state, which programs that take turns on the core share */
    uint64_t status;                             /* mstatus; MPP is 0 or 3 */
    uint64_t vector, epc, cause, value, scratch; /* mtvec, mepc, mcause, mtval, mscratch */
    uint64_t enabled, pending;                   /* mie and mip: LCOFI_BIT, MSI_BIT */
    uint32_t opened, inhibited;                  /* mcounteren and mcountinhibit */
    uint64_t event[COUNTER_END];                 /* mhpmevent */
    uint64_t seen[COUNTER_END];                  /* values of the counters at the last check for overflows */
    uint32_t programmed;                         /* bit per counter: has an event */
    uint64_t fixed[COUNTER_FIRST]; /* mcycle and minstret: the value while the counter is stopped, else its difference
                                      from the core's count */
    uint64_t fixed_modes[COUNTER_FIRST]; /* mcyclecfg and minstretcfg: HPMEVENT_MINH, HPMEVENT_UINH */
    struct {
        uint64_t cycles, insns;
    } began;       /* the core's counts at the last change of mode */
    bool booted;   /* the firmware has started */
    bool returned; /* the firmware has returned to the program at least once */

    enum due due; /* what to do when the window is empty */
    struct {
        unsigned csr;
        enum csr_access access;
        uint64_t operand;
    } write;                             /* CSR write of DUE_WRITE */
    uint64_t exception, exception_value; /* mcause and mtval of DUE_EXCEPTION */

    struct hart program; /* the program's registers until the firmware's first return */
    bool turn_begins;    /* the program's turn begins with the next return to the program */
    int64_t budget;      /* the program's hart.budget while firmware runs */
    bool failed;         /* the firmware never returns to the program */
};

/* What one process passes to the next one that gets the core. */
struct machine_image {
    struct machine shared;         /* only `status` to `due` is valid; machine_get sets `fixed` from `counter` */
    uint64_t counter[COUNTER_END]; /* values of all counters except COUNTER_TIME */
};

void machine_write_fixed(struct core *c, unsigned counter, uint64_t value); /* mcycle or minstret */
void machine_write_due(struct core *c);                                     /* does the CSR write of DUE_WRITE */

#endif
