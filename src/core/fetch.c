/* Fetch, the first stage of the pipeline.
 *
 * Each cycle fetches a group: up to fetch_width instructions along the predicted path, limited by the I-cache lines and
 * the control transfers that one cycle may handle. A fetched instruction is appended to the window at position
 * `core.tail`, as a struct flight, and executes at once on the registers and memory of the path that fetch follows
 * (paths.h); the later stages only decide in which cycles that would have happened. So the real target of a branch is
 * known here. Where the prediction differs, fetch opens a wrong path (paths.level > 0) on a copy of the registers and
 * follows it until the branch resolves. paths.hart holds the registers and the pc of the path that fetch follows.
 *
 * Fetch stops for one of three reasons, and says which in its part of the cycle record:
 *   - a line, a translation or a target arrives late: until the cycle core.fetch_resume (stop_until);
 *   - the window has to drain first, for a trap or a serializing instruction: core.serializing;
 *   - the wrong path has no next instruction: core.fetch_lost, until the mispredicted branch resolves. */
#include <assert.h>

#include "core/core_priv.h"
#include "riscv/csr.h"

/* The instructions that one cycle fetches. */
struct fetch_group {
    unsigned fetched;       /* instructions so far */
    unsigned lines_left;    /* I-cache lines that this cycle may still read */
    unsigned branches_left; /* control transfers that this cycle may still predict */
    uint8_t stop;           /* enum fetch_stop: why the group ended */
};

/* Returns how many decode slots stay empty because fetch stops now and resumes in cycle `until`: field `cut` of the
 * cycle record.
 *
 * The front end decodes instructions in groups of decode_width slots. The group of the youngest instruction dispatches
 * in decode_cycle and has decode_left free slots. An instruction that is fetched now dispatches in cycle `next` at the
 * earliest. */
static unsigned slots_cut(const struct core *restrict c, const struct fetch_group *g, uint64_t until,
                          enum fetch_stop why)
{
    uint64_t next = c->now + c->front_stages;
    if (c->decode_cycle < next || c->decode_cycle >= until + c->front_stages)
        return 0; /* the group has passed already, or fetch resumes in time to fill it */
    bool ends_anyway = why == FETCH_MISFETCH && (g->branches_left == 0 || g->lines_left == 0);
    unsigned lost_now = ends_anyway ? 0 : c->fetch_width - g->fetched; /* instructions that this cycle fails to fetch */
    return c->decode_cycle == next && lost_now < c->decode_left ? lost_now : c->decode_left;
}

static void add_saturated(uint16_t *to, uint64_t cycles)
{
    *to = (uint16_t)(*to + cycles < UINT16_MAX ? *to + cycles : UINT16_MAX);
}

/* Ends the group: fetch resumes in `cycle`. `why` is FETCH_L1I, FETCH_L2I, FETCH_ITLB or FETCH_MISFETCH. */
static void stop_until(struct core *restrict c, struct fetch_group *g, uint64_t cycle, enum fetch_stop why)
{
    record_set_cut(&c->record, slots_cut(c, g, cycle, why));
    c->fetch_resume = cycle;
    c->fetch_why = g->stop = (uint8_t)why;
    c->cause = (uint8_t)(CAUSE_L1I + (why - FETCH_L1I)); /* both enums list these four in the same order */
    c->active = true;               /* this cycle is not idle: the core must not jump over the next one */
    if (UNLIKELY(c->notes_details)) /* without a misfetch, fetch would go on in the next cycle, not in this one */
        add_saturated(&c->stalls.cycles[why], cycle - c->now - (why == FETCH_MISFETCH));
}

/* Notes for observers how a line was brought that fetch waits for until cycle `usable`. */
static void note_line(struct core *restrict c, const struct mem_answer *a, uint64_t usable, uint64_t mshr_free)
{
    uint64_t cycles = usable - c->now, second = c->memsys->l2_latency;
    add_saturated(&c->stalls.line_cycles, cycles > second ? cycles - second : 0);
    c->stalls.requested |= !a->merged;
    if (!a->merged)
        add_saturated(&c->stalls.mshr_cycles, mshr_free - c->now);
}

