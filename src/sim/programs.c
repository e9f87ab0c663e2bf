#include "sim/programs.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/simulate_priv.h"
#include "guest/host_process.h"

enum {
    VISIT_INSNS = 10000, /* a program requests a visit after this many instructions */
    WAIT_MS = 50         /* the coordinator checks for dead processes and signals at least this often */
};

enum slot_state { SLOT_LOADING, SLOT_READY, SLOT_ENDED, SLOT_FAILED };

/* State of a program in memory that its process and the coordinator share. */
struct slot {
    _Atomic int state;         /* enum slot_state */
    _Atomic bool measures;     /* measuring has begun */
    _Atomic uint64_t measured; /* instructions measured so far */
    int code;                  /* 0, or with SLOT_FAILED a negative code */
    struct error err;          /* message of the failure */
    struct program_result result;
};

struct programs {
    const struct simulation *s;
    const struct process_config *config;
    unsigned count;
    struct core *core; /* of the coordinator; each program's process has a forked copy */
    struct turns *turns;
    struct slot *slot; /* one per program, shared */
    /* Shared rows of numbers (enum shared): first one row per program for its children's measurements, then one row per
     * program for its own simulation.sum. */
    uint64_t *numbers;
    size_t row; /* numbers in a row */
    size_t slot_bytes, number_bytes;
    pid_t coordinator_pid;
    pid_t *pid;        /* of each program's process; 0: ended and reaped */
    sigset_t old_mask; /* signal mask of the caller */
    bool measures;     /* some program has begun to measure; reported by progress(0) */
};

/* ---- in a program's process */

/* Context of the hooks and of progress. */
struct runner {
    struct programs *all;
    struct slot *slot;
    uint64_t visited; /* instructions of the core at the last visit */
    bool over;        /* measuring is over */
};

static void note_progress(void *context, uint64_t insns)
{
    struct runner *runner = context;
    runner->slot->measured = insns;
    runner->slot->measures = true;
}

static void begin_hook(void *context, struct core *c)
{
    struct runner *runner = context;
    const struct simulation_firmware_hooks *b = runner->all->s->firmware_hooks;
    if (b->begin)
        b->begin(b->context, c);
}

static void end_hook(void *context, struct core *c)
{
    struct runner *runner = context;
    const struct simulation_firmware_hooks *b = runner->all->s->firmware_hooks;
    runner->over = true;
    if (b->end)
        b->end(b->context, c);
}

/* `drain` runs in the coordinator: requests a visit for it. */
static void drain_hook(void *context, struct core *c)
{
    struct runner *runner = context;
    uint64_t insns = core_counts(c)->instructions;
    if (runner->all->s->firmware_hooks->drain == NULL || (!runner->over && insns - runner->visited < VISIT_INSNS))
        return;
    runner->visited = insns;
    turns_request_visit(runner->all->turns);
}

/* Runs the simulation of a loaded program. */
static int measure(struct programs *all, struct runner *runner, unsigned program, struct process *p)
{
    struct program_result *r = &runner->slot->result;
    struct simulation s = *all->s;
    struct simulation_firmware_hooks hooks = {
        .begin = begin_hook, .end = end_hook, .drain = drain_hook, .context = runner};
    struct sim_process proc = {
        .process = p, .s = &s, .core = all->core, .marked = true, .turns = all->turns, .program = program};
    s.progress = note_progress;
    s.progress_context = runner;
    s.firmware_hooks = s.firmware_hooks ? &hooks : NULL;
    proc.of_children = all->numbers + program * all->row;
    core_serve(all->core, process_memory(p), program);
    struct simulation_result result = {0};
    struct error err = {""};
    int code = sim_process_run(&proc, &result, &err);
    if (proc.is_child) {
        if (code == 0)
            sim_process_hand_to_parent(&proc, result.cut);
        end_as_child(p);
    }
    runner->slot->err = err;
    r->result = result;
    if (code != 0)
        return code;
    sim_process_add_children(&proc, &r->result);
    if (s.sum)
        memcpy(all->numbers + (all->count + program) * all->row, s.sum->numbers, s.sum->count * sizeof(uint64_t));
    r->interrupted = process_interruption(p);
    r->argument_bytes = process_copy_arguments(p, r->arguments);
    r->status = r->result.cut && r->interrupted == 0 ? 0 : process_status(p);
    r->signal = r->result.cut ? 0 : process_signal(p);
    r->loader_failed = process_loader_failed(p);
    strcpy(r->program, process_program(p));
    return 0;
}

