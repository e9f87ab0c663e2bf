/* Watched instructions. Which hooks to call for an instruction is decided when it is translated, so that most
 * instructions call none. Branches and common accesses have watched forms, which call the hook and do the instruction's
 * work. Other hooks are extra ops: before the instruction's own op, or after it (result).
 *
 * Hot: functional warming watches every line, access and transfer (`bench/phases.py` shows its speed). A line or access
 * that the watcher has listed in a filter costs a few host instructions inline; a transfer is only noted, and reported
 * with others. */
#include <stdlib.h>
#include <string.h>

#include "emulate/interpreter/access.h"
#include "emulate/interpreter/translate_priv.h"

_Static_assert(sizeof(struct transfer_site) == sizeof(struct op), "a site is the data of an op");

/* ---- translating */

/* Emits a line hook for a fetch from `addr`, unless the block fetched from the same line just before. At the start of
 * the block the line that was fetched before is not known; the hook then compares at run time. */
static void watch_line(struct builder *b, uint64_t addr)
{
    uint64_t line = addr & ~(uint64_t)(b->e->hooks.line_bytes - 1);
    if (line == b->line)
        return;
    interp_emit(b, b->line == UINT64_MAX ? OP_first_line_hook : OP_line_hook)->constant = (int64_t)addr;
    b->line = line;
}

void interp_watch_insn(struct builder *b, const struct insn *i)
{
    const struct engine_hooks *hooks = &b->e->hooks;
    uint64_t last = b->pc + i->length - 1;
    watch_line(b, b->pc);
    watch_line(b, last & ~(uint64_t)(hooks->line_bytes - 1));
    b->watch = hooks->watch(hooks->context, i);
}

enum op_kind interp_watched_access(struct builder *b, enum op_kind kind)
{
    if (b->e->hooks.watch == NULL || b->watch.bytes == 0)
        return kind;
    switch (kind) {
#define WATCHED(id, bytes)                                                                                             \
    case OP_##id: return OP_watched_##id;
        WATCHED_LOADS(WATCHED)
        WATCHED_STORES(WATCHED)
#undef WATCHED
    default: break;
    }
    interp_emit(b, OP_access_hook)->o = (struct operands){.rd = b->watch.bytes, .rs2 = b->watch.store};
    interp_emit(b, OP_DATA)->constant = (int64_t)b->pc;
    return kind;
}

enum op_kind interp_watched_branch(const struct builder *b, enum op_kind kind)
{
    if (b->e->hooks.watch == NULL || !b->watch.transfer)
        return kind;
    switch (kind) {
#define WATCHED(id)                                                                                                    \
    case OP_##id: return OP_watched_##id;
        WATCHED_BRANCHES(WATCHED)
#undef WATCHED
    default: abort();
    }
}

void interp_watch_site(struct builder *b, const struct insn *i, uint64_t direct)
{
    struct transfer_site site = {.pc = b->pc, .length = i->length, .kind = b->watch.kind, .direct = direct};
    if (b->e->hooks.watch && b->watch.transfer)
        memcpy(interp_emit(b, OP_DATA), &site, sizeof site);
}

void interp_watch_jump(struct builder *b, const struct insn *i, enum op_kind hook, uint64_t direct)
{
    if (b->e->hooks.watch && b->watch.transfer)
        interp_emit(b, hook);
    interp_watch_site(b, i, direct);
}

void interp_watch_result(struct builder *b)
{
    if (!b->watch.result)
        return;
    interp_emit(b, OP_result_hook)->o = (struct operands){.rd = b->watch.result_slot, .rs2 = b->watch.result_fp};
    interp_emit(b, OP_DATA)->constant = (int64_t)b->pc;
}

/* Slow paths are functions of their own, so that the ops need no stack frame. */
#define SLOW_PATH static __attribute__((noinline))

/* ---- lines */

/* Whether the line and the page are listed. `loads` is 1 if the access is a load or fetch, else 0. */
ALWAYS_INLINE bool is_listed(const struct engine_filter *f, uint64_t addr, uint64_t loads)
{
    uint64_t line = addr >> f->line_shift, page = addr >> f->page_shift;
    return (f->line[line & f->line_mask] | loads) == (line << 1 | 1) && f->page[page & f->page_mask] == page;
}

/* A listed line may become the line fetched last without being noted in e->line: fetching it again is of no interest
 * either. It stays listed as long as `line` is not called, and each call sets e->line. */
SLOW_PATH const struct op *unlisted_line_hook(OP_ARGUMENTS)
{
    struct engine_state *e = h->engine;
    uint64_t addr = (uint64_t)op->constant, line = addr & ~(uint64_t)(e->hooks.line_bytes - 1);
    if (line != e->line) {
        e->line = line;
        e->hooks.line(e->hooks.context, addr);
    }
    return GO(op + 1);
}

