/* The instructions of riscv/exec.def as functions on the registers of a path and on host bytes. The caller has looked
 * up these bytes, so nothing here can fault. */
#include <string.h>

#include "core/code.h"
#include "riscv/csr.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;

/* `mem` points to the bytes at the address; the address itself matters only for the reservation of lr and sc. */
#define LOAD(type, addr)                                                                                               \
    ({                                                                                                                 \
        type loaded;                                                                                                   \
        memcpy(&loaded, mem, sizeof loaded);                                                                           \
        (uint64_t)(int64_t) loaded;                                                                                    \
    })
#define STORE(type, addr, value)                                                                                       \
    do {                                                                                                               \
        type stored = (type)(value);                                                                                   \
        memcpy(mem, &stored, sizeof stored);                                                                           \
    } while (0)
#define FENCE() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define AMO(type, addr, new_value)                                                                                     \
    ({                                                                                                                 \
        type *amo_at = mem;                                                                                            \
        type old = *(volatile type *)amo_at;                                                                           \
        while (!__atomic_compare_exchange_n(amo_at, &old, new_value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {     \
        }                                                                                                              \
        old;                                                                                                           \
    })
#define LOAD_RESERVED(type, addr)                                                                                      \
    ({                                                                                                                 \
        type value = __atomic_load_n((const type *)mem, __ATOMIC_SEQ_CST);                                             \
        h->reserved_addr = addr;                                                                                       \
        h->reserved_value = value;                                                                                     \
        value;                                                                                                         \
    })
#define STORE_CONDITIONAL(type, addr, new_value)                                                                       \
    ({                                                                                                                 \
        type expected = (type)h->reserved_value;                                                                       \
        bool stored =                                                                                                  \
            h->reserved_addr == (addr) && __atomic_compare_exchange_n((type *)mem, &expected, (type)(new_value),       \
                                                                      false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);      \
        h->reserved_addr = NO_RESERVATION;                                                                             \
        !stored;                                                                                                       \
    })
#define CAS(type, addr, expected_value, new_value)                                                                     \
    ({                                                                                                                 \
        type found = expected_value;                                                                                   \
        __atomic_compare_exchange_n((type *)mem, &found, new_value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);        \
        found;                                                                                                         \
    })
#define CAS_PAIR(addr)                                                                                                 \
    do {                                                                                                               \
        uint64_t low = EXPECTED, high = EXPECTED_UPPER;                                                                \
        EXEC_CAS128(mem, low, high, RS2, RS2_UPPER);                                                                   \
        if (o->rd != X_SINK) {                                                                                         \
            h->x[o->rd] = low;                                                                                         \
            h->x[o->rd + 1] = high;                                                                                    \
        }                                                                                                              \
    } while (0)
#define ZERO_BLOCK(addr) memset(mem, 0, 64)
#define EXEC_RM          ((enum softfp_rm)(o->imm == RM_DYN ? h->frm : (uint32_t)o->imm))

#define EXEC(id, ...)                                                                                                  \
    static unsigned run_##id(struct hart *h, const struct operands *o, void *mem)                                      \
    {                                                                                                                  \
        (void)h, (void)o, (void)mem;                                                                                   \
        __VA_ARGS__;                                                                                                   \
        return 0;                                                                                                      \
    }
#define BRANCH(id, ...)                                                                                                \
    static unsigned run_##id(struct hart *h, const struct operands *o, void *mem)                                      \
    {                                                                                                                  \
        (void)mem;                                                                                                     \
        return __VA_ARGS__;                                                                                            \
    }
#define ROUNDED(id, host, soft)                                                                                        \
    static unsigned run_soft_##id(struct hart *h, const struct operands *o, void *mem)                                 \
    {                                                                                                                  \
        enum softfp_rm rm = EXEC_RM;                                                                                   \
        unsigned *flags = &h->fflags;                                                                                  \
        (void)mem;                                                                                                     \
        FRD = soft;                                                                                                    \
        return 0;                                                                                                      \
    }                                                                                                                  \
    static unsigned run_##id(struct hart *h, const struct operands *o, void *mem)                                      \
    {                                                                                                                  \
        if (__builtin_expect(h->frm > RM_RUP, 0)) /* a rounding mode that the host lacks */                            \
            return run_soft_##id(h, o, mem);                                                                           \
        FRD = host;                                                                                                    \
        return 0;                                                                                                      \
    }
#include "riscv/exec.def"
EXEC(auipc, RD = h->pc + IMM)
EXEC(nothing, (void)0)
#undef EXEC
#undef BRANCH
#undef ROUNDED

static exec_function *const functions[INSN_COUNT][2] = {
#define EXEC(id, ...)    [INSN_##id] = {run_##id, run_##id},
#define BRANCH(id, ...)  [INSN_##id] = {run_##id, run_##id},
#define ROUNDED(id, ...) [INSN_##id] = {run_##id, run_soft_##id},
#include "riscv/exec.def"
    EXEC(auipc)
#undef EXEC
#undef BRANCH
#undef ROUNDED
};

exec_function *exec_function_of(enum insn_id op, bool soft)
{
    exec_function *f = op < INSN_COUNT ? functions[op][soft] : NULL;
    return f ? f : run_nothing;
}

unsigned exec_csr(struct hart *h, const struct code *code, uint64_t retired, bool *illegal)
{
    static const enum csr_access access[3] = {CSR_WRITE, CSR_SET, CSR_CLEAR};
    const struct operands *o = &code->o;
    bool immediate = code->op >= INSN_csrrwi;
    unsigned which = code->op - (immediate ? INSN_csrrwi : INSN_csrrw);
    uint64_t old = 0;
    *illegal = !csr_access(h, (unsigned)o->imm, access[which], which == 0 || o->rs1 != 0,
                           immediate ? o->rs1 : h->x[o->rs1], retired, &old);
    if (!*illegal)
        h->x[o->rd] = old;
    return 0;
}
