#include "guest/baton.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest/process_priv.h"

/* ---- the ring: changed only under its lock */

static void ring_lock(struct family *f)
{
    while (atomic_exchange(&f->lock, 1) != 0)
        sched_yield();
}

static void ring_unlock(struct family *f)
{
    atomic_store(&f->lock, 0);
}

static int member_index(const struct family *f, const struct member *m)
{
    return (int)(m - f->members);
}

void baton_join(struct family *f, struct member *m)
{
    int self = member_index(f, m);
    ring_lock(f);
    if (m->next < 0) {
        /* Insert behind the last member of the ring, which precedes the first one. The first has the lowest index. */
        int first = -1;
        for (struct member *o = family_next(f, NULL); o && first < 0; o = family_next(f, o))
            if (o->next >= 0)
                first = member_index(f, o);
        if (first < 0) {
            m->next = m->previous = self;
        } else {
            int last = f->members[first].previous;
            m->previous = last;
            m->next = first;
            f->members[last].next = self;
            f->members[first].previous = self;
        }
        f->ring_count++;
    }
    int nobody = -1;
    if (atomic_compare_exchange_strong(&f->holder, &nobody, self))
        m->turn = 1;
    ring_unlock(f);
}

void baton_leave(struct family *f, struct member *m)
{
    ring_lock(f);
    if (m->next >= 0) {
        f->members[m->previous].next = (int)m->next;
        f->members[m->next].previous = (int)m->previous;
        m->next = m->previous = -1;
        f->ring_count--;
    }
    ring_unlock(f);
}

/* ---- passing */

