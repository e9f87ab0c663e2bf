/* Machine mode's state, which machine.c and machine_csr.c share. */
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

/* What happens when the window is empty. */
enum due { DUE_NOTHING, DUE_WRITE, DUE_RETURN, DUE_EXCEPTION };

struct machine {
    struct firmware firmware;
    char *name; /* of its file, for messages */
    const struct machine_counters *counters;
    void *counting; /* their state */

    /* ---- from here to `due`: hardware, which programs that share the core share */
    uint64_t status; /* mstatus, in which MPP is 0 or 3 */
    uint64_t vector, epc, cause, value, scratch;
    uint64_t enabled, pending;   /* mie and mip: LCOFI_BIT, MSI_BIT */
    uint32_t opened, inhibited;  /* mcounteren and mcountinhibit */
    uint64_t event[COUNTER_END]; /* mhpmevent */
    uint64_t seen[COUNTER_END];  /* the counters as they were when last looked at */
    uint32_t programmed;         /* those with an event */
    uint64_t own[COUNTER_FIRST]; /* mcycle and minstret: the value while it stands still, else what is added to the
                                  * core's */
    uint64_t own_modes[COUNTER_FIRST]; /* mcyclecfg and minstretcfg: HPMEVENT_MINH, HPMEVENT_UINH */
    struct {
        uint64_t cycles, insns;
    } began; /* the core's counts when the mode changed last */
    bool booted;
    bool returned; /* to the program, at least once */

    enum due due;
    struct {
        unsigned csr;
        enum csr_access access;
        uint64_t operand;
    } write;                             /* that is due */
    uint64_t exception, exception_value; /* mcause and mtval of the exception that is due */

    struct hart program; /* registers that the first return gives it */
    bool turn_begins;    /* with the next return to the program */
    int64_t budget;      /* the program's, while firmware runs */
    bool failed;
};

/* What one process hands to the next that has the core. */
struct machine_image {
    struct machine shared;         /* of which only that part means something; `own` has values */
    uint64_t counter[COUNTER_END]; /* from COUNTER_FIRST on */
};

void machine_write_own(struct core *c, unsigned counter, uint64_t value); /* mcycle or minstret */
void machine_write_due(struct core *c);                                   /* what an instruction was to write */

#endif
