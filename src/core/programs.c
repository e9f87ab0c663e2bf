#include "core/programs.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/simulate_priv.h"
#include "guest/host_process.h"

enum { VISIT_INSNS = 10000, WAIT_MS = 50 };

enum slot_state { SLOT_LOADING, SLOT_READY, SLOT_ENDED, SLOT_FAILED };

/* A program as the waiting process sees it, in memory that both share. */
struct slot {
    _Atomic int state; /* enum slot_state */
    _Atomic bool measures;
    _Atomic uint64_t measured; /* instructions so far */
    int code;                  /* of a failure ... */
    struct error err;          /* ... and its sentence */
    struct program_result result;
};

struct programs {
    const struct simulation *s;
    const struct process_config *config;
    unsigned count;
    struct core *core;
    struct turns *turns;
    struct slot *slot;
    uint64_t *numbers; /* of children, a row for each program, and then a row for what it measured itself */
    size_t row;        /* numbers in a row */
    size_t slot_bytes, number_bytes;
    pid_t waiting; /* the process that waits */
    pid_t *pid;    /* of each program; 0: it has been seen to end */
    sigset_t old;  /* signals that were blocked before */
    bool measures; /* a program has begun to */
};

/* ---- in a program's process */

struct own_part {
    struct programs *all;
    struct slot *slot;
    uint64_t visited; /* instructions at the last visit */
    bool over;        /* measuring is */
};

static void note_progress(void *context, uint64_t insns)
{
    struct own_part *own = context;
    own->slot->measured = insns;
    own->slot->measures = true;
}

static void begin_beside(void *context, struct core *c)
{
    struct own_part *own = context;
    const struct simulation_beside *b = own->all->s->beside;
    if (b->begin)
        b->begin(b->context, c);
}

static void end_beside(void *context, struct core *c)
{
    struct own_part *own = context;
    const struct simulation_beside *b = own->all->s->beside;
    own->over = true;
    if (b->end)
        b->end(b->context, c);
}

static void ask_for_visit(void *context, struct core *c)
{
    struct own_part *own = context;
    uint64_t insns = core_counts(c)->instructions;
    if (own->all->s->beside->drain == NULL || (!own->over && insns - own->visited < VISIT_INSNS))
        return;
    own->visited = insns;
    turns_visit(own->all->turns);
}

/* The rest of a simulation, once the program is loaded. */
static int measure(struct programs *all, struct own_part *own, unsigned program, struct process *p)
{
    struct program_result *r = &own->slot->result;
    struct simulation s = *all->s;
    struct simulation_beside beside = {
        .begin = begin_beside, .end = end_beside, .drain = ask_for_visit, .context = own};
    struct part part = {.process = p, .s = &s, .core = all->core, .turns = all->turns, .program = program};
    s.progress = note_progress;
    s.progress_context = own;
    s.beside = s.beside ? &beside : NULL;
    part.of_children = all->numbers + program * all->row;
    core_serve(all->core, process_memory(p), program);
    struct simulation_result result = {0};
    struct error err = {""};
    int code = part_run(&part, &result, &err);
    if (part.is_child) {
        if (code == 0)
            part_hand_to_parent(&part, result.cut);
        end_as_child(p);
    }
    own->slot->err = err;
    r->result = result;
    if (code != 0)
        return code;
    part_add_children(&part, &r->result);
    if (s.sum)
        memcpy(all->numbers + (all->count + program) * all->row, s.sum->numbers, s.sum->count * sizeof(uint64_t));
    r->status = r->result.cut ? 0 : process_status(p);
    r->signal = r->result.cut ? 0 : process_signal(p);
    r->loader_failed = process_loader_failed(p);
    strcpy(r->program, process_program(p));
    return 0;
}

static _Noreturn void run_program(struct programs *all, unsigned program)
{
    struct own_part own = {.all = all, .slot = &all->slot[program]};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != all->waiting)
        _exit(1);
    sigprocmask(SIG_SETMASK, &all->old, NULL);
    struct process *p = process_new(&all->config[program], &own.slot->err);
    int code = p ? 0 : -EINVAL;
    if (p) {
        own.slot->state = SLOT_READY;
        turns_ring(all->turns);
        code = measure(all, &own, program, p);
    }
    own.slot->code = code;
    own.slot->state = code == 0 ? SLOT_ENDED : SLOT_FAILED;
    if (code == 0)
        turns_end(all->turns, program);
    turns_ring(all->turns);
    _exit(0);
}

/* ---- in the process that waits */

