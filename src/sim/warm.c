#include "sim/warm.h"

#include <string.h>

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

/* ---- lines and pages used last in their sets */

enum { INSNS_PER_TRANSFER = 6 }; /* about */
enum { FETCHES, DATA };          /* indices of warmer.sets and warmer.recent */

/* Lists nothing. A table with fewer entries than there are sets is right, too: an entry stands for several sets, and
 * has what was used last in one of them. */
static void forget_recent(struct warmer *w, unsigned kind)
{
    struct engine_filter *f = &w->recent[kind];
    const struct memsys_sets *s = &w->sets[kind];
    f->line_shift = (unsigned)__builtin_ctz(s->line_bytes);
    f->page_shift = s->page_shift;
    f->line_mask = (s->lines < FILTER_LINES ? s->lines : FILTER_LINES) - 1;
    f->page_mask = (s->pages < FILTER_PAGES ? s->pages : FILTER_PAGES) - 1;
    memset(f->line, 0xff, sizeof f->line);
    memset(f->page, 0xff, sizeof f->page);
}

/* Whether the page of an access is listed. Lists it. */
static bool is_recent_page(struct engine_filter *f, uint64_t addr)
{
    uint64_t page = addr >> f->page_shift, *entry = &f->page[page & f->page_mask];
    bool listed = *entry == page;
    *entry = page;
    return listed;
}

/* Lists the line of an access, which lies within it. */
static void list_line(struct engine_filter *f, uint64_t addr, bool store)
{
    uint64_t line = addr >> f->line_shift, *entry = &f->line[line & f->line_mask];
    *entry = line << 1 | (store || *entry == (line << 1 | 1));
}

/* After an access that was no plain hit: lists none of the lines whose sets may have changed. */
static void forget_lines(struct warmer *w, unsigned kind, uint64_t addr, unsigned bytes)
{
    struct engine_filter *f = &w->recent[kind];
    if (w->sets[kind].crossed)
        memset(f->line, 0xff, sizeof f->line);
    for (uint64_t line = addr >> f->line_shift; line <= (addr + bytes - 1) >> f->line_shift; line++)
        f->line[line & f->line_mask] = FILTER_NONE;
}

static void fetch_line(void *context, uint64_t addr)
{
    struct warmer *w = context;
    struct engine_filter *f = &w->recent[FETCHES];
    uint64_t place = core_place(w->parts.space, addr);
    if (!is_recent_page(f, addr))
        memsys_warm_fetch_page(w->parts.memsys, place);
    bool plain = memsys_warm_fetch_line(w->parts.memsys, place);
    if (!plain)
        forget_lines(w, FETCHES, addr, 1);
    if (plain || w->sets[FETCHES].keeps)
        list_line(f, addr, false);
}

/* After a load that was no plain hit. Misses of the last cache overlap if both loads are in the window. */
static void note_load_miss(struct warmer *w)
{
    const struct memsys_counts *n = memsys_warm_counts(w->parts.memsys);
    uint64_t misses = n->l2d.misses[0] - n->l2d.store_misses;
    if (misses == w->load_misses)
        return;
    w->load_misses = misses;
    uint64_t now = w->transfers + w->engine->transfers_waiting(w->engine_state);
    if (now - w->leading_at > w->parts.rob_size / INSNS_PER_TRANSFER) {
        w->leading_misses++;
        w->leading_at = now;
    }
}

static void access_data(void *context, uint64_t addr, unsigned bytes, bool store, uint64_t pc)
{
    struct warmer *w = context;
    struct engine_filter *f = &w->recent[DATA];
    w->addr = addr;
    if (bytes == ZEROED_BYTES)
        addr &= ~(uint64_t)(ZEROED_BYTES - 1);
    uint64_t place = core_place(w->parts.space, addr);
    if (!is_recent_page(f, addr))
        memsys_warm_data_page(w->parts.memsys, place);
    bool plain = memsys_warm_data_line(w->parts.memsys, place, bytes, pc, store);
    if (!plain) {
        forget_lines(w, DATA, addr, bytes);
        if (!store)
            note_load_miss(w);
    }
    if (plain || (w->sets[DATA].keeps && !store && (addr & (bytes - 1)) == 0 && bytes <= w->sets[DATA].line_bytes))
        list_line(f, addr, store);
    if (w->strides)
        f->page[addr >> f->page_shift & f->page_mask] = FILTER_NONE; /* they learn from every load */
}

/* Hook `result`: `value` is what the load at w->addr loaded. */
static void load(void *context, uint64_t pc, uint64_t value)
{
    const struct warmer *w = context;
    strides_judge(w->parts.strides, pc, w->addr, value);
}

/* ---- branches */

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

void warm_put_flight(const struct warmer *w, struct warm_flight *to)
{
    memset(to, 0, sizeof *to);
    to->since_leading = w->transfers - w->leading_at;
    for (unsigned i = w->learned; i != w->predicted; i++)
        to->branch[to->count++] = w->branch[i & w->ring_mask];
}

void warm_get_flight(struct warmer *w, const struct warm_flight *from)
{
    w->leading_at = w->transfers - from->since_leading;
    for (unsigned i = 0; i < from->count; i++)
        w->branch[w->predicted++ & w->ring_mask] = from->branch[i];
}

/* Fills in the branch that `t` is. Arithmetic, since the host would mispredict branches. */
static inline void describe(struct warm_branch *b, const struct engine_transfer *t)
{
    struct branch_record *r = &b->record;
    uint64_t falls = t->target == NOT_TAKEN;
    r->pc = t->at.pc;
    r->fallthrough = r->pc + t->at.length;
    r->direct = t->at.direct;
    r->kind = t->at.kind;
    b->next = (t->target & (falls - 1)) | (r->fallthrough & -falls);
    b->taken = (r->kind != BRANCH_CONDITIONAL) | (b->next != r->fallthrough);
}

