/* Saves and loads threads: their registers, the system calls that they are in, and their signals. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "guest/state_priv.h"

enum {
    THREADS_MAX = 1 << 15,     /* limit of threads in a checkpoint */
    POLL_MAX = FD_PRIVATE + 1, /* limit of descriptors that a thread waits for */
    POLL_NEVER = -2,           /* stands for files.never, the descriptor that never becomes ready */
};

/* Numbers (syscall.def) of the system calls with special rules in call_is_possible. */
enum {
    CALL_PSELECT = 72,
    CALL_PPOLL = 73,
    CALL_FUTEX = 98,
    CALL_SIGSUSPEND = 133,
    CALL_SIGTIMEDWAIT = 137,
    CALL_RECVFROM = 207
};

static void hart_fields(struct fields *f, struct hart *h)
{
    for (unsigned i = 1; i < 32; i++)
        field_u64(f, &h->x[i]);
    for (unsigned i = 0; i < 32; i++)
        field_u64(f, &h->f[i]);
    field_u64(f, &h->pc);
    field_u64(f, &h->retired);
    field_u32(f, &h->fflags);
    field_u32(f, &h->frm);
    field_u64(f, &h->reserved_addr);
    field_u64(f, &h->reserved_value);
    fields_check(f, h->fflags < 32 && h->frm < 8, "a floating-point state is impossible");
    fields_check(f, h->pc < GUEST_SPACE && h->pc % 2 == 0, "a thread has an impossible program counter");
}

static void futex_fields(struct fields *f, struct futex_wait *w)
{
    field_bool(f, &w->waiting);
    field_bool(f, &w->woken);
    field_bool(f, &w->shared);
    field_u64(f, &w->addr);
    field_u32(f, &w->value);
    field_u32(f, &w->bitset);
    field_u64(f, &w->sequence);
}

static void call_fields(struct fields *f, struct call *c)
{
    field_bool(f, &c->begun);
    field_bool(f, &c->asleep);
    field_bool(f, &c->interrupted);
    field_bool(f, &c->uninterruptible);
    field_bool(f, &c->child);
    field_u64(f, &c->sigwait);
    field_bool(f, &c->mask_saved);
    field_u64(f, &c->saved_mask);
    field_u64(f, &c->deadline_ns);
    field_u32(f, &c->fd_count);
    futex_fields(f, &c->futex);
    fields_check(f, c->fd_count <= POLL_MAX, "a thread waits for too many descriptors");
    fields_check(f, time_is_possible(c->deadline_ns), "a thread waits for an impossible time");
}

static bool outside_of_calls(const struct thread *t)
{
    const struct call *c = &t->call;
    return !c->asleep && !c->interrupted && !c->uninterruptible && !c->child && c->sigwait == 0 && !c->mask_saved &&
           c->deadline_ns == NEVER && c->fd_count == 0 && !c->futex.waiting && !c->futex.woken && t->io_bytes == 0;
}

/* Whether the state of the system call in progress is possible for the call that register a7 names. In an impossible
 * state the thread might sleep with no event that could wake it, or retry its call forever. A saved thread never waits
 * for a child: a process with children cannot be saved. */
static bool call_is_possible(const struct thread *t)
{
    const struct call *c = &t->call;
    uint64_t number = t->hart.x[REG_A7];
    if (!c->begun)
        return outside_of_calls(t);
    bool sleeps_for_signals = number == CALL_PSELECT || number == CALL_PPOLL || number == CALL_SIGSUSPEND;
    bool may_wake = c->deadline_ns != NEVER || c->fd_count > 0 || c->futex.waiting || c->sigwait || sleeps_for_signals;
    return !c->uninterruptible && !c->child && (!c->asleep || (may_wake && !c->interrupted)) &&
           (c->sigwait == 0 || number == CALL_SIGTIMEDWAIT) &&
           ((!c->futex.waiting && !c->futex.woken) || number == CALL_FUTEX) && t->io_bytes <= INT64_MAX &&
           (number != CALL_RECVFROM || t->io_bytes <= t->hart.x[REG_A0 + 2]);
}

/* Saves or loads the descriptors that a thread waits for. Guest descriptors have the same number on the host; only
 * files.never must be translated. */
