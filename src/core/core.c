/* The core itself: the cycle, its record, observers, time, and runs of a hart. */
#include "core/core.h"

#include <assert.h>
#include <string.h>

#include "core/core_priv.h"
#include "riscv/csr.h"
#include "riscv/host_fpu.h"

static void flush_records(struct core *c);

/* Decides whether the core checks something after each cycle, and how many runs of cycles it may keep before it reports
 * them. */
void core_update_watching(struct core *c)
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
        c->observer = c->client_observer;
    const struct core_observer *o = &c->observer;
    bool insns = core_observes_insns(o);
    c->strides_observed |= o->strides && o->observed == OBSERVE_ALL;
    c->only_strides_observed = c->strides_observed && (!insns || o->strides == STRIDES_ONLY);
    c->all_observed = (insns && o->observed == OBSERVE_ALL) || c->strides_observed;
    c->mark = c->miss_mark = insns && (o->observed == OBSERVE_CONTROL || o->observed == OBSERVE_MISSES) ? OBSERVED : 0;
    c->misses_observed = insns && o->observed == OBSERVE_MISSES;
    c->each_control_mark = insns && o->observed == OBSERVE_CONTROL ? OBSERVED : 0;
    c->notes_details = o->retired != NULL;
    c->notes_fetch = c->notes_details || o->tag;
    wrong_lines_reset(&c->wrong_lines);
    memsys_observe_prefetches(c->memsys, c->notes_details ? core_on_prefetch : NULL, c);
    c->all_notable = c->limits_by_class || c->notes_details || (c->all_observed && !c->only_strides_observed);
    core_update_watching(c);
}

