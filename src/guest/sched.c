#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "guest/baton.h"
#include "guest/files_priv.h"
#include "guest/process_copy_priv.h"
#include "guest/syscalls/syscall.h"

/* A wake in another process does not reach the waiters of this one (futex.h). So the words of futexes in shared memory
 * are checked with this period, and with --host-time also System V objects. */
#define SHARED_FUTEX_PERIOD_NS UINT64_C(1000000)

/* Union of the events that the sleeping threads of a process wait for. */
struct wait_set {
    uint64_t deadline_ns; /* earliest deadline, or NEVER */
    bool child;           /* a thread waits for a change of state of a child */
    bool shared_futex;    /* a thread waits for a futex in memory shared with other processes */
    bool ipc;             /* a thread waits for a semaphore or a message queue */
    unsigned fd_count;    /* total number of descriptors that threads wait for */
};

struct thread *thread_new(struct process *p, int tid)
{
    struct thread *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->process = p;
    t->tid = tid;
    t->vfork_fd = t->opening_fd = -1;
    t->signal_stack.flags = SS_DISABLE;
    t->hart.reserved_addr = NO_RESERVATION;
    call_reset(t);
    struct thread **end = &p->threads;
    while (*end)
        end = &(*end)->next;
    *end = t;
    return t;
}

static void thread_free(struct thread *t)
{
    signal_queue_clear(&t->pending);
    if (t->opening_fd >= 0)
        close(t->opening_fd);
    free(t->poll_fds);
    free(t);
}

void thread_free_others(struct process *p, const struct thread *keep)
{
    struct thread **link = &p->threads;
    while (*link) {
        struct thread *t = *link;
        if (t == keep) {
            link = &t->next;
        } else {
            *link = t->next;
            thread_free(t);
        }
    }
    p->current = p->threads;
}

struct thread *thread_by_tid(const struct process *p, int tid)
{
    for (struct thread *t = p->threads; t; t = t->next)
        if (t->tid == tid && !t->exited)
            return t;
    return NULL;
}

void call_reset(struct thread *t)
{
    memset(&t->call, 0, sizeof t->call);
    t->call.deadline_ns = NEVER;
}

int64_t call_sleep(struct thread *t, uint64_t deadline_ns)
{
    if (!t->call.uninterruptible && signal_deliverable(t))
        return -EINTR;
    if (t->call.deadline_ns == NEVER)
        t->call.deadline_ns = deadline_ns;
    t->call.asleep = true;
    return SYSCALL_RETRY;
}

bool call_timed_out(const struct thread *t)
{
    return t->call.deadline_ns != NEVER && process_time_ns(t->process) >= t->call.deadline_ns;
}

void thread_wake(struct thread *t)
{
    t->call.asleep = false;
}

/* Copies `fds` to the thread's own array. A borrowed descriptor of a copied process is polled by its original. */
static int note_polled(struct thread *t, const struct pollfd *fds, unsigned count)
{
    if (count > t->poll_room) {
        struct pollfd *room = realloc(t->poll_fds, count * sizeof *room);
        if (!room)
            return -ENOMEM;
        t->poll_fds = room;
        t->poll_room = count;
    }
    for (unsigned i = 0; i < count; i++) {
        int original = t->process->copy && files_is_guest(fds[i].fd) ? t->process->files->borrowed[fds[i].fd] : 0;
        t->poll_fds[i] = fds[i];
        if (original)
            t->poll_fds[i].fd = original;
    }
    return 0;
}

int64_t thread_poll(struct thread *t, struct pollfd *fds, unsigned count, int64_t timeout_ns)
{
    int ready = note_polled(t, fds, count);
    if (ready < 0)
        return ready;
    do
        ready = poll(t->poll_fds, count, 0);
    while (ready < 0 && errno == EINTR); /* the host's signal handler has recorded the signal (host_signal.c) */
    for (unsigned i = 0; i < count; i++)
        fds[i].revents = t->poll_fds[i].revents;
    if (ready != 0)
        return ready > 0 ? ready : -errno;
    if (timeout_ns == 0 || call_timed_out(t))
        return 0;
    t->call.fd_count = count;
    uint64_t now = process_time_ns(t->process);
    bool forever = timeout_ns < 0 || (uint64_t)timeout_ns > NEVER - 1 - now;
    return call_sleep(t, forever ? NEVER : now + (uint64_t)timeout_ns);
}

void sched_wake_child_waiters(struct process *p)
{
    for (struct thread *t = p->threads; t; t = t->next)
        if (t->call.child)
            thread_wake(t);
}