const struct op *interp_line_hook(OP_ARGUMENTS)
{
    const struct engine_state *e = h->engine;
    if (UNLIKELY(!is_listed(e->hooks.fetched, (uint64_t)op->constant, 1)))
        return unlisted_line_hook(h, op, mem);
    return GO(op + 1);
}

SLOW_PATH const struct op *reporting_line_hook(OP_ARGUMENTS)
{
    interp_report_transfers(h->engine);
    return interp_line_hook(h, op, mem);
}

/* The first op of each block: there is room for the transfers of a block behind it. */
const struct op *interp_first_line_hook(OP_ARGUMENTS)
{
    const struct engine_state *e = h->engine;
    if (UNLIKELY(e->transfer >= e->transfers + TRANSFERS))
        return reporting_line_hook(h, op, mem);
    return interp_line_hook(h, op, mem);
}

/* ---- accesses */

/* Calls the hook of a watched access, or of the access behind the hook at `op`. */
static void call_access(struct hart *h, const struct op *op, const struct op *of, unsigned bytes, bool store)
{
    const struct engine_state *e = h->engine;
    uint64_t addr = h->x[of->o.rs1] + (uint64_t)(int64_t)of->o.imm;
    e->hooks.access(e->hooks.context, addr, bytes, store, (uint64_t)op[1].constant);
}

const struct op *interp_access_hook(OP_ARGUMENTS)
{
    call_access(h, op, op + 2, op->o.rd, op->o.rs2);
    return GO(op + 2);
}

/* An aligned access lies within its line. */
#define WATCHED(id, bytes, is_store)                                                                                   \
    SLOW_PATH const struct op *unlisted_##id##_hook(OP_ARGUMENTS)                                                      \
    {                                                                                                                  \
        call_access(h, op, op, bytes, is_store);                                                                       \
        do_##id(h, op, mem);                                                                                           \
        return GO(op + 2);                                                                                             \
    }                                                                                                                  \
    const struct op *interp_watched_##id(OP_ARGUMENTS)                                                                 \
    {                                                                                                                  \
        const struct engine_state *e = h->engine;                                                                      \
        uint64_t addr = h->x[op->o.rs1] + (uint64_t)(int64_t)op->o.imm;                                                \
        if (UNLIKELY(addr % (bytes) != 0 || !is_listed(e->hooks.accessed, addr, !(is_store))))                         \
            return unlisted_##id##_hook(h, op, mem);                                                                   \
        do_##id(h, op, mem);                                                                                           \
        return GO(op + 2);                                                                                             \
    }
#define WATCHED_LOAD(id, bytes)  WATCHED(id, bytes, false)
#define WATCHED_STORE(id, bytes) WATCHED(id, bytes, true)
WATCHED_LOADS(WATCHED_LOAD)
WATCHED_STORES(WATCHED_STORE)
#undef WATCHED

const struct op *interp_result_hook(OP_ARGUMENTS)
{
    const struct engine_state *e = h->engine;
    uint64_t number = op->o.rs2 ? h->f[op->o.rd] : h->x[op->o.rd];
    e->hooks.result(e->hooks.context, (uint64_t)op[1].constant, number);
    return GO(op + 2);
}

/* ---- transfers */

void interp_report_transfers(struct engine_state *e)
{
    size_t count = (size_t)(e->transfer - e->transfers);
    e->transfer = e->transfers;
    if (count)
        e->hooks.transfers(e->hooks.context, e->transfers, count);
}

/* Notes a transfer whose site is behind the op. */
ALWAYS_INLINE void note_transfer(struct hart *h, const struct op *op, uint64_t target)
{
    struct engine_state *e = h->engine;
    struct engine_transfer *t = e->transfer;
    memcpy(&t->at, op + 1, sizeof t->at);
    t->target = target;
    e->transfer = t + 1;
}

ALWAYS_INLINE uint64_t direct_target(const struct op *op)
{
    return (uint64_t)op[1].constant; /* transfer_site.direct */
}
_Static_assert(offsetof(struct transfer_site, direct) == offsetof(struct op, constant), "direct_target reads it");

const struct op *interp_known_hook(OP_ARGUMENTS)
{
    note_transfer(h, op, direct_target(op));
    return GO(op + 2);
}

/* The jump is behind the site. */
const struct op *interp_register_hook(OP_ARGUMENTS)
{
    note_transfer(h, op, (h->x[op[2].o.rs1] + (uint64_t)(int64_t)op[2].o.imm) & ~UINT64_C(1));
    return GO(op + 2);
}

#define WATCHED(id)                                                                                                    \
    const struct op *interp_watched_##id(OP_ARGUMENTS)                                                                 \
    {                                                                                                                  \
        bool taken = if_##id(h, op, mem);                                                                              \
        note_transfer(h, op, taken ? direct_target(op) : NOT_TAKEN);                                                   \
        if (taken)                                                                                                     \
            return take(h, op, mem);                                                                                   \
        return GO(op + 2);                                                                                             \
    }
WATCHED_BRANCHES(WATCHED)
#undef WATCHED
