#include "core/warm.h"

#include "core/code.h"
#include "core/core_priv.h"

static void finish_branch(struct warmer *w, uint64_t next)
{
    struct branch_unit *b = w->core->predictor;
    bool taken = !w->conditional || next != w->branch.fallthrough;
    branch_predict(b, &w->branch);
    if (w->branch.next != next) {
        w->mispredictions++;
        branch_recover(b, &w->branch, taken, next);
    }
    branch_retire(b, &w->branch, taken, next);
    w->branch_waits = false;
}

void warm_insn(void *context, const struct hart *h, uint64_t pc, const struct insn *insn)
{
    struct warmer *w = context;
    struct core *c = w->core;
    uint64_t fault;
    /* Decoded once. The watcher of code is the engine, so what is found may be stale; then it has other bits. */
    const struct code *code = code_find(c->codes, pc, &fault);
    struct code fresh;
    if (code == NULL || code->bits != insn->bits) {
        code_describe(insn, &fresh);
        code = &fresh;
    }
    if (w->branch_waits)
        finish_branch(w, pc);
    uint64_t line = pc & ~(uint64_t)(c->line_bytes - 1),
             last = (pc + insn->length - 1) & ~(uint64_t)(c->line_bytes - 1);
    if (line != w->line)
        memsys_warm_fetch(c->memsys, core_place(c, pc));
    if (last != line)
        memsys_warm_fetch(c->memsys, core_place(c, last));
    w->line = last;
    if (code->flags & IS_MEM && code->mem_size)
        memsys_warm_data(c->memsys, core_place(c, h->x[code->o.rs1] + (uint64_t)(int64_t)code->o.imm), code->mem_size,
                         pc, code->flags & IS_STORE);
    if (code->flags & IS_CONTROL && c->predictor) {
        w->branch.pc = pc;
        w->branch.fallthrough = pc + insn->length;
        w->branch.kind = code->control;
        w->branch.direct = code->op == INSN_jalr ? 0 : pc + (uint64_t)(int64_t)insn->imm;
        w->conditional = code->flags & IS_CONDITIONAL;
        w->branch_waits = true;
    }
}

void warm_read(const struct warmer *w, uint64_t to[WARM_COUNTS])
{
    const struct memsys_counts *n = memsys_warm_counts(w->core->memsys);
    to[WARM_L1I] = n->l1i.misses[0];
    to[WARM_L1D] = n->l1d.misses[0];
    to[WARM_L2I] = n->l2i.misses[0];
    to[WARM_L2D] = n->l2d.misses[0];
    to[WARM_L3] = n->l3i.misses[0] + n->l3d.misses[0];
    to[WARM_WALKS] = n->itlb_walks[0] + n->dtlb_walks[0];
    to[WARM_MISPREDICTIONS] = w->mispredictions;
}

void warm_end(struct warmer *w)
{
    code_reset(w->core->codes);
}
