/* System calls on signals. A signal to another process of the run is sent by the host, with the same signal number. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "guest/baton.h"
#include "guest/syscalls/syscall.h"
#include "guest/time_convert.h"

enum { MIN_SIGNAL_STACK = 2048, SIGSET_BYTES = 8 };

static bool is_signal(uint64_t sig)
{
    return sig >= 1 && sig <= SIGNAL_MAX;
}

/* siginfo of a signal that this process sends. */
static siginfo_t own_info(const struct process *p, int sig, int code)
{
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = sig;
    info.si_code = code;
    info.si_pid = p->pid;
    info.si_uid = process_user(p).uid;
    return info;
}

int64_t sys_rt_sigaction(struct thread *t, const uint64_t a[6])
{
    struct process *p = t->process;
    struct signal_action action;
    if (a[3] != SIGSET_BYTES || !is_signal(a[0]))
        return -EINVAL;
    int sig = (int)a[0];
    if (a[1] != 0) {
        if (sig == SIGKILL || sig == SIGSTOP)
            return -EINVAL;
        if (guest_copy_in(p->memory, &action, a[1], sizeof action) < 0)
            return -EFAULT;
    }
    if (a[2] != 0 && guest_copy_out(p->memory, a[2], &p->actions[sig], sizeof action) < 0)
        return -EFAULT;
    if (a[1] != 0)
        signal_set_action(p, sig, &action);
    return 0;
}

int64_t sys_rt_sigprocmask(struct thread *t, const uint64_t a[6])
{
    struct guest_memory *m = t->process->memory;
    uint64_t set = 0, old = t->blocked;
    if (a[3] != SIGSET_BYTES)
        return -EINVAL;
    if (a[1] != 0) {
        if (guest_copy_in(m, &set, a[1], sizeof set) < 0)
            return -EFAULT;
        switch ((int)a[0]) {
        case SIG_BLOCK: signal_set_blocked(t, old | set); break;
        case SIG_UNBLOCK: signal_set_blocked(t, old & ~set); break;
        case SIG_SETMASK: signal_set_blocked(t, set); break;
        default: return -EINVAL;
        }
    }
    return a[2] == 0 ? 0 : guest_copy_out(m, a[2], &old, sizeof old);
}

int64_t sys_rt_sigpending(struct thread *t, const uint64_t a[6])
{
    uint64_t set = signal_pending(t) & t->blocked;
    if (a[1] > SIGSET_BYTES)
        return -EINVAL;
    return guest_copy_out(t->process->memory, a[0], &set, a[1]);
}

int64_t sys_rt_sigsuspend(struct thread *t, const uint64_t a[6])
{
    if (a[0] == 0)
        return -EFAULT;
    int result = signal_set_call_mask(t, a[0], a[1]);
    return result < 0 ? result : call_sleep(t, NEVER);
}

int64_t sys_rt_sigtimedwait(struct thread *t, const uint64_t a[6])
{
    struct process *p = t->process;
    struct timespec timeout;
    uint64_t set, deadline = NEVER;
    if (a[3] != SIGSET_BYTES)
        return -EINVAL;
    if (guest_copy_in(p->memory, &set, a[0], sizeof set) < 0)
        return -EFAULT;
    if (a[2] != 0) {
        if (guest_copy_in(p->memory, &timeout, a[2], sizeof timeout) < 0)
            return -EFAULT;
        if (!timespec_valid(&timeout))
            return -EINVAL;
        deadline = time_add(process_time_ns(p), timespec_to_ns(&timeout));
    }
    siginfo_t info;
    int sig = signal_take(t, set, &info);
    if (sig != 0) {
        if (a[1] != 0 && guest_copy_out(p->memory, a[1], &info, sizeof info) < 0)
            return -EFAULT;
        return sig;
    }
    if (call_timed_out(t) || deadline <= process_time_ns(p))
        return -EAGAIN;
    t->call.sigwait = set;
    return call_sleep(t, deadline);
}

int64_t sys_rt_sigreturn(struct thread *t, const uint64_t a[6])
{
    (void)a;
    if (!signal_pop_frame(t))
        signal_force(t, SIGSEGV, SI_KERNEL, 0);
    return SYSCALL_NO_RESULT;
}

struct guest_stack {
    uint64_t sp;
    int32_t flags, pad;
    uint64_t size;
};

int64_t sys_sigaltstack(struct thread *t, const uint64_t a[6])
{
    struct guest_memory *m = t->process->memory;
    struct signal_stack *current = &t->signal_stack;
    bool in_use = signal_stack_in_use(t, t->hart.x[REG_SP]);
    struct guest_stack stack, old = {current->sp, current->flags | (in_use ? SS_ONSTACK : 0), 0, current->size};
    if (a[0] != 0) {
        if (guest_copy_in(m, &stack, a[0], sizeof stack) < 0)
            return -EFAULT;
        if (in_use)
            return -EPERM;
        int mode = stack.flags & ~SIGNAL_STACK_AUTODISARM;
        if (mode != 0 && mode != SS_ONSTACK && mode != SS_DISABLE)
            return -EINVAL;
        if (mode == SS_DISABLE)
            stack.sp = stack.size = 0;
        else if (stack.size < MIN_SIGNAL_STACK)
            return -ENOMEM;
        *current = (struct signal_stack){stack.sp, stack.size, stack.flags & ~SS_ONSTACK};
    }
    return a[1] == 0 ? 0 : guest_copy_out(m, a[1], &old, sizeof old);
}

