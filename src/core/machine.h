/* Machine mode: firmware that runs beside the program, as far as handling counter overflows needs it.
 *
 * A core with firmware has the CSRs below, privilege modes, and two interrupts. A counter that overflows sets OF in its
 * mhpmevent and, if OF was clear, raises LCOFI (13) in mip (Sscofpmf). When another program gets the core
 * (sim/programs.h), MSI (3) is raised; MSI has priority. An interrupt is taken when it is enabled in mie and the core
 * is in user mode or mstatus.MIE is set: fetch stops, everything in flight on the right path retires, and the firmware
 * continues at mtvec with mepc at the instruction that the program would have executed next.
 *
 *     mstatus (MIE, MPIE, MPP)  mtvec (direct)  mepc  mcause  mtval  mscratch  mie  mip  mhartid  mcounteren
 *     mcountinhibit  mcycle  minstret  mhpmcounter3..31  mhpmevent3..31  scountovf  mcyclecfg  minstretcfg (MINH, UINH)
 *     satp (59..44: number of the program that has the core, read-only; all other bits 0)
 *     misa, mvendorid, marchid, mimpid: 0
 *
 * The firmware starts before the program with registers of its own: a0 = hart id, a1 = bytes of free memory, a2 = its
 * address, mepc = the program's pc. The first mret gives the program its registers, whatever the firmware left there.
 * From then on firmware and program share the registers, as on hardware.
 *
 * System calls and exceptions of the program go to the simulator and never trap to the firmware. System calls and
 * exceptions of the firmware itself trap to mtvec. Instructions of the firmware do not count as instructions of the
 * program, so they do not advance the program's time or use up its quantum.
 *
 * Every CSR access in machine mode waits until it is alone in the window. The instruction after it is fetched when the
 * access has retired, and its write takes effect then. So a counter never counts the instruction that starts, sets or
 * reads it, and does count the instruction that stops it.
 *
 * Limits: machine-mode addresses are not translated. wfi does nothing. There is no other interrupt, no supervisor mode,
 * no debug mode. */
#ifndef CYCLESCOPE_CORE_MACHINE_H
#define CYCLESCOPE_CORE_MACHINE_H

#include "core/core.h"
#include "core/firmware.h"

/* Bits of mhpmevent from Sscofpmf. SINH and the hypervisor's bits read 0, because the core lacks those modes. */
#define HPMEVENT_OF   (UINT64_C(1) << 63) /* the counter has overflowed */
#define HPMEVENT_MINH (UINT64_C(1) << 62) /* the counter does not count in machine mode */
#define HPMEVENT_UINH (UINT64_C(1) << 60) /* the counter does not count in user mode */

enum {
    COUNTER_FIRST = 3,
    COUNTER_END = 32
}; /* numbers of the programmable counters: from COUNTER_FIRST to before COUNTER_END */

/* Implementation of mhpmcounter3 to 31 (pmu/). Counters are identified by number. */
struct machine_counters {
    /* Returns the state, or NULL without memory. `insns`: its observer may observe instructions. */
    void *(*create)(const struct core_config *core, bool insns, struct error *err);
    void (*destroy)(void *state);
    /* Programs a counter, which keeps its value. Returns what mhpmevent reads as, without OF. An event that cannot be
     * counted becomes event 0, which counts nothing. */
    uint64_t (*select)(void *state, unsigned counter, uint64_t event);
    void (*inhibit)(void *state, uint32_t counters); /* one bit per counter: set bits stop, all others count */
    uint64_t (*read)(void *state, unsigned counter); /* call after the records of all cycles so far were reported */
    void (*write)(void *state, unsigned counter, uint64_t value);
    /* Returns for how many cycles the counter certainly does not overflow: at least 1; UINT64_MAX: never overflows. */
    uint64_t (*lasts)(void *state, unsigned counter);
    /* Observer that it needs; changes when counters are programmed. */
    const struct core_observer *(*observer)(void *state);
};

/* Loads firmware, which starts with the next run. Call once, before the first run. */
int core_boot(struct core *c, const struct core_config *config, const struct firmware_image *image,
              const struct machine_counters *counters, bool insns, struct error *err) MUST_CHECK;

/* With programs that take turns (core.h): core_share_firmware makes the firmware's memory one shared memory for all
 * processes forked from now on. A process that needs a copy of its own: call core_copy_firmware before the fork and
 * core_take_firmware in the new process. */
int core_share_firmware(struct core *c, struct error *err) MUST_CHECK;
struct firmware_copy *core_copy_firmware(const struct core *c); /* NULL: no firmware, or out of memory */
void core_take_firmware(struct core *c, const struct firmware_copy *copy);

/* Whether the firmware will never return to the program; nothing can run any more then. */
bool core_firmware_failed(const struct core *c);
int core_firmware_error(const struct core *c, struct error *err); /* sets the error message; returns -ELOOP */

/* Returns mcycle (COUNTER_CYCLE of riscv/csr.h), minstret or mhpmcounter3 to 31 as the firmware would read it. */
uint64_t core_machine_counter(struct core *c, unsigned counter);

/* Returns the host address of `bytes` bytes of machine mode's memory at this guest address, or NULL if they lie
 * outside. */
void *core_firmware_memory(struct core *c, uint64_t addr, uint64_t bytes);
/* Returns the address of the firmware's free memory (a2 at its start); *bytes is its size (a1). */
uint64_t core_firmware_free(const struct core *c, uint64_t *bytes);

#endif
