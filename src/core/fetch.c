/* Fetch: instructions come in along the predicted path, a line at a time, and are executed as they come (paths.h). */
#include <assert.h>

#include "core/core_priv.h"
#include "riscv/csr.h"

/* What this cycle has brought, and what is left of its allowance. */
struct group {
    unsigned fetched, lines, branches;
    uint8_t why; /* enum fetch_stop that ended it */
};

/* Places in the last group for decode that fetch would have filled in this cycle or later, and cannot if it stops until
 * another one. */
static unsigned cut_group(const struct core *restrict c, const struct group *g, uint64_t until, enum fetch_stop why)
{
    uint64_t next = c->now + c->front_stages;
    if (c->decode_cycle < next || c->decode_cycle >= until + c->front_stages)
        return 0;
    bool ends = why == FETCH_MISFETCH && (g->branches == 0 || g->lines == 0);
    unsigned more = ends ? 0 : c->fetch_width - g->fetched;
    return c->decode_cycle == next && more < c->decode_left ? more : c->decode_left;
}

static void stop_until(struct core *restrict c, struct group *g, uint64_t cycle, enum fetch_stop why)
{
    c->wrong |= (uint64_t)cut_group(c, g, cycle, why) << CUT_SHIFT;
    c->fetch_resume = cycle;
    c->fetch_why = g->why = (uint8_t)why;
    c->cause = (uint8_t)(CAUSE_L1I + (why - FETCH_L1I));
    c->active = true;
}

/* Accesses the line at this address; whether it is there at once. */
static bool access_line(struct core *restrict c, struct group *g, uint64_t start)
{
    bool wrong = c->paths.level > 0;
    if (g->lines == 0) {
        g->why = FETCH_GROUP;
        return false;
    }
    g->lines--;
    c->active = true;
    struct tlb_answer t = {.ready = c->now};
    if (LIKELY(!c->machine_mode))
        t = memsys_translate_fetch(c->memsys, core_place(c, start), c->now, wrong);
    if (UNLIKELY(t.ready > c->now)) {
        if (t.level == TLB_WALK) {
            c->fetch_events |= EVENT_ITLB;
            c->counts.itlb_misses_spec++;
        }
        stop_until(c, g, t.ready, FETCH_ITLB);
        return false;
    }
    struct mem_answer a = memsys_fetch(c->memsys, core_place(c, start), c->now, wrong);
    c->line_before = c->line_start;
    c->line_start = start;
    c->line_code = code_row(c->codes, start);
    /* The latency of a hit is part of the front end: only what comes on top stops fetch. */
    uint64_t usable = a.ready - c->fetch_latency;
    if (LIKELY(usable <= c->now))
        return true;
    c->fetch_events |= a.level == LEVEL_MEMORY ? EVENT_L1I | EVENT_L2I : EVENT_L1I;
    c->counts.l1i_misses_spec++;
    c->counts.l2i_misses_spec += a.level == LEVEL_MEMORY;
    stop_until(c, g, usable, a.level == LEVEL_MEMORY ? FETCH_L2I : FETCH_L1I);
    return false;
}

/* An instruction that does not lie wholly in the line that fetch is in: whether fetch has its line or its two lines at
 * hand, or gets them at once. */
static bool have_lines(struct core *restrict c, struct group *g, uint64_t pc, unsigned length)
{
    uint64_t first = pc & ~(uint64_t)(c->line_bytes - 1), last = (pc + length - 1) & ~(uint64_t)(c->line_bytes - 1);
    if (c->line_start != first && !(last != first && c->line_start == last && c->line_before == first) &&
        !access_line(c, g, first))
        return false;
    return c->line_start == last || access_line(c, g, last);
}

/* ---- the right path ends in something that the core does not do itself: it drains, then gives the hart back */

static void trap_when_drained(struct core *restrict c, struct group *g, enum trap trap, uint64_t value)
{
    core_set_trap(c, trap, value);
    c->active = true;
    g->why = FETCH_SERIAL;
}

/* The instruction is tried again when nothing is in flight. */
static bool wait_for_empty_window(struct core *restrict c, struct group *g)
{
    c->serializing = c->active = true;
    c->cause = CAUSE_SERIAL;
    g->why = FETCH_SERIAL;
    return false;
}

