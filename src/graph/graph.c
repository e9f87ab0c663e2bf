#include "graph/graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph_priv.h"
#include "graph/base_lanes.h"
#include "graph/what_if_lanes.h"

enum {
    HELD = 4096, /* instructions that may wait for stores, a power of two */
    BATCH =
        WHAT_IF_BATCH, /* instructions that are evaluated at once, so that the host's caches serve one task at a time */
    MARKS = HELD       /* marks that may wait */
};

struct graph {
    struct graph_core core;
    struct node_builder *builder;
    struct lanes *lanes;
    uint64_t space;              /* core_place */
    uint64_t retired, evaluated; /* instructions so far */
    uint64_t stores, drained;    /* stores that retired, and of these those that have reached the cache */
    struct held_insn held[HELD]; /* by number of the instruction */
    uint32_t store[HELD];        /* numbers of instructions, by number of the store */
    struct graph_node node[BATCH];
    struct what_if_lanes what_ifs;
    struct base_lanes base;
    struct graph_cycles last; /* at the last mark that was reached */
    uint64_t mark[MARKS];     /* instructions before each mark */
    uint64_t marks, reached;  /* marks so far, and of these those that have been reached */
    graph_mark_reached *on_mark;
    void *context;
};

/* ---- the core */

static unsigned limit_or_any(uint64_t value)
{
    return value ? (unsigned)value : 1u << 30;
}

/* What the transfer of a line over an idle bus adds to the latency of memory. */
static uint64_t transfer_cycles(const struct core_config *k)
{
    uint64_t line = k->l3_size ? k->l3_line : k->l2_size ? k->l2_line : k->l1d_line, bytes = k->memory_bytes_per_cycle;
    return bytes ? (line + bytes - 1) / bytes - 1 : 0;
}

static unsigned real_structures(const struct core_config *k)
{
    return (k->perfect_l1i ? 0 : GRAPH_L1I) | (k->perfect_l1i || k->perfect_l2i ? 0 : GRAPH_L2I) |
           (k->perfect_itlb ? 0 : GRAPH_ITLB) | (k->perfect_branch ? 0 : GRAPH_BRANCH) |
           (k->perfect_l1d ? 0 : GRAPH_L1D) | (k->perfect_l1d || k->perfect_l2d ? 0 : GRAPH_L2D) |
           (k->perfect_dtlb ? 0 : GRAPH_DTLB);
}