void core_observe(struct core *c, const struct core_observer *o)
{
    core_counts(c);
    c->client_observer = o ? *o : (struct core_observer){0};
    c->chosen_id = NEVER;
    c->wants_notable_commits = false;
    c->strides_observed = false;
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

void core_fill_view(struct core *c, const struct flight *f, struct insn_view *v)
{
    flush_records(c);
    *v = (struct insn_view){.id = c->cold[slot_of(c, f)].id,
                            .pc = f->pc,
                            .addr = f->code->flags & (IS_MEM | IS_CONTROL | IS_PREFETCH) ? f->addr : 0,
                            .bits = f->code->bits,
                            .events = f->events,
                            .slot = (uint16_t)slot_of(c, f),
                            .class = f->code->class,
                            .kind = f->code->control,
                            .size = f->code->mem_size,
                            .store = f->code->flags & IS_STORE && f->code->mem_size,
                            .tag = c->cold[slot_of(c, f)].tag,
                            .wrong_path = f->flags & WRONG_PATH,
                            .control = f->code->flags & IS_CONTROL,
                            .conditional = f->code->flags & IS_CONDITIONAL,
                            .taken = f->flags & TAKEN,
                            .mispredicted = f->flags & MISPREDICTED,
                            .machine = c->machine_mode};
}

/* ---- records */

/* Adds `n` cycles with this record to the counts. */
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

/* Adds the runs of cycles so far to the counts and reports them to the observer. Afterwards the current run continues
 * with the same record and 0 cycles. */
static void flush_records(struct core *c)
{
    const struct core_observer *o = &c->observer;
    struct cycle_run *first = c->runs + (c->runs[0].cycles == 0), *last = c->run;
    if (c->flushing_records || first > last)
        return;
    c->flushing_records = true; /* observers may re-enter */
    for (const struct cycle_run *r = first; r <= last; r++)
        count_cycles(&c->counts, &r->record, r->cycles);
    if (o->cycle_runs)
        o->cycle_runs(o->context, first, (unsigned)(last - first) + 1);
    else if (o->cycles)
        for (const struct cycle_run *r = first; r <= last; r++)
            o->cycles(o->context, &r->record, r->cycles);
    c->runs[0] = (struct cycle_run){.record = last->record};
    c->run = c->runs;
    c->flushing_records = false;
}

/* Whether fetch brought nothing because of a miss or a misfetch. */
static inline bool fetch_missed(uint64_t stages)
{
    unsigned stop = stage_stop(stages, STAGE_FETCH);
    return UNLIKELY(stop >= FETCH_L1I && stop <= FETCH_MISFETCH) && stage_moved(stages, STAGE_FETCH) == 0;
}

/* Returns the last cycle in which the fetch buffer passes instructions to the front-end stages, if dispatch does not
 * hold them up. */
static inline uint64_t buffer_lasts(const struct core *c)
{
    return c->decode_cycle - c->front_stages;
}

/* Whether the cycle is CYCLE_STARVED: fetch missed and the fetch buffer is empty. */
static inline bool starved(const struct core *c, uint64_t stages)
{
    return fetch_missed(stages) && (c->decode_cycle < c->front_stages || buffer_lasts(c) < c->now) &&
           c->tail - c->dispatched <= c->pipe_size;
}

/* Ends the cycle: adds its record to the current run, or begins a new run. record.h says why the record is built from
 * words. */
static inline void note_record(struct core *c, uint64_t stages)
{
    uint64_t flags = (c->rob_used >= c->rob_size ? CYCLE_ROB_FULL : 0) | (c->paths.level > 0 ? CYCLE_WRONG_PATH : 0);
    if (UNLIKELY(starved(c, stages)))
        flags |= CYCLE_STARVED;
    /* OBSERVE_MISSES wants the first control transfer after a starved cycle. */
    if (UNLIKELY(flags & CYCLE_STARVED || record_has_cut(&c->record)))
        c->control_mark = c->miss_mark;
    uint64_t rest = record_rest(&c->record, c->rob_used, c->head_wait, flags);
    struct cycle_run *r = c->run;
    if (!record_equals(&r->record, stages, rest)) {
        if (UNLIKELY(r >= c->run_end)) {
            flush_records(c);
            r = c->run;
        } else {
            c->run = ++r;
        }
        record_store(&r->record, stages, rest);
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

/* ---- counters for the guest. A counter is read when the window is empty, so its value is exact. */

uint64_t core_read_counter(void *context, unsigned counter)
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
    c->chosen_id = id ? id : NEVER;
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
    c->wants_notable_commits = capture;
}

void core_watch(struct core *c, unsigned watch, const uint64_t *count, uint64_t limit)
{
    assert(watch < CORE_WATCHES);
    c->watch[watch] = (struct core_watch){count, limit};
    core_update_watching(c);
}

static void flush_if_each(struct core *c)
{
    if (c->observer.each_cycle)
        flush_records(c);
}

/* After each cycle, if core.watching: calls `reached` for watched counts, checks counters for overflows and the turn
 * for its end. */
static void check_watches(struct core *c)
{
    flush_if_each(c);
    for (unsigned i = 0; i < c->watches; i++) {
        uint64_t value = c->watch[i].count ? *c->watch[i].count : c->now;
        if (value >= c->watch[i].limit && c->observer.reached)
            c->observer.reached(c->observer.context, i, c->now);
    }
    if (c->now >= c->next_check_cycle && c->machine)
        machine_check_overflows(c);
    else if (c->now >= c->next_check_cycle)
        core_check_turn(c);
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
        core_fill_view(c, f, v);
    else
        *v = (struct insn_view){
            .pc = core_interrupt_pc(c), .tag = c->observer.tag ? *c->observer.tag : 0, .machine = c->machine_mode};
}

/* ---- time */

/* Returns the first cycle after this one in which anything can happen, given that nothing happened in this one. */
static uint64_t next_event(const struct core *c)
{
    uint64_t next = wheel_next(c), other = lsq_next(c);
    if (other < next)
        next = other;
    if (c->next_check_cycle < next)
        next = c->next_check_cycle;
    if (!c->serializing && !c->fetch_lost && c->fetch_resume > c->now && c->fetch_resume < next)
        next = c->fetch_resume;
    if (c->decode_cycle >= c->now + c->front_stages && buffer_lasts(c) + 1 < next)
        next = buffer_lasts(c) + 1;
    /* A bundle that cannot dispatch grows as more instructions pass the front end, and may then lack another
     * resource. */
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

/* Simulates one cycle, last stage first. If nothing happened in it, time jumps to the next cycle in which something
 * can: the cycles in between have the same record. */
static inline void run_cycle(struct core *c)
{
    c->active = false;
    record_begin(&c->record);
    uint64_t stages = core_commit(c);
    core_complete(c);
    stages |= core_issue(c);
    if (c->store_head != c->store_commit)
        core_drain_stores(c);
    stages |= core_dispatch(c);
    c->record.stages = stages;
    stages |= core_fetch(c);
    note_record(c, stages);
    if (UNLIKELY(c->watching))
        flush_if_each(c);
    if (!stages_moved(stages) && !c->active && !c->run_over && !c->step) {
        uint64_t next = next_event(c);
        assert(next != NEVER && next > c->now);
        c->run->cycles += next - c->now - 1;
        c->now = next - 1;
    }
    c->now++;
    if (UNLIKELY(c->watching))
        check_watches(c);
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

/* The host faulted in a memory access of fetch, which ends the cycle. On the right path the guest gets the trap; a
 * wrong path ends. */
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
    note_record(c, c->record.stages | stage_result(STAGE_FETCH, fetched, c->paths.level ? FETCH_LOST : FETCH_SERIAL));
    c->now++;
}

/* Not inlined: core_run calls sigsetjmp, after which the compiler may keep less in registers. */
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

/* The thread that ran last may be gone, so idle_hart stands in for it. As with a trap, fetch waits for an empty window;
 * the pending trap keeps it from continuing then. */
void core_settle(struct core *c)
{
    c->paths.right = &c->idle_hart;
    if (c->paths.level == 0)
        c->paths.hart = &c->idle_hart;
    c->serializing = true;
    c->cause = CAUSE_SERIAL;
    c->trap = TRAP_EBREAK;
    while (c->head != c->tail || c->store_head != c->store_commit)
        run_cycle(c);
    c->trap = TRAP_NONE;
}

/* The quantum is used up, so fetch brings nothing more. */
void core_drain(struct core *c)
{
    while (c->head != c->tail)
        run_cycle(c);
}