static void lose_way(struct core *restrict c, struct group *g)
{
    c->fetch_lost = true;
    c->active = true;
    g->why = FETCH_LOST;
}

/* Executes what has effects beyond registers on the right path; false if it traps and is not fetched. */
static bool execute_access(struct core *restrict c, struct group *g, struct flight *f, const struct code *code)
{
    struct hart *h = c->paths.hart;
    f->addr = h->x[code->o.rs1] + (uint64_t)(int64_t)code->o.imm;
    if (c->paths.level > 0) {
        if (!path_wrong_memory(&c->paths, code, f->addr))
            f->flags |= NO_ACCESS;
        return true;
    }
    bool write = code->flags & IS_STORE;
    bool atomic = (code->flags & IS_MEM) == IS_MEM;
    if (code->op == INSN_lr_w || code->op == INSN_lr_d)
        write = false;
    struct path_trap trap = {TRAP_NONE, 0};
    bool somewhere = f->addr < GUEST_SPACE || c->machine_mode;
    if (UNLIKELY(atomic && somewhere && f->addr % code->mem_size != 0)) {
        trap_when_drained(c, g, TRAP_MISALIGNED, f->addr);
        return false;
    }
    bool known = access_known(write ? &c->paths.writable : &c->paths.readable, f->addr, code->mem_size);
    void *at =
        LIKELY(known) ? c->paths.mem + f->addr : path_right_memory(&c->paths, f->addr, code->mem_size, write, &trap);
    if (UNLIKELY(at == NULL)) {
        trap_when_drained(c, g, trap.trap, trap.addr);
        return false;
    }
    code->run(h, &code->o, at);
    return true;
}

static bool execute_csr(struct core *restrict c, struct group *g, const struct code *code)
{
    struct hart *h = c->paths.hart;
    unsigned csr = (unsigned)code->o.imm & 0xfff;
    bool illegal = false;
    if (c->paths.level > 0) { /* the host's floating-point unit is in the right path's service */
        h->x[code->o.rd] = 0;
        return true;
    }
    if ((csr_is_counter(csr) || c->machine_mode) && c->head != c->tail)
        return wait_for_empty_window(c, g);
    if (UNLIKELY(c->machine_mode) && core_commits(c)) /* counters are looked at between cycles */
        return wait_for_empty_window(c, g);
    if (UNLIKELY(c->machine_mode) && !csr_is_fp(csr))
        illegal = !machine_access_csr(c, code);
    else if (UNLIKELY(c->machine != NULL) && csr_is_counter(csr) && !machine_counter_is_open(c, csr - CSR_COUNTERS))
        illegal = true;
    else
        exec_csr(h, code, h->retired + (uint64_t)(h->quantum - h->budget), &illegal);
    if (illegal)
        trap_when_drained(c, g, TRAP_ILLEGAL, code->bits);
    return !illegal;
}

/* What only one of the modes has. Traps otherwise. */
static bool is_of_this_mode(struct core *restrict c, struct group *g, const struct code *code)
{
    bool privileged = code->op == INSN_mret || code->op == INSN_wfi;
    if (c->machine_mode && code->flags & IS_SYSTEM_CALL)
        trap_when_drained(c, g, TRAP_ECALL, 0);
    else if (!c->machine_mode && privileged)
        trap_when_drained(c, g, TRAP_ILLEGAL, code->bits);
    else
        return true;
    return false;
}

static bool execute_special(struct core *restrict c, struct group *g, struct flight *f, const struct code *code)
{
    struct hart *h = c->paths.hart;
    bool wrong = c->paths.level > 0;
    if (code->flags & IS_MEM && code->mem_size)
        return execute_access(c, g, f, code);
    if (wrong && code->flags & (IS_TRAP | IS_SERIAL)) {
        lose_way(c, g);
        return false;
    }
    if (code->flags & IS_SERIAL && !is_of_this_mode(c, g, code))
        return false;
    if (code->flags & IS_TRAP) {
        bool breakpoint = code->op == INSN_ebreak;
        trap_when_drained(c, g, breakpoint ? TRAP_EBREAK : TRAP_ILLEGAL, breakpoint ? 0 : code->bits);
        return false;
    }
    if (code->flags & IS_CSR)
        return execute_csr(c, g, code);
    if (code->flags & IS_DYNAMIC_RM && h->frm > RM_RMM) {
        if (wrong)
            lose_way(c, g);
        else
            trap_when_drained(c, g, TRAP_ILLEGAL, code->bits);
        return false;
    }
    if (code->flags & IS_PREFETCH) {
        f->addr = h->x[code->o.rs1] + (uint64_t)(int64_t)code->o.imm;
        if (!access_known(&c->paths.readable, f->addr, 1))
            f->flags |= NO_ACCESS; /* a hint: pages that were never touched are not worth a look */
        return true;
    }
    code->run(h, &code->o, NULL);
    return true;
}

