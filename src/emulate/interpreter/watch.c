/* Watched instructions. Which hooks to call for an instruction is decided when it is translated, so that most
 * instructions call none. Each call is an extra op: before the instruction's own op, whose operands it reads, or after
 * it (result). */
#include <stdlib.h>

#include "emulate/interpreter/access.h"
#include "emulate/interpreter/translate_priv.h"

/* ---- translating */

static uint32_t add_watched(struct builder *b, const struct insn *i, uint64_t direct)
{
    struct engine_state *e = b->e;
    if (e->watched_count == e->watched_capacity) {
        e->watched_capacity = e->watched_capacity ? 2 * e->watched_capacity : 4096;
        e->watched = realloc(e->watched, e->watched_capacity * sizeof *e->watched);
        if (e->watched == NULL)
            abort();
    }
    e->watched[e->watched_count] = (struct watched_insn){b->pc, b->pc + i->length, direct, b->watch.kind};
    return e->watched_count++;
}

/* Emits a line hook for a fetch from `addr`, unless the block fetched from the same line just before. At the start of
 * the block the line that was fetched before is not known; interp_line_hook then compares at run time. */
static void watch_line(struct builder *b, uint64_t addr)
{
    uint64_t line = addr & ~(uint64_t)(b->e->hooks.line_bytes - 1);
    if (line == b->line)
        return;
    b->line = line;
    interp_emit(b, OP_line_hook)->constant = (int64_t)addr;
}

void interp_watch_insn(struct builder *b, const struct insn *i)
{
    const struct engine_hooks *hooks = &b->e->hooks;
    uint64_t last = b->pc + i->length - 1;
    watch_line(b, b->pc);
    watch_line(b, last & ~(uint64_t)(hooks->line_bytes - 1));
    b->watch = hooks->watch(hooks->context, i);
    if (b->watch.bytes)
        interp_emit(b, OP_access_hook)->o =
            (struct operands){.rd = b->watch.bytes, .rs2 = b->watch.store, .imm = (int32_t)add_watched(b, i, 0)};
}

void interp_watch_result(struct builder *b)
{
    if (b->watch.result)
        interp_emit(b, OP_result_hook)->o = (struct operands){
            .rd = b->watch.result_slot, .rs2 = b->watch.result_fp, .imm = (int32_t)b->e->watched_count - 1};
}

void interp_watch_transfer(struct builder *b, const struct insn *i, enum op_kind hook, uint64_t direct)
{
    if (b->e->hooks.watch && b->watch.transfer)
        interp_emit(b, hook)->o = (struct operands){.imm = (int32_t)add_watched(b, i, direct)};
}

enum op_kind interp_branch_hook(enum op_kind branch)
{
    switch (branch) {
#define HOOK(id)                                                                                                       \
    case OP_##id: return OP_##id##_hook;
        WATCHED_BRANCHES(HOOK)
#undef HOOK
    default: abort();
    }
}

/* ---- running */

const struct op *interp_line_hook(OP_ARGUMENTS)
{
    struct engine_state *e = h->engine;
    uint64_t addr = (uint64_t)op->constant, line = addr & ~(uint64_t)(e->hooks.line_bytes - 1);
    if (line != e->line) {
        e->line = line;
        e->hooks.line(e->hooks.context, addr);
    }
    return GO(op + 1);
}

const struct op *interp_access_hook(OP_ARGUMENTS)
{
    const struct engine_state *e = h->engine;
    uint64_t addr = h->x[op[1].o.rs1] + (uint64_t)(int64_t)op[1].o.imm;
    e->hooks.access(e->hooks.context, addr, op->o.rd, op->o.rs2, &e->watched[op->o.imm]);
    return GO(op + 1);
}

const struct op *interp_result_hook(OP_ARGUMENTS)
{
    const struct engine_state *e = h->engine;
    uint64_t number = op->o.rs2 ? h->f[op->o.rd] : h->x[op->o.rd];
    e->hooks.result(e->hooks.context, &e->watched[op->o.imm], number);
    return GO(op + 1);
}

const struct op *interp_known_hook(OP_ARGUMENTS)
{
    const struct engine_state *e = h->engine;
    const struct watched_insn *at = &e->watched[op->o.imm];
    e->hooks.transfer(e->hooks.context, at, at->direct);
    return GO(op + 1);
}

const struct op *interp_register_hook(OP_ARGUMENTS)
{
    const struct engine_state *e = h->engine;
    uint64_t next = (h->x[op[1].o.rs1] + (uint64_t)(int64_t)op[1].o.imm) & ~UINT64_C(1);
    e->hooks.transfer(e->hooks.context, &e->watched[op->o.imm], next);
    return GO(op + 1);
}

#define HOOK(id)                                                                                                       \
    const struct op *interp_##id##_hook(OP_ARGUMENTS)                                                                  \
    {                                                                                                                  \
        const struct engine_state *e = h->engine;                                                                      \
        const struct watched_insn *at = &e->watched[op->o.imm];                                                        \
        e->hooks.transfer(e->hooks.context, at, if_##id(h, op + 1, mem) ? at->direct : at->fallthrough);               \
        return GO(op + 1);                                                                                             \
    }
WATCHED_BRANCHES(HOOK)
#undef HOOK