void graph_core_init(struct graph_core *c, const struct core_config *k)
{
    *c = (struct graph_core){.real = real_structures(k),
                             .fetch_width = (unsigned)k->fetch_width,
                             .fetch_lines = (unsigned)k->fetch_lines,
                             .fetch_branches = (unsigned)k->fetch_branches,
                             .fetch_line_bytes = (unsigned)k->l1i_line,
                             .fetch_latency = (unsigned)k->l1i_latency,
                             .fetch_mshrs = 1u << 30,
                             .front_stages = (unsigned)k->frontend_stages,
                             .front_size = (unsigned)(k->fetch_buffer + k->decode_width * k->frontend_stages),
                             .decode_width = (unsigned)k->decode_width,
                             .dispatch_width = (unsigned)k->dispatch_width,
                             .commit_width = (unsigned)k->commit_width,
                             .bundle = (unsigned)k->dispatch_bundle,
                             .edge_most = edge_cycles_most((unsigned)k->dispatch_bundle),
                             .node_most = node_cycles_most((unsigned)k->dispatch_bundle),
                             .rob_size = (unsigned)k->rob_size,
                             .lsq_size = limit_or_any(k->lsq_size),
                             .lsq_loads = limit_or_any(k->lsq_loads),
                             .lsq_stores = limit_or_any(k->lsq_stores),
                             .store_buffer_size = (unsigned)k->store_buffer_size,
                             .int_regs = k->rename_int_regs ? (unsigned)k->rename_int_regs - 31 : 1u << 30,
                             .fp_regs = k->rename_fp_regs ? (unsigned)k->rename_fp_regs - 32 : 1u << 30,
                             .issue_width = (unsigned)k->issue_width,
                             .ports = (unsigned)k->l1d_ports,
                             .mshrs = k->l1d_size ? limit_or_any(k->l1d_mshrs) : 1u << 30,
                             .store_allocates = k->l1d_allocate && k->l1d_size,
                             .iq_size = limit_or_any(k->iq_size),
                             .queue_size = {[QUEUE_INT] = limit_or_any(k->iq_int),
                                            [QUEUE_FP] = limit_or_any(k->iq_fp),
                                            [QUEUE_MEM] = limit_or_any(k->iq_mem)},
                             .data_line_bytes = (unsigned)k->l1d_line,
                             .second_line_bytes = (unsigned)k->l2_line,
                             .forward_latency = (unsigned)k->lsq_forward_latency};
    if (k->l1i_prefetch && k->l1i_mshrs && k->l1i_mshrs <= FETCH_MSHRS_MOST)
        c->fetch_mshrs = (unsigned)k->l1i_mshrs;
    c->latency[LEVEL_L1] = (unsigned)k->l1d_latency;
    c->latency[LEVEL_L2] = c->latency[LEVEL_L1] + (unsigned)k->l2_latency;
    c->latency[LEVEL_L3] = c->latency[LEVEL_L2] + (k->l3_size ? (unsigned)k->l3_latency : 0);
    c->page_shift = (unsigned)__builtin_ctzll(k->tlb_page);
    c->translation[TLB_L2] = k->l2tlb_entries ? (unsigned)k->l2tlb_latency : 0;
    c->translation[TLB_WALK] = c->translation[TLB_L2] + (unsigned)k->tlb_walk_latency;
    c->latency[LEVEL_MEMORY] = c->latency[LEVEL_L3] + (unsigned)(k->memory_latency + transfer_cycles(k));
    c->bus_cycles = k->memory_bytes_per_cycle ? (unsigned)transfer_cycles(k) + 1 : 0;
    c->write_latency = (unsigned)(k->memory_write_cycles ? c->latency[LEVEL_L3] + k->memory_write_cycles : 1);
    unsigned queue = c->lsq_stores < c->lsq_size ? c->lsq_stores : c->lsq_size;
    queue = (queue < c->rob_size ? queue : c->rob_size) + c->store_buffer_size;
    c->live_stores = queue < GRAPH_STORES ? queue : GRAPH_STORES - 1;
    core_time_classes(k, c->timing);
    core_count_units(k, c->units);
}

int graph_check(const struct core_config *core, struct error *err)
{
    const unsigned most = edge_cycles_most((unsigned)core->dispatch_bundle);
    uint64_t latency =
        core->l1d_latency + core->l2_latency + core->l3_latency + core->memory_latency + transfer_cycles(core);
    if (core->issue_order != ISSUE_OUT_OF_ORDER)
        return error_set(err, -EINVAL, "graph: cores that issue in order (issue.order) have no dependence graph");
    if (latency > most || core->tlb_walk_latency > most || core->memory_write_cycles > most)
        return error_set(err, -EINVAL,
                         "graph: loads from memory (memory.latency and those of caches), page walks "
                         "(tlb.walk_latency) and single writes (memory.write_cycles) may take at most %u cycles",
                         most);
    uint64_t stores = core->l1d_mshrs ? core->store_buffer_size / core->l1d_mshrs * latency : 0;
    uint64_t write = core->l1d_latency + core->l2_latency + core->l3_latency + core->memory_write_cycles;
    uint64_t writes = core->memory_write_cycles ? core->store_buffer_size * write : 0;
    if (stores > STORE_LEAD_MOST || writes > STORE_LEAD_MOST)
        return error_set(err, -EINVAL,
                         "graph: the stores of a full store buffer may take at most %d cycles "
                         "(store_buffer.size / l1d.mshrs * latency of memory; if single writes take time, "
                         "store_buffer.size * their latency)",
                         STORE_LEAD_MOST);
    return 0;
}