/* Notes for observers which lines wrong paths have requested, and that the right path uses such a line. */
static void note_path(struct core *restrict c, const struct mem_answer *a, uint64_t line, uint64_t mshr_free)
{
    if (c->paths.level == 0) {
        uint16_t use = wrong_lines_use(&c->wrong_lines, line, c->tail);
        c->stalls.wrong_use = use ? use : c->stalls.wrong_use;
        c->stalls.mshrs_taken |= !cache_mshrs_free(&c->memsys->l1i, 1, c->now);
        return;
    }
    if (a->level > LEVEL_L1 && !a->merged)
        wrong_lines_request(&c->wrong_lines, line, false, c->now, mshr_free, a->ready);
    else
        wrong_lines_touch(&c->wrong_lines, line, c->now);
    if (a->ready > c->now + c->fetch_latency)
        wrong_lines_wait(&c->wrong_lines, c->now, a->ready - c->fetch_latency - c->now, c->memsys->l2_latency);
}

void core_on_prefetch(void *context, const struct prefetched_line *p)
{
    struct core *c = context;
    uint64_t line = p->addr & ~(uint64_t)(c->line_bytes - 1);
    if (p->data && p->into <= LEVEL_L2) {
        uint64_t *ready = &c->prefetch_ready[p->into != LEVEL_L1];
        *ready = p->ready > *ready ? p->ready : *ready;
    }
    if (p->data || p->into != LEVEL_L1)
        return;
    if (c->paths.level > 0)
        wrong_lines_request(&c->wrong_lines, line, true, c->now, c->now, p->ready);
    else
        c->stalls.prefetched = true;
}

/* Reads the I-cache line that begins at `start`. Returns whether its instructions can be used in this cycle. Otherwise
 * the group ends: the cycle may read no more lines, or fetch waits for the translation or for the line. */
static bool access_line(struct core *restrict c, struct fetch_group *g, uint64_t start)
{
    bool wrong_path = c->paths.level > 0;
    if (g->lines_left == 0) {
        g->stop = FETCH_GROUP;
        return false;
    }
    g->lines_left--;
    c->active = true;
    struct tlb_answer t = {.ready = c->now};
    if (LIKELY(!c->machine_mode)) /* machine mode uses physical addresses */
        t = memsys_translate_fetch(c->memsys, core_place(c->space, start), c->now, wrong_path);
    if (UNLIKELY(t.ready > c->now)) {
        if (t.level == TLB_WALK) {
            c->fetch_events |= EVENT_ITLB;
            c->counts.itlb_misses_spec++;
        }
        if (UNLIKELY(c->notes_details) && wrong_path)
            wrong_lines_walk(&c->wrong_lines, c->now, t.ready - c->now);
        stop_until(c, g, t.ready, FETCH_ITLB);
        return false;
    }
    uint64_t mshr_free = UNLIKELY(c->notes_details) ? cache_mshr_wait(&c->memsys->l1i, c->now) : 0;
    struct mem_answer a = memsys_fetch(c->memsys, core_place(c->space, start), c->now, wrong_path);
    if (UNLIKELY(c->notes_details))
        note_path(c, &a, core_place(c->space, start), mshr_free);
    c->line_before = c->line_start;
    c->line_start = start;
    c->line_code = code_row(c->codes, start);
    /* The front-end stages include the latency of a hit: fetch stops only for the cycles beyond it. */
    uint64_t usable = a.ready - c->fetch_latency;
    if (LIKELY(usable <= c->now))
        return true;
    c->fetch_events |= a.level == LEVEL_MEMORY ? EVENT_L1I | EVENT_L2I : EVENT_L1I;
    c->counts.l1i_misses_spec++;
    c->counts.l2i_misses_spec += a.level == LEVEL_MEMORY;
    if (UNLIKELY(c->notes_details))
        note_line(c, &a, usable, mshr_free);
    stop_until(c, g, usable, a.level == LEVEL_MEMORY ? FETCH_L2I : FETCH_L1I);
    return false;
}

