/* Fetch: instructions come in along the predicted path, a line at a time, and are executed as they come (paths.h). */
#include "core/core_priv.h"

/* What is left of this cycle's allowance. */
struct group {
    unsigned width, lines, branches;
    uint8_t why; /* enum fetch_stop that ended it */
};

static void stop_until(struct core *c, struct group *g, uint64_t cycle, enum fetch_stop why)
{
    c->fetch_resume = cycle;
    c->fetch_why = g->why = (uint8_t)why;
    c->active = true;
}

/* Whether fetch has this line at hand, or gets it at once. */
static bool have_line(struct core *c, struct group *g, uint64_t line)
{
    bool wrong = c->paths.level > 0;
    if (LIKELY(c->line[0] == line || c->line[1] == line))
        return true;
    if (g->lines == 0) {
        g->why = FETCH_GROUP;
        return false;
    }
    g->lines--;
    c->active = true;
    struct tlb_answer t = memsys_translate_fetch(c->memsys, line << c->line_shift, c->now, wrong);
    if (UNLIKELY(t.ready > c->now)) {
        if (t.level == TLB_WALK)
            c->fetch_events |= EVENT_ITLB;
        stop_until(c, g, t.ready, FETCH_ITLB);
        return false;
    }
    struct mem_answer a = memsys_fetch(c->memsys, line << c->line_shift, c->now, wrong);
    c->line[1] = c->line[0];
    c->line[0] = line;
    /* The latency of a hit is part of the front end: only what comes on top stops fetch. */
    uint64_t usable = a.ready - c->memsys_config.l1i.latency;
    if (LIKELY(usable <= c->now))
        return true;
    c->fetch_events |= a.level == LEVEL_MEMORY ? EVENT_L1I | EVENT_L2I : EVENT_L1I;
    stop_until(c, g, usable, a.level == LEVEL_MEMORY ? FETCH_L2I : FETCH_L1I);
    return false;
}

/* ---- the right path ends in something that the core does not do itself: it drains, then gives the hart back */

static void trap_when_drained(struct core *c, struct group *g, enum trap trap, uint64_t value)
{
    c->trap = trap;
    c->trap_value = value;
    c->serializing = true;
    c->active = true;
    g->why = FETCH_SERIAL;
}

static void lose_way(struct core *c, struct group *g)
{
    c->fetch_lost = true;
    c->active = true;
    g->why = FETCH_LOST;
}

/* Executes what has effects beyond registers on the right path; false if it traps and is not fetched. */
static bool execute_access(struct core *c, struct group *g, struct flight *f, const struct code *code)
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
    enum trap trap = TRAP_NONE;
    if (UNLIKELY(atomic && f->addr < GUEST_SPACE && f->addr % code->mem_size != 0)) {
        trap_when_drained(c, g, TRAP_MISALIGNED, f->addr);
        return false;
    }
    void *at = c->paths.mem + f->addr;
    if (!access_known(write ? &c->paths.writable : &c->paths.readable, f->addr, code->mem_size))
        at = path_right_memory(&c->paths, f->addr, code->mem_size, write, &trap);
    if (UNLIKELY(at == NULL)) {
        trap_when_drained(c, g, trap, f->addr);
        return false;
    }
    code->run(h, &code->o, at);
    return true;
}

static bool execute_csr(struct core *c, struct group *g, const struct code *code)
{
    struct hart *h = c->paths.hart;
    bool illegal;
    if (c->paths.level > 0) { /* the host's floating-point unit is in the right path's service */
        h->x[code->o.rd] = 0;
        return true;
    }
    exec_csr(h, code, h->retired + (uint64_t)(h->quantum - h->budget), &illegal);
    if (illegal)
        trap_when_drained(c, g, TRAP_ILLEGAL, code->bits);
    return !illegal;
}

/* Registers and memory as after the instruction; false if it traps, or leads the wrong path nowhere. */
static bool execute(struct core *c, struct group *g, struct flight *f, const struct code *code)
{
    struct hart *h = c->paths.hart;
    if (code->flags & IS_MEM && code->mem_size)
        return execute_access(c, g, f, code);
    if (UNLIKELY(code->flags & (IS_TRAP | IS_SERIAL | IS_CSR | IS_DYNAMIC_RM))) {
        if (c->paths.level > 0 && code->flags & (IS_TRAP | IS_SERIAL)) {
            lose_way(c, g);
            return false;
        }
        if (code->flags & IS_TRAP) {
            trap_when_drained(c, g, code->op == INSN_ebreak ? TRAP_EBREAK : TRAP_ILLEGAL,
                              code->op == INSN_ebreak ? 0 : code->bits);
            return false;
        }
        if (code->flags & IS_DYNAMIC_RM && h->frm > RM_RMM) {
            if (c->paths.level > 0)
                lose_way(c, g);
            else
                trap_when_drained(c, g, TRAP_ILLEGAL, code->bits);
            return false;
        }
        if (code->flags & IS_CSR)
            return execute_csr(c, g, code);
    }
    if (code->flags & IS_PREFETCH) {
        f->addr = h->x[code->o.rs1] + (uint64_t)(int64_t)code->o.imm;
        if (!access_known(&c->paths.readable, f->addr, 1))
            f->flags |= NO_ACCESS; /* a hint: pages that were never touched are not worth a look */
        return true;
    }
    unsigned taken = code->run(h, &code->o, NULL);
    if (taken)
        f->flags |= TAKEN;
    return true;
}

/* ---- control transfers */

