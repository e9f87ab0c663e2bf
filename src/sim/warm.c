#include "sim/warm.h"

#include "core/code.h"
#include "core/strides.h"

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
        .transfer = code.flags & IS_CONTROL && w->parts.predictor,
        .kind = code.control,
    };
}

static void fetch_line(void *context, uint64_t addr)
{
    const struct warmer *w = context;
    memsys_warm_fetch(w->parts.memsys, core_place(w->parts.space, addr));
}

static void access_data(void *context, uint64_t addr, unsigned bytes, bool store, const struct watched_insn *at)
{
    struct warmer *w = context;
    w->addr = addr;
    if (bytes == ZEROED_BYTES)
        addr &= ~(uint64_t)(ZEROED_BYTES - 1);
    memsys_warm_data(w->parts.memsys, core_place(w->parts.space, addr), bytes, at->pc, store);
}

/* Hook `result`: `value` is what the load at w->addr loaded. */
static void load(void *context, const struct watched_insn *at, uint64_t value)
{
    const struct warmer *w = context;
    strides_judge(w->parts.strides, at->pc, w->addr, value);
}

/* The oldest branch in flight retires. */
static void learn(struct warmer *w)
{
    const struct warm_branch *b = &w->branch[w->learned++ & w->ring_mask];
    branch_retire(w->parts.predictor, &b->record, b->taken, b->next);
}

void warm_settle(struct warmer *w)
{
    while (w->learned != w->predicted)
        learn(w);
}

static void transfer(void *context, const struct watched_insn *at, uint64_t next)
{
    struct warmer *w = context;
    struct warm_branch *b = &w->branch[w->predicted++ & w->ring_mask];
    struct branch_record *r = &b->record;
    b->taken = at->kind != BRANCH_CONDITIONAL || next != at->fallthrough;
    b->next = next;
    r->pc = at->pc;
    r->fallthrough = at->fallthrough;
    r->direct = at->direct;
    r->kind = at->kind;
    branch_predict(w->parts.predictor, r);
    if (r->next != next) {
        w->mispredictions++;
        branch_recover(w->parts.predictor, r, b->taken, next);
        warm_settle(w);
    } else if (w->predicted - w->learned > w->in_flight) {
        learn(w);
    }
}

void warm_begin(struct warmer *w, const struct engine *engine, struct engine_state *e)
{
    w->parts = core_warm_parts(w->core);
    unsigned in_flight = w->parts.rob_size / 16;
    w->in_flight = in_flight < WARM_BRANCHES ? in_flight : WARM_BRANCHES - 1;
    for (w->ring_mask = 0; w->ring_mask < w->in_flight;)
        w->ring_mask = 2 * w->ring_mask + 1;
    struct engine_hooks hooks = {
        .watch = watch,
        .line_bytes = w->parts.line_bytes,
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
    const struct memsys_counts *n = memsys_warm_counts(w->parts.memsys);
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
    warm_settle(w);
    core_forget_code(w->core);
}