static _Noreturn void run_program(struct programs *all, unsigned program)
{
    struct runner runner = {.all = all, .slot = &all->slot[program]};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != all->coordinator_pid)
        _exit(1);
    sigprocmask(SIG_SETMASK, &all->old_mask, NULL);
    struct process *p = process_new(&all->config[program], &runner.slot->err);
    int code = p ? 0 : -EINVAL;
    if (p) {
        runner.slot->state = SLOT_READY;
        turns_ring(all->turns);
        code = measure(all, &runner, program, p);
    }
    runner.slot->code = code;
    runner.slot->state = code == 0 ? SLOT_ENDED : SLOT_FAILED;
    if (code == 0)
        turns_end(all->turns, program);
    process_free(p);
    turns_ring(all->turns);
    _exit(0);
}

/* ---- in the coordinator: the caller's process, which waits for the programs */

static int allocate(struct programs *all, struct error *err)
{
    all->row = sim_process_numbers(all->s);
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

/* Forwards signals to the programs. A terminal's signals (SI_KERNEL) reach the whole process group without help. */
static void pass_signals_on(struct programs *all, const sigset_t *set)
{
    siginfo_t info;
    struct timespec at_once = {0, 0};
    while (sigtimedwait(set, &info, &at_once) > 0)
        for (unsigned i = 0; info.si_code != SI_KERNEL && i < all->count; i++)
            if (all->pid[i])
                kill(all->pid[i], info.si_signo);
}

static void report_progress(struct programs *all)
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

/* -EIO if the program's process died without setting SLOT_ENDED or SLOT_FAILED. */
static int check_alive(struct programs *all, unsigned i, struct error *err)
{
    if (all->pid[i] == 0 || waitpid(all->pid[i], NULL, WNOHANG) != all->pid[i])
        return 0;
    all->pid[i] = 0;
    return all->slot[i].state >= SLOT_ENDED
               ? 0
               : error_set(err, -EIO, "the simulation of %s was killed", all->config[i].argv[0]);
}

/* The code and message of the first failed program, or 0. */
static int check_failures(const struct programs *all, struct error *err)
{
    for (unsigned i = 0; i < all->count; i++)
        if (all->slot[i].state == SLOT_FAILED) {
            *err = all->slot[i].err;
            return all->slot[i].code;
        }
    return 0;
}

/* Waits until all programs have reached this state. -EIO if a process dies, or the code of a program that failed. When
 * waiting for SLOT_READY, failures are checked only after all programs have loaded or failed, so that the reported
 * failure does not depend on timing. */
static int wait_for(struct programs *all, enum slot_state state, const sigset_t *signals, struct error *err)
{
    for (;;) {
        unsigned arrived = 0;
        for (unsigned i = 0; i < all->count; i++) {
            arrived += all->slot[i].state >= (int)state;
            int code = check_alive(all, i, err);
            if (code != 0)
                return code;
        }
        int code = arrived == all->count || state == SLOT_ENDED ? check_failures(all, err) : 0;
        if (code != 0 || arrived == all->count)
            return code;
        if (turns_wait(all->turns, WAIT_MS)) {
            all->s->firmware_hooks->drain(all->s->firmware_hooks->context, all->core);
            turns_end_visit(all->turns);
        }
        pass_signals_on(all, signals);
        report_progress(all);
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
    sigprocmask(SIG_BLOCK, &signals, &all->old_mask);
    int code = start(all, err);
    if (code == 0)
        code = wait_for(all, SLOT_READY, &signals, err);
    if (code == 0) {
        turns_begin(all->turns);
        code = wait_for(all, SLOT_ENDED, &signals, err);
    }
    kill_all(all);
    sigprocmask(SIG_SETMASK, &all->old_mask, NULL);
    return code;
}

int simulate_programs(const struct process_config *config, unsigned count, const struct simulation *s,
                      struct program_result *results, uint64_t *sums, struct error *err)
{
    struct programs all = {.s = s,
                           .config = config,
                           .count = count,
                           .coordinator_pid = getpid(),
                           .slot = MAP_FAILED,
                           .numbers = MAP_FAILED};
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
