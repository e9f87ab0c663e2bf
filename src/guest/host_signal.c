/* Forwards signals of the host process to the guest.
 *
 * A signal handler can access only static storage, so the record of received signals is a global variable, the only
 * mutable one of this module. One record is enough: a host process has one set of handlers. */
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "guest/fork.h"
#include "guest/process_priv.h"

static struct {
    bool started;                         /* between host_signal_start and host_signal_stop */
    _Atomic uint64_t arrived;             /* set of signals received and not yet collected */
    siginfo_t info[SIGNAL_MAX + 1];       /* by signal number: info of the signal received last */
    uint64_t recorded;                    /* set of signals for which record() is the handler */
    uint64_t unwanted;                    /* set of signals that the caller ignores and the guest sees as default */
    uint64_t blocked;                     /* set of signals that host_signal_block_tty has blocked */
    struct sigaction old[SIGNAL_MAX + 1]; /* by signal number: action before host_signal_start */
    sigset_t old_mask;                    /* blocked signals before host_signal_start */
} host;

static void record(int sig, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code > 0 && (sig == SIGILL || sig == SIGFPE || sig == SIGTRAP)) {
        signal(sig, SIG_DFL); /* raised by a bug in the emulator itself: let it crash */
        return;
    }
    host.info[sig] = *info;
    atomic_fetch_or(&host.arrived, signal_bit(sig));
}

bool host_signal_sent(int sig, const siginfo_t *info)
{
    if (!host.started || info->si_code > 0)
        return false;
    host.info[sig] = *info;
    atomic_fetch_or(&host.arrived, signal_bit(sig));
    return true;
}

/* All signals are forwarded except those that cannot be caught, those that the engine catches (SIGSEGV, SIGBUS;
 * see host_signal_sent), and the two that the host's C library reserves (32, 33). */
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
    if (host.unwanted & bit && p->actions[sig].handler == (uint64_t)(uintptr_t)SIG_DFL)
        ignore = true;
    if (sig == SIGCHLD)
        ignore = false; /* the emulator waits for children even if the guest ignores them */
    if (!ignore && (host.recorded & bit))
        return;
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    if (sig == SIGCHLD && !p->config.host_time)
        action.sa_flags |= SA_NOCLDSTOP; /* baton.c reports stopped children */
    sigfillset(&action.sa_mask);
    if (ignore)
        action.sa_handler = SIG_IGN;
    else
        action.sa_sigaction = record;
    if (sigaction(sig, &action, NULL) < 0)
        return;
    host.recorded = ignore ? host.recorded & ~bit : host.recorded | bit;
}

/* Signals that the caller ignores (nohup, jobs in the background) do not end the guest. The guest sees default actions
 * all the same, since programs look at them when they start; with process_config.host_streams it sees the caller's. All
 * other signals are recorded from the start, so that a signal that ends the guest ends it between two instructions,
 * with correct counts. */
void host_signal_start(struct process *p)
{
    sigset_t none;
    sigemptyset(&none);
    host_signal_forget();
    for (int sig = 1; sig <= SIGNAL_MAX; sig++) {
        struct signal_action action = {0, 0, 0};
        bool ignored =
            is_forwarded(sig) && sigaction(sig, NULL, &host.old[sig]) == 0 && host.old[sig].sa_handler == SIG_IGN;
        if (ignored && p->config.host_streams)
            action.handler = (uint64_t)(uintptr_t)SIG_IGN;
        else if (ignored)
            host.unwanted |= signal_bit(sig);
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
    host.recorded = host.unwanted = 0;
    sigprocmask(SIG_SETMASK, &host.old_mask, NULL);
    host_signal_forget();
}

void host_signal_forget(void)
{
    atomic_store(&host.arrived, 0);
}

/* The host's kernel lets a background process read from or write to a terminal depending on whether it blocks SIGTTIN
 * and SIGTTOU. The two have no effect on other system calls. */
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

/* Signals by which a user or a supervisor ends a program. */
static bool asks_to_end(int sig)
{
    return sig == SIGHUP || sig == SIGINT || sig == SIGQUIT || sig == SIGTERM;
}

int host_signal_interrupts(void)
{
    uint64_t arrived = atomic_load_explicit(&host.arrived, memory_order_relaxed);
    for (int sig = 1; host.started && sig <= SIGTERM; sig++)
        if ((arrived & signal_bit(sig)) && asks_to_end(sig))
            return sig;
    return 0;
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
            continue; /* caused by the emulator's own write: the system call sends SIGPIPE to the guest itself */
        if (info.si_code <= 0 || sig == SIGCHLD)
            info.si_pid = family_to_guest(p->family, info.si_pid);
        if (!p->config.host_user && (info.si_code <= 0 || sig == SIGCHLD))
            info.si_uid = GUEST_USER;
        if (asks_to_end(sig) && (info.si_code > 0 || info.si_pid == FAMILY_OUTSIDE))
            p->interruption = sig;
        if (sig == SIGCHLD)
            signal_child_changed(p, &info);
        else
            signal_send(p, NULL, &info);
    }
}