void sched_retired(struct thread *t)
{
    struct process *p = t->process;
    uint64_t insns = (uint64_t)(t->hart.quantum - t->hart.budget);
    t->hart.retired += insns;
    t->slice_insns -= (int64_t)insns;
    t->hart.quantum = t->hart.budget = 0;
    p->retired_insns += insns;
    p->turn_insns -= (int64_t)insns;
    if (p->is_child)
        p->member->insns = p->retired_insns + p->children_insns; /* at every quantum, in case the process is killed */
}

static bool shared_futex_changed(const struct thread *t)
{
    const struct futex_wait *futex = &t->call.futex;
    const uint32_t *word = guest_ptr(t->process->memory, futex->addr, sizeof *word, PROT_READ);
    return !word || __atomic_load_n(word, __ATOMIC_SEQ_CST) != futex->value;
}

static void wait_set_add(struct wait_set *set, const struct thread *t)
{
    if (t->call.deadline_ns < set->deadline_ns)
        set->deadline_ns = t->call.deadline_ns;
    set->shared_futex |= t->call.futex.waiting && t->call.futex.shared;
    set->ipc |= t->call.ipc_waiting;
    set->child |= t->call.child;
    set->fd_count += t->call.fd_count;
}

/* Wakes the sleeping threads for which an event has occurred, and returns what the others wait for. Does not sleep.
 * Polls descriptors only if `poll_descriptors`, because that costs host system calls. */
static struct wait_set wake_ready_threads(struct process *p, bool poll_descriptors)
{
    struct wait_set set = {.deadline_ns = NEVER};
    uint64_t now = process_time_ns(p);
    for (struct thread *t = p->threads; t; t = t->next) {
        if (!t->call.asleep || t->exited)
            continue;
        bool wake = t->call.deadline_ns <= now || (!t->call.uninterruptible && signal_deliverable(t));
        wake = wake || (t->call.futex.waiting && t->call.futex.shared && shared_futex_changed(t));
        wake = wake || (t->call.ipc_waiting && ipc_changed(t));
        wake = wake || (poll_descriptors && t->call.fd_count > 0 && poll(t->poll_fds, t->call.fd_count, 0) != 0);
        if (wake)
            thread_wake(t);
        else
            wait_set_add(&set, t);
    }
    return set;
}

/* Returns the first runnable thread after `last` in cyclic order, which may be `last` itself, or NULL. Frees the
 * threads that have exited. */
static struct thread *next_runnable(struct process *p, const struct thread *last)
{
    struct thread **link = &p->threads, *before = NULL, *after = NULL;
    bool passed = false;
    while (*link) {
        struct thread *t = *link;
        bool runnable = !t->exited && !t->call.asleep;
        if (runnable && passed && !after)
            after = t;
        if (runnable && !passed && !before)
            before = t;
        passed |= t == last;
        if (t->exited) {
            *link = t->next;
            thread_free(t);
        } else {
            link = &t->next;
        }
    }
    return after ? after : before;
}

static unsigned gather_fds(const struct process *p, struct pollfd *fds)
{
    unsigned count = 0;
    for (const struct thread *t = p->threads; t; t = t->next) {
        if (!t->call.asleep || t->call.fd_count == 0)
            continue;
        memcpy(fds + count, t->poll_fds, t->call.fd_count * sizeof *fds);
        count += t->call.fd_count;
    }
    return count;
}

/* Sleeps on the host until a descriptor is ready, a signal arrives or `timeout_ns` (NEVER: no timeout) have passed.
 * Returns true if the time has passed. Host signals are blocked from the check for recorded signals until ppoll sleeps,
 * so that none is missed in between. */
static bool host_wait(struct process *p, const struct wait_set *set, uint64_t timeout_ns)
{
    struct pollfd *fds = malloc((set->fd_count + 1) * sizeof *fds);
    if (!fds)
        return false; /* out of memory: the caller tries again */
    unsigned count = gather_fds(p, fds);
    struct timespec timeout = {(time_t)(timeout_ns / 1000000000), (long)(timeout_ns % 1000000000)};
    sigset_t all, old;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    bool passed = false;
    if (!host_signal_waiting())
        passed = ppoll(fds, count, timeout_ns == NEVER ? NULL : &timeout, &old) == 0;
    sigprocmask(SIG_SETMASK, &old, NULL);
    free(fds);
    return passed;
}

