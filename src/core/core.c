#include "core/core.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/core_priv.h"

/* ---- from the configuration */

static struct branch_config branch_config_of(const struct core_config *k)
{
    return (struct branch_config){.direction = (unsigned)k->branch_predictor,
                                  .bimodal_bits = (unsigned)k->branch_bimodal_bits,
                                  .gshare_bits = (unsigned)k->branch_gshare_bits,
                                  .history_bits = (unsigned)k->branch_history_bits,
                                  .chooser_bits = (unsigned)k->branch_chooser_bits,
                                  .tage_tables = (unsigned)k->branch_tage_tables,
                                  .tage_bits = (unsigned)k->branch_tage_bits,
                                  .tage_tag_bits = (unsigned)k->branch_tage_tag_bits,
                                  .tage_min_history = (unsigned)k->branch_tage_min_history,
                                  .tage_max_history = (unsigned)k->branch_tage_max_history,
                                  .btb_entries = (unsigned)k->branch_btb_entries,
                                  .btb_ways = (unsigned)k->branch_btb_ways,
                                  .ras_entries = (unsigned)k->branch_ras_entries,
                                  .indirect_bits = (unsigned)k->branch_indirect_bits};
}

#define CACHE_OF(k, level)                                                                                             \
    (struct cache_config)                                                                                              \
    {                                                                                                                  \
        .name = #level, .size_bytes = (k)->level##_size, .ways = (unsigned)(k)->level##_ways,                          \
        .line_bytes = (unsigned)(k)->level##_line, .latency = (unsigned)(k)->level##_latency,                          \
        .ports = (unsigned)(k)->level##_ports, .mshrs = (unsigned)(k)->level##_mshrs,                                  \
        .replacement = (unsigned)(k)->level##_replacement, .write = WRITE_BACK, .allocate_on_store = true,             \
        .prefetch = (unsigned)(k)->level##_prefetch, .prefetch_degree = (unsigned)(k)->level##_prefetch_degree         \
    }

static struct memsys_config memsys_config_of(const struct core_config *k)
{
    struct memsys_config m = {
        .l1i = CACHE_OF(k, l1i),
        .l1d = CACHE_OF(k, l1d),
        .l2 = CACHE_OF(k, l2),
        .l3 = CACHE_OF(k, l3),
        .itlb = {"itlb", (unsigned)k->itlb_entries, (unsigned)k->itlb_ways, 0},
        .dtlb = {"dtlb", (unsigned)k->dtlb_entries, (unsigned)k->dtlb_ways, 0},
        .l2tlb = {"l2tlb", (unsigned)k->l2tlb_entries, (unsigned)k->l2tlb_ways, (unsigned)k->l2tlb_latency},
        .page_bytes = (unsigned)k->tlb_page,
        .walk_latency = (unsigned)k->tlb_walk_latency,
        .memory_latency = (unsigned)k->memory_latency,
        .memory_bytes_per_cycle = (unsigned)k->memory_bytes_per_cycle,
        .bus_bytes = (unsigned)k->bus_width,
        .perfect_l1i = k->perfect_l1i,
        .perfect_l2i = k->perfect_l2i,
        .perfect_itlb = k->perfect_itlb,
        .perfect_l1d = k->perfect_l1d,
        .perfect_l2d = k->perfect_l2d,
        .perfect_dtlb = k->perfect_dtlb,
    };
    m.l1d.write = k->l1d_write ? WRITE_THROUGH : WRITE_BACK;
    m.l1d.allocate_on_store = k->l1d_allocate;
    return m;
}

static unsigned limit_or(uint64_t value, unsigned otherwise)
{
    return value ? (unsigned)value : otherwise;
}