/* Called for an instruction that does not lie entirely in the current line (c->line_start). Reads the one or two lines
 * that the instruction lies in, except lines that fetch holds already: line_start, and line_before for the first half
 * of an instruction. Returns whether all bytes of the instruction can be used in this cycle. */
static bool read_lines_of(struct core *restrict c, struct fetch_group *g, uint64_t pc, unsigned length)
{
    uint64_t first = pc & ~(uint64_t)(c->line_bytes - 1), last = (pc + length - 1) & ~(uint64_t)(c->line_bytes - 1);
    if (c->line_start != first && !(last != first && c->line_start == last && c->line_before == first) &&
        !access_line(c, g, first))
        return false;
    return c->line_start == last || access_line(c, g, last);
}

/* ---- ways to stop other than a miss: each ends the group without fetching the instruction */

/* The instruction traps: fetch stops, and when the window is empty the run ends with this trap (in machine mode the
 * firmware's handler runs instead). Right path only. */
static void trap_when_drained(struct core *restrict c, struct fetch_group *g, enum trap trap, uint64_t value)
{
    core_set_trap(c, trap, value);
    c->active = true;
    g->stop = FETCH_SERIAL;
}

/* Ends the group before this instruction, which is fetched again when the window is empty. Returns false, so that
 * callers can return the result. */
static bool wait_for_empty_window(struct core *restrict c, struct fetch_group *g)
{
    c->serializing = c->active = true;
    c->cause = CAUSE_SERIAL;
    g->stop = FETCH_SERIAL;
    return false;
}

/* Ends the group because the wrong path has no next instruction: fetch idles until the mispredicted branch resolves. */
static void stop_wrong_path(struct core *restrict c, struct fetch_group *g)
{
    c->fetch_lost = true;
    c->active = true;
    g->stop = FETCH_LOST;
}

/* ---- execution */

/* Executes a load, a store or an atomic. Returns false if it traps; the instruction is then not fetched. On the wrong
 * path nothing traps: an access that the guest may not make is skipped (NO_ACCESS). */