static uint64_t next_pc(struct core *c, struct flight *f, const struct code *code)
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

/* Predicts, and goes on where the prediction says. False if that ends the group. */
static bool follow(struct core *c, struct group *g, struct flight *f, const struct code *code)
{
    uint64_t actual = f->addr = next_pc(c, f, code);
    struct branch_record *r = &c->branch[c->branch_tail & c->branch_mask];
    f->branch = c->branch_tail++;
    f->level = (uint16_t)c->paths.level;
    c->counts.branches_spec++;
    c->paths.hart->pc = actual;
    g->branches--;
    if (c->perfect_branch)
        return g->branches > 0;
    *r = (struct branch_record){.pc = f->pc, .fallthrough = f->pc + code->length, .kind = code->control};
    r->direct = code->op == INSN_jalr ? 0 : f->pc + (uint64_t)(int64_t)code->o.imm;
    branch_predict(c->predictor, r);
    if (r->next != actual) {
        f->flags |= MISPREDICTED;
        path_mispredict(&c->paths, r->next);
    }
    if (r->misfetch) {
        c->counts.misfetches++;
        if (c->misfetch_cycles) {
            stop_until(c, g, c->now + 1 + c->misfetch_cycles, FETCH_MISFETCH);
            return false;
        }
    }
    return g->branches > 0;
}

/* ---- the stage */

static void enter_front_end(struct core *c, struct flight *f, const struct code *code)
{
    unsigned i = c->ready_dispatch_at;
    uint64_t when = c->now + c->front_stages;
    if (when <= c->ready_dispatch[i])
        when = c->ready_dispatch[i] + 1;
    c->ready_dispatch[i] = when;
    c->ready_dispatch_at = i + 1 == c->decode_width ? 0 : i + 1;
    f->when = when;
    f->pool = c->pool_of[code->class];
    f->queue = code->flags & (IS_MEM | IS_PREFETCH) ? QUEUE_MEM : code->flags & IS_FP ? QUEUE_FP : QUEUE_INT;
    f->consumers = f->producer[0] = f->producer[1] = f->producer[2] = f->renamed = NO_SLOT;
    f->events = c->fetch_events;
    f->id = c->next_id++;
    c->fetch_events = 0;
    c->tail++;
    c->counts.fetched++;
}

/* One more instruction; false if the group ends. */
static bool fetch_one(struct core *c, struct group *g)
{
    struct hart *h = c->paths.hart;
    uint64_t pc = h->pc, fault;
    if (UNLIKELY(c->paths.level == 0 && h->budget == 0)) {
        c->run_over = true;
        return false;
    }
    const struct code *code = code_find(c->codes, pc, &fault);
    if (UNLIKELY(code == NULL)) {
        if (c->paths.level > 0)
            lose_way(c, g);
        else
            trap_when_drained(c, g, TRAP_FETCH_FAULT, fault);
        return false;
    }
    if (!have_line(c, g, pc >> c->line_shift) || !have_line(c, g, (pc + code->length - 1) >> c->line_shift))
        return false;
    if (code->flags & IS_CONTROL && g->branches == 0) {
        g->why = FETCH_GROUP;
        return false;
    }
    struct flight *f = flight_at(c, c->tail);
    f->code = code;
    f->pc = pc;
    f->addr = 0;
    f->state = FETCHED;
    f->flags = c->paths.level ? WRONG_PATH : 0;
    f->waits = 0;
    if (!execute(c, g, f, code))
        return false;
    if (c->paths.level == 0)
        h->budget--;
    enter_front_end(c, f, code);
    bool more = true;
    if (code->flags & IS_CONTROL)
        more = follow(c, g, f, code);
    else
        h->pc = pc + code->length;
    OBSERVE(c, fetched, f);
    if (UNLIKELY(code->flags & IS_SERIAL)) {
        c->serializing = true;
        c->trap = code->flags & IS_SYSTEM_CALL ? TRAP_ECALL : TRAP_NONE;
        if (code->flags & IS_SYSTEM_CALL)
            h->pc = pc;
        g->why = FETCH_SERIAL;
        return false;
    }
    return more;
}

/* The window is empty: what fetch was waiting for. */
static bool drained(struct core *c)
{
    if (c->trap != TRAP_NONE) {
        c->run_over = true;
        return false;
    }
    if (code_wants_reset(c->codes))
        code_reset(c->codes);
    c->serializing = false;
    return true;
}

void core_fetch(struct core *c)
{
    if (UNLIKELY(c->serializing && (c->head != c->tail || !drained(c)))) {
        c->record.fetch_stop = FETCH_SERIAL;
        return;
    }
    if (UNLIKELY(c->fetch_lost)) {
        c->record.fetch_stop = FETCH_LOST;
        return;
    }
    if (c->now < c->fetch_resume) {
        c->record.fetch_stop = c->fetch_why;
        return;
    }
    struct group g = {c->fetch_width, c->fetch_lines, c->fetch_branches, FETCH_WIDTH};
    unsigned room = c->front_size - (unsigned)(c->tail - c->dispatched);
    if (room < g.width) {
        g.width = room;
        g.why = FETCH_BUFFER;
    }
    unsigned n = 0;
    uint64_t before = c->tail;
    while (n < g.width && fetch_one(c, &g))
        n++;
    n = (unsigned)(c->tail - before);
    if (n < g.width && g.why <= FETCH_BUFFER)
        g.why = FETCH_GROUP;
    c->record.fetched = (uint8_t)n;
    c->record.fetch_stop = g.why;
    c->active |= n > 0;
}