static void transfers_of_any(struct warmer *w, const struct engine_transfer *t, size_t count)
{
    for (; count > 0; t++, count--) {
        struct warm_branch *b = &w->branch[w->predicted++ & w->ring_mask];
        describe(b, t);
        bool wrong = b->record.kind == BRANCH_CONDITIONAL
                         ? branch_warm_conditional(w->parts.predictor, &b->record, b->taken, b->next)
                         : branch_warm_jump(w->parts.predictor, &b->record, b->next);
        w->mispredictions += wrong;
        while (w->predicted - w->learned > (wrong ? 0 : w->in_flight))
            learn(w);
    }
}

/* The same with all hot state in local variables. */
static void transfers_of_view(struct warmer *w, const struct engine_transfer *t, size_t count)
{
    struct branch_view v = branch_open(w->parts.predictor);
    unsigned predicted = w->predicted, learned = w->learned, in_flight = w->in_flight, ring_mask = w->ring_mask;
    uint64_t mispredictions = 0;
    for (; count > 0; t++, count--) {
        struct warm_branch *b = &w->branch[predicted++ & ring_mask];
        describe(b, t);
        bool wrong = b->record.kind == BRANCH_CONDITIONAL ? branch_view_conditional(&v, &b->record, b->taken)
                                                          : branch_warm_jump(v.unit, &b->record, b->next);
        mispredictions += wrong;
        for (unsigned left = wrong ? 0 : in_flight; predicted - learned > left; learned++) {
            const struct warm_branch *oldest = &w->branch[learned & ring_mask];
            branch_view_retire(&v, &oldest->record, oldest->taken, oldest->next);
        }
    }
    branch_close(&v);
    w->predicted = predicted;
    w->learned = learned;
    w->mispredictions += mispredictions;
}

/* Counts each transfer in the code counts that its place belongs to: those whose bit is set in a hash of its pc. Eight
 * counts of 16 bits are added at a time. */
static void count_code(struct warmer *w, const struct engine_transfer *t, size_t count)
{
    typedef uint16_t lanes __attribute__((vector_size(16)));
    const lanes bit = {1, 2, 4, 8, 16, 32, 64, 128};
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    _Static_assert(WARM_CODES == 16, "two vectors of eight counts");
    while (count > 0) {
        lanes low = {0}, high = {0};
        size_t some = count < UINT16_MAX ? count : UINT16_MAX;
        for (size_t i = 0; i < some; i++) {
            uint16_t hash = (uint16_t)(t[i].at.pc * odd >> 48);
            lanes all = {hash, hash, hash, hash, hash, hash, hash, hash};
            low -= (lanes)((all & bit) == bit);
            high -= (lanes)((all >> 8 & bit) == bit);
        }
        for (unsigned k = 0; k < 8; k++) {
            w->code[k] += low[k];
            w->code[8 + k] += high[k];
        }
        t += some;
        count -= some;
    }
}

static void transfers(void *context, const struct engine_transfer *t, size_t count)
{
    struct warmer *w = context;
    w->transfers += count;
    count_code(w, t, count);
    if (branch_can_view(w->parts.predictor))
        transfers_of_view(w, t, count);
    else
        transfers_of_any(w, t, count);
}

void warm_begin(struct warmer *w, const struct engine *engine, struct engine_state *e)
{
    w->engine = engine;
    w->engine_state = e;
    w->parts = core_warm_parts(w->core);
    unsigned in_flight = w->parts.rob_size / 16;
    w->in_flight = in_flight < WARM_BRANCHES ? in_flight : WARM_BRANCHES - 1;
    for (w->ring_mask = 0; w->ring_mask < w->in_flight;)
        w->ring_mask = 2 * w->ring_mask + 1;
    for (unsigned kind = FETCHES; kind <= DATA; kind++) {
        w->sets[kind] = memsys_warm_sets(w->parts.memsys, kind == DATA);
        forget_recent(w, kind);
    }
    struct engine_hooks hooks = {
        .watch = watch,
        .line_bytes = w->parts.line_bytes,
        .line = fetch_line,
        .fetched = &w->recent[FETCHES],
        .access = access_data,
        .accessed = &w->recent[DATA],
        .result = load,
        .transfers = transfers,
        .context = w,
    };
    engine->set_hooks(e, &hooks);
}

void warm_read(const struct warmer *w, uint64_t to[WARM_COUNTS])
{
    const struct memsys_counts *n = memsys_warm_counts(w->parts.memsys);
    to[WARM_TRANSFERS] = w->transfers;
    to[WARM_MISPREDICTIONS] = w->mispredictions;
    to[WARM_L1I] = n->l1i.misses[0];
    to[WARM_L1D] = n->l1d.misses[0] - n->l1d.store_misses;
    to[WARM_L1D_STORES] = n->l1d.store_misses;
    to[WARM_L2I] = n->l2i.misses[0];
    to[WARM_L2D] = n->l2d.misses[0] - n->l2d.store_misses;
    to[WARM_L2D_STORES] = n->l2d.store_misses;
    to[WARM_L2D_LEADING] = w->leading_misses;
    to[WARM_L3] = n->l3i.misses[0] + n->l3d.misses[0];
    to[WARM_FETCH_WALKS] = n->itlb_walks[0];
    to[WARM_DATA_WALKS] = n->dtlb_walks[0];
    for (unsigned k = 0; k < WARM_CODES; k++)
        to[WARM_CODE + k] = w->code[k];
}

void warm_end(struct warmer *w)
{
    warm_settle(w);
    core_forget_code(w->core);
}
