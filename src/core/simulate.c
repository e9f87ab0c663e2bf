#include "core/simulate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/simulate_priv.h"
#include "core/warm.h"
#include "emulate/engine.h"

/* Counts of core and memory, so far. */
static void read_counts(struct core *c, struct simulation_counts *to)
{
    to->core = *core_counts(c);
    to->memory = *memsys_counts(core_memsys(c));
}

static void subtract(struct simulation_counts *from, const struct simulation_counts *what)
{
    uint64_t a[COUNTS], b[COUNTS];
    memcpy(a, from, sizeof a);
    memcpy(b, what, sizeof b);
    for (unsigned i = 0; i < COUNTS; i++)
        a[i] -= b[i];
    memcpy(from, a, sizeof a);
}

static size_t sum_count(const struct part *part)
{
    return part->s->sum ? part->s->sum->count : 0;
}

size_t part_numbers(const struct simulation *s)
{
    return SHARED_SUM + (s->sum ? s->sum->count : 0);
}

void part_hand_to_parent(struct part *part, bool cut)
{
    struct simulation_counts now;
    uint64_t a[COUNTS];
    read_counts(part->core, &now);
    subtract(&now, &part->start);
    memcpy(a, &now, sizeof a);
    for (unsigned i = 0; i < COUNTS; i++)
        __atomic_fetch_add(&part->of_children[SHARED_COUNTS + i], a[i], __ATOMIC_RELAXED);
    for (size_t i = 0; i < sum_count(part); i++)
        __atomic_fetch_add(&part->of_children[SHARED_SUM + i], part->s->sum->numbers[i], __ATOMIC_RELAXED);
    if (cut)
        __atomic_store_n(&part->of_children[SHARED_CUT], 1, __ATOMIC_RELAXED);
}

/* After a system call this may be a forked process: it measures from here on. */
static void note_fork(struct part *part)
{
    if (process_is_child(part->process) && !part->is_child) {
        part->is_child = true;
        read_counts(part->core, &part->start);
        if (part->turns) {
            core_begin_turn(part->core, UINT64_MAX, false);
            core_take_firmware(part->core, part->firmware);
        }
        if (part->s->sum)
            part->s->sum->forked(part->s->sum->context);
    }
}

/* Numbers of system calls, the same in all of Linux's RISC-V. */
enum { GUEST_CLONE = 220, GUEST_CLONE3 = 435 };

/* Whether the system call may fork: from there on the child's firmware has memory of its own. */
static bool may_fork(const struct part *part, const struct hart *h)
{
    return part->turns && !part->is_child && h->trap == TRAP_ECALL &&
           (h->x[REG_A7] == GUEST_CLONE || h->x[REG_A7] == GUEST_CLONE3);
}

static void trap(struct part *part, struct thread *t)
{
    if (may_fork(part, thread_hart(t)))
        part->firmware = core_copy_firmware(part->core);
    process_trap(part->process, t);
    note_fork(part);
    firmware_copy_free(part->firmware);
    part->firmware = NULL;
}

uint64_t part_run_functionally(struct part *part, const struct engine *engine, struct engine_state *e, uint64_t insns)
{
    uint64_t done = 0;
    struct thread *t;
    while (done < insns && (t = process_next(part->process)) != NULL) {
        struct hart *h = thread_hart(t);
        if ((uint64_t)h->quantum > insns - done)
            h->quantum = (int64_t)(insns - done);
        engine->run(e, h);
        done += (uint64_t)(h->quantum - h->budget);
        trap(part, t);
    }
    return done;
}

bool part_asks_for_strides(const struct simulation *s)
{
    return s->observer && s->observer->strides;
}

static int skip(struct part *part, struct simulation_result *r, struct error *err)
{
    struct engine_state *e = interpreter.create(process_memory(part->process), err);
    if (e == NULL)
        return -ENOMEM;
    struct warmer warmer = {.core = part->core, .strides = part_asks_for_strides(part->s)};
    if (part->s->warm)
        warm_begin(&warmer, &interpreter, e);
    r->skipped_insns = part_run_functionally(part, &interpreter, e, part->s->skip_insns);
    interpreter.destroy(e);
    warm_end(&warmer);
    return 0;
}

static const struct simulation_beside nothing_beside;

static const struct simulation_beside *beside(const struct part *part)
{
    return part->s->beside && !part->is_child ? part->s->beside : &nothing_beside;
}

static void drain_beside(const struct part *part)
{
    const struct simulation_beside *b = beside(part);
    if (b->drain)
        b->drain(b->context, part->core);
}

/* ---- turns on the core, with other programs */

static void take_turn(struct part *part)
{
    bool switched = turns_take(part->turns, part->program);
    bool alone = turns_alone(part->turns, part->program);
    core_get_state(part->core, turns_state(part->turns));
    core_begin_turn(part->core, alone ? UINT64_MAX : part->s->turn_cycles, switched);
}

static void leave_core(struct part *part)
{
    core_settle(part->core);
    core_put_state(part->core, turns_state(part->turns));
}

static void next_turn(struct part *part)
{
    if (turns_alone(part->turns, part->program)) {
        core_begin_turn(part->core, UINT64_MAX, false);
        return;
    }
    leave_core(part);
    turns_pass(part->turns, part->program);
    take_turn(part);
}

