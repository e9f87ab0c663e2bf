#include "sim/simulate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/simulate_priv.h"
#include "sim/warm.h"
#include "emulate/engine.h"

static void read_counts(struct core *c, struct simulation_counts *to)
{
    to->core = *core_counts(c);
    to->memory = *memsys_counts(core_memsys(c));
}

void simulation_counts_subtract(struct simulation_counts *from, const struct simulation_counts *earlier)
{
    uint64_t a[COUNTS], b[COUNTS];
    memcpy(a, from, sizeof a);
    memcpy(b, earlier, sizeof b);
    for (unsigned i = 0; i < COUNTS; i++)
        a[i] -= b[i];
    memcpy(from, a, sizeof a);
}

static size_t sum_count(const struct sim_process *proc)
{
    return proc->s->sum ? proc->s->sum->count : 0;
}

size_t sim_process_numbers(const struct simulation *s)
{
    return SHARED_SUM + (s->sum ? s->sum->count : 0);
}

void sim_process_hand_to_parent(struct sim_process *proc, bool cut)
{
    struct simulation_counts now;
    uint64_t a[COUNTS];
    read_counts(proc->core, &now);
    simulation_counts_subtract(&now, &proc->start);
    memcpy(a, &now, sizeof a);
    for (unsigned i = 0; i < COUNTS; i++)
        __atomic_fetch_add(&proc->of_children[SHARED_COUNTS + i], a[i], __ATOMIC_RELAXED);
    for (size_t i = 0; i < sum_count(proc); i++)
        __atomic_fetch_add(&proc->of_children[SHARED_SUM + i], proc->s->sum->numbers[i], __ATOMIC_RELAXED);
    if (cut)
        __atomic_store_n(&proc->of_children[SHARED_CUT], 1, __ATOMIC_RELAXED);
}

/* After a system call this may be a new process that the guest forked: it starts to measure here. With turns, it leaves
 * them: it goes on with its copy of the core, and of firmware's memory. */
static void note_fork(struct sim_process *proc)
{
    if (process_is_child(proc->process) && !proc->is_child) {
        proc->is_child = true;
        read_counts(proc->core, &proc->start);
        if (proc->turns) {
            core_begin_turn(proc->core, UINT64_MAX, false);
            core_take_firmware(proc->core, proc->firmware);
        }
        if (proc->s->sum)
            proc->s->sum->forked(proc->s->sum->context);
    }
}

/* After a system call the process may have changed its mark. */
static void note_mark(struct sim_process *proc)
{
    const struct simulation_sum *sum = proc->s->sum;
    bool marked = process_is_marked(proc->process);
    if (marked == proc->marked)
        return;
    proc->marked = marked;
    if (sum && sum->set_marked) {
        core_counts(proc->core); /* reports the cycles so far */
        sum->set_marked(sum->context, marked);
    }
}

/* Linux system call numbers, the same on all RISC-V. */
enum { GUEST_CLONE = 220, GUEST_CLONE3 = 435 };

/* True if programs share firmware's memory and this system call may fork: the child needs a copy of that memory as it
 * is before the call. */
static bool may_fork(const struct sim_process *proc, const struct hart *h)
{
    return proc->turns && !proc->is_child && h->trap == TRAP_ECALL &&
           (h->x[REG_A7] == GUEST_CLONE || h->x[REG_A7] == GUEST_CLONE3);
}

static void trap(struct sim_process *proc, struct thread *t)
{
    if (may_fork(proc, thread_hart(t)))
        proc->firmware = core_copy_firmware(proc->core);
    process_trap(proc->process, t);
    note_fork(proc);
    note_mark(proc);
    firmware_copy_free(proc->firmware);
    proc->firmware = NULL;
}

uint64_t sim_process_run_functionally(struct sim_process *proc, const struct engine *engine, struct engine_state *e,
                                      uint64_t insns)
{
    uint64_t done = 0;
    struct thread *t;
    while (done < insns && (t = process_next(proc->process)) != NULL) {
        struct hart *h = thread_hart(t);
        if ((uint64_t)h->quantum > insns - done)
            h->quantum = (int64_t)(insns - done);
        engine->run(e, h);
        done += (uint64_t)(h->quantum - h->budget);
        trap(proc, t);
        if (proc->s->skipping && !proc->is_child)
            proc->s->skipping(proc->s->progress_context, done);
    }
    return done;
}

bool sim_process_wants_strides(const struct simulation *s)
{
    return s->observer && s->observer->strides;
}