static bool execute_access(struct core *restrict c, struct fetch_group *g, struct flight *f, const struct code *code)
{
    struct hart *h = c->paths.hart;
    f->addr = h->x[code->o.rs1] + (uint64_t)(int64_t)code->o.imm;
    if (UNLIKELY(code->mem_size == ZEROED_BYTES))
        f->addr &= ~(uint64_t)(ZEROED_BYTES - 1);
    if (c->paths.level > 0) {
        if (!path_wrong_memory(&c->paths, code, f->addr))
            f->flags |= NO_ACCESS;
        return true;
    }
    bool write = code->flags & IS_STORE;
    bool atomic = (code->flags & IS_MEM) == IS_MEM;
    if (code->op == INSN_lr_w || code->op == INSN_lr_d)
        write = false; /* lr has an entry in the store queue (IS_STORE) but only reads */
    struct path_trap trap = {TRAP_NONE, 0};
    bool valid_addr = f->addr < GUEST_SPACE || c->machine_mode;
    if (UNLIKELY(atomic && valid_addr && f->addr % code->mem_size != 0)) {
        trap_when_drained(c, g, TRAP_MISALIGNED, f->addr);
        return false;
    }
    /* Most accesses go to a page that is known to be accessible; path_right_memory looks up the others. */
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

/* Executes a CSR instruction. Returns false if it has to wait for an empty window or if it is illegal; it is then not
 * fetched. Counters are exact because they are read when nothing is in flight. */
static bool execute_csr(struct core *restrict c, struct fetch_group *g, const struct code *code)
{
    struct hart *h = c->paths.hart;
    unsigned csr = (unsigned)code->o.imm & 0xfff;
    bool illegal = false;
    if (c->paths.level > 0) { /* reads 0: fflags and frm live in the host's FPU, which the right path uses */
        h->x[code->o.rd] = 0;
        return true;
    }
    if ((csr_is_counter(csr) || c->machine_mode) && c->head != c->tail)
        return wait_for_empty_window(c, g);
    if (UNLIKELY(c->machine_mode) && core_commits(c)) /* counters include this cycle's commits only in the next cycle */
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

/* Whether a serializing instruction exists in the current mode: ecall traps to the simulator in user mode only; mret
 * and wfi exist in machine mode only. Otherwise the instruction traps. */
static bool allowed_in_mode(struct core *restrict c, struct fetch_group *g, const struct code *code)
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

/* Executes an instruction that execute() cannot: one that accesses memory or a CSR, that may trap or that serializes.
 * Returns whether the instruction is fetched. */
static bool execute_special(struct core *restrict c, struct fetch_group *g, struct flight *f, const struct code *code)
{
    struct hart *h = c->paths.hart;
    bool wrong_path = c->paths.level > 0;
    if (code->flags & IS_MEM && code->mem_size)
        return execute_access(c, g, f, code);
    if (wrong_path && code->flags & (IS_TRAP | IS_SERIAL)) {
        stop_wrong_path(c, g);
        return false;
    }
    if (code->flags & IS_SERIAL && !allowed_in_mode(c, g, code))
        return false;
    if (code->flags & IS_TRAP) {
        bool breakpoint = code->op == INSN_ebreak;
        trap_when_drained(c, g, breakpoint ? TRAP_EBREAK : TRAP_ILLEGAL, breakpoint ? 0 : code->bits);
        return false;
    }
    if (code->flags & IS_CSR)
        return execute_csr(c, g, code);
    if (code->flags & IS_DYNAMIC_RM && h->frm > RM_RMM) {
        if (wrong_path)
            stop_wrong_path(c, g);
        else
            trap_when_drained(c, g, TRAP_ILLEGAL, code->bits);
        return false;
    }
    if (code->flags & IS_PREFETCH) {
        f->addr = h->x[code->o.rs1] + (uint64_t)(int64_t)code->o.imm;
        if (!access_known(&c->paths.readable, f->addr, 1))
            f->flags |= NO_ACCESS; /* only a hint: dropped unless the page was accessed before */
        return true;
    }
    code->run(h, &code->o, NULL);
    return true;
}

/* Executes the instruction on the registers and memory of the current path. Returns false if the instruction is not
 * fetched: it traps, waits for an empty window, or ends the wrong path. Plain instructions take one call. */
static inline bool execute(struct core *restrict c, struct fetch_group *g, struct flight *f, const struct code *code)
{
    if (code->flags & (IS_MEM | IS_TRAP | IS_SERIAL | IS_CSR | IS_DYNAMIC_RM | IS_PREFETCH))
        return execute_special(c, g, f, code);
    if (code->run(c->paths.hart, &code->o, NULL))
        f->flags |= TAKEN;
    return true;
}

/* ---- control transfers */

/* Returns the address that a control transfer really goes to, and executes it: writes the link register of a jump and
 * sets TAKEN. */
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

/* Kinds of control transfers that observers receive through `transferred`: calls and returns. */
enum { TRANSFERS_REPORTED = 1 << BRANCH_CALL | 1 << BRANCH_INDIRECT_CALL | 1 << BRANCH_RETURN | 1 << BRANCH_CORETURN };

static void report_transfer(const struct core *restrict c, const struct flight *f, const struct code *code)
{
    struct core_transfer t = {
        .pc = f->pc, .target = f->addr, .fallthrough = f->pc + code->length, .kind = (uint8_t)code->control};
    c->observer.transferred(c->observer.context, c->paths.right, &t);
}

/* Predicts a control transfer and continues on the predicted path. A misprediction opens a wrong path. Returns false if
 * the group ends here: at a misfetch, or at the last branch of this cycle. */
static bool predict_and_follow(struct core *restrict c, struct fetch_group *g, struct flight *f,
                               const struct code *code)
{
    uint64_t actual = f->addr = next_pc(c, f, code);
    struct branch_record *r = &c->branch[c->branch_tail & c->branch_mask];
    f->branch = c->branch_tail++;
    f->level = (uint16_t)c->paths.level;
    f->flags |= c->control_mark; /* OBSERVED if the observer wants this control transfer */
    c->control_mark = c->each_control_mark;
    c->counts.branches_spec++;
    c->paths.hart->pc = actual;
    if (UNLIKELY(c->observer.transferred != NULL) && c->paths.level == 0 && TRANSFERS_REPORTED >> code->control & 1)
        report_transfer(c, f, code);
    g->branches_left--;
    if (c->perfect_branch) {
        if (actual != f->pc + code->length)
            c->line_start = c->line_before = NEVER;
        return g->branches_left > 0;
    }
    r->pc = f->pc;
    r->fallthrough = f->pc + code->length;
    r->kind = code->control;
    r->direct = code->op == INSN_jalr ? 0 : f->pc + (uint64_t)(int64_t)code->o.imm;
    branch_predict(c->predictor, r);
    if (r->next != actual) {
        f->flags |= MISPREDICTED | c->miss_mark;
        if (UNLIKELY(c->notes_details) && c->paths.level == 0)
            c->cold[slot_of(c, f)].wrong_number = wrong_lines_begin(&c->wrong_lines, c->tail - 1, c->now);
        path_mispredict(&c->paths, r->next);
        core_mark_path(c);
    }
    if (r->next != r->fallthrough)
        c->line_start = c->line_before = NEVER; /* a taken branch reads its target's line even if it is the same line */
    if (r->misfetch) {                          /* taken, but the BTB does not know it: only decode finds the target */
        c->counts.misfetches++;
        if (c->misfetch_cycles) {
            stop_until(c, g, c->now + 1 + c->misfetch_cycles, FETCH_MISFETCH);
            c->fetch_events |= EVENT_MISFETCH;
            return false;
        }
    }
    return g->branches_left > 0;
}

/* ---- the stage */

/* Takes a decode slot for the instruction that is fetched now. Returns the first cycle in which the instruction may
 * dispatch: front_stages from now, or later if older instructions use all decode_width slots of that cycle. */
static inline uint64_t front_end_exit_cycle(struct core *restrict c)
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

/* Returns the decoded instruction at `pc`: in the current line from line_code, elsewhere from the cache of decoded
 * code. NULL: it cannot be fetched (`fault` is the address that cannot be read), or the cache of decoded code is full.
 */
static inline const struct code *code_at(struct core *restrict c, uint64_t pc, uint64_t *fault)
{
    uint64_t offset = pc - c->line_start;
    uint32_t found = LIKELY(offset < c->line_bytes) ? c->line_code[offset / 2] : 0;
    return LIKELY(found) ? &c->codes->code[found] : code_find(c->codes, pc, fault);
}

/* Ends the group because the guest may not execute at `fault`: the right path traps, the wrong path ends. Returns
 * false. */
static bool stop_without_code(struct core *restrict c, struct fetch_group *g, uint64_t fault)
{
    if (c->paths.level > 0)
        stop_wrong_path(c, g);
    else
        trap_when_drained(c, g, TRAP_FETCH_FAULT, fault);
    return false;
}

/* Called after a serializing instruction or a CSR instruction was fetched. Ends the group and lets fetch wait for an
 * empty window. Returns true if fetch goes on instead: a CSR instruction serializes in machine mode only. */
static bool serialize(struct core *restrict c, struct fetch_group *g, const struct flight *f, const struct code *code)
{
    if (code->flags & IS_CSR && !c->machine_mode)
        return true;
    c->serializing = true;
    c->cause = CAUSE_SERIAL;
    c->trap = TRAP_NONE;
    c->code_is_stale = code->op == INSN_fence_i;
    if (code->flags & IS_SYSTEM_CALL) {
        c->trap = TRAP_ECALL;
        c->paths.hart->pc = f->pc; /* the process that handles the trap moves the pc past the ecall (hart.h) */
    } else if (code->op == INSN_mret) {
        machine_return(c);
    }
    g->stop = FETCH_SERIAL;
    return false;
}

/* Compares a load of the right path with the stride predictors and trains them. The load has executed, so its register
 * holds the loaded value. Returns EVENT_STRIDE_* for what was mispredicted. Every instruction of the right path
 * retires, so each load counts once. */
static unsigned judge_strides(struct core *restrict c, const struct flight *f)
{
    const struct hart *h = c->paths.hart;
    unsigned rd = f->code->o.rd;
    return strides_judge(&c->strides, f->pc, f->addr, f->code->dest >= REG_FP ? h->f[rd] : h->x[rd]);
}

/* Calls `fetched` for an observed instruction. `id` is its number in fetch order. Clears OBSERVED if the observer wants
 * no later callback for this instruction. */
static void report_fetched(struct core *restrict c, struct flight *f, uint64_t id)
{
    if (c->strides_observed && f->code->flags & IS_LOAD && !(f->flags & WRONG_PATH))
        f->events |= (uint16_t)judge_strides(c, f);
    c->cold[slot_of(c, f)].id = id;
    OBSERVE_IF(!c->misses_observed || (f->code->flags & IS_CONTROL && !(f->flags & WRONG_PATH)), c, fetched, f);
    if (c->misses_observed && !f->events && !(f->flags & MISPREDICTED))
        f->flags &= (uint8_t)~OBSERVED; /* OBSERVE_MISSES wants only `fetched` of this control transfer */
    if (c->only_strides_observed && !(f->events & EVENTS_OF_STRIDES))
        f->flags &= (uint8_t)~OBSERVED;
}

/* Notes for observers what only they need of a fetched instruction. */
static void note_fetched(struct core *restrict c, const struct flight *f, uint32_t tag)
{
    struct flight_cold *cold = &c->cold[slot_of(c, f)];
    cold->tag = tag;
    cold->stalls = c->stalls;
    cold->access = (struct data_access){0};
    cold->mshr_wait = cold->unit_wait = (struct younger_wait){0};
    cold->mshr_since = 0;
    c->stalls = (struct fetch_stalls){0};
}

/* Fetches the instruction at the path's pc. Returns false if the group ends, with or without this instruction. */
static inline bool fetch_one(struct core *restrict c, struct fetch_group *g)
{
    struct hart *h = c->paths.hart;
    uint64_t pc = h->pc, fault;
    const struct code *code = code_at(c, pc, &fault);
    if (UNLIKELY(code == NULL))
        return code_wants_reset(c->codes) ? wait_for_empty_window(c, g) : stop_without_code(c, g, fault);
    if (UNLIKELY(pc - c->line_start + code->length > c->line_bytes) && !read_lines_of(c, g, pc, code->length))
        return false;
    struct flight *f = flight_at(c, c->tail);
    f->code = code;
    f->pc = pc;
    /* Sets state, flags, head wait and events with one store. */
    f->status = (uint64_t)c->fetch_events << 32 | c->initial_status;
    f->consumers = NO_SLOT;
    if (!execute(c, g, f, code))
        return false;
    uint32_t tag = UNLIKELY(c->observer.tag != NULL) ? *c->observer.tag : 0;
    /* counts.fetched + g->fetched is the instruction's number in fetch order. */
    if (UNLIKELY(c->counts.fetched + g->fetched >= c->chosen_id)) {
        f->flags |= OBSERVED;
        c->chosen_id = NEVER;
    }
    if (UNLIKELY(c->fetch_events)) {
        f->flags |= c->mark; /* OBSERVED if the observer wants instructions with fetch events */
        c->fetch_events = 0;
    }
    h->budget--; /* instructions left in the quantum; on the wrong path this is a copy without effect */
    f->when = front_end_exit_cycle(c);
    c->tail++;
    g->fetched++;
    bool goes_on = true;
    if (code->flags & IS_CONTROL)
        goes_on = predict_and_follow(c, g, f, code);
    else
        h->pc = pc + code->length;
    if (UNLIKELY(c->notes_fetch))
        note_fetched(c, f, tag);
    if (UNLIKELY(f->flags & OBSERVED))
        report_fetched(c, f, c->counts.fetched + g->fetched - 1);
    if (UNLIKELY(code->flags & (IS_SERIAL | IS_CSR)))
        return serialize(c, g, f, code);
    return goes_on;
}

/* Asserts that an empty window occupies no resource: retired and squashed instructions have freed all of theirs. */
static void assert_nothing_taken(const struct core *restrict c)
{
    assert(c->rob_used == 0 && c->iq_used == 0 && c->loads_used == 0 && c->stores_used == 0);
    assert(c->queue_used[QUEUE_INT] == 0 && c->queue_used[QUEUE_FP] == 0 && c->queue_used[QUEUE_MEM] == 0);
    assert(c->int_used == 0 && c->fp_used == 0 && c->blocked_count == 0 && c->held_count == 0 && c->soon_count == 0);
    assert(c->store_commit == c->store_tail && c->store_known == c->store_tail);
    assert(c->paths.level == 0 && c->paths.undo_count == 0 && c->dispatched == c->head);
    for (unsigned w = 0; w < c->words; w++)
        assert((c->done[w] | c->ready_any[w] | c->blocked[w] | c->held[w]) == 0);
}

/* Called when fetch waits for an empty window and the window has become empty. Ends the run if a trap is pending, drops
 * decoded code after fence.i, or lets machine mode act. Returns whether fetch continues in this cycle. */
static bool resume_after_drain(struct core *restrict c)
{
    assert_nothing_taken(c);
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

/* Whether the first instruction of this cycle lies entirely in the current line, so that reading this line uses one of
 * the cycle's line accesses. Fetch already holds the first half of an instruction that crosses the end of the line: the
 * cycle then reads only the next line, and read_lines_of counts that access. */
static bool first_insn_in_line(struct core *restrict c)
{
    uint64_t pc = c->paths.hart->pc, fault;
    const struct code *code = code_at(c, pc, &fault);
    return code && pc - c->line_start + code->length <= c->line_bytes;
}

/* Runs the fetch stage for one cycle. Returns its stage_result. */
uint64_t core_fetch(struct core *restrict c)
{
    if (UNLIKELY(c->serializing && (c->head != c->tail || !resume_after_drain(c))))
        return stage_result(STAGE_FETCH, 0, FETCH_SERIAL);
    if (UNLIKELY(c->fetch_lost))
        return stage_result(STAGE_FETCH, 0, FETCH_LOST);
    if (c->now < c->fetch_resume)
        return stage_result(STAGE_FETCH, 0, c->fetch_why);
    unsigned width = c->fetch_width, room = c->front_size - (unsigned)(c->tail - c->dispatched);
    struct fetch_group g = {.lines_left = c->fetch_lines, .branches_left = c->fetch_branches, .stop = FETCH_GROUP};
    unsigned stop_if_full = FETCH_WIDTH; /* the reason to record if the group reaches `width` */
    if (UNLIKELY(c->notes_details) && c->paths.level > 0)
        wrong_lines_find_room(&c->wrong_lines, room > 0, c->now);
    if (room < width) {
        width = room;
        stop_if_full = FETCH_BUFFER;
    }
    int64_t budget = c->paths.hart->budget;
    if (UNLIKELY(c->paths.level == 0 && budget < (int64_t)width)) { /* the quantum ends within this group */
        width = (unsigned)budget;
        stop_if_full = FETCH_GROUP;
        c->run_over = budget == 0;
    }
    if (c->paths.hart->pc - c->line_start < c->line_bytes)
        g.lines_left -= first_insn_in_line(c);
    c->group_start = c->tail;
    while (g.fetched < width && fetch_one(c, &g)) {
    }
    c->counts.fetched += g.fetched;
    return stage_result(STAGE_FETCH, g.fetched, g.fetched == width && g.stop == FETCH_GROUP ? stop_if_full : g.stop);
}
