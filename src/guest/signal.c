#include "guest/signal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "guest/baton.h"
#include "guest/syscalls/syscall.h"

#define BIT(sig) (UINT64_C(1) << ((sig)-1))
static const uint64_t ignored_by_default = BIT(SIGCHLD) | BIT(SIGURG) | BIT(SIGWINCH) | BIT(SIGCONT);
static const uint64_t stops_by_default = BIT(SIGSTOP) | BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU);
static const uint64_t never_blocked = BIT(SIGKILL) | BIT(SIGSTOP);
/* Raised by the current instruction. Delivered before all others, so that the handler sees the context of the fault. */
static const uint64_t synchronous = BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGFPE) | BIT(SIGSYS);
#undef BIT

enum { HANDLER_DEFAULT = 0, HANDLER_IGNORE = 1 };

void signal_queue_clear(struct signal_queue *q)
{
    while (q->first) {
        struct pending_signal *s = q->first;
        q->first = s->next;
        free(s);
    }
    q->set = 0;
    q->count = 0;
}

static int queue_push(struct signal_queue *q, const siginfo_t *info)
{
    int sig = info->si_signo;
    if (sig < SIGNAL_REALTIME && (q->set & signal_bit(sig)))
        return 0; /* standard signals do not queue */
    struct pending_signal *s = q->count < SIGNAL_QUEUE_MAX ? malloc(sizeof *s) : NULL;
    if (!s)
        return -EAGAIN;
    s->info = *info;
    s->next = NULL;
    struct pending_signal **end = &q->first;
    while (*end)
        end = &(*end)->next;
    *end = s;
    q->set |= signal_bit(sig);
    q->count++;
    return 0;
}

static bool queue_take(struct signal_queue *q, int sig, siginfo_t *info)
{
    bool found = false;
    q->set &= ~signal_bit(sig);
    for (struct pending_signal **link = &q->first; *link;) {
        struct pending_signal *s = *link;
        if (s->info.si_signo != sig) {
            link = &s->next;
        } else if (!found) {
            found = true;
            *info = s->info;
            *link = s->next;
            q->count--;
            free(s);
        } else {
            q->set |= signal_bit(sig); /* the list holds another signal of the same number */
            break;
        }
    }
    return found;
}

static void queue_drop(struct signal_queue *q, int sig)
{
    siginfo_t info;
    while (q->set & signal_bit(sig))
        queue_take(q, sig, &info);
}

uint64_t signal_pending(const struct thread *t)
{
    return t->pending.set | t->process->pending.set;
}

bool signal_deliverable(const struct thread *t)
{
    uint64_t pending = signal_pending(t);
    return (pending & ~t->blocked & ~t->process->ignored) != 0 || (pending & t->call.sigwait) != 0;
}

static void wake_a_receiver(struct process *p)
{
    for (struct thread *t = p->threads; t; t = t->next) {
        if (t->exited || t->call.uninterruptible || !signal_deliverable(t))
            continue;
        thread_wake(t);
        return;
    }
}

int signal_send(struct process *p, struct thread *t, const siginfo_t *info)
{
    int sig = info->si_signo;
    if (sig == SIGKILL) {
        process_end(p, 0, SIGKILL);
        return 0;
    }
    if (sig == SIGSTOP) {
        baton_stop(p, SIGSTOP);
        return 0;
    }
    /* An ignored signal is queued nevertheless if the receiver blocks it or waits for it. */
    const struct thread *receiver = t ? t : p->threads;
    uint64_t kept = receiver ? receiver->blocked | receiver->call.sigwait : 0;
    if (p->ignored & ~kept & signal_bit(sig))
        return 0;
    int result = queue_push(t ? &t->pending : &p->pending, info);
    signalfd_refresh(p);
    if (!t)
        wake_a_receiver(p);
    else if (!t->call.uninterruptible && signal_deliverable(t))
        thread_wake(t);
    return result;
}

void signal_send_kernel(struct process *p, int sig)
{
    siginfo_t info = {.si_signo = sig, .si_code = SI_KERNEL};
    signal_send(p, NULL, &info);
}

void signal_force(struct thread *t, int sig, int code, uint64_t addr)
{
    struct process *p = t->process;
    if ((t->blocked | p->ignored) & signal_bit(sig) || p->actions[sig].handler == HANDLER_DEFAULT) {
        process_end(p, 0, sig);
        return;
    }
    siginfo_t info = {.si_signo = sig, .si_code = code};
    info.si_addr = (void *)(uintptr_t)addr;
    signal_send(p, t, &info);
}