static void set_units(struct core *c, const struct core_config *k)
{
    const unsigned latency[CLASS_COUNT] = {
        [CLASS_ALU] = (unsigned)k->alu_latency,     [CLASS_MUL] = (unsigned)k->mul_latency,
        [CLASS_DIV] = (unsigned)k->div_latency,     [CLASS_BRANCH] = (unsigned)k->branch_latency,
        [CLASS_LOAD] = (unsigned)k->l1d_latency,    [CLASS_STORE] = 1,
        [CLASS_FPADD] = (unsigned)k->fpadd_latency, [CLASS_FPMUL] = (unsigned)k->fpmul_latency,
        [CLASS_FPDIV] = (unsigned)k->fpdiv_latency, [CLASS_FPSQRT] = (unsigned)k->fpsqrt_latency,
    };
    const bool pipelined[CLASS_COUNT] = {
        [CLASS_ALU] = true,
        [CLASS_MUL] = k->mul_pipelined,
        [CLASS_DIV] = k->div_pipelined,
        [CLASS_BRANCH] = true,
        [CLASS_LOAD] = true,
        [CLASS_STORE] = true,
        [CLASS_FPADD] = k->fpadd_pipelined,
        [CLASS_FPMUL] = k->fpmul_pipelined,
        [CLASS_FPDIV] = k->fpdiv_pipelined,
        [CLASS_FPSQRT] = k->fpsqrt_pipelined,
    };
    for (unsigned i = 0; i < CLASS_COUNT; i++) {
        bool ideal = k->perfect_units && i != CLASS_LOAD;
        c->latency[i] = ideal ? 1 : latency[i];
        c->interval[i] = pipelined[i] || ideal ? 1 : latency[i];
    }
    uint8_t fpmul = k->fpmul_unit ? POOL_FPU : POOL_FPMULDIV;
    const uint8_t pool[CLASS_COUNT] = {
        [CLASS_ALU] = POOL_ALU,    [CLASS_MUL] = POOL_MULDIV,
        [CLASS_DIV] = POOL_MULDIV, [CLASS_BRANCH] = k->branch_unit ? POOL_BRANCH : POOL_ALU,
        [CLASS_LOAD] = POOL_LOAD,  [CLASS_STORE] = k->store_unit ? POOL_STORE : POOL_LOAD,
        [CLASS_FPADD] = POOL_FPU,  [CLASS_FPMUL] = fpmul,
        [CLASS_FPDIV] = fpmul,     [CLASS_FPSQRT] = fpmul,
    };
    memcpy(c->pool_of, pool, sizeof pool);
    const unsigned units[POOLS] = {(unsigned)k->units_alu,     (unsigned)k->units_muldiv, (unsigned)k->units_branch,
                                   (unsigned)k->units_load,    (unsigned)k->units_store,  (unsigned)k->units_fpu,
                                   (unsigned)k->units_fpmuldiv};
    memcpy(c->units, units, sizeof units);
}

static void set_limits(struct core *c, const struct core_config *k)
{
    const unsigned any = 1u << 30;
    c->fetch_width = (unsigned)k->fetch_width;
    c->fetch_lines = (unsigned)k->fetch_lines;
    c->fetch_branches = (unsigned)k->fetch_branches;
    c->front_stages = (unsigned)k->frontend_stages;
    c->decode_width = (unsigned)k->decode_width;
    c->dispatch_width = (unsigned)k->dispatch_width;
    c->issue_width = (unsigned)k->issue_width;
    c->commit_width = (unsigned)k->commit_width;
    c->bundle = (unsigned)k->dispatch_bundle;
    c->rob_size = (unsigned)k->rob_size;
    c->front_size = (unsigned)(k->fetch_buffer + k->decode_width * k->frontend_stages);
    c->iq_size = limit_or(k->iq_size, any);
    c->queue_size[QUEUE_INT] = limit_or(k->iq_int, any);
    c->queue_size[QUEUE_FP] = limit_or(k->iq_fp, any);
    c->queue_size[QUEUE_MEM] = limit_or(k->iq_mem, any);
    c->lsq_size = limit_or(k->lsq_size, any);
    c->lsq_loads = limit_or(k->lsq_loads, any);
    c->lsq_stores = limit_or(k->lsq_stores, any);
    c->store_buffer_size = (unsigned)k->store_buffer_size;
    c->int_regs = k->rename_int_regs ? (unsigned)k->rename_int_regs - 31 : any;
    c->fp_regs = k->rename_fp_regs ? (unsigned)k->rename_fp_regs - 32 : any;
    c->forward_latency = (unsigned)k->lsq_forward_latency;
    c->line_shift = (unsigned)__builtin_ctzll(k->l1i_line);
    c->order = (enum issue_order)k->issue_order;
    c->misfetch_cycles = (unsigned)k->branch_misfetch_cycles;
    c->perfect_branch = k->perfect_branch;
}