static int skip(struct sim_process *proc, struct simulation_result *r, struct error *err)
{
    struct engine_state *e = interpreter.create(process_memory(proc->process), err);
    if (e == NULL)
        return -ENOMEM;
    struct warmer warmer = {.core = proc->core, .strides = sim_process_wants_strides(proc->s)};
    if (proc->s->warm)
        warm_begin(&warmer, &interpreter, e);
    r->skipped_insns = sim_process_run_functionally(proc, &interpreter, e, proc->s->skip_insns);
    interpreter.destroy(e);
    warm_end(&warmer);
    return 0;
}

static const struct simulation_firmware_hooks no_hooks;

static const struct simulation_firmware_hooks *hooks_of(const struct sim_process *proc)
{
    return proc->s->firmware_hooks && !proc->is_child ? proc->s->firmware_hooks : &no_hooks;
}

static void call_drain_hook(const struct sim_process *proc)
{
    const struct simulation_firmware_hooks *b = hooks_of(proc);
    if (b->drain)
        b->drain(b->context, proc->core);
}

/* ---- turns on the core, with other programs */

static void take_turn(struct sim_process *proc)
{
    bool switched = turns_take(proc->turns, proc->program);
    bool alone = turns_alone(proc->turns, proc->program);
    core_get_state(proc->core, turns_state(proc->turns));
    core_begin_turn(proc->core, alone ? UINT64_MAX : proc->s->turn_cycles, switched);
}

static void leave_core(struct sim_process *proc)
{
    core_settle(proc->core);
    core_put_state(proc->core, turns_state(proc->turns));
}

static void next_turn(struct sim_process *proc)
{
    if (turns_alone(proc->turns, proc->program)) {
        core_begin_turn(proc->core, UINT64_MAX, false);
        return;
    }
    leave_core(proc);
    turns_pass(proc->turns, proc->program);
    take_turn(proc);
}

/* Runs threads on the core until `insns` instructions (0: no limit) have retired or the process ends. True if the limit
 * was reached. */
static bool run_on_core(struct sim_process *proc, uint64_t insns, bool measured)
{
    const struct simulation *s = proc->s;
    uint64_t done = 0;
    struct thread *t;
    while ((t = process_next(proc->process)) != NULL) {
        struct hart *h = thread_hart(t);
        if (insns && (uint64_t)h->quantum > insns - done)
            h->quantum = (int64_t)(insns - done);
        core_run(proc->core, h);
        if (core_firmware_failed(proc->core))
            return false;
        done += (uint64_t)(h->quantum - h->budget);
        if (measured)
            call_drain_hook(proc); /* before the system call, because the guest may read the drained data in it */
        trap(proc, t);
        if (measured && s->progress && !proc->is_child)
            s->progress(s->progress_context, done);
        if (insns && done == insns)
            return true;
        if (proc->turns && !proc->is_child && core_turn_is_over(proc->core))
            next_turn(proc);
    }
    return false;
}

/* Runs the warm-up on the core and starts observing. With keep_full the observer is attached before the warm-up, with
 * counting off, because it must know the instructions that are in flight when measuring begins. */
static int warm_up(struct sim_process *proc, bool keep_full, struct error *err)
{
    const struct simulation *s = proc->s;
    static const struct core_observer nothing = {0};
    struct core_observer during = s->warmup_observer && s->warmup_insns ? *s->warmup_observer : nothing;
    if (sim_process_wants_strides(s)) {
        during.observed = OBSERVE_ALL;
        during.strides = STRIDES_ONLY;
    }
    if (keep_full) {
        core_observe(proc->core, s->observer);
        if (s->sum)
            s->sum->set_counting(s->sum->context, false);
    } else if (sim_process_wants_strides(s) || during.begin) {
        core_observe(proc->core, &during);
    }
    if (s->warmup_insns) {
        run_on_core(proc, s->warmup_insns, false);
        if (core_firmware_failed(proc->core))
            return core_firmware_error(proc->core, err);
        if (!keep_full)
            core_drain(proc->core);
    }
    read_counts(proc->core, &proc->start);
    if (!keep_full)
        core_observe(proc->core, s->observer);
    else if (s->sum)
        s->sum->set_counting(s->sum->context, true);
    return 0;
}

