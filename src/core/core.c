#include "core/core.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/core_priv.h"
#include "riscv/csr.h"
#include "riscv/host_fpu.h"

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

/* How this core executes each class of instructions. */
static void time_classes(const struct core_config *k, struct class_timing timing[CLASS_COUNT])
{
    const uint8_t fpmul = k->fpmul_unit ? POOL_FPU : POOL_FPMULDIV;
    const struct {
        uint64_t latency;
        bool pipelined;
        uint16_t pool, queue;
    } row[CLASS_COUNT] = {
        [CLASS_ALU] = {k->alu_latency, true, POOL_ALU, QUEUE_INT},
        [CLASS_MUL] = {k->mul_latency, k->mul_pipelined, POOL_MULDIV, QUEUE_INT},
        [CLASS_DIV] = {k->div_latency, k->div_pipelined, POOL_MULDIV, QUEUE_INT},
        [CLASS_BRANCH] = {k->branch_latency, true, k->branch_unit ? POOL_BRANCH : POOL_ALU, QUEUE_INT},
        [CLASS_LOAD] = {k->l1d_latency, true, POOL_LOAD, QUEUE_MEM},
        [CLASS_STORE] = {1, true, k->store_unit ? POOL_STORE : POOL_LOAD, QUEUE_MEM},
        [CLASS_FPADD] = {k->fpadd_latency, k->fpadd_pipelined, POOL_FPU, QUEUE_FP},
        [CLASS_FPMUL] = {k->fpmul_latency, k->fpmul_pipelined, fpmul, QUEUE_FP},
        [CLASS_FPDIV] = {k->fpdiv_latency, k->fpdiv_pipelined, fpmul, QUEUE_FP},
        [CLASS_FPSQRT] = {k->fpsqrt_latency, k->fpsqrt_pipelined, fpmul, QUEUE_FP},
    };
    for (unsigned i = 0; i < CLASS_COUNT; i++) {
        uint16_t latency = k->perfect_units && i != CLASS_LOAD ? 1 : (uint16_t)row[i].latency;
        timing[i] = (struct class_timing){
            .latency = latency, .interval = row[i].pipelined ? 1 : latency, .pool = row[i].pool, .queue = row[i].queue};
    }
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
    c->pipe_size = (unsigned)(k->decode_width * k->frontend_stages);
    c->front_size = (unsigned)k->fetch_buffer + c->pipe_size;
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
    c->load_latency = (unsigned)k->l1d_latency;
    c->fetch_latency = (unsigned)k->l1i_latency;
    c->line_bytes = (unsigned)k->l1i_line;
    c->scarce = k->iq_int || k->iq_fp || k->iq_mem || k->rename_int_regs || k->rename_fp_regs;
    const uint8_t units[8] = {[POOL_ALU] = (uint8_t)k->units_alu,          [POOL_MULDIV] = (uint8_t)k->units_muldiv,
                              [POOL_BRANCH] = (uint8_t)k->units_branch,    [POOL_LOAD] = (uint8_t)k->units_load,
                              [POOL_STORE] = (uint8_t)k->units_store,      [POOL_FPU] = (uint8_t)k->units_fpu,
                              [POOL_FPMULDIV] = (uint8_t)k->units_fpmuldiv};
    memcpy(c->units, units, sizeof units);
    c->order = (enum issue_order)k->issue_order;
    c->misfetch_cycles = (unsigned)k->branch_misfetch_cycles;
    c->perfect_branch = k->perfect_branch;
    c->at_head = c->order == ISSUE_IN_ORDER_SERIAL ? IS_INSN : IS_AT_HEAD;
    c->all_notable = c->scarce;
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
    c->window = aligned_alloc(64, slots * sizeof *c->window);
    c->more = calloc(slots, sizeof *c->more);
    c->wheel = calloc((size_t)WHEEL * c->words, sizeof *c->wheel);
    c->branch = calloc(slots, sizeof *c->branch);
    c->store = calloc(c->store_mask + 1, sizeof *c->store);
    if (c->window == NULL || c->more == NULL || c->wheel == NULL || c->branch == NULL || c->store == NULL)
        return error_set(err, -ENOMEM, "out of memory for the core");
    memset(c->window, 0, slots * sizeof *c->window);
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

static uint64_t read_counter(void *context, unsigned counter);
static void flush_records(struct core *c);

struct core *core_new(const struct core_config *config, struct guest_memory *memory, struct error *err)
{
    struct core *c = calloc(1, sizeof *c);
    if (c == NULL) {
        error_set(err, -ENOMEM, "out of memory for the core");
        return NULL;
    }
    set_limits(c, config);
    time_classes(config, c->timing);
    c->memsys_config = memsys_config_of(config);
    if (allocate(c, config, memory, err) != 0) {
        core_free(c);
        return NULL;
    }
    c->head = c->dispatched = c->tail = c->issue_next = 1; /* 0 is before every position */
    c->chosen = NEVER;
    c->counters = (struct hart_counters){read_counter, c};
    c->paths.right = c->paths.hart = &c->nobody;
    c->line_start = c->line_before = NEVER;
    c->look = c->turn_cycles = c->turn_end = NEVER;
    c->run = c->runs;
    c->run_end = &c->runs[RUNS - 1];
    c->now = 1;
    return c;
}

void core_free(struct core *c)
{
    if (c == NULL)
        return;
    if (c->paths.memory)
        guest_watch_code(c->paths.memory, NULL, NULL);
    machine_free(c->machine);
    strides_free(&c->strides);
    branch_free(c->predictor);
    memsys_free(c->memsys);
    code_free(c->codes);
    paths_free(&c->paths);
    free(c->window);
    free(c->branch);
    free(c->store);
    free(c->more);
    free(c->wheel);
    free(c);
}

/* What is told to whom, and whether each cycle is looked at. */
void core_set_watching(struct core *c)
{
    c->watching = c->observer.each_cycle || c->machine || c->turn_cycles != NEVER;
    c->watches = 0;
    for (unsigned i = 0; i < CORE_WATCHES; i++)
        if (c->watch[i].limit != UINT64_MAX)
            c->watches = i + 1;
    c->watching |= c->watches > 0;
    bool late = !c->watching && (c->observer.cycles == NULL || c->observer.cycle_runs);
    c->run_end = &c->runs[late ? RUNS - 1 : 0];
}

void core_join_observers(struct core *c)
{
    flush_records(c);
    if (c->machine)
        observers_join(c);
    else
        c->observer = c->asked;
    const struct core_observer *o = &c->observer;
    bool insns = core_observes_insns(o);
    c->strides_asked |= o->strides && o->observed == OBSERVE_ALL;
    c->strides_only = c->strides_asked && (!insns || o->strides == STRIDES_ONLY);
    c->all_observed = (insns && o->observed == OBSERVE_ALL) || c->strides_asked;
    c->mark = c->miss_mark = insns && (o->observed == OBSERVE_CONTROL || o->observed == OBSERVE_MISSES) ? OBSERVED : 0;
    c->misses_observed = insns && o->observed == OBSERVE_MISSES;
    c->each_control_mark = insns && o->observed == OBSERVE_CONTROL ? OBSERVED : 0;
    c->all_notable = c->scarce || (c->all_observed && !c->strides_only);
    core_set_watching(c);
}

void core_observe(struct core *c, const struct core_observer *o)
{
    core_counts(c);
    c->asked = o ? *o : (struct core_observer){0};
    c->chosen = NEVER;
    c->captures = false;
    c->strides_asked = false;
    for (unsigned i = 0; i < CORE_WATCHES; i++)
        c->watch[i].limit = UINT64_MAX;
    core_join_observers(c);
    c->control_mark = c->each_control_mark;
    if (o && o->begin)
        o->begin(o->context, c, &c->counts);
}

void core_step_every_cycle(struct core *c, bool step)
{
    c->step = step;
}

void core_show(struct core *c, const struct flight *f, struct insn_view *v)
{
    flush_records(c);
    *v = (struct insn_view){.id = c->more[slot_of(c, f)].id,
                            .pc = f->pc,
                            .addr = f->code->flags & (IS_MEM | IS_CONTROL | IS_PREFETCH) ? f->addr : 0,
                            .bits = f->code->bits,
                            .events = f->events,
                            .slot = (uint16_t)slot_of(c, f),
                            .class = f->code->class,
                            .kind = f->code->control,
                            .size = f->code->mem_size,
                            .store = f->code->flags & IS_STORE && f->code->mem_size,
                            .tag = c->more[slot_of(c, f)].tag,
                            .wrong_path = f->flags & WRONG_PATH,
                            .control = f->code->flags & IS_CONTROL,
                            .conditional = f->code->flags & IS_CONDITIONAL,
                            .taken = f->flags & TAKEN,
                            .mispredicted = f->flags & MISPREDICTED,
                            .machine = c->machine_mode};
}

/* ---- records */

_Static_assert(sizeof(struct cycle_record) == 2 * sizeof(uint64_t), "a record is two words");

static void count_cycles(struct core_counts *k, const struct cycle_record *r, uint64_t n)
{
    k->cycles += n;
    k->fetch_stop[r->fetch_stop] += n;
    k->dispatch_stop[r->dispatch_stop] += n;
    k->issue_stop[r->issue_stop] += n;
    k->commit_stop[r->commit_stop] += n;
    k->head_wait[r->head_wait] += n;
    k->rob_occupancy += r->rob * n;
    k->rob_full_cycles += n & -(uint64_t)((r->flags & CYCLE_ROB_FULL) != 0);
    k->wrong_path_cycles += n & -(uint64_t)((r->flags & CYCLE_WRONG_PATH) != 0);
}

/* Counts them and tells them. What goes on after that is a run of the same record, with no cycles so far. */
static void flush_records(struct core *c)
{
    const struct core_observer *o = &c->observer;
    struct cycle_run *first = c->runs + (c->runs[0].cycles == 0), *last = c->run;
    if (c->telling || first > last)
        return;
    c->telling = true; /* who is told may ask */
    for (const struct cycle_run *r = first; r <= last; r++)
        count_cycles(&c->counts, &r->record, r->cycles);
    if (o->cycle_runs)
        o->cycle_runs(o->context, first, (unsigned)(last - first) + 1);
    else if (o->cycles)
        for (const struct cycle_run *r = first; r <= last; r++)
            o->cycles(o->context, &r->record, r->cycles);
    c->runs[0] = (struct cycle_run){.record = last->record};
    c->run = c->runs;
    c->telling = false;
}

static inline bool fetch_missed(uint64_t stages)
{
    unsigned moved = stages >> 8 * PLACE_FETCH & 0xff, stop = stages >> (32 + 8 * PLACE_FETCH) & 0xff;
    return UNLIKELY(stop >= FETCH_L1I && stop <= FETCH_MISFETCH) && moved == 0;
}

/* Up to which cycle the fetch buffer gives instructions to the stages behind it, if dispatch holds none of them up. */
static inline uint64_t buffer_lasts(const struct core *c)
{
    return c->decode_cycle - c->front_stages;
}

static inline bool starved(const struct core *c, uint64_t stages)
{
    return fetch_missed(stages) && (c->decode_cycle < c->front_stages || buffer_lasts(c) < c->now) &&
           c->tail - c->dispatched <= c->pipe_size;
}

/* The record is put together in registers: written as bytes and read back as words it would stall the host. */
static inline void note_record(struct core *c, uint64_t stages)
{
    uint64_t flags = (c->rob_used >= c->rob_size ? CYCLE_ROB_FULL : 0) | (c->paths.level > 0 ? CYCLE_WRONG_PATH : 0);
    if (UNLIKELY(starved(c, stages))) {
        flags |= CYCLE_STARVED;
        c->control_mark = c->miss_mark;
    }
    uint64_t rest = c->rob_used | (uint64_t)c->head_wait << 16 | flags << 24 | c->wrong, word[2];
    struct cycle_run *r = c->run;
    memcpy(word, &r->record, sizeof word);
    if (stages != word[0] || rest != word[1]) {
        if (UNLIKELY(r >= c->run_end)) {
            flush_records(c);
            r = c->run;
        } else {
            c->run = ++r;
        }
        memcpy(&r->record, (uint64_t[2]){stages, rest}, sizeof r->record);
        r->cycles = 0;
    }
    r->cycles++;
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

/* ---- for the guest: a counter is read when the window is empty, so that its value is exact */

static uint64_t read_counter(void *context, unsigned counter)
{
    struct core *c = context;
    const struct hart *h = c->paths.right;
    if (c->machine)
        return machine_counter(c, counter);
    if (counter == COUNTER_CYCLE)
        return c->cycles_before + c->now;
    if (counter == COUNTER_INSTRET)
        return h->retired + (uint64_t)(h->quantum - h->budget);
    flush_records(c);
    return c->observer.counter ? c->observer.counter(c->observer.context, counter) : 0;
}

/* ---- for observers */

void core_choose(struct core *c, uint64_t id)
{
    c->chosen = id ? id : NEVER;
}

uint64_t core_cycle(const struct core *c)
{
    return c->now;
}

uint64_t core_fetched(const struct core *c)
{
    return c->counts.fetched;
}

void core_capture(struct core *c, bool capture)
{
    c->captures = capture;
}

void core_watch(struct core *c, unsigned watch, const uint64_t *count, uint64_t limit)
{
    assert(watch < CORE_WATCHES);
    c->watch[watch] = (struct core_watch){count, limit};
    core_set_watching(c);
}

static void flush_if_each(struct core *c)
{
    if (c->observer.each_cycle)
        flush_records(c);
}

static void look_at_watches(struct core *c)
{
    flush_if_each(c);
    for (unsigned i = 0; i < c->watches; i++) {
        uint64_t value = c->watch[i].count ? *c->watch[i].count : c->now;
        if (value >= c->watch[i].limit && c->observer.reached)
            c->observer.reached(c->observer.context, i, c->now);
    }
    if (c->now >= c->look && c->machine)
        machine_look(c);
    else if (c->now >= c->look)
        core_look_at_turn(c);
}

uint64_t core_interrupt_pc(const struct core *c)
{
    return c->paths.right->pc;
}

void core_blame(struct core *c, struct insn_view *v)
{
    const struct flight *f = flight_at(c, c->head);
    if (c->head == c->dispatched && c->refill.empty)
        *v = (struct insn_view){.pc = c->refill.pc,
                                .tag = c->refill.tag,
                                .control = true,
                                .mispredicted = true,
                                .machine = c->machine_mode};
    else if (c->head != c->tail)
        core_show(c, f, v);
    else
        *v = (struct insn_view){
            .pc = core_interrupt_pc(c), .tag = c->observer.tag ? *c->observer.tag : 0, .machine = c->machine_mode};
}

/* ---- time */

/* The first cycle after this one in which anything can happen, given that nothing happened in this one. */
static uint64_t next_event(const struct core *c)
{
    uint64_t next = wheel_next(c), other = lsq_next(c);
    if (other < next)
        next = other;
    if (c->look < next)
        next = c->look;
    if (!c->serializing && !c->fetch_lost && c->fetch_resume > c->now && c->fetch_resume < next)
        next = c->fetch_resume;
    if (c->decode_cycle >= c->now + c->front_stages && buffer_lasts(c) + 1 < next)
        next = buffer_lasts(c) + 1;
    /* A bundle that cannot enter grows as more of it comes through the front end, and may lack something else then. */
    for (uint64_t p = c->dispatched; p < c->tail && p <= c->dispatched + c->bundle; p++) {
        uint64_t when = c->window[p & c->mask].when;
        if (when > c->now && when < next)
            next = when;
    }
    for (unsigned p = 0; p < POOLS; p++)
        if (c->ready_words)
            for (unsigned u = 0; u < c->units[p]; u++)
                if (c->busy_until[p][u] > c->now && c->busy_until[p][u] < next)
                    next = c->busy_until[p][u];
    return next;
}

static inline void run_cycle(struct core *c)
{
    c->active = false;
    c->wrong = c->mode_word;
    uint64_t stages = core_commit(c);
    core_complete(c);
    stages |= core_issue(c);
    if (c->store_head != c->store_commit)
        core_drain_stores(c);
    stages |= core_dispatch(c);
    c->stages = stages;
    stages |= core_fetch(c);
    note_record(c, stages);
    if (UNLIKELY(c->watching))
        flush_if_each(c);
    bool moved = (uint32_t)stages != 0;
    if (!moved && !c->active && !c->run_over && !c->step) {
        uint64_t next = next_event(c);
        assert(next != NEVER && next > c->now);
        c->run->cycles += next - c->now - 1;
        c->now = next - 1;
    }
    c->now++;
    if (UNLIKELY(c->watching))
        look_at_watches(c);
}

void core_set_trap(struct core *c, enum trap trap, uint64_t value)
{
    c->serializing = true;
    c->cause = CAUSE_SERIAL;
    if (c->machine_mode) {
        machine_except(c, trap, value);
    } else {
        c->trap = trap;
        c->trap_value = value;
    }
}

/* The host has faulted in an access at fetch, which ends the cycle: on the right path the guest gets its trap, a wrong
 * one goes nowhere. */
static void recover(struct core *c)
{
    unsigned fetched = (unsigned)(c->tail - c->group_start);
    if (c->paths.level == 0) {
        core_set_trap(c, c->fault.trap, c->fault.addr);
        c->paths.right->fflags |= host_fpu_flags(c->fault.mxcsr);
    } else {
        c->fetch_lost = true;
    }
    host_fpu_begin(c->paths.right->frm);
    paths_forget(&c->paths);
    c->counts.fetched += fetched;
    note_record(c, c->stages | stage_result(PLACE_FETCH, fetched, c->paths.level ? FETCH_LOST : FETCH_SERIAL));
    c->now++;
}

static __attribute__((noinline)) void run_cycles(struct core *c)
{
    while (!c->run_over)
        run_cycle(c);
}

void core_run(struct core *c, struct hart *h)
{
    h->budget = h->quantum;
    h->trap = c->trap = TRAP_NONE;
    if (c->last_hart == NULL)
        c->cycles_before = h->retired;
    h->counters = &c->counters;
    c->run_over = false;
    if (h != c->last_hart && c->observer.runs)
        c->observer.runs(c->observer.context, h);
    if (h != c->last_hart || h->pc != c->last_pc) {
        c->serializing = true;
        c->cause = c->last_hart ? CAUSE_SERIAL : CAUSE_NONE;
        c->line_start = c->line_before = NEVER;
    }
    guest_watch_code(c->paths.memory, code_changed, c->codes);
    paths_enter(&c->paths, h);
    if (c->machine)
        machine_begin_run(c, h);
    core_mark_path(c);
    c->fault.mem = c->paths.mem;
    host_fault_catch(&c->fault);
    if (sigsetjmp(c->fault.escape, 0) != 0)
        recover(c);
    run_cycles(c);
    host_fault_catch(NULL);
    if (c->machine)
        machine_end_run(c);
    paths_leave(&c->paths);
    h->counters = NULL;
    h->trap = c->trap;
    h->trap_value = c->trap_value;
    c->trap = TRAP_NONE;
    c->last_hart = h;
    c->last_pc = h->pc;
}

/* The thread that ran last may be gone: nobody stands in for it. As with a trap fetch waits until the window is empty,
 * and then on. */
void core_settle(struct core *c)
{
    c->paths.right = &c->nobody;
    if (c->paths.level == 0)
        c->paths.hart = &c->nobody;
    c->serializing = true;
    c->cause = CAUSE_SERIAL;
    c->trap = TRAP_EBREAK;
    while (c->head != c->tail || c->store_head != c->store_commit)
        run_cycle(c);
    c->trap = TRAP_NONE;
}

/* With its quantum used up, fetch brings nothing more. */
void core_drain(struct core *c)
{
    while (c->head != c->tail)
        run_cycle(c);
}
