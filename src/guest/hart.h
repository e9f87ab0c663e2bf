/* The user-visible state of one RISC-V hart, and the contract by which an engine gives it back.
 *
 * An engine (emulate/, core/) runs a hart until something happens that it cannot do itself, and returns. Then
 * `trap` says what happened, `pc` is the instruction that it happened at, and every field below is up to date:
 * all instructions before `pc` have retired, none after it has had any effect. */
#ifndef CYCLESCOPE_GUEST_HART_H
#define CYCLESCOPE_GUEST_HART_H

#include <stdint.h>

enum trap {
    TRAP_NONE,        /* the budget is used up, or the engine was asked to stop; `pc` comes next */
    TRAP_ECALL,       /* system call at `pc`; it counts as retired, the receiver moves `pc` past it */
    TRAP_EBREAK,      /* breakpoint at `pc`; not retired */
    TRAP_ILLEGAL,     /* `trap_value` holds the instruction's bits */
    TRAP_FETCH_FAULT, /* `trap_value` is the address that could not be fetched */
    TRAP_LOAD_FAULT,  /* `trap_value` is the data address */
    TRAP_STORE_FAULT, /* likewise, for stores and atomics */
    TRAP_MISALIGNED,  /* an atomic at an address that is no multiple of its size */
    TRAP_BUS,         /* the page exists but its file ends before it; `trap_value` is the address */
};

enum { REG_RA = 1, REG_SP = 2, REG_GP = 3, REG_TP = 4, REG_A0 = 10, REG_A1 = 11, REG_A2 = 12, REG_A7 = 17 };

/* Who answers reads of the counters cycle, instret and hpmcounter3 to 31, by number from 0 on; 1 is time, which it is
 * not asked for. */
struct hart_counters {
    uint64_t (*read)(void *context, unsigned counter);
    void *context;
};

enum { X_SINK = 32 }; /* writes to x0 are sent to this slot, so that x[0] stays 0 without a test */

struct hart {
    uint64_t x[33];          /* integer registers and the sink */
    uint64_t f[32];          /* floating-point registers; a single is boxed in ones */
    uint64_t pc;             /* next instruction; while an engine runs, only the engine knows */
    int64_t budget;          /* instructions that the engine may still retire before it returns */
    int64_t quantum;         /* `budget` at the start of this run */
    uint64_t retired;        /* instructions retired before this run; since then quantum - budget more */
    uint32_t fflags;         /* accrued exceptions; while an engine runs, more may be pending in the host's FPU */
    uint32_t frm;            /* dynamic rounding mode, 0 to 7 */
    uint64_t reserved_addr;  /* address of the last lr, or NO_RESERVATION */
    uint64_t reserved_value; /* what that lr read */
    uint64_t time_offset;    /* ns that the process slept; rdtime reads retired instructions plus this */
    const struct hart_counters *counters; /* NULL: retired instructions stand for cycles, the others are 0 */
    enum trap trap;                       /* why the engine returned */
    uint64_t trap_value;                  /* see enum trap */
    void *engine;                         /* private to the engine that runs it */
    uint64_t space;                       /* addresses from here on are no memory; set by the engine */
    uint64_t wild_addr;                   /* such an address that is being accessed, or 0; the engine's */
};

#define NO_RESERVATION UINT64_MAX

#endif