/* ---- evaluation */

static uint64_t next_mark(const struct graph *g)
{
    return g->reached < g->marks ? g->mark[g->reached % MARKS] : UINT64_MAX;
}

/* How many instructions have a commit time in all lanes. */
static uint64_t known(const struct graph *g)
{
    uint64_t all = lanes_known(g->lanes), what_ifs = what_if_lanes_known(&g->what_ifs);
    uint64_t base = base_lanes_known(&g->base), least = all < what_ifs ? all : what_ifs;
    return least < base ? least : base;
}

/* Commit times of instruction number `insns` - 1. */
static void read_cycles(const struct graph *g, uint64_t insns, struct graph_cycles *cycles)
{
    lanes_cycles(g->lanes, insns, cycles);
    what_if_lanes_cycles(&g->what_ifs, insns, cycles);
    base_lanes_cycles(&g->base, insns, cycles);
}

static void reach_marks(struct graph *g)
{
    while (next_mark(g) <= known(g)) {
        struct graph_cycles now, passed;
        read_cycles(g, next_mark(g), &now);
        for (unsigned real = 0; real <= GRAPH_EVERYTHING; real++)
            passed.with[real] = now.with[real] - g->last.with[real];
        for (unsigned i = 0; i < GRAPH_WHAT_IFS; i++)
            passed.what_if[i] = now.what_if[i] - g->last.what_if[i];
        for (unsigned limits = 0; limits < GRAPH_LIMIT_SETS; limits++)
            passed.base[limits] = now.base[limits] - g->last.base[limits];
        g->last = now;
        g->reached++;
        g->on_mark(g->context, &passed);
    }
}

/* Evaluates the next nodes in the lanes of what-ifs. */
static void evaluate_what_ifs(struct graph *g, unsigned count)
{
    const struct held_insn *held[BATCH];
    for (unsigned i = 0; i < count; i++)
        held[i] = &g->held[(g->evaluated + i) % HELD];
    what_if_lanes_evaluate(&g->what_ifs, held, g->node, count);
}

/* Evaluates all instructions before number `end`, which is at most `retired`. */
static void evaluate_to(struct graph *g, uint64_t end)
{
    while (g->evaluated < end) {
        uint64_t mark = next_mark(g); /* passed already if its bundle has not ended in all lanes */
        uint64_t stop = mark > g->evaluated && mark < end ? mark : end;
        struct held_insns held = {.of = g->held, .mask = HELD - 1, .end = g->retired};
        unsigned count = 0;
        for (; count < BATCH && g->evaluated + count < stop; count++)
            node_build(g->builder, &held, g->evaluated + count, &g->node[count]);
        lanes_evaluate(g->lanes, g->node, count);
        if (g->what_ifs.count)
            evaluate_what_ifs(g, count);
        if (g->base.used)
            base_lanes_evaluate(&g->base, g->node, count);
        g->evaluated += count;
        reach_marks(g);
    }
}

/* The first instruction that is not known completely: the oldest store that has not reached the cache. */
static uint64_t first_unknown(const struct graph *g)
{
    return g->drained < g->stores ? g->store[g->drained % HELD] : (uint32_t)g->retired;
}

void graph_advance(struct graph *g, uint64_t insns)
{
    uint64_t known = g->evaluated + (uint32_t)((uint32_t)first_unknown(g) - (uint32_t)g->evaluated);
    uint64_t ahead = g->core.bundle ? g->core.bundle - 1 : 0; /* they may be in one bundle with the last */
    uint64_t whole = g->retired > ahead ? g->retired - ahead : 0;
    known = known < whole ? known : whole;
    evaluate_to(g, known < insns ? known : insns);
}

/* ---- calls of the observer */

/* The oldest instruction has to leave although its store has not reached the cache: it counts as a hit. */
static void give_up_oldest(struct graph *g)
{
    if ((uint32_t)first_unknown(g) == (uint32_t)g->evaluated)
        g->drained++;
    evaluate_to(g, g->evaluated + 1);
}