int signal_take(struct thread *t, uint64_t set, siginfo_t *info)
{
    struct process *p = t->process;
    uint64_t pending = signal_pending(t) & set;
    if (pending & synchronous)
        pending &= synchronous;
    if (pending == 0)
        return 0;
    int sig = __builtin_ctzll(pending) + 1;
    if (!queue_take(&t->pending, sig, info))
        queue_take(&p->pending, sig, info);
    signalfd_refresh(p);
    if (info->si_code == SI_TIMER)
        info->si_overrun = timer_delivered(p, info->si_timerid);
    return sig;
}

void signal_set_action(struct process *p, int sig, const struct signal_action *action)
{
    uint64_t bit = signal_bit(sig);
    p->actions[sig] = *action;
    p->actions[sig].mask &= ~never_blocked;
    bool ignore =
        action->handler == HANDLER_IGNORE || (action->handler == HANDLER_DEFAULT && (ignored_by_default & bit));
    p->ignored = ignore ? p->ignored | bit : p->ignored & ~bit;
    if (ignore) {
        queue_drop(&p->pending, sig);
        for (struct thread *t = p->threads; t; t = t->next)
            queue_drop(&t->pending, sig);
        signalfd_refresh(p);
    }
    host_signal_follow(p, sig, action->handler == HANDLER_IGNORE);
}

void signal_reset_for_exec(struct process *p)
{
    const struct signal_action none = {HANDLER_DEFAULT, 0, 0};
    for (int sig = 1; sig <= SIGNAL_MAX; sig++)
        if (p->actions[sig].handler != HANDLER_IGNORE)
            signal_set_action(p, sig, &none);
    for (struct thread *t = p->threads; t; t = t->next)
        t->signal_stack = (struct signal_stack){0, 0, SS_DISABLE};
}

void signal_set_blocked(struct thread *t, uint64_t set)
{
    t->blocked = set & ~never_blocked;
}

void signal_replace_mask(struct thread *t, uint64_t set)
{
    if (t->call.mask_saved)
        return; /* the call is retried and has replaced the mask before */
    t->call.saved_mask = t->blocked;
    t->call.mask_saved = true;
    signal_set_blocked(t, set);
}

int signal_set_call_mask(struct thread *t, uint64_t mask_addr, uint64_t size)
{
    uint64_t set;
    if (mask_addr == 0)
        return 0;
    if (size != sizeof set)
        return -EINVAL;
    if (guest_copy_in(t->process->memory, &set, mask_addr, sizeof set) < 0)
        return -EFAULT;
    signal_replace_mask(t, set);
    return 0;
}

static void default_action(struct process *p, int sig)
{
    uint64_t bit = signal_bit(sig);
    if (stops_by_default & bit)
        baton_stop(p, sig);
    else if (!(ignored_by_default & bit))
        process_end(p, 0, sig);
}

/* A handler is about to run and interrupts a system call. Depending on SA_RESTART, the call restarts after the handler
 * or has failed with -EINTR. */
static void settle_interrupted_call(struct thread *t, uint64_t action_flags)
{
    if (!t->call.interrupted)
        return;
    if (!(action_flags & SA_RESTART) || !syscall_restarts(&t->hart)) {
        t->hart.x[REG_A0] = (uint64_t)-EINTR;
        t->hart.pc += 4;
    }
    call_reset(t);
}

static void enter_handler(struct thread *t, int sig, const siginfo_t *info)
{
    struct process *p = t->process;
    struct signal_action action = p->actions[sig];
    uint64_t mask = t->call.mask_saved ? t->call.saved_mask : t->blocked;
    settle_interrupted_call(t, action.flags);
    if (action.flags & SA_RESETHAND)
        signal_set_action(p, sig, &(struct signal_action){HANDLER_DEFAULT, 0, 0});
    if (!signal_push_frame(t, info, &action, mask)) {
        if (sig == SIGSEGV)
            process_end(p, 0, SIGSEGV);
        else
            signal_force(t, SIGSEGV, SI_KERNEL, 0);
        return;
    }
    uint64_t own = action.flags & SA_NODEFER ? 0 : signal_bit(sig);
    signal_set_blocked(t, t->blocked | action.mask | own);
}

void signal_deliver(struct thread *t)
{
    struct process *p = t->process;
    siginfo_t info;
    int sig;
    while (!p->ended && (sig = signal_take(t, ~t->blocked, &info)) != 0) {
        if (p->actions[sig].handler == HANDLER_DEFAULT)
            default_action(p, sig);
        else if (p->actions[sig].handler != HANDLER_IGNORE)
            enter_handler(t, sig, &info);
    }
    t->call.interrupted = false; /* if no handler ran, the system call continues */
}