/* Whether an event from outside of the family can wake a thread. If this is the only process, a change of a child or of
 * shared memory counts as outside. A copied process shares memory with its own children only. */
static bool waits_for_outside(const struct process *p, const struct wait_set *set)
{
    if (p->config.host_time || (baton_alone(p) && (set->child || (set->shared_futex && !p->copy))))
        return true;
    for (const struct thread *t = p->threads; t; t = t->next) {
        for (unsigned i = 0; t->call.asleep && i < t->call.fd_count; i++)
            if (t->poll_fds[i].fd >= 0 && t->poll_fds[i].fd != t->vfork_fd &&
                fd_is_outside(&p->inherited, t->poll_fds[i].fd))
                return true;
    }
    return false;
}

/* Called when no thread of the process can run. Lets other processes run, or advances guest time to the next deadline,
 * or sleeps on the host. */
static void wait_for_event(struct process *p, const struct wait_set *set)
{
    uint64_t now = process_time_ns(p), deadline = timers_next_ns(p, false);
    bool alone = baton_alone(p), outside = waits_for_outside(p, set);
    if (set->deadline_ns < deadline)
        deadline = set->deadline_ns;
    if (!alone && !baton_idle(p, deadline, outside, &deadline, &outside))
        return;
    if (deadline <= now)
        return;
    uint64_t left = deadline == NEVER ? NEVER : deadline - now;
    if (!outside && left != NEVER) {
        p->offset_ns += left;
        return;
    }
    if (p->copy && !set->child && (alone || outside)) {
        copy_spoil(p, "waits for something outside of the run");
        return;
    }
    bool polls = set->shared_futex || (set->ipc && p->config.host_time);
    uint64_t longest = !alone ? BATON_TICK_NS : polls ? SHARED_FUTEX_PERIOD_NS : NEVER;
    if (left > longest)
        left = longest;
    if (host_wait(p, set, left) && !p->config.host_time && deadline != NEVER)
        p->offset_ns += left;
}

/* Sets the number of instructions that the engine runs: the rest of the thread's turn, but only up to the next
 * deadline, so that timers expire and sleeps end at an exact instruction. */
static void set_budget(struct process *p, struct thread *t, uint64_t deadline_ns)
{
    int64_t budget = t->slice_insns;
    uint64_t now = process_time_ns(p);
    if (!p->config.host_time && deadline_ns != NEVER) {
        uint64_t left = deadline_ns > now ? deadline_ns - now : 1;
        if (left < (uint64_t)budget)
            budget = (int64_t)left;
    }
    t->hart.quantum = t->hart.budget = budget;
    t->hart.time_offset = now - t->hart.retired;
    t->hart.trap = TRAP_NONE;
}

/* Prepares a thread that is not asleep to run guest code: continues its system call and enters signal handlers. Returns
 * false if the thread fell asleep or exited, or if the process ended. */
static bool make_ready(struct thread *t)
{
    struct process *p = t->process;
    while (!p->ended && !t->exited && !t->call.asleep) {
        if (t->call.begun && !t->call.interrupted) {
            syscall_dispatch(t);
        } else if (t->call.interrupted || (signal_pending(t) & ~t->blocked) != 0) {
            if (host_signal_waiting())
                host_signal_collect(p);
            signal_deliver(t);
        } else {
            return true;
        }
    }
    return false;
}

struct thread *sched_next(struct process *p)
{
    while (!p->ended) {
        if (p->turn_insns <= 0 && !baton_alone(p)) {
            baton_pass(p);
            baton_take(p);
        }
        if (host_signal_waiting())
            host_signal_collect(p);
        timers_expire(p);
        struct thread *t = p->current;
        bool turn_over = !t || t->exited || t->call.asleep || t->slice_insns <= 0;
        struct wait_set set = {.deadline_ns = NEVER};
        if (p->threads->next || p->threads->call.asleep)
            set = wake_ready_threads(p, turn_over);
        if (turn_over) {
            if (t && p->threads->next) /* the only thread of a process keeps its lr reservation */
                t->hart.reserved_addr = NO_RESERVATION;
            t = p->current = next_runnable(p, t);
            if (t)
                t->slice_insns = (int64_t)p->config.quantum_insns;
        }
        if (!t) {
            wait_for_event(p, &set);
        } else if (make_ready(t)) {
            uint64_t timer_ns = timers_next_ns(p, true);
            set_budget(p, t, timer_ns < set.deadline_ns ? timer_ns : set.deadline_ns);
            p->family->idle = 0;
            return t;
        }
    }
    return NULL;
}
