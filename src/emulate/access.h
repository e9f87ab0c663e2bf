/* Guest memory as the interpreter's ops see it: base + address, one comparison, and the host's page protection.
 *
 * An access that the guest may not make raises SIGSEGV or SIGBUS in the host instruction below. The handler must know
 * which op it was: the constraint "S" keeps the op in %rsi, where it already is as a function's second argument, so
 * that costs nothing. Atomics, which the compiler translates, note the op in the engine first. */
#ifndef CYCLESCOPE_EMULATE_ACCESS_H
#define CYCLESCOPE_EMULATE_ACCESS_H

#include "emulate/interp_priv.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define UNLIKELY(c)   __builtin_expect(!!(c), 0)

/* An address that is no memory is noted and becomes that of the guard behind the guest's space, where the access
 * faults: cheaper than a call here, which would give every op a stack frame. */
ALWAYS_INLINE uint64_t within_space(struct hart *h, uint64_t addr)
{
    if (UNLIKELY(addr >= h->space)) {
        h->wild_addr = addr;
        return h->space;
    }
    return addr;
}

#define DEFINE_LOAD(type, instruction, reg)                                                                            \
    ALWAYS_INLINE uint64_t load_##type(OP_ARGUMENTS, uint64_t addr)                                                    \
    {                                                                                                                  \
        uint64_t value;                                                                                                \
        addr = within_space(h, addr);                                                                                  \
        __asm__ volatile(instruction " (%1,%2), %" reg "0" : "=r"(value) : "r"(mem), "r"(addr), "S"(op) : "memory");   \
        return value;                                                                                                  \
    }
DEFINE_LOAD(u8, "movzbl", "k")
DEFINE_LOAD(u16, "movzwl", "k")
DEFINE_LOAD(u32, "movl", "k")
DEFINE_LOAD(u64, "movq", "")
DEFINE_LOAD(i8, "movsbq", "")
DEFINE_LOAD(i16, "movswq", "")
DEFINE_LOAD(i32, "movslq", "")

#define DEFINE_STORE(type, instruction, reg)                                                                           \
    ALWAYS_INLINE void store_##type(OP_ARGUMENTS, uint64_t addr, uint64_t value)                                       \
    {                                                                                                                  \
        addr = within_space(h, addr);                                                                                  \
        __asm__ volatile(instruction " %" reg "2, (%0,%1)" : : "r"(mem), "r"(addr), "r"(value), "S"(op) : "memory");   \
    }
DEFINE_STORE(u8, "movb", "b")
DEFINE_STORE(u16, "movw", "w")
DEFINE_STORE(u32, "movl", "k")
DEFINE_STORE(u64, "movq", "")

#define LOAD(type, addr)         load_##type(h, op, mem, addr)
#define STORE(type, addr, value) store_##type(h, op, mem, addr, value)
#define FENCE()                  __atomic_thread_fence(__ATOMIC_SEQ_CST)

typedef uint32_t atomic_u32;
typedef uint64_t atomic_u64;

/* The host address of an atomic access, and the note of who makes it. */
ALWAYS_INLINE void *atomic_begin(OP_ARGUMENTS, uint64_t addr, unsigned size, enum trap fault)
{
    if (UNLIKELY(addr >= h->space))
        interp_trap(h, op, fault, addr);
    if (UNLIKELY(addr % size != 0))
        interp_trap(h, op, TRAP_MISALIGNED, addr);
    ((struct engine_state *)h->engine)->access = op;
    __asm__ volatile("" ::: "memory");
    return mem + addr;
}

ALWAYS_INLINE void atomic_end(struct hart *h)
{
    __asm__ volatile("" ::: "memory");
    ((struct engine_state *)h->engine)->access = NULL;
}