static void wake(struct member *m)
{
    m->turn = 1;
    syscall(SYS_futex, &m->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void give_to(struct family *f, int next)
{
    f->holder = next;
    if (next >= 0)
        wake(&f->members[next]);
}

bool baton_alone(const struct process *p)
{
    return p->config.host_time || p->family->ring_count <= 1;
}

void baton_pass(struct process *p)
{
    struct family *f = p->family;
    f->clock_ns = process_time_ns(p);
    ring_lock(f);
    int next = p->member->next;
    ring_unlock(f);
    give_to(f, next);
}

/* Sets the state of a member. The parent sees the change at its next turn (see report_child_changes). */
static void change_state(struct family *f, struct member *m, enum member_state state)
{
    m->state = (int)state;
    m->seen = false;
    f->changes++;
}

static void mark_ended(struct family *f, struct member *m)
{
    ipc_process_ended(f->ipc, m->guest_pid);
    change_state(f, m, m->parent_pid == FAMILY_INIT ? MEMBER_REAPED : MEMBER_ENDED);
}

/* Checks whether the holder was killed from outside. If so, the first process that notices becomes the holder. */
static void replace_dead_holder(struct family *f, struct member *self)
{
    int holder = f->holder;
    if (holder < 0 || &f->members[holder] == self || member_runs(&f->members[holder]))
        return;
    if (!atomic_compare_exchange_strong(&f->holder, &holder, member_index(f, self)))
        return;
    baton_leave(f, &f->members[holder]);
    if (member_exists(&f->members[holder]))
        mark_ended(f, &f->members[holder]);
    self->turn = 1;
}

/* Sends SIGCHLD to the parent `p` for a child that stopped or continued. The host's own SIGCHLD would arrive at a time
 * that differs from run to run, so it is disabled (SA_NOCLDSTOP in host_signal.c). */
static void notify_parent(struct process *p, const struct member *child)
{
    siginfo_t info;
    bool stopped = child->state == MEMBER_STOPPED;
    memset(&info, 0, sizeof info);
    info.si_signo = SIGCHLD;
    info.si_code = stopped ? CLD_STOPPED : CLD_CONTINUED;
    info.si_pid = child->guest_pid;
    info.si_uid = process_user(p).uid;
    info.si_status = stopped ? child->stop_signal : SIGCONT;
    signal_child_changed(p, &info);
}

/* Waits until the host has completed a child's change of state: the child has exited and the host has sent SIGCHLD, or
 * the child has stopped. The kernel discards a stop signal of an orphaned process group: then the child sets its own
 * state to MEMBER_ALIVE again. */
static void wait_for_change(const struct member *child)
{
    siginfo_t info;
    do {
        int what = child->state == MEMBER_STOPPED ? WSTOPPED | WEXITED | WNOHANG : WEXITED;
        info.si_pid = 0;
        if (waitid(P_PID, (id_t)child->host_pid, &info, what | WNOWAIT) < 0 && errno != EINTR)
            return;
        if (info.si_pid == 0)
            usleep(100);
    } while (info.si_pid == 0 && child->state != MEMBER_ALIVE);
}

/* Reports to `p` all changes of state of its children that it has not seen yet. */
static void report_child_changes(struct process *p)
{
    struct family *f = p->family;
    uint32_t changes = f->changes;
    if (p->seen_changes == changes)
        return;
    p->seen_changes = changes;
    for (struct member *m = family_next(f, NULL); m; m = family_next(f, m)) {
        if (m->parent_pid != p->pid || m->seen)
            continue;
        m->seen = true;
        if (m->state != MEMBER_ALIVE)
            wait_for_change(m);
        if (m->state != MEMBER_ENDED)
            notify_parent(p, m);
    }
}

void baton_take(struct process *p)
{
    struct family *f = p->family;
    struct member *self = p->member;
    if (p->config.host_time)
        return;
    const struct timespec patience = {0, BATON_PATIENCE_MS * 1000000};
    while (atomic_exchange(&self->turn, 0) == 0) {
        if (syscall(SYS_futex, &self->turn, FUTEX_WAIT, 0, &patience, NULL, 0) == 0 || errno != ETIMEDOUT)
            continue;
        if (self->next < 0) { /* stopped by another member, then continued from outside of the run */
            change_state(f, self, MEMBER_ALIVE);
            baton_join(f, self);
        }
        replace_dead_holder(f, self);
    }
    report_child_changes(p);
    getppid(); /* any host system call: on return, signals that were sent before the baton was passed are delivered */
    p->offset_ns = f->clock_ns - p->retired_insns;
    p->turn_insns = (int64_t)(BATON_TURN_QUANTA * p->config.quantum_insns);
}

bool baton_idle(struct process *p, uint64_t deadline_ns, bool outside, uint64_t *until_ns, bool *any_outside)
{
    struct family *f = p->family;
    p->member->deadline_ns = deadline_ns;
    p->member->outside = outside;
    if (++f->idle < (uint32_t)f->ring_count) {
        baton_pass(p);
        baton_take(p);
        return false;
    }
    f->idle = 0;
    *until_ns = deadline_ns;
    *any_outside = outside;
    ring_lock(f);
    for (int i = p->member->next; i >= 0 && &f->members[i] != p->member; i = f->members[i].next) {
        const struct member *m = &f->members[i];
        if (m->deadline_ns < *until_ns)
            *until_ns = m->deadline_ns;
        *any_outside |= m->outside;
    }
    ring_unlock(f);
    return true;
}

/* ---- ends and stops */

void baton_end(struct process *p)
{
    struct family *f = p->family;
    struct member *m = p->member;
    family_orphan(f, p->pid);
    mark_ended(f, m);
    if (p->config.host_time)
        return;
    f->clock_ns = process_time_ns(p);
    f->idle = 0;
    int next = m->next == member_index(f, m) ? -1 : m->next;
    baton_leave(f, m);
    give_to(f, next);
}

void baton_stop(struct process *p, int sig)
{
    struct family *f = p->family;
    struct member *m = p->member;
    if (p->config.host_time) {
        host_signal_stop_self(sig);
        return;
    }
    f->clock_ns = process_time_ns(p);
    f->idle = 0;
    int next = m->next == member_index(f, m) ? -1 : m->next;
    baton_leave(f, m);
    m->stop_signal = sig;
    change_state(f, m, MEMBER_STOPPED);
    give_to(f, next);
    host_signal_stop_self(sig);
    if (m->state == MEMBER_STOPPED) /* continued from outside of the run, not by baton_signal */
        change_state(f, m, MEMBER_ALIVE);
    baton_join(f, m);
    baton_take(p);
}

/* Waits until the process of a pidfd is dead and its descriptors are closed. */
static void wait_for_death(int pidfd)
{
    struct pollfd dead = {pidfd, POLLIN, 0};
    while (poll(&dead, 1, 1000) < 0 && errno == EINTR)
        ;
}

int baton_signal(struct process *p, struct member *to, const siginfo_t *info)
{
    struct family *f = p->family;
    int sig = info->si_signo;
    bool turns = !p->config.host_time && (to->state == MEMBER_ALIVE || to->state == MEMBER_STOPPED);
    /* Before the signal is sent: the member continues at once and must find its state to be MEMBER_ALIVE. */
    if (turns && sig == SIGCONT && to->state == MEMBER_STOPPED) {
        change_state(f, to, MEMBER_ALIVE);
        baton_join(f, to);
        report_child_changes(p);
    }
    int pidfd = -1;
    int result = member_signal(f, to, sig, info->si_code == SI_QUEUE ? info : NULL, &pidfd);
    if (turns && sig == SIGKILL && result == 0)
        wait_for_death(pidfd);
    if (result == 0)
        close(pidfd);
    if (result < 0 || !turns)
        return result;
    if (sig == SIGKILL) {
        baton_leave(f, to);
        mark_ended(f, to);
        report_child_changes(p);
    } else if (sig == SIGSTOP && to->state == MEMBER_ALIVE) {
        baton_leave(f, to);
        to->stop_signal = sig;
        change_state(f, to, MEMBER_STOPPED);
        report_child_changes(p);
    }
    return 0;
}