/* Registers and memory as after the instruction; false if it traps, or leads the wrong path nowhere. */
static inline bool execute(struct core *restrict c, struct group *g, struct flight *f, const struct code *code)
{
    if (code->flags & (IS_MEM | IS_TRAP | IS_SERIAL | IS_CSR | IS_DYNAMIC_RM | IS_PREFETCH))
        return execute_special(c, g, f, code);
    if (code->run(c->paths.hart, &code->o, NULL))
        f->flags |= TAKEN;
    return true;
}

/* ---- control transfers */

static uint64_t next_pc(struct core *restrict c, struct flight *f, const struct code *code)
{
    struct hart *h = c->paths.hart;
    uint64_t fallthrough = f->pc + code->length, target = f->pc + (uint64_t)(int64_t)code->o.imm;
    if (code->flags & IS_CONDITIONAL)
        return f->flags & TAKEN ? target : fallthrough;
    if (code->op == INSN_jalr)
        target = (h->x[code->o.rs1] + (uint64_t)(int64_t)code->o.imm) & ~UINT64_C(1);
    h->x[code->o.rd] = fallthrough;
    f->flags |= TAKEN;
    return target;
}

/* Calls and returns. */
enum { TRANSFERS_TOLD = 1 << BRANCH_CALL | 1 << BRANCH_INDIRECT_CALL | 1 << BRANCH_RETURN | 1 << BRANCH_CORETURN };

static void tell_transfer(const struct core *restrict c, const struct flight *f, const struct code *code)
{
    struct core_transfer t = {
        .pc = f->pc, .target = f->addr, .fallthrough = f->pc + code->length, .kind = (uint8_t)code->control};
    c->observer.transferred(c->observer.context, c->paths.right, &t);
}

/* Predicts, and goes on where the prediction says. False if that ends the group. */
static bool follow(struct core *restrict c, struct group *g, struct flight *f, const struct code *code)
{
    uint64_t actual = f->addr = next_pc(c, f, code);
    struct branch_record *r = &c->branch[c->branch_tail & c->branch_mask];
    f->branch = c->branch_tail++;
    f->level = (uint16_t)c->paths.level;
    f->flags |= c->control_mark;
    c->control_mark = c->each_control_mark;
    c->counts.branches_spec++;
    c->paths.hart->pc = actual;
    if (UNLIKELY(c->observer.transferred != NULL) && c->paths.level == 0 && TRANSFERS_TOLD >> code->control & 1)
        tell_transfer(c, f, code);
    g->branches--;
    if (c->perfect_branch) {
        if (actual != f->pc + code->length)
            c->line_start = c->line_before = NEVER;
        return g->branches > 0;
    }
    r->pc = f->pc;
    r->fallthrough = f->pc + code->length;
    r->kind = code->control;
    r->direct = code->op == INSN_jalr ? 0 : f->pc + (uint64_t)(int64_t)code->o.imm;
    branch_predict(c->predictor, r);
    if (r->next != actual) {
        f->flags |= MISPREDICTED | c->miss_mark;
        path_mispredict(&c->paths, r->next);
        core_mark_path(c);
    }
    if (r->next != r->fallthrough)
        c->line_start = c->line_before = NEVER; /* the target's line is read anew, be it the same */
    if (r->misfetch) {
        c->counts.misfetches++;
        if (c->misfetch_cycles) {
            stop_until(c, g, c->now + 1 + c->misfetch_cycles, FETCH_MISFETCH);
            c->fetch_events |= EVENT_MISFETCH;
            return false;
        }
    }
    return g->branches > 0;
}

