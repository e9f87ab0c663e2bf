/* Builds a core from its configuration. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/core_priv.h"

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
        .memory_write_cycles = (unsigned)k->memory_write_cycles,
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

struct memsys *core_new_memsys(const struct core_config *config, struct error *err)
{
    struct memsys_config m = memsys_config_of(config);
    return memsys_new(&m, err);
}

static unsigned limit_or(uint64_t value, unsigned otherwise)
{
    return value ? (unsigned)value : otherwise;
}

void core_time_classes(const struct core_config *k, struct class_timing timing[CLASS_COUNT])
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

void core_count_units(const struct core_config *k, uint8_t units[POOLS])
{
    const uint8_t of[POOLS] = {[POOL_ALU] = (uint8_t)k->units_alu,          [POOL_MULDIV] = (uint8_t)k->units_muldiv,
                               [POOL_BRANCH] = (uint8_t)k->units_branch,    [POOL_LOAD] = (uint8_t)k->units_load,
                               [POOL_STORE] = (uint8_t)k->units_store,      [POOL_FPU] = (uint8_t)k->units_fpu,
                               [POOL_FPMULDIV] = (uint8_t)k->units_fpmuldiv};
    memcpy(units, of, sizeof of);
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
    c->limits_by_class = k->iq_int || k->iq_fp || k->iq_mem || k->rename_int_regs || k->rename_fp_regs;
    core_count_units(k, c->units);
    c->order = (enum issue_order)k->issue_order;
    c->misfetch_cycles = (unsigned)k->branch_misfetch_cycles;
    c->perfect_branch = k->perfect_branch;
    c->at_head = c->order == ISSUE_IN_ORDER_SERIAL ? IS_INSN : IS_AT_HEAD;
    c->all_notable = c->limits_by_class;
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
    c->cold = calloc(slots, sizeof *c->cold);
    c->wheel = calloc((size_t)WHEEL * c->words, sizeof *c->wheel);
    c->branch = calloc(slots, sizeof *c->branch);
    c->store = calloc(c->store_mask + 1, sizeof *c->store);
    if (c->window == NULL || c->cold == NULL || c->wheel == NULL || c->branch == NULL || c->store == NULL)
        return error_set(err, -ENOMEM, "out of memory for the core");
    memset(c->window, 0, slots * sizeof *c->window);
    if (paths_init(&c->paths, memory, slots, err) != 0)
        return -ENOMEM;
    c->codes = code_new(memory, &c->paths.writable, err);
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
    core_time_classes(config, c->timing);
    c->memsys_config = memsys_config_of(config);
    if (allocate(c, config, memory, err) != 0) {
        core_free(c);
        return NULL;
    }
    c->head = c->dispatched = c->tail = c->issue_next = 1; /* position 0 is older than every instruction */
    c->chosen_id = NEVER;
    c->counters = (struct hart_counters){core_read_counter, c};
    c->paths.right = c->paths.hart = &c->idle_hart;
    c->line_start = c->line_before = NEVER;
    c->next_check_cycle = c->turn_cycles = c->turn_end = NEVER;
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
    free(c->cold);
    free(c->wheel);
    free(c);
}