static int poll_fields(struct thread *t, struct fields *f, struct error *err)
{
    int never = t->process->files->never;
    unsigned count = fields_good(f) ? t->call.fd_count : 0;
    if (f->from && count > 0) {
        t->poll_fds = calloc(count, sizeof *t->poll_fds);
        if (!t->poll_fds)
            return error_set(err, -ENOMEM, "out of memory");
        t->poll_room = count;
    }
    for (unsigned i = 0; i < count; i++) {
        struct pollfd *poll = &t->poll_fds[i];
        int fd = poll->fd == never && f->to ? POLL_NEVER : poll->fd, events = poll->events;
        if (f->to && fd >= FD_PRIVATE)
            return error_set(err, -ENOTSUP, "thread %d waits for something that cannot be saved", t->tid);
        field_int(f, &fd);
        field_int(f, &events);
        if (f->to ||
            !fields_check(f, fd >= POLL_NEVER && fd < FD_PRIVATE, "a thread waits for an impossible descriptor"))
            continue;
        *poll = (struct pollfd){.fd = fd == POLL_NEVER ? never : fd, .events = (short)events};
    }
    return 0;
}

/* ---- signals */

static void info_fields(struct fields *f, siginfo_t *info)
{
    field_bytes(f, info, sizeof *info); /* siginfo_t has the same layout on all supported hosts */
    fields_check(f, info->si_signo >= 1 && info->si_signo <= SIGNAL_MAX, "a signal has an impossible number");
}

void state_queue(struct fields *f, struct signal_queue *queue)
{
    uint32_t count = queue->count;
    field_u32(f, &count);
    if (f->to) {
        for (struct pending_signal *s = queue->first; s; s = s->next)
            info_fields(f, &s->info);
        return;
    }
    fields_check(f, count <= SIGNAL_QUEUE_MAX, "too many signals wait");
    struct pending_signal **end = &queue->first;
    for (uint32_t i = 0; i < count && fields_good(f); i++) {
        struct pending_signal *s = calloc(1, sizeof *s);
        if (!s) {
            fields_check(f, false, "it needs more memory than the host has");
            return;
        }
        info_fields(f, &s->info);
        *end = s;
        end = &s->next;
        queue->count++;
        queue->set |= fields_good(f) ? signal_bit(s->info.si_signo) : 0;
    }
}

/* ---- threads */

static int thread_fields(struct thread *t, struct fields *f, struct error *err)
{
    hart_fields(f, &t->hart);
    field_bool(f, &t->exited);
    field_i64(f, &t->slice_insns);
    call_fields(f, &t->call);
    int code = poll_fields(t, f, err);
    field_u64(f, &t->io_bytes);
    field_u64(f, &t->blocked);
    state_queue(f, &t->pending);
    field_u64(f, &t->signal_stack.sp);
    field_u64(f, &t->signal_stack.size);
    field_int(f, &t->signal_stack.flags);
    field_u64(f, &t->clear_tid_addr);
    field_u64(f, &t->robust_list);
    field_text(f, t->name, sizeof t->name);
    signal_set_blocked(t, t->blocked);
    fields_check(f, call_is_possible(t), "a thread is in an impossible system call");
    fields_check(f, t->slice_insns <= (int64_t)t->process->config.quantum_insns, "a thread's turn is too long");
    fields_check(f, t->hart.retired <= t->process->retired_insns, "a thread has run longer than the process");
    fields_check(f, (t->signal_stack.flags & ~(SS_ONSTACK | SS_DISABLE | SIGNAL_STACK_AUTODISARM)) == 0,
                 "a signal stack is impossible");
    return code;
}

static int save(struct process *p, struct fields *f, struct error *err)
{
    uint32_t count = 0;
    for (const struct thread *t = p->threads; t; t = t->next)
        count++;
    field_u32(f, &count);
    for (struct thread *t = p->threads; t; t = t->next) {
        bool current = t == p->current;
        field_int(f, &t->tid);
        field_bool(f, &current);
        int code = thread_fields(t, f, err);
        if (code < 0)
            return code;
    }
    return 0;
}

static int load(struct process *p, struct fields *f, struct error *err)
{
    uint32_t count = 0;
    int below = p->pid - 1;
    bool alive = false;
    thread_free_others(p, NULL);
    field_u32(f, &count);
    fields_check(f, count >= 1 && count <= THREADS_MAX, "it has an impossible number of threads");
    for (uint32_t i = 0; i < count && fields_good(f); i++) {
        int tid = 0;
        bool current = false;
        field_int(f, &tid);
        field_bool(f, &current);
        if (!fields_check(f, tid > below && tid < p->family->next_id, "its threads are out of order"))
            break;
        below = tid;
        struct thread *t = thread_new(p, tid);
        if (!t)
            return error_set(err, -ENOMEM, "out of memory");
        if (current)
            p->current = t;
        int code = thread_fields(t, f, err);
        if (code < 0)
            return code;
        alive |= !t->exited;
    }
    fields_check(f, alive, "none of its threads is alive");
    return 0;
}

int state_threads(struct process *p, struct fields *f, struct error *err)
{
    return f->to ? save(p, f, err) : load(p, f, err);
}