/* ---- the stage */

/* The cycle in which the instruction may dispatch: the front end's length, and so many per cycle as are decoded. */
static inline uint64_t through_front_end(struct core *restrict c)
{
    uint64_t when = c->now + c->front_stages;
    if (c->decode_cycle < when) {
        c->decode_cycle = when;
        c->decode_left = c->decode_width;
    } else if (c->decode_left == 0) {
        c->decode_cycle++;
        c->decode_left = c->decode_width;
    }
    c->decode_left--;
    return c->decode_cycle;
}

/* The instruction at pc, by the table of the line that fetch is in. */
static inline const struct code *code_at(struct core *restrict c, uint64_t pc, uint64_t *fault)
{
    uint64_t offset = pc - c->line_start;
    uint32_t found = LIKELY(offset < c->line_bytes) ? c->line_code[offset / 2] : 0;
    return LIKELY(found) ? &c->codes->code[found] : code_find(c->codes, pc, fault);
}

static bool no_code(struct core *restrict c, struct group *g, uint64_t fault)
{
    if (c->paths.level > 0)
        lose_way(c, g);
    else
        trap_when_drained(c, g, TRAP_FETCH_FAULT, fault);
    return false;
}

/* Whether fetch goes on nevertheless: CSRs serialize in machine mode only. */
static bool serialize(struct core *restrict c, struct group *g, const struct flight *f, const struct code *code)
{
    if (code->flags & IS_CSR && !c->machine_mode)
        return true;
    c->serializing = true;
    c->cause = CAUSE_SERIAL;
    c->trap = TRAP_NONE;
    c->code_is_stale = code->op == INSN_fence_i;
    if (code->flags & IS_SYSTEM_CALL) {
        c->trap = TRAP_ECALL;
        c->paths.hart->pc = f->pc;
    } else if (code->op == INSN_mret) {
        machine_return(c);
    }
    g->why = FETCH_SERIAL;
    return false;
}

/* The load is executed: its value is in its register. On the right path, all of which retires. */
static unsigned judge_strides(struct core *restrict c, const struct flight *f)
{
    const struct hart *h = c->paths.hart;
    unsigned rd = f->code->o.rd;
    return strides_judge(&c->strides, f->pc, f->addr, f->code->dest >= REG_FP ? h->f[rd] : h->x[rd]);
}

static void tell_fetched(struct core *restrict c, struct flight *f, uint64_t id)
{
    if (c->strides_asked && f->code->flags & IS_LOAD && !(f->flags & WRONG_PATH))
        f->events |= (uint16_t)judge_strides(c, f);
    c->more[slot_of(c, f)].id = id;
    OBSERVE_IF(!c->misses_observed || (f->code->flags & IS_CONTROL && !(f->flags & WRONG_PATH)), c, fetched, f);
    if (c->misses_observed && !f->events && !(f->flags & MISPREDICTED))
        f->flags &= (uint8_t)~OBSERVED; /* that was all */
    if (c->strides_only && !(f->events & EVENTS_OF_STRIDES))
        f->flags &= (uint8_t)~OBSERVED;
}

/* One more instruction; false if the group ends. */
static inline bool fetch_one(struct core *restrict c, struct group *g)
{
    struct hart *h = c->paths.hart;
    uint64_t pc = h->pc, fault;
    const struct code *code = code_at(c, pc, &fault);
    if (UNLIKELY(code == NULL))
        return code_wants_reset(c->codes) ? wait_for_empty_window(c, g) : no_code(c, g, fault);
    if (UNLIKELY(pc - c->line_start + code->length > c->line_bytes) && !have_lines(c, g, pc, code->length))
        return false;
    struct flight *f = flight_at(c, c->tail);
    f->code = code;
    f->pc = pc;
    f->standing = (uint64_t)c->fetch_events << 32 | c->fetch_standing;
    f->consumers = NO_SLOT;
    if (!execute(c, g, f, code))
        return false;
    uint32_t tag = UNLIKELY(c->observer.tag != NULL) ? *c->observer.tag : 0;
    if (UNLIKELY(c->counts.fetched + g->fetched >= c->chosen)) {
        f->flags |= OBSERVED;
        c->chosen = NEVER;
    }
    if (UNLIKELY(c->fetch_events)) {
        f->flags |= c->mark;
        c->fetch_events = 0;
    }
    h->budget--; /* on the wrong path a copy, of no meaning */
    f->when = through_front_end(c);
    c->tail++;
    g->fetched++;
    bool more = true;
    if (code->flags & IS_CONTROL)
        more = follow(c, g, f, code);
    else
        h->pc = pc + code->length;
    if (UNLIKELY(c->observer.tag != NULL))
        c->more[slot_of(c, f)].tag = tag;
    if (UNLIKELY(f->flags & OBSERVED))
        tell_fetched(c, f, c->counts.fetched + g->fetched - 1);
    if (UNLIKELY(code->flags & (IS_SERIAL | IS_CSR)))
        return serialize(c, g, f, code);
    return more;
}