static uint32_t power_of_two(uint32_t least)
{
    uint32_t n = 64;
    while (n < least)
        n *= 2;
    return n;
}

static int allocate(struct core *c, const struct core_config *k, struct guest_memory *memory, struct error *err)
{
    uint32_t slots = power_of_two(c->rob_size + c->front_size);
    assert(slots <= 64 * WINDOW_WORDS);
    c->mask = slots - 1;
    c->words = slots / 64;
    c->branch_mask = slots - 1;
    c->store_mask = power_of_two(slots + c->store_buffer_size) - 1;
    c->window = calloc(slots, sizeof *c->window);
    c->branch = calloc(slots, sizeof *c->branch);
    c->store = calloc(c->store_mask + 1, sizeof *c->store);
    c->held_by = calloc(slots, sizeof *c->held_by);
    if (c->window == NULL || c->branch == NULL || c->store == NULL || c->held_by == NULL)
        return error_set(err, -ENOMEM, "out of memory for the core");
    if (paths_init(&c->paths, memory, slots, err) != 0)
        return -ENOMEM;
    c->codes = code_new(memory, err);
    if (c->codes == NULL)
        return -ENOMEM;
    c->memsys = memsys_new(&c->memsys_config, err);
    if (c->memsys == NULL)
        return -EINVAL;
    struct branch_config b = branch_config_of(k);
    if (!c->perfect_branch && (c->predictor = branch_new(&b, err)) == NULL)
        return -EINVAL;
    return 0;
}

struct core *core_new(const struct core_config *config, struct guest_memory *memory, struct error *err)
{
    struct core *c = calloc(1, sizeof *c);
    if (c == NULL) {
        error_set(err, -ENOMEM, "out of memory for the core");
        return NULL;
    }
    set_limits(c, config);
    set_units(c, config);
    c->memsys_config = memsys_config_of(config);
    if (allocate(c, config, memory, err) != 0) {
        core_free(c);
        return NULL;
    }
    memset(c->wheel, 0xff, sizeof c->wheel);
    memset(c->map, 0xff, sizeof c->map);
    c->line[0] = c->line[1] = NEVER;
    c->now = 1;
    return c;
}

void core_free(struct core *c)
{
    if (c == NULL)
        return;
    if (c->paths.memory)
        guest_watch_code(c->paths.memory, NULL, NULL);
    branch_free(c->predictor);
    memsys_free(c->memsys);
    code_free(c->codes);
    paths_free(&c->paths);
    free(c->window);
    free(c->branch);
    free(c->store);
    free(c->held_by);
    free(c);
}

void core_observe(struct core *c, const struct core_observer *o)
{
    core_counts(c);
    c->observer = o ? *o : (struct core_observer){0};
}

void core_step_every_cycle(struct core *c, bool step)
{
    c->step = step;
}

void core_view(const struct core *c, const struct flight *f, struct insn_view *v)
{
    *v = (struct insn_view){.id = f->id,
                            .pc = f->pc,
                            .addr = f->addr,
                            .bits = f->code->bits,
                            .events = f->events,
                            .slot = (uint16_t)slot_of(c, f),
                            .class = f->code->class,
                            .wrong_path = f->flags & WRONG_PATH,
                            .control = f->code->flags & IS_CONTROL,
                            .conditional = f->code->flags & IS_CONDITIONAL,
                            .taken = f->flags & TAKEN,
                            .mispredicted = f->flags & MISPREDICTED};
}