int sim_process_measure(struct sim_process *proc, struct simulation_result *r, struct error *err)
{
    const struct simulation *s = proc->s;
    bool keep_full = s->keep_pipeline_full && (s->sum == NULL || s->sum->set_counting);
    core_step_every_cycle(proc->core, s->step);
    note_mark(proc); /* the process may come from a checkpoint, or be a copy */
    int code = warm_up(proc, keep_full, err);
    if (code != 0)
        return code;
    if (hooks_of(proc)->begin)
        hooks_of(proc)->begin(hooks_of(proc)->context, proc->core);
    if (s->progress && !proc->is_child)
        s->progress(s->progress_context, 0);
    r->cut = run_on_core(proc, s->max_insns, true);
    if (core_firmware_failed(proc->core))
        return core_firmware_error(proc->core, err);
    if (r->cut && !proc->is_child)
        process_abandon_children(proc->process);
    if (keep_full) {
        read_counts(proc->core, &r->counts);
        if (s->sum)
            s->sum->set_counting(s->sum->context, false);
    }
    core_drain(proc->core);
    if (hooks_of(proc)->end)
        hooks_of(proc)->end(hooks_of(proc)->context, proc->core);
    call_drain_hook(proc);
    if (!keep_full)
        read_counts(proc->core, &r->counts);
    core_observe(proc->core, NULL);
    if (s->sum)
        s->sum->end(s->sum->context);
    simulation_counts_subtract(&r->counts, &proc->start);
    return 0;
}

int sim_process_run(struct sim_process *proc, struct simulation_result *r, struct error *err)
{
    const struct simulation *s = proc->s;
    if (proc->turns)
        take_turn(proc);
    if (s->skip_insns && skip(proc, r, err) != 0)
        return -ENOMEM;
    if (s->skip_insns && proc->turns && !proc->is_child)
        next_turn(proc);
    int code = sim_process_measure(proc, r, err);
    if (code == 0 && proc->turns && !proc->is_child)
        leave_core(proc);
    return code;
}

void sim_process_add_children(struct sim_process *proc, struct simulation_result *r)
{
    uint64_t a[COUNTS];
    memcpy(a, &r->counts, sizeof a);
    for (unsigned i = 0; i < COUNTS; i++)
        a[i] += proc->of_children[SHARED_COUNTS + i];
    memcpy(&r->counts, a, sizeof a);
    for (size_t i = 0; i < sum_count(proc); i++)
        proc->s->sum->numbers[i] += proc->of_children[SHARED_SUM + i];
    r->cut |= proc->of_children[SHARED_CUT] != 0;
}

/* Firmware's counters may observe instructions unless the caller's observer observes only some of them: a core has one
 * selection of observed instructions. */
int simulation_boot(struct core *c, const struct simulation *s, bool shared, struct error *err)
{
    bool some = s->observer && s->observer->observed != OBSERVE_ALL && core_observes_insns(s->observer);
    struct firmware_image image = {s->firmware, s->firmware_image, s->firmware_bytes};
    if (s->firmware == NULL)
        return 0;
    int code = core_boot(c, s->core, &image, s->machine_counters, !some, err);
    if (code == 0 && shared)
        code = core_share_firmware(c, err);
    if (code == 0 && s->firmware_hooks && s->firmware_hooks->prepare)
        code = s->firmware_hooks->prepare(s->firmware_hooks->context, c, err);
    return code;
}

int sim_process_new(struct sim_process *proc, struct process *p, const struct simulation *s, struct error *err)
{
    size_t bytes = sim_process_numbers(s) * sizeof(uint64_t);
    *proc = (struct sim_process){.process = p, .s = s, .marked = true};
    proc->of_children = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (proc->of_children == MAP_FAILED)
        return error_set(err, -errno, "cannot allocate counts: %s", strerror(errno));
    proc->core = core_new(s->core, process_memory(p), err);
    int code = proc->core ? simulation_boot(proc->core, s, false, err) : -EINVAL;
    if (code == 0 && s->state && !core_get_warm(proc->core, s->state, s->state_bytes))
        code = error_set(err, -EINVAL, "the warm state is not of this core");
    if (code != 0)
        sim_process_free(proc);
    return code;
}

void sim_process_free(struct sim_process *proc)
{
    core_free(proc->core);
    munmap(proc->of_children, sim_process_numbers(proc->s) * sizeof(uint64_t));
}

int simulate_process(struct process *p, const struct simulation *s, struct simulation_result *r, struct error *err)
{
    struct sim_process proc;
    *r = (struct simulation_result){0};
    int code = sim_process_new(&proc, p, s, err);
    if (code != 0)
        return code;
    code = sim_process_run(&proc, r, err);
    if (code == 0 && proc.is_child)
        sim_process_hand_to_parent(&proc, r->cut);
    else if (code == 0)
        sim_process_add_children(&proc, r);
    sim_process_free(&proc);
    return code;
}