#define AMO(type, addr, new_value)                                                                                     \
    ({                                                                                                                 \
        atomic_##type *amo_at = atomic_begin(h, op, mem, addr, sizeof *amo_at, TRAP_STORE_FAULT);                      \
        atomic_##type old = *(volatile atomic_##type *)amo_at;                                                         \
        while (!__atomic_compare_exchange_n(amo_at, &old, new_value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {     \
        }                                                                                                              \
        atomic_end(h);                                                                                                 \
        old;                                                                                                           \
    })

#define LOAD_RESERVED(type, addr)                                                                                      \
    ({                                                                                                                 \
        const atomic_##type *lr_at = atomic_begin(h, op, mem, addr, sizeof *lr_at, TRAP_LOAD_FAULT);                   \
        atomic_##type value = __atomic_load_n(lr_at, __ATOMIC_SEQ_CST);                                                \
        atomic_end(h);                                                                                                 \
        h->reserved_addr = addr;                                                                                       \
        h->reserved_value = value;                                                                                     \
        value;                                                                                                         \
    })

/* Succeeds if the reservation is for this address and memory still holds what lr read; 0 means success. */
#define STORE_CONDITIONAL(type, addr, new_value)                                                                       \
    ({                                                                                                                 \
        atomic_##type *sc_at = atomic_begin(h, op, mem, addr, sizeof *sc_at, TRAP_STORE_FAULT);                        \
        atomic_##type expected = (atomic_##type)h->reserved_value;                                                     \
        bool stored =                                                                                                  \
            h->reserved_addr == (addr) && __atomic_compare_exchange_n(sc_at, &expected, (atomic_##type)(new_value),    \
                                                                      false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);      \
        atomic_end(h);                                                                                                 \
        h->reserved_addr = NO_RESERVATION;                                                                             \
        !stored;                                                                                                       \
    })

/* The rounding mode of a floating-point op, whose `imm` is the instruction's field. */
ALWAYS_INLINE enum softfp_rm rounding_mode(struct hart *h, const struct op *op)
{
    unsigned rm = op->o.imm == RM_DYN ? h->frm : (unsigned)op->o.imm;
    if (UNLIKELY(rm > RM_RMM))
        interp_trap(h, op, TRAP_ILLEGAL, 0);
    return (enum softfp_rm)rm;
}

/* The dynamic rounding mode is RMM or reserved: softfp does it, or traps. */
#define HOST_CANNOT_ROUND(h) UNLIKELY((h)->frm > RM_RUP)

#define EXEC_RM rounding_mode(h, op)

/* ---- the instructions, each as an inline function that leaves control flow to its user */

#define EXEC(id, ...)                                                                                                  \
    ALWAYS_INLINE void do_##id(OP_ARGUMENTS)                                                                           \
    {                                                                                                                  \
        const struct operands *o = &op->o;                                                                             \
        (void)o;                                                                                                       \
        __VA_ARGS__;                                                                                                   \
    }
#define BRANCH(id, ...)                                                                                                \
    ALWAYS_INLINE bool if_##id(OP_ARGUMENTS)                                                                           \
    {                                                                                                                  \
        const struct operands *o = &op->o;                                                                             \
        return __VA_ARGS__;                                                                                            \
    }
#define ROUNDED(id, host, soft)                                                                                        \
    op_function interp_soft_##id;                                                                                      \
    ALWAYS_INLINE void do_##id(OP_ARGUMENTS)                                                                           \
    {                                                                                                                  \
        const struct operands *o = &op->o;                                                                             \
        FRD = host;                                                                                                    \
    }
#include "riscv/exec.def"
#undef EXEC
#undef BRANCH
#undef ROUNDED

/* ---- the same with rs1 given: the value is the result of the op before, so that it need not go through memory */

#undef RS1
#define RS1 forwarded
#define EXEC(id, ...)                                                                                                  \
    ALWAYS_INLINE void do_forwarded_##id(OP_ARGUMENTS, uint64_t forwarded)                                             \
    {                                                                                                                  \
        const struct operands *o = &op->o;                                                                             \
        (void)o, (void)forwarded;                                                                                      \
        __VA_ARGS__;                                                                                                   \
    }
#define BRANCH(id, ...)                                                                                                \
    ALWAYS_INLINE bool if_forwarded_##id(OP_ARGUMENTS, uint64_t forwarded)                                             \
    {                                                                                                                  \
        const struct operands *o = &op->o;                                                                             \
        return __VA_ARGS__;                                                                                            \
    }
#define ROUNDED(id, host, soft)
#include "riscv/exec.def"
#undef EXEC
#undef BRANCH
#undef ROUNDED
#undef RS1
#define RS1 h->x[o->rs1]

/* ---- the interpreter's own forms */

ALWAYS_INLINE void do_li(OP_ARGUMENTS)
{
    h->x[op->o.rd] = (uint64_t)(op->constant >> 8);
}

ALWAYS_INLINE void do_forwarded_mv(OP_ARGUMENTS, uint64_t forwarded)
{
    h->x[op->o.rd] = forwarded;
}

ALWAYS_INLINE void do_mv(OP_ARGUMENTS)
{
    do_forwarded_mv(h, op, mem, h->x[op->o.rs1]);
}

ALWAYS_INLINE void do_forwarded_sext_w(OP_ARGUMENTS, uint64_t forwarded)
{
    h->x[op->o.rd] = SEXT32(forwarded);
}

ALWAYS_INLINE void do_sext_w(OP_ARGUMENTS)
{
    do_forwarded_sext_w(h, op, mem, h->x[op->o.rs1]);
}

ALWAYS_INLINE bool if_forwarded_beqz(OP_ARGUMENTS, uint64_t forwarded)
{
    return forwarded == 0;
}

ALWAYS_INLINE bool if_beqz(OP_ARGUMENTS)
{
    return h->x[op->o.rs1] == 0;
}

ALWAYS_INLINE bool if_forwarded_bnez(OP_ARGUMENTS, uint64_t forwarded)
{
    return forwarded != 0;
}

ALWAYS_INLINE bool if_bnez(OP_ARGUMENTS)
{
    return h->x[op->o.rs1] != 0;
}

/* Exits count how often they are taken where COUNTED is defined before this header is included. An op that may leave
 * is followed by its tally there. */
#ifdef COUNTED
enum { LEAVER_SLOTS = 2 };
#else
enum { LEAVER_SLOTS = 1 };
#endif

/* The exit is taken; true if it must be noted, which is the case once until it is collected. */
ALWAYS_INLINE bool count_exit(const struct op *op)
{
#ifdef COUNTED
    return ++((struct op *)op)[1].taken == 0;
#else
    (void)op;
    return false;
#endif
}

/* Leaves the block through a linked exit: `rd` holds the instructions retired, `imm` the distance to the target. */
ALWAYS_INLINE const struct op *take(OP_ARGUMENTS)
{
    const struct op *target = op + op->o.imm;
    if (UNLIKELY(count_exit(op)))
        return interp_take_noting(h, op, mem);
    h->budget -= op->o.rd;
    if (UNLIKELY(h->budget < 0))
        return interp_stop(h, target);
    return GO(target);
}

/* Leaves the block for a computed address. */
ALWAYS_INLINE const struct op *jump_to(OP_ARGUMENTS, uint64_t pc, unsigned retired)
{
    struct engine_state *e = h->engine;
    const struct jump_cache_entry *cached = &e->jump_cache[jump_cache_slot(pc)];
    if (UNLIKELY(count_exit(op)))
        return interp_jump_noting(h, op, mem, pc, retired);
    h->budget -= retired;
    if (UNLIKELY(h->budget < 0))
        return interp_stop_at(h, pc);
    if (UNLIKELY(cached->pc != pc)) {
        h->pc = pc;
        return interp_jump_slowly(h, op, mem);
    }
    return GO(cached->op);
}

/* The jumps, which always leave. */
#define leave_j take

ALWAYS_INLINE const struct op *leave_forwarded_jr(OP_ARGUMENTS, uint64_t forwarded)
{
    return jump_to(h, op, mem, (forwarded + (uint64_t)(int64_t)op->o.imm) & ~UINT64_C(1), op->o.rd);
}

ALWAYS_INLINE const struct op *leave_jr(OP_ARGUMENTS)
{
    return leave_forwarded_jr(h, op, mem, h->x[op->o.rs1]);
}

ALWAYS_INLINE const struct op *leave_forwarded_jalr(OP_ARGUMENTS, uint64_t forwarded)
{
    h->x[op->o.rd] = (uint64_t)(op[LEAVER_SLOTS].constant >> 8);
    return jump_to(h, op, mem, (forwarded + (uint64_t)(int64_t)op->o.imm) & ~UINT64_C(1), op->o.rs2);
}

ALWAYS_INLINE const struct op *leave_jalr(OP_ARGUMENTS)
{
    return leave_forwarded_jalr(h, op, mem, h->x[op->o.rs1]);
}

#endif