/* Signals all processes of the run in the host process group `pgrp`, or all except this one if `pgrp` is -1. */
static int64_t kill_many(struct process *p, int pgrp, int sig)
{
    int64_t result = -ESRCH;
    siginfo_t info = own_info(p, sig, SI_USER);
    for (struct member *m = family_next(p->family, NULL); m; m = family_next(p->family, m)) {
        bool is_target = m != p->member && (pgrp == -1 || getpgid(m->host_pid) == pgrp);
        if (is_target && baton_signal(p, m, &info) == 0)
            result = 0;
    }
    if (pgrp == -1 || getpgrp() != pgrp)
        return result;
    return sig == 0 ? 0 : signal_send(p, NULL, &info);
}

/* Finds another process of the run. Processes outside the run may not be signaled. Returns 0 or a negative errno. */
static int find_other(struct process *p, int pid, struct member **other)
{
    struct member *m = pid > 0 ? family_by_guest(p->family, pid) : NULL;
    if (!m || !member_exists(m) || m->host_pid <= 0)
        return pid == FAMILY_OUTSIDE || pid == FAMILY_INIT ? -EPERM : -ESRCH;
    *other = m;
    return 0;
}

int64_t sys_kill(struct thread *t, const uint64_t a[6])
{
    struct process *p = t->process;
    int pid = (int)a[0];
    if (a[1] != 0 && !is_signal(a[1]))
        return -EINVAL;
    int sig = (int)a[1];
    siginfo_t info = own_info(p, sig, SI_USER);
    if (pid == p->pid || (pid > 0 && thread_by_tid(p, pid)))
        return sig == 0 ? 0 : signal_send(p, NULL, &info);
    if (pid > 0) {
        struct member *other;
        int result = find_other(p, pid, &other);
        return result < 0 ? result : baton_signal(p, other, &info);
    }
    if (pid == 0)
        return kill_many(p, getpgrp(), sig);
    if (pid == -1)
        return kill_many(p, -1, sig);
    int pgrp = pid == INT_MIN ? -1 : family_to_host(p->family, -pid);
    return pgrp < 0 ? -ESRCH : kill_many(p, pgrp, sig);
}

/* Signals thread `tid` of process `tgid`. If `tgid` is 0 any process matches. */
static int64_t signal_thread(struct thread *t, int tgid, int tid, const siginfo_t *info)
{
    struct process *p = t->process;
    struct thread *to = tgid == 0 || tgid == p->pid ? thread_by_tid(p, tid) : NULL;
    if (tid <= 0)
        return -EINVAL;
    if (to)
        return info->si_signo == 0 ? 0 : signal_send(p, to, info);
    /* Only the first thread of another process is known here. */
    struct member *other;
    int result = tid == tgid || tgid == 0 ? find_other(p, tid, &other) : -ESRCH;
    if (result < 0 || tid == p->pid)
        return result < 0 ? result : -ESRCH;
    return baton_signal(p, other, info);
}

int64_t sys_tkill(struct thread *t, const uint64_t a[6])
{
    if (a[1] != 0 && !is_signal(a[1]))
        return -EINVAL;
    siginfo_t info = own_info(t->process, (int)a[1], SI_TKILL);
    return signal_thread(t, 0, (int)a[0], &info);
}

int64_t sys_tgkill(struct thread *t, const uint64_t a[6])
{
    if ((int)a[0] <= 0 || (a[2] != 0 && !is_signal(a[2])))
        return -EINVAL;
    siginfo_t info = own_info(t->process, (int)a[2], SI_TKILL);
    return signal_thread(t, (int)a[0], (int)a[1], &info);
}

/* Reads the siginfo that the guest passes. Codes that claim to come from the kernel or from tkill are allowed only for
 * signals to itself. */
static int64_t queue_info(const struct thread *t, uint64_t addr, uint64_t sig, bool to_self, siginfo_t *info)
{
    if (guest_copy_in(t->process->memory, info, addr, sizeof *info) < 0)
        return -EFAULT;
    if (sig != 0 && !is_signal(sig))
        return -EINVAL;
    if (!to_self && (info->si_code >= 0 || info->si_code == SI_TKILL))
        return -EPERM;
    info->si_signo = (int)sig;
    return 0;
}

int64_t sys_rt_sigqueueinfo(struct thread *t, const uint64_t a[6])
{
    struct process *p = t->process;
    siginfo_t info;
    bool to_self = (int)a[0] == p->pid;
    int64_t result = queue_info(t, a[2], a[1], to_self, &info);
    if (result < 0)
        return result;
    if (to_self)
        return info.si_signo == 0 ? 0 : signal_send(p, NULL, &info);
    struct member *other;
    result = find_other(p, (int)a[0], &other);
    if (result < 0)
        return result;
    info.si_pid = getpid(); /* host pid; the receiver translates it to a guest pid */
    return baton_signal(p, other, &info);
}

int64_t sys_rt_tgsigqueueinfo(struct thread *t, const uint64_t a[6])
{
    siginfo_t info;
    bool to_self = (int)a[0] == t->process->pid;
    int64_t result = queue_info(t, a[3], a[2], to_self, &info);
    return result < 0 ? result : signal_thread(t, (int)a[0], (int)a[1], &info);
}
