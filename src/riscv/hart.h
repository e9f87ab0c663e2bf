/* User-visible state of one RISC-V hart, and the contract under which an executor hands it back.
 *
 * An executor is an engine (emulate/) or the core (core/). It runs a hart until an event that it cannot handle itself,
 * then returns. At that point `trap` names the event, `pc` is the address of the instruction that caused it, and every
 * field below is up to date: all instructions before `pc` have retired, and no later instruction has had any effect. */
#ifndef CYCLESCOPE_RISCV_HART_H
#define CYCLESCOPE_RISCV_HART_H

#include <stdint.h>

enum trap {
    TRAP_NONE,        /* the budget is used up, or the executor was asked to stop; `pc` is the next instruction */
    TRAP_ECALL,       /* system call at `pc`; it counts as retired, and the receiver advances `pc` past it */
    TRAP_EBREAK,      /* breakpoint at `pc`; not retired */
    TRAP_ILLEGAL,     /* `trap_value` is the encoding of the illegal instruction */
    TRAP_FETCH_FAULT, /* `trap_value` is the address that could not be fetched */
    TRAP_LOAD_FAULT,  /* `trap_value` is the data address */
    TRAP_STORE_FAULT, /* `trap_value` is the data address; stores and atomics */
    TRAP_MISALIGNED,  /* atomic access to an address that is not a multiple of its size; `trap_value` is the address */
    TRAP_BUS,         /* the page is mapped but its file ends before it; `trap_value` is the address */
};

enum { REG_RA = 1, REG_SP = 2, REG_GP = 3, REG_TP = 4, REG_A0 = 10, REG_A1 = 11, REG_A2 = 12, REG_A7 = 17 };

/* Callback for reads of the counter CSRs. `counter` is the offset from the CSR `cycle`: 0 cycle, 2 instret, 3 to 31
 * hpmcounter3 to hpmcounter31. Counter 1 (time) does not use the callback. */
struct hart_counters {
    uint64_t (*read)(void *context, unsigned counter);
    void *context;
};

enum { X_SINK = 32 }; /* slot that receives writes to x0, so that x[0] stays 0 without a test */

struct hart {
    uint64_t x[33];   /* integer registers x0 to x31, then X_SINK */
    uint64_t f[32];   /* floating-point registers; a single has ones in its upper half (NaN boxing) */
    uint64_t pc;      /* next instruction, always even; out of date while an executor runs */
    int64_t budget;   /* instructions that the executor may still retire before it returns */
    int64_t quantum;  /* `budget` at the start of this run */
    uint64_t retired; /* instructions retired before this run; this run has retired quantum - budget more */
    uint32_t fflags;  /* accrued exceptions; while an executor runs, further flags may be pending in the host's FPU */
    uint32_t frm;     /* dynamic rounding mode, 0 to 7 */
    uint64_t reserved_addr;  /* address of the last lr, or NO_RESERVATION */
    uint64_t reserved_value; /* value that this lr read */
    uint64_t time_offset;    /* ns that the process slept; the CSR time reads retired instructions plus this */
    const struct hart_counters *counters; /* NULL: cycle and instret read retired instructions, the others 0 */
    enum trap trap;                       /* why the executor returned */
    uint64_t trap_value;                  /* see enum trap */
    void *engine;                         /* private state of the engine that runs this hart */
    uint64_t space;     /* size of the guest's address space: higher addresses fault; set by the engine */
    uint64_t wild_addr; /* address at or above `space` that is being accessed, or 0; private to the engine */
};

#define NO_RESERVATION UINT64_MAX

/* Continues at `pc` as sret does, which ignores bit 0. */
static inline void hart_return_to(struct hart *h, uint64_t pc)
{
    h->pc = pc & ~UINT64_C(1);
}

#endif
