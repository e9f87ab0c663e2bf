/* Signals of the host on their way to the guest.
 *
 * A signal handler can reach nothing but static storage, so the record of what has arrived is a mutable global, the
 * only one here. Signals are sent to a host process, which has one set of handlers, so that one record is also what
 * there is to know. */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest/fork.h"
#include "guest/process_priv.h"

static struct {
    bool started;
    _Atomic uint64_t arrived;             /* set of signals */
    siginfo_t info[SIGNAL_MAX + 1];       /* of the last that arrived, by number */
    uint64_t recorded;                    /* signals that record() handles */
    uint64_t blocked;                     /* what host_signal_block_tty has blocked */
    struct sigaction old[SIGNAL_MAX + 1]; /* what was there at the start */
    sigset_t old_mask;
} host;

static void record(int sig, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code > 0 && (sig == SIGILL || sig == SIGFPE || sig == SIGTRAP)) {
        signal(sig, SIG_DFL); /* not sent but raised, by a bug of our own, which shall show at once */
        return;
    }
    host.info[sig] = *info;
    atomic_fetch_or(&host.arrived, signal_bit(sig));
}

/* Not ours: those that cannot be caught, those that the engine needs, and the two that the host's C library keeps for
 * itself. */
static bool is_forwarded(int sig)
{
    switch (sig) {
    case SIGKILL:
    case SIGSTOP:
    case SIGSEGV:
    case SIGBUS:
    case 32:
    case 33: return false;
    default: return sig >= 1 && sig <= SIGNAL_MAX;
    }
}

void host_signal_follow(const struct process *p, int sig, bool ignore)
{
    uint64_t bit = signal_bit(sig);
    if (!is_forwarded(sig))
        return;
    if (sig == SIGCHLD)
        ignore = false; /* children are waited for even if the guest does not care */
    if (!ignore && (host.recorded & bit))
        return;
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    if (sig == SIGCHLD && !p->config.host_time)
        action.sa_flags |= SA_NOCLDSTOP; /* stops are the business of baton.c */
    sigfillset(&action.sa_mask);
    if (ignore)
        action.sa_handler = SIG_IGN;
    else
        action.sa_sigaction = record;
    if (sigaction(sig, &action, NULL) < 0)
        return;
    host.recorded = ignore ? host.recorded & ~bit : host.recorded | bit;
}

/* As a new program finds it: what the caller ignores or blocks stays ignored or blocked. All other signals are recorded
 * from the start, so that one that ends the guest ends it in order, with its counts. */
void host_signal_start(struct process *p)
{
    sigset_t none;
    sigemptyset(&none);
    host_signal_forget();
    for (int sig = 1; sig <= SIGNAL_MAX; sig++) {
        struct signal_action action = {0, 0, 0};
        if (is_forwarded(sig) && sigaction(sig, NULL, &host.old[sig]) == 0 && host.old[sig].sa_handler == SIG_IGN)
            action.handler = (uint64_t)(uintptr_t)SIG_IGN;
        signal_set_action(p, sig, &action);
    }
    sigprocmask(SIG_SETMASK, &none, &host.old_mask);
    host.blocked = 0;
    host.started = true;
    memcpy(&p->threads->blocked, &host.old_mask, sizeof p->threads->blocked);
}

void host_signal_stop(void)
{
    if (!host.started)
        return;
    host.started = false;
    for (int sig = 1; sig <= SIGNAL_MAX; sig++)
        if (is_forwarded(sig))
            sigaction(sig, &host.old[sig], NULL);
    host.recorded = 0;
    sigprocmask(SIG_SETMASK, &host.old_mask, NULL);
    host_signal_forget();
}

void host_signal_forget(void)
{
    atomic_store(&host.arrived, 0);
}

/* Whether a terminal lets a background process have its way depends on these two being blocked. Outside of calls on
 * terminals it makes no difference. */
void host_signal_block_tty(const struct thread *t)
{
    static const int tty_signals[] = {SIGTTIN, SIGTTOU};
    uint64_t want = t->blocked & (signal_bit(SIGTTIN) | signal_bit(SIGTTOU));
    if (want == host.blocked)
        return;
    for (int i = 0; i < 2; i++) {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, tty_signals[i]);
        sigprocmask(want & signal_bit(tty_signals[i]) ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
    }
    host.blocked = want;
}

void host_signal_stop_self(int sig)
{
    struct sigaction stop = {.sa_handler = SIG_DFL}, old;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, sig);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    host.blocked &= ~signal_bit(sig);
    if (sig != SIGSTOP)
        sigaction(sig, &stop, &old);
    kill(getpid(), sig);
    if (sig != SIGSTOP)
        sigaction(sig, &old, NULL);
}

bool host_signal_waiting(void)
{
    return atomic_load_explicit(&host.arrived, memory_order_relaxed) != 0;
}

void signal_child_changed(struct process *p, const siginfo_t *info)
{
    const struct signal_action *action = &p->actions[SIGCHLD];
    bool ended = info->si_code != CLD_STOPPED && info->si_code != CLD_CONTINUED && info->si_code != CLD_TRAPPED;
    sched_wake_child_waiters(p);
    if (action->handler == (uint64_t)(uintptr_t)SIG_IGN || (action->flags & SA_NOCLDWAIT))
        wait_reap_all(p);
    if (ended || !(action->flags & SA_NOCLDSTOP))
        signal_send(p, NULL, info);
}

void host_signal_collect(struct process *p)
{
    uint64_t arrived = atomic_exchange(&host.arrived, 0);
    for (; arrived != 0; arrived &= arrived - 1) {
        int sig = __builtin_ctzll(arrived) + 1;
        siginfo_t info = host.info[sig];
        if (sig == SIGPIPE && info.si_pid == getpid())
            continue; /* of a write of our own, which tells the guest itself */
        if (info.si_code <= 0 || sig == SIGCHLD)
            info.si_pid = family_to_guest(p->family, info.si_pid);
        if (sig == SIGCHLD)
            signal_child_changed(p, &info);
        else
            signal_send(p, NULL, &info);
    }
}