void graph_hold(struct held_insn *h, const struct retired_insn *r, uint64_t space)
{
    const struct code *code = r->code;
    h->pc = core_place(space, r->pc);
    h->addr = core_place(space, r->addr);
    h->flags = code->flags;
    h->length = code->length;
    h->size = r->no_access ? 0 : code->mem_size;
    h->class = code->class;
    memcpy(h->source, code->source, sizeof h->source);
    h->dest = code->dest;
    h->taken = r->taken;
    h->mispredicted = r->mispredicted;
    h->wrong_code = r->wrong_code;
    h->store = r->store;
    h->stalls = r->stalls;
    h->access = r->access;
    h->drain = (struct data_access){0};
    h->wrong_path = r->wrong_path;
    h->unit_wait = r->unit_wait;
    h->mshr_wait = r->mshr_wait;
    if (r->wrong_lines)
        memcpy(h->wrong_line, r->wrong_lines, sizeof h->wrong_line);
    if (r->wrong_made)
        memcpy(h->wrong_made, r->wrong_made, sizeof h->wrong_made);
}

void graph_retired(struct graph *g, const struct retired_insn *r)
{
    if (g->retired - g->evaluated == HELD)
        give_up_oldest(g);
    graph_hold(&g->held[g->retired % HELD], r, g->space);
    if (r->code->flags & IS_STORE)
        g->store[g->stores++ % HELD] = (uint32_t)g->retired;
    g->retired++;
}

void graph_drained(struct graph *g, uint32_t store, const struct data_access *a)
{
    if (g->drained == g->stores)
        return; /* it retired before the graph began */
    struct held_insn *h = &g->held[g->store[g->drained % HELD] % HELD];
    if (h->store != store)
        return;
    h->drain = *a;
    g->drained++;
}

void graph_mark(struct graph *g, uint64_t insns)
{
    if (g->marks - g->reached == MARKS)
        graph_finish(g);
    g->mark[g->marks++ % MARKS] = insns;
    reach_marks(g);
}

void graph_finish(struct graph *g)
{
    graph_advance(g, g->retired);
    while (g->evaluated < g->retired)
        give_up_oldest(g);
    lanes_flush(g->lanes);
    what_if_lanes_flush(&g->what_ifs);
    base_lanes_flush(&g->base);
    reach_marks(g);
}

void graph_restart(struct graph *g)
{
    g->reached = g->marks;
    graph_finish(g);
    lanes_serialize(g->lanes);
    what_if_lanes_serialize(&g->what_ifs);
    base_lanes_serialize(&g->base);
    node_builder_serialize(g->builder);
    read_cycles(g, known(g), &g->last);
}

/* ---- setup */

struct graph *graph_new(const struct core_config *core, graph_mark_reached *reached, void *context, struct error *err)
{
    struct graph *g = calloc(1, sizeof *g);
    if (g == NULL) {
        error_set(err, -ENOMEM, "out of memory for the dependence graph");
        return NULL;
    }
    graph_core_init(&g->core, core);
    g->on_mark = reached;
    g->context = context;
    g->lanes = lanes_new(&g->core, err);
    g->builder = g->lanes ? node_builder_new(&g->core, core, err) : NULL;
    if (g->builder)
        return g;
    graph_free(g);
    return NULL;
}

int graph_add_what_if(struct graph *g, const struct what_if *w, struct error *err)
{
    return what_if_lanes_add(&g->what_ifs, &g->core, w, err);
}

int graph_split_base(struct graph *g, struct error *err)
{
    return base_lanes_init(&g->base, &g->core, err);
}

void graph_begin(struct graph *g, struct core *c)
{
    g->space = core_warm_parts(c).space;
    node_builder_begin(g->builder, c);
}

void graph_free(struct graph *g)
{
    if (g == NULL)
        return;
    node_builder_free(g->builder);
    lanes_free(g->lanes);
    what_if_lanes_free(&g->what_ifs);
    base_lanes_free(&g->base);
    free(g);
}
