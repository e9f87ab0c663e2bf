#include "core/warm.h"

#include "core/code.h"
#include "core/core_priv.h"

static struct engine_watch watch(void *context, const struct insn *insn)
{
    const struct warmer *w = context;
    struct code code;
    code_describe(insn, &code);
    return (struct engine_watch){
        .result = w->strides && code.flags & IS_LOAD,
        .result_slot = code.o.rd,
        .result_fp = code.dest >= REG_FP,
        .bytes = code.flags & IS_MEM ? code.mem_size : 0,
        .store = code.flags & IS_STORE,
        .transfer = code.flags & IS_CONTROL && w->core->predictor,
        .kind = code.control,
    };
}

static void fetch_line(void *context, uint64_t addr)
{
    const struct warmer *w = context;
    memsys_warm_fetch(w->core->memsys, core_place(w->core, addr));
}

static void access_data(void *context, uint64_t addr, unsigned bytes, bool store, const struct watched_insn *at)
{
    struct warmer *w = context;
    w->addr = addr;
    memsys_warm_data(w->core->memsys, core_place(w->core, addr), bytes, at->pc, store);
}

static void load(void *context, const struct watched_insn *at, uint64_t value)
{
    const struct warmer *w = context;
    strides_judge(&w->core->strides, at->pc, w->addr, value);
}

static void transfer(void *context, const struct watched_insn *at, uint64_t next)
{
    struct warmer *w = context;
    struct branch_unit *b = w->core->predictor;
    bool taken = at->kind != BRANCH_CONDITIONAL || next != at->fallthrough;
    struct branch_record *r = &w->branch;
    r->pc = at->pc;
    r->fallthrough = at->fallthrough;
    r->direct = at->direct;
    r->kind = at->kind;
    branch_predict(b, r);
    if (r->next != next) {
        w->mispredictions++;
        branch_recover(b, r, taken, next);
    }
    branch_retire(b, r, taken, next);
}

void warm_begin(struct warmer *w, const struct engine *engine, struct engine_state *e)
{
    struct engine_hooks hooks = {
        .watch = watch,
        .line_bytes = w->core->line_bytes,
        .line = fetch_line,
        .access = access_data,
        .result = load,
        .transfer = transfer,
        .context = w,
    };
    engine->set_hooks(e, &hooks);
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
