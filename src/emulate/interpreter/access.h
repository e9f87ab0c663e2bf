/* Guest memory accesses of the interpreter's ops: base + address, one comparison, and the host's page protection.
 *
 * An access that the guest may not make raises SIGSEGV or SIGBUS in the host instruction below. The fault handler must
 * know the op: the constraint "S" keeps it in %rsi, where it already is as a function's second argument, so this costs
 * nothing. Atomics, which the compiler translates, store the op in the engine first. */
#ifndef CYCLESCOPE_EMULATE_INTERPRETER_ACCESS_H
#define CYCLESCOPE_EMULATE_INTERPRETER_ACCESS_H

#include "emulate/interpreter/interp_priv.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define UNLIKELY(c)   __builtin_expect(!!(c), 0)

/* Replaces an address outside the guest's space by the guard page behind the space, where the access faults, and keeps
 * it in h->wild_addr for the fault handler. A call here would give every op a stack frame. */
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

/* Returns the host address of an atomic access, and stores the op for the fault handler. */
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

#define CAS(type, addr, expected_value, new_value)                                                                     \
    ({                                                                                                                 \
        atomic_##type *cas_at = atomic_begin(h, op, mem, addr, sizeof *cas_at, TRAP_STORE_FAULT);                      \
        atomic_##type found = expected_value;                                                                          \
        __atomic_compare_exchange_n(cas_at, &found, new_value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);             \
        atomic_end(h);                                                                                                 \
        found;                                                                                                         \
    })

#define CAS_PAIR(addr)                                                                                                 \
    do {                                                                                                               \
        void *pair_at = atomic_begin(h, op, mem, addr, 16, TRAP_STORE_FAULT);                                          \
        uint64_t low = EXPECTED, high = EXPECTED_UPPER;                                                                \
        EXEC_CAS128(pair_at, low, high, RS2, RS2_UPPER);                                                               \
        atomic_end(h);                                                                                                 \
        if (o->rd != X_SINK) {                                                                                         \
            h->x[o->rd] = low;                                                                                         \
            h->x[o->rd + 1] = high;                                                                                    \
        }                                                                                                              \
    } while (0)

#define ZERO_BLOCK(addr)                                                                                               \
    do {                                                                                                               \
        for (uint64_t zero_at = 0; zero_at < 64; zero_at += 8)                                                         \
            STORE(u64, (addr) + zero_at, 0);                                                                           \
    } while (0)

/* The rounding mode of a floating-point op; op->o.imm is the instruction's rm field. Traps if it is reserved. */
ALWAYS_INLINE enum softfp_rm rounding_mode(struct hart *h, const struct op *op)
{
    unsigned rm = op->o.imm == RM_DYN ? h->frm : (unsigned)op->o.imm;
    if (UNLIKELY(rm > RM_RMM))
        interp_trap(h, op, TRAP_ILLEGAL, 0);
    return (enum softfp_rm)rm;
}

/* The dynamic rounding mode is RMM, which only softfp implements, or reserved, which softfp's path traps. */
#define HOST_CANNOT_ROUND(h) UNLIKELY((h)->frm > RM_RUP)

#define EXEC_RM rounding_mode(h, op)

/* ---- the instructions of exec.def as inline functions; control flow is up to the caller */

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

/* ---- the instructions with the value of rs1 as an argument: the result of the op before, still in a host register */

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

/* ---- the interpreter's own kinds of ops */

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

/* If COUNTED is defined before this header is included, exits count how often they are taken: each op that may leave
 * the block is followed by its tally. */
#ifdef COUNTED
enum { LEAVER_SLOTS = 2 };
#else
enum { LEAVER_SLOTS = 1 };
#endif

/* Counts that the exit is taken; true if the exit must be noted, which happens once per collection (count.c). */
ALWAYS_INLINE bool count_exit(const struct op *op)
{
#ifdef COUNTED
    return ++((struct op *)op)[1].taken == 0;
#else
    (void)op;
    return false;
#endif
}

/* Leaves the block through a linked exit: op->o.rd is the number of retired instructions, op->o.imm the distance to the
 * target op. */
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

/* Leaves the block for a computed address, after `retired` instructions. */
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

/* Jumps always leave the block. */
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
