/* One function per kind of op. Hot: each is a few host instructions and a jump to the next function (make bench). */
#include <sys/mman.h>

#include "emulate/interpreter/access.h"
#include "riscv/csr.h"

#define EXEC(id, ...)                                                                                                  \
    static const struct op *op_##id(OP_ARGUMENTS)                                                                      \
    {                                                                                                                  \
        do_##id(h, op, mem);                                                                                           \
        return GO(op + 1);                                                                                             \
    }
#define BRANCH(id, ...)                                                                                                \
    static const struct op *op_##id(OP_ARGUMENTS)                                                                      \
    {                                                                                                                  \
        if (if_##id(h, op, mem))                                                                                       \
            return take(h, op, mem);                                                                                   \
        return GO(op + 1);                                                                                             \
    }
#define ROUNDED(id, host, soft)                                                                                        \
    const struct op *interp_soft_##id(OP_ARGUMENTS)                                                                    \
    {                                                                                                                  \
        const struct operands *o = &op->o;                                                                             \
        enum softfp_rm rm = EXEC_RM;                                                                                   \
        unsigned *flags = &h->fflags;                                                                                  \
        FRD = soft;                                                                                                    \
        return GO(op + 1);                                                                                             \
    }                                                                                                                  \
    static const struct op *op_##id(OP_ARGUMENTS)                                                                      \
    {                                                                                                                  \
        if (HOST_CANNOT_ROUND(h))                                                                                      \
            return interp_soft_##id(h, op, mem);                                                                       \
        do_##id(h, op, mem);                                                                                           \
        return GO(op + 1);                                                                                             \
    }
#include "riscv/exec.def"
EXEC(li, )
EXEC(mv, )
EXEC(sext_w, )
BRANCH(beqz, )
BRANCH(bnez, )
#undef EXEC
#undef BRANCH
#undef ROUNDED

static const struct op *op_j(OP_ARGUMENTS)
{
    return leave_j(h, op, mem);
}

static const struct op *op_jr(OP_ARGUMENTS)
{
    return leave_jr(h, op, mem);
}

static const struct op *op_jalr(OP_ARGUMENTS)
{
    return leave_jalr(h, op, mem);
}

/* Runs when a counting exit is taken for the first time since it was collected. Here, without COUNTED, `take` does not
 * count the exit a second time. */
const struct op *interp_take_noting(OP_ARGUMENTS)
{
    interp_count_note(h->engine, op);
    return take(h, op, mem);
}

const struct op *interp_jump_noting(OP_ARGUMENTS, uint64_t pc, unsigned retired)
{
    interp_count_note(h->engine, op);
    return jump_to(h, op, mem, pc, retired);
}

/* Operand rs2: bits 1:0 the access (enum csr_access), bit 2 immediate form, bit 3 it writes. A separate function,
 * since a local whose address is taken would keep the compiler from ending the op in a jump. */
static __attribute__((noinline)) void do_csr(struct hart *h, const struct op *op)
{
    const struct engine_state *e = h->engine;
    unsigned form = op->o.rs2;
    uint64_t operand = form & 4 ? op->o.rs1 : h->x[op->o.rs1], old;
    uint64_t retired = h->retired + (uint64_t)(h->quantum - h->budget) + e->site[op - e->arena].insns_before;
    if (!csr_access(h, (unsigned)op->o.imm, form & 3, form & 8, operand, retired, &old))
        interp_trap(h, op, TRAP_ILLEGAL, 0);
    h->x[op->o.rd] = old;
}

static const struct op *op_csr(OP_ARGUMENTS)
{
    do_csr(h, op);
    return GO(op + 1);
}

/* Drops all decoded code and continues with the next instruction; the constant is its pc. */
static const struct op *op_fence_i(OP_ARGUMENTS)
{
    struct engine_state *e = h->engine;
    uint64_t pc = (uint64_t)(op->constant >> 8);
    unsigned retired = op->o.rd;
    if (e->hooks.count_blocks)
        interp_count_part(e, op, retired);
    interp_flush(e);
    return jump_to(h, op, mem, pc, retired);
}

static const struct op *op_ecall(OP_ARGUMENTS)
{
    struct engine_state *e = h->engine;
    if (e->hooks.count_blocks)
        interp_count_part(e, op, op->o.rd);
    h->budget -= op->o.rd;
    h->trap = TRAP_ECALL;
    h->pc = interp_pc(h->engine, op);
    return NULL;
}

static const struct op *op_ebreak(OP_ARGUMENTS)
{
    interp_trap(h, op, TRAP_EBREAK, 0);
}

static const struct op *op_illegal(OP_ARGUMENTS)
{
    interp_trap(h, op, TRAP_ILLEGAL, 0);
}

/* The bytes could not be fetched when the block was translated, but may have become executable since. */
static const struct op *op_fetch_fault(OP_ARGUMENTS)
{
    struct engine_state *e = h->engine;
    uint64_t missing = interp_pc(e, op) + (uint64_t)(op->constant >> 8);
    if (guest_ptr(e->memory, missing, 2, PROT_EXEC) == NULL)
        interp_trap(h, op, TRAP_FETCH_FAULT, missing);
    uint64_t pc = interp_pc(e, op);
    unsigned retired = e->site[op - e->arena].insns_before;
    interp_forget_block(e, op);
    h->budget -= retired;
    h->pc = pc;
    return h->budget < 0 ? NULL : interp_jump_slowly(h, op, mem);
}

const struct op *interp_jump_slowly(OP_ARGUMENTS)
{
    const struct op *target = interp_find(h->engine, h->pc);
    return GO(target);
}

/* Patches the exit that leads to this stub, so that it leads to its target from now on; not if finding the target
 * flushed the arena. */
static const struct op *op_stub(OP_ARGUMENTS)
{
    struct engine_state *e = h->engine;
    struct op *source = &e->arena[op - e->arena - (uint16_t)op->constant];
    uint64_t flushes = e->flushes;
    const struct op *target = interp_find(e, (uint64_t)(op->constant >> 16));
    if (e->flushes == flushes)
        source->o.imm = (int32_t)(target - source);
    return GO(target);
}

static const struct op *op_dead(OP_ARGUMENTS)
{
    const struct op *target = interp_find(h->engine, (uint64_t)(op->constant >> 8));
    return GO(target);
}

static const struct op *op_block_hook(OP_ARGUMENTS)
{
    const struct engine_hooks *hooks = &((struct engine_state *)h->engine)->hooks;
    hooks->block(hooks->context, (uint64_t)(op->constant >> 8), op->o.rd);
    return GO(op + 1);
}

static const struct op *op_insn_hook(OP_ARGUMENTS)
{
    const struct engine_state *e = h->engine;
    const struct hooked_insn *at = &e->hooked[op->constant];
    e->hooks.insn(e->hooks.context, h, at->pc, &at->insn);
    return GO(op + 1);
}

op_function *const interp_single[OP_KINDS] = {
#define EXEC(id, ...)    [OP_##id] = op_##id,
#define BRANCH(id, ...)  [OP_##id] = op_##id,
#define ROUNDED(id, ...) [OP_##id] = op_##id, [OP_soft_##id] = interp_soft_##id,
#include "riscv/exec.def"
    EXEC(li) EXEC(mv) EXEC(sext_w) EXEC(beqz) EXEC(bnez) EXEC(j) EXEC(jr) EXEC(jalr) EXEC(csr) EXEC(fence_i) EXEC(ecall)
        EXEC(ebreak) EXEC(illegal) EXEC(fetch_fault) EXEC(stub) EXEC(dead) EXEC(block_hook) EXEC(insn_hook)
#undef EXEC
#undef BRANCH
#undef ROUNDED
            [OP_verify] = interp_verify,
    [OP_verify_rest] = interp_verify_rest,
#define HOOK(id) [OP_##id##_hook] = interp_##id##_hook,
    WATCH_HOOKS(HOOK)
#undef HOOK
#define WATCHED(id, ...) [OP_watched_##id] = interp_watched_##id,
        WATCHED_BRANCHES(WATCHED) WATCHED_LOADS(WATCHED) WATCHED_STORES(WATCHED)
#undef WATCHED
};
