/* Machine mode: firmware beside the program, as far as handling the overflow of counters needs it.
 *
 * With firmware a core has the CSRs below, privilege, and two interrupts: a counter that overflows sets OF in its
 * mhpmevent and, if OF was clear, LCOFI (13) in mip (Sscofpmf); and when another program has got the core (programs.h),
 * MSI (3) is set, which comes first. An interrupt is taken when it is enabled in mie, in user mode or with mstatus.MIE:
 * fetch stops, what is in flight on the right path retires, and the firmware goes on at mtvec with mepc at what the
 * program would have executed next.
 *
 *     mstatus (MIE, MPIE, MPP)  mtvec (direct)  mepc  mcause  mtval  mscratch  mie  mip  mhartid  mcounteren
 *     mcountinhibit  mcycle  minstret  mhpmcounter3..31  mhpmevent3..31  scountovf  mcyclecfg  minstretcfg (MINH, UINH)
 *     satp (59..44: the program that has the core, which cannot be written; all else 0)
 *     misa, mvendorid, marchid, mimpid: 0
 *
 * The firmware starts before the program, with a0 = hart id, a1 = bytes of free memory, a2 = where they begin, mepc =
 * the program's pc and registers of its own: the first mret gives the program its registers, whatever the firmware left
 * there. From then on they share them, as on hardware.
 *
 * System calls and exceptions of the program are the simulator's and never trap to the firmware. Those of the firmware
 * itself trap to mtvec. What the firmware executes is not part of the program's instructions, and so not of its time
 * and quantum.
 *
 * Every CSR access in machine mode waits until it is alone in the window, and what follows is fetched when it has
 * committed; what it writes is written then. So a counter that is started or stopped, set or read never counts the
 * instruction that starts, sets or reads it, and counts the one that stops it.
 *
 * Limits: addresses of machine mode are not translated. wfi does nothing. There is no other interrupt, no supervisor
 * mode, no debug mode. */
#ifndef CYCLESCOPE_CORE_MACHINE_H
#define CYCLESCOPE_CORE_MACHINE_H

#include "core/core.h"
#include "core/firmware.h"

/* Bits of mhpmevent that are Sscofpmf's; SINH and what belongs to a hypervisor read 0, as there are no such modes. */
#define HPMEVENT_OF   (UINT64_C(1) << 63) /* it has overflowed */
#define HPMEVENT_MINH (UINT64_C(1) << 62) /* it stands still in machine mode */
#define HPMEVENT_UINH (UINT64_C(1) << 60) /* it stands still in user mode */

enum { COUNTER_FIRST = 3, COUNTER_END = 32 }; /* numbers of the counters that can be programmed */

/* Who counts for mhpmcounter3 to 31. Counters are called by number. */
struct machine_counters {
    /* `insns`: its observer may observe instructions. */
    void *(*create)(const struct core_config *core, bool insns, struct error *err);
    void (*destroy)(void *state);
    /* Programs a counter, which keeps its value. The result is what mhpmevent reads as, OF apart: what cannot be
     * counted becomes event 0, which counts nothing. */
    uint64_t (*select)(void *state, unsigned counter, uint64_t event);
    void (*inhibit)(void *state, uint32_t counters); /* these stand still, all others go; one bit each */
    uint64_t (*read)(void *state, unsigned counter); /* after the records of all cycles so far */
    void (*write)(void *state, unsigned counter, uint64_t value);
    uint64_t (*lasts)(void *state, unsigned counter); /* cycles in which it cannot overflow, 1 or more; UINT64_MAX */
    const struct core_observer *(*observer)(void *state); /* what it has to be told; changes as it is programmed */
};

/* Loads firmware and makes it start with the next run; once, before the first. */
int core_boot(struct core *c, const struct core_config *config, const struct firmware_image *image,
              const struct machine_counters *counters, bool insns, struct error *err) MUST_CHECK;

/* With programs that take turns (core.h): firmware's memory becomes one and the same for all processes that are forked
 * from now on; before a process is forked that shall have a copy of its own, that is made, which it takes. */
int core_share_firmware(struct core *c, struct error *err) MUST_CHECK;
struct firmware_copy *core_copy_firmware(const struct core *c); /* NULL without firmware or memory */
void core_take_firmware(struct core *c, const struct firmware_copy *copy);

/* Whether the firmware has come to where it never returns to the program; then nothing can run any more. */
bool core_firmware_failed(const struct core *c);
int core_firmware_error(const struct core *c, struct error *err); /* the sentence about it; -ELOOP */

/* mcycle (COUNTER_CYCLE of riscv/csr.h), minstret or mhpmcounter3 to 31, as firmware would read it. */
uint64_t core_machine_counter(struct core *c, unsigned counter);

/* `bytes` of machine mode's memory at this address, or NULL. */
void *core_firmware_memory(struct core *c, uint64_t addr, uint64_t bytes);
/* Where its free memory begins, which the firmware gets in a2, and how much there is: a1. */
uint64_t core_firmware_free(const struct core *c, uint64_t *bytes);

#endif