/* ---- records */

static void flush_records(struct core *c)
{
    const struct cycle_record *r = &c->pending;
    uint64_t n = c->pending_cycles;
    if (n == 0)
        return;
    struct core_counts *k = &c->counts;
    k->cycles += n;
    k->fetch_stop[r->fetch_stop] += n;
    k->dispatch_stop[r->dispatch_stop] += n;
    k->issue_stop[r->issue_stop] += n;
    k->commit_stop[r->commit_stop] += n;
    k->head_wait[r->head_wait] += n;
    k->rob_occupancy += r->rob * n;
    k->rob_full_cycles += r->flags & CYCLE_ROB_FULL ? n : 0;
    k->wrong_path_cycles += r->flags & CYCLE_WRONG_PATH ? n : 0;
    if (c->observer.cycles)
        c->observer.cycles(c->observer.context, r, n);
    c->pending_cycles = 0;
}

static void note_record(struct core *c)
{
    c->record.rob = (uint16_t)c->rob_used;
    c->record.flags =
        (uint8_t)((c->rob_used >= c->rob_size ? CYCLE_ROB_FULL : 0) | (c->paths.level > 0 ? CYCLE_WRONG_PATH : 0));
    if (memcmp(&c->record, &c->pending, sizeof c->record) != 0) {
        flush_records(c);
        c->pending = c->record;
    }
    c->pending_cycles++;
}

const struct core_counts *core_counts(struct core *c)
{
    flush_records(c);
    return &c->counts;
}

struct memsys *core_memsys(struct core *c)
{
    return c->memsys;
}

struct branch_unit *core_branch_unit(struct core *c)
{
    return c->predictor;
}

/* ---- time */

/* The first cycle after this one in which anything can happen, given that nothing happened in this one. */
static uint64_t next_event(const struct core *c)
{
    uint64_t next = wheel_next(c), other = lsq_next(c);
    if (other < next)
        next = other;
    if (!c->serializing && !c->fetch_lost && c->fetch_resume > c->now && c->fetch_resume < next)
        next = c->fetch_resume;
    if (c->dispatched < c->tail) {
        uint64_t when = c->window[c->dispatched & c->mask].when;
        if (when > c->now && when < next)
            next = when;
    }
    for (unsigned p = 0; p < POOLS; p++)
        if (c->ready_count[p] && c->pool_busy[p] > c->now)
            for (unsigned u = 0; u < c->units[p]; u++)
                if (c->busy_until[p][u] > c->now && c->busy_until[p][u] < next)
                    next = c->busy_until[p][u];
    return next;
}

static void run_cycle(struct core *c)
{
    c->record = (struct cycle_record){0};
    c->active = false;
    core_commit(c);
    core_complete(c);
    core_issue(c);
    core_drain_stores(c);
    core_dispatch(c);
    core_fetch(c);
    note_record(c);
    if (!c->active && !c->run_over && !c->step) {
        uint64_t next = next_event(c);
        assert(next != NEVER && next > c->now);
        c->pending_cycles += next - c->now - 1;
        c->now = next - 1;
    }
    c->now++;
}

void core_run(struct core *c, struct hart *h)
{
    h->budget = h->quantum;
    h->trap = c->trap = TRAP_NONE;
    c->run_over = false;
    if (h != c->last_hart || h->pc != c->last_pc) {
        c->serializing = true;
        c->line[0] = c->line[1] = NEVER;
    }
    guest_watch_code(c->paths.memory, code_changed, c->codes);
    paths_enter(&c->paths, h);
    while (!c->run_over)
        run_cycle(c);
    paths_leave(&c->paths);
    h->trap = c->trap;
    h->trap_value = c->trap_value;
    c->trap = TRAP_NONE;
    c->last_hart = h;
    c->last_pc = h->pc;
}

/* With its quantum used up, fetch brings nothing more. */
void core_drain(struct core *c)
{
    while (c->head != c->tail)
        run_cycle(c);
}