/* Runs threads on the core. True if the limit was reached. */
static bool run_on_core(struct part *part, uint64_t insns, bool measured)
{
    const struct simulation *s = part->s;
    uint64_t done = 0;
    struct thread *t;
    while ((t = process_next(part->process)) != NULL) {
        struct hart *h = thread_hart(t);
        if (insns && (uint64_t)h->quantum > insns - done)
            h->quantum = (int64_t)(insns - done);
        core_run(part->core, h);
        if (core_firmware_failed(part->core))
            return false;
        done += (uint64_t)(h->quantum - h->budget);
        if (measured)
            drain_beside(part); /* before the system call, which may ask for what comes of it */
        trap(part, t);
        if (measured && s->progress && !part->is_child)
            s->progress(s->progress_context, done);
        if (insns && done == insns)
            return true;
        if (part->turns && !part->is_child && core_turn_is_over(part->core))
            next_turn(part);
    }
    return false;
}

/* On the core without being measured. Where measuring begins on a full pipeline, observers see it already. */
static int warm_up(struct part *part, bool moving, struct error *err)
{
    const struct simulation *s = part->s;
    static const struct core_observer learn_strides = {.observed = OBSERVE_ALL, .strides = STRIDES_ONLY};
    if (part_asks_for_strides(s))
        core_observe(part->core, &learn_strides);
    if (moving) {
        core_observe(part->core, s->observer);
        if (s->sum)
            s->sum->part(s->sum->context, false);
    }
    if (s->warmup_insns) {
        run_on_core(part, s->warmup_insns, false);
        if (core_firmware_failed(part->core))
            return core_firmware_error(part->core, err);
        if (!moving)
            core_drain(part->core);
    }
    read_counts(part->core, &part->start);
    if (!moving)
        core_observe(part->core, s->observer);
    else if (s->sum)
        s->sum->part(s->sum->context, true);
    return 0;
}

int part_measure(struct part *part, struct simulation_result *r, struct error *err)
{
    const struct simulation *s = part->s;
    bool moving = s->moving && (s->sum == NULL || s->sum->part);
    core_step_every_cycle(part->core, s->step);
    int code = warm_up(part, moving, err);
    if (code != 0)
        return code;
    if (beside(part)->begin)
        beside(part)->begin(beside(part)->context, part->core);
    if (s->progress && !part->is_child)
        s->progress(s->progress_context, 0);
    r->cut = run_on_core(part, s->max_insns, true);
    if (core_firmware_failed(part->core))
        return core_firmware_error(part->core, err);
    if (r->cut && !part->is_child)
        process_abandon_children(part->process);
    if (moving) {
        read_counts(part->core, &r->counts);
        if (s->sum)
            s->sum->part(s->sum->context, false);
    }
    core_drain(part->core);
    if (beside(part)->end)
        beside(part)->end(beside(part)->context, part->core);
    drain_beside(part);
    if (!moving)
        read_counts(part->core, &r->counts);
    core_observe(part->core, NULL);
    if (s->sum)
        s->sum->end(s->sum->context);
    subtract(&r->counts, &part->start);
    return 0;
}

int part_run(struct part *part, struct simulation_result *r, struct error *err)
{
    const struct simulation *s = part->s;
    if (part->turns)
        take_turn(part);
    if (s->skip_insns && skip(part, r, err) != 0)
        return -ENOMEM;
    if (s->skip_insns && part->turns && !part->is_child)
        next_turn(part);
    int code = part_measure(part, r, err);
    if (code == 0 && part->turns && !part->is_child)
        leave_core(part);
    return code;
}

void part_add_children(struct part *part, struct simulation_result *r)
{
    uint64_t a[COUNTS];
    memcpy(a, &r->counts, sizeof a);
    for (unsigned i = 0; i < COUNTS; i++)
        a[i] += part->of_children[SHARED_COUNTS + i];
    memcpy(&r->counts, a, sizeof a);
    for (size_t i = 0; i < sum_count(part); i++)
        part->s->sum->numbers[i] += part->of_children[SHARED_SUM + i];
    r->cut |= part->of_children[SHARED_CUT] != 0;
}

/* Instructions can be observed for firmware's counters if nobody observes only some of them. */
int simulation_boot(struct core *c, const struct simulation *s, bool shared, struct error *err)
{
    bool some = s->observer && s->observer->observed != OBSERVE_ALL && core_observes_insns(s->observer);
    struct firmware_image image = {s->firmware, s->firmware_image, s->firmware_bytes};
    if (s->firmware == NULL)
        return 0;
    int code = core_boot(c, s->core, &image, s->machine_counters, !some, err);
    if (code == 0 && shared)
        code = core_share_firmware(c, err);
    if (code == 0 && s->beside && s->beside->prepare)
        code = s->beside->prepare(s->beside->context, c, err);
    return code;
}

int part_new(struct part *part, struct process *p, const struct simulation *s, struct error *err)
{
    size_t bytes = part_numbers(s) * sizeof(uint64_t);
    *part = (struct part){.process = p, .s = s};
    part->of_children = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (part->of_children == MAP_FAILED)
        return error_set(err, -errno, "cannot allocate counts: %s", strerror(errno));
    part->core = core_new(s->core, process_memory(p), err);
    int code = part->core ? simulation_boot(part->core, s, false, err) : -EINVAL;
    if (code == 0 && s->state && !core_get_warm(part->core, s->state, s->state_bytes))
        code = error_set(err, -EINVAL, "the warm state is not of this core");
    if (code != 0)
        part_free(part);
    return code;
}

void part_free(struct part *part)
{
    core_free(part->core);
    munmap(part->of_children, part_numbers(part->s) * sizeof(uint64_t));
}

int simulate_process(struct process *p, const struct simulation *s, struct simulation_result *r, struct error *err)
{
    struct part part;
    *r = (struct simulation_result){0};
    int code = part_new(&part, p, s, err);
    if (code != 0)
        return code;
    code = part_run(&part, r, err);
    if (code == 0 && part.is_child)
        part_hand_to_parent(&part, r->cut);
    else if (code == 0)
        part_add_children(&part, r);
    part_free(&part);
    return code;
}