static int allocate(struct programs *all, struct error *err)
{
    all->row = part_numbers(all->s);
    all->slot_bytes = all->count * sizeof *all->slot;
    all->number_bytes = 2 * all->count * all->row * sizeof *all->numbers;
    all->slot = mmap(NULL, all->slot_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    all->numbers = mmap(NULL, all->number_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    all->pid = calloc(all->count, sizeof *all->pid);
    if (all->slot == MAP_FAILED || all->numbers == MAP_FAILED || all->pid == NULL)
        return error_set(err, -ENOMEM, "out of memory for %u programs", all->count);
    all->core = core_new(all->s->core, NULL, err);
    if (all->core == NULL)
        return -EINVAL;
    int code = simulation_boot(all->core, all->s, true, err);
    if (code != 0)
        return code;
    all->turns = turns_new(all->count, core_state_bytes(all->core), err);
    if (all->turns == NULL)
        return -ENOMEM;
    core_put_state(all->core, turns_state(all->turns));
    return 0;
}

static void release(struct programs *all)
{
    turns_free(all->turns);
    core_free(all->core);
    if (all->slot != MAP_FAILED)
        munmap(all->slot, all->slot_bytes);
    if (all->numbers != MAP_FAILED)
        munmap(all->numbers, all->number_bytes);
    free(all->pid);
}

static int start(struct programs *all, struct error *err)
{
    for (unsigned i = 0; i < all->count; i++) {
        all->pid[i] = fork();
        if (all->pid[i] == 0)
            run_program(all, i);
        if (all->pid[i] < 0) {
            all->pid[i] = 0;
            return error_set(err, -errno, "cannot start program %u of %u: %s", i + 1, all->count, strerror(errno));
        }
    }
    return 0;
}

static void kill_all(struct programs *all)
{
    for (unsigned i = 0; i < all->count; i++) {
        if (all->pid[i] == 0)
            continue;
        kill(all->pid[i], SIGKILL);
        waitpid(all->pid[i], NULL, 0);
    }
}

/* Signals that someone sends to this process are meant for the programs; those of a terminal go to them anyway. */
static void pass_signals_on(struct programs *all, const sigset_t *set)
{
    siginfo_t info;
    struct timespec at_once = {0, 0};
    while (sigtimedwait(set, &info, &at_once) > 0)
        for (unsigned i = 0; info.si_code != SI_KERNEL && i < all->count; i++)
            if (all->pid[i])
                kill(all->pid[i], info.si_signo);
}

static void tell_progress(struct programs *all)
{
    const struct simulation *s = all->s;
    for (unsigned i = 0; i < all->count; i++)
        if (s->progress && all->slot[i].measures && !all->measures) {
            all->measures = true;
            s->progress(s->progress_context, 0);
        }
    if (s->progress && all->measures)
        s->progress(s->progress_context, all->slot[0].measured);
}

/* Whether a program's process has died before its time. */
static int check_alive(struct programs *all, unsigned i, struct error *err)
{
    if (all->pid[i] == 0 || waitpid(all->pid[i], NULL, WNOHANG) != all->pid[i])
        return 0;
    all->pid[i] = 0;
    return all->slot[i].state >= SLOT_ENDED
               ? 0
               : error_set(err, -EIO, "the simulation of %s was killed", all->config[i].argv[0]);
}

/* What the first program that has failed says. */
static int check_failures(const struct programs *all, struct error *err)
{
    for (unsigned i = 0; i < all->count; i++)
        if (all->slot[i].state == SLOT_FAILED) {
            *err = all->slot[i].err;
            return all->slot[i].code;
        }
    return 0;
}

/* Waits until all programs are in this state or beyond; -EIO, or what a program failed with. A failure to load waits
 * for all to be loaded, so that it is always the same one that is told. */
static int wait_for(struct programs *all, enum slot_state state, const sigset_t *signals, struct error *err)
{
    for (;;) {
        unsigned there = 0;
        for (unsigned i = 0; i < all->count; i++) {
            there += all->slot[i].state >= (int)state;
            int code = check_alive(all, i, err);
            if (code != 0)
                return code;
        }
        int code = there == all->count || state == SLOT_ENDED ? check_failures(all, err) : 0;
        if (code != 0 || there == all->count)
            return code;
        if (turns_wait(all->turns, WAIT_MS)) {
            all->s->beside->drain(all->s->beside->context, all->core);
            turns_visited(all->turns);
        }
        pass_signals_on(all, signals);
        tell_progress(all);
    }
}

static int run_all(struct programs *all, struct error *err)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGQUIT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, &all->old);
    int code = start(all, err);
    if (code == 0)
        code = wait_for(all, SLOT_READY, &signals, err);
    if (code == 0) {
        turns_begin(all->turns);
        code = wait_for(all, SLOT_ENDED, &signals, err);
    }
    kill_all(all);
    sigprocmask(SIG_SETMASK, &all->old, NULL);
    return code;
}

int simulate_programs(const struct process_config *config, unsigned count, const struct simulation *s,
                      struct program_result *results, uint64_t *sums, struct error *err)
{
    struct programs all = {
        .s = s, .config = config, .count = count, .waiting = getpid(), .slot = MAP_FAILED, .numbers = MAP_FAILED};
    if (count == 0 || count > CORE_SPACES)
        return error_set(err, -E2BIG, "%u programs are more than the %d that can share a core", count, CORE_SPACES);
    int code = allocate(&all, err);
    if (code == 0)
        code = run_all(&all, err);
    for (unsigned i = 0; code == 0 && i < count; i++) {
        results[i] = all.slot[i].result;
        if (s->sum)
            memcpy(sums + i * s->sum->count, all.numbers + (count + i) * all.row, s->sum->count * sizeof *sums);
    }
    release(&all);
    return code;
}