/* With nothing in flight nothing is taken: what instructions take they give back, however they end. */
static void check_all_given_back(const struct core *restrict c)
{
    assert(c->rob_used == 0 && c->iq_used == 0 && c->loads_used == 0 && c->stores_used == 0);
    assert(c->queue_used[QUEUE_INT] == 0 && c->queue_used[QUEUE_FP] == 0 && c->queue_used[QUEUE_MEM] == 0);
    assert(c->int_used == 0 && c->fp_used == 0 && c->blocked_count == 0 && c->held_count == 0 && c->soon_count == 0);
    assert(c->store_commit == c->store_tail && c->store_known == c->store_tail);
    assert(c->paths.level == 0 && c->paths.undone == 0 && c->dispatched == c->head);
    for (unsigned w = 0; w < c->words; w++)
        assert((c->done[w] | c->ready_any[w] | c->blocked[w] | c->held[w]) == 0);
}

/* The window is empty: what fetch was waiting for. */
static bool drained(struct core *restrict c)
{
    check_all_given_back(c);
    if (c->trap != TRAP_NONE) {
        c->run_over = true;
        return false;
    }
    if (c->code_is_stale || code_wants_reset(c->codes)) {
        c->code_is_stale = false;
        code_reset(c->codes);
        c->line_start = c->line_before = NEVER;
    }
    c->serializing = false;
    if (UNLIKELY(c->machine != NULL))
        c->serializing = !machine_drained(c);
    return !c->serializing;
}

/* Whether this cycle's first instruction lies wholly in the line at hand. The first half of one that does not is at
 * hand as well, and the cycle goes into its second half. */
static bool rest_in_line(struct core *restrict c)
{
    uint64_t pc = c->paths.hart->pc, fault;
    const struct code *code = code_at(c, pc, &fault);
    return code && pc - c->line_start + code->length <= c->line_bytes;
}

uint64_t core_fetch(struct core *restrict c)
{
    if (UNLIKELY(c->serializing && (c->head != c->tail || !drained(c))))
        return stage_result(PLACE_FETCH, 0, FETCH_SERIAL);
    if (UNLIKELY(c->fetch_lost))
        return stage_result(PLACE_FETCH, 0, FETCH_LOST);
    if (c->now < c->fetch_resume)
        return stage_result(PLACE_FETCH, 0, c->fetch_why);
    unsigned width = c->fetch_width, room = c->front_size - (unsigned)(c->tail - c->dispatched);
    struct group g = {.lines = c->fetch_lines, .branches = c->fetch_branches, .why = FETCH_GROUP};
    unsigned whole = FETCH_WIDTH; /* why, if all of the width comes */
    if (room < width) {
        width = room;
        whole = FETCH_BUFFER;
    }
    int64_t budget = c->paths.hart->budget;
    if (UNLIKELY(c->paths.level == 0 && budget < (int64_t)width)) {
        width = (unsigned)budget;
        whole = FETCH_GROUP;
        c->run_over = budget == 0;
    }
    if (c->paths.hart->pc - c->line_start < c->line_bytes)
        g.lines -= rest_in_line(c);
    c->group_start = c->tail;
    while (g.fetched < width && fetch_one(c, &g)) {
    }
    c->counts.fetched += g.fetched;
    return stage_result(PLACE_FETCH, g.fetched, g.fetched == width && g.why == FETCH_GROUP ? whole : g.why);
}
