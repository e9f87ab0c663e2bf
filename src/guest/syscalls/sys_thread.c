/* Threads: clone, exit, and scheduling calls for one processor without priorities. */
#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <string.h>
#include <time.h>

#include "guest/fork.h"
#include "guest/futex.h"
#include "guest/syscalls/syscall.h"

#define CLONE_NAMESPACES                                                                                               \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET |       \
     CLONE_NEWTIME)

enum { CLONE_ARGS_SMALLEST = 64, CLONE_ARGS_KNOWN = 88 }; /* sizes of struct clone_args: oldest, newest known */

static int put_int(struct process *p, uint64_t addr, int32_t value)
{
    return guest_copy_out(p->memory, addr, &value, sizeof value);
}

/* As in Linux, an address that cannot be written does not undo the clone. */
void clone_apply(struct thread *t, const struct clone_request *request)
{
    if (request->stack != 0)
        t->hart.x[REG_SP] = request->stack + request->stack_bytes;
    if (request->flags & CLONE_SETTLS)
        t->hart.x[REG_TP] = request->tls;
    if (request->flags & CLONE_CHILD_SETTID)
        (void)!put_int(t->process, request->child_tid, t->tid);
    t->clear_tid_addr = request->flags & CLONE_CHILD_CLEARTID ? request->child_tid : 0;
    t->robust_list = 0;
}

/* Adds a thread with a copy of the parent's registers that returns 0 from the call. */
static int64_t new_thread(struct thread *parent, const struct clone_request *request)
{
    struct process *p = parent->process;
    struct thread *t = thread_new(p, family_new_id(p->family));
    if (!t)
        return -EAGAIN;
    t->hart = parent->hart;
    t->hart.retired = 0;
    t->hart.quantum = t->hart.budget = 0;
    t->hart.reserved_addr = NO_RESERVATION;
    t->hart.engine = NULL;
    t->hart.x[REG_A0] = 0;
    t->hart.pc += 4;
    t->blocked = parent->blocked;
    memcpy(t->name, parent->name, sizeof t->name);
    clone_apply(t, request);
    if (request->flags & CLONE_PARENT_SETTID)
        (void)!put_int(p, request->parent_tid, t->tid);
    return t->tid;
}

static int64_t do_clone(struct thread *t, const struct clone_request *request)
{
    uint64_t flags = request->flags;
    if (t->vfork_fd >= 0)
        return vfork_wait(t); /* executed again by a thread that waits for its vfork child */
    if ((flags & CLONE_THREAD && !(flags & CLONE_SIGHAND)) || (flags & CLONE_SIGHAND && !(flags & CLONE_VM)))
        return -EINVAL;
    if (request->exit_signal > SIGNAL_MAX)
        return -EINVAL;
    if (flags & CLONE_NAMESPACES)
        return -EPERM;
    return flags & CLONE_THREAD ? new_thread(t, request) : process_fork(t, request);
}

int64_t sys_clone(struct thread *t, const uint64_t a[6])
{
    struct clone_request request = {
        .flags = (uint32_t)a[0] & ~(uint32_t)CSIGNAL,
        .exit_signal = a[0] & CSIGNAL,
        .stack = a[1],
        .parent_tid = a[2],
        .pidfd = a[2],
        .tls = a[3],
        .child_tid = a[4],
    };
    return do_clone(t, &request);
}

int64_t sys_clone3(struct thread *t, const uint64_t a[6])
{
    struct guest_memory *m = t->process->memory;
    uint8_t bytes[GUEST_PAGE];
    struct clone_request request;
    if (a[1] < CLONE_ARGS_SMALLEST)
        return -EINVAL;
    if (a[1] > sizeof bytes)
        return -E2BIG;
    if (guest_copy_in(m, bytes, a[0], a[1]) < 0)
        return -EFAULT;
    for (uint64_t i = CLONE_ARGS_KNOWN; i < a[1]; i++)
        if (bytes[i] != 0)
            return -E2BIG;
    memcpy(&request, bytes, sizeof request);
    uint64_t set_tid_size = 0;
    if (a[1] >= 80)
        memcpy(&set_tid_size, bytes + 72, sizeof set_tid_size);
    if (set_tid_size != 0)
        return -EPERM;
    if (request.flags & CSIGNAL || (request.stack == 0) != (request.stack_bytes == 0))
        return -EINVAL;
    return do_clone(t, &request);
}

int64_t sys_set_tid_address(struct thread *t, const uint64_t a[6])
{
    t->clear_tid_addr = a[0];
    return t->tid;
}

int64_t sys_exit(struct thread *t, const uint64_t a[6])
{
    struct process *p = t->process;
    bool last = true;
    futex_release_robust(t);
    if (t->clear_tid_addr != 0 && put_int(p, t->clear_tid_addr, 0) == 0)
        futex_wake(p, t->clear_tid_addr, 1, FUTEX_BITSET_MATCH_ANY);
    if (t->tid == p->pid)
        p->exit_code = (int)(a[0] & 0xff); /* the exit code of the first thread is that of the process */
    for (const struct thread *other = p->threads; other; other = other->next)
        last &= other == t || other->exited;
    if (last)
        process_end(p, p->exit_code, 0);
    t->exited = true;
    return SYSCALL_NO_RESULT;
}

/* True if the dynamic loader ended the program because it could not load it: status 127, by an exit_group in the
 * loader's own code. Programs exit through the C library. */
static bool is_loader_failure(const struct thread *t, int code)
{
    enum { LOADER_FAILURE = 127 };
    uint64_t pc = t->hart.pc;
    return code == LOADER_FAILURE && pc >= t->process->loader_start && pc < t->process->loader_end;
}

int64_t sys_exit_group(struct thread *t, const uint64_t a[6])
{
    int code = (int)(a[0] & 0xff);
    t->process->loader_failed = is_loader_failure(t, code);
    process_end(t->process, code, 0);
    return SYSCALL_NO_RESULT;
}

int64_t sys_gettid(struct thread *t, const uint64_t a[6])
{
    (void)a;
    return t->tid;
}

/* ---- scheduling */

int64_t sys_sched_yield(struct thread *t, const uint64_t a[6])
{
    (void)a;
    t->slice_insns = 0;
    t->process->turn_insns = 0;
    return 0;
}

/* True if `tid` is 0, a thread of this process, or a process of the run. */
static bool is_known(const struct thread *t, uint64_t tid)
{
    int id = (int)tid;
    return id == 0 || id == t->process->pid || thread_by_tid(t->process, id) ||
           (id > 0 && family_by_guest(t->process->family, id));
}

int64_t sys_sched_getaffinity(struct thread *t, const uint64_t a[6])
{
    const uint64_t cpus = 1;
    if (a[1] < sizeof cpus || a[1] % sizeof cpus != 0)
        return -EINVAL;
    if (!is_known(t, a[0]))
        return -ESRCH;
    return guest_copy_out(t->process->memory, a[2], &cpus, sizeof cpus) < 0 ? -EFAULT : (int64_t)sizeof cpus;
}

int64_t sys_sched_setaffinity(struct thread *t, const uint64_t a[6])
{
    uint8_t first = 0;
    if (a[1] > 0 && guest_copy_in(t->process->memory, &first, a[2], 1) < 0)
        return -EFAULT;
    if (!is_known(t, a[0]))
        return -ESRCH;
    return first & 1 ? 0 : -EINVAL;
}

int64_t sys_sched_getscheduler(struct thread *t, const uint64_t a[6])
{
    return is_known(t, a[0]) ? SCHED_NORMAL : -ESRCH;
}

int64_t sys_sched_getparam(struct thread *t, const uint64_t a[6])
{
    return is_known(t, a[0]) ? put_int(t->process, a[1], 0) : -ESRCH;
}

static int64_t check_policy(struct thread *t, uint64_t tid, uint64_t policy, uint64_t param_addr)
{
    int32_t priority;
    if (!is_known(t, tid))
        return -ESRCH;
    if (guest_copy_in(t->process->memory, &priority, param_addr, sizeof priority) < 0)
        return -EFAULT;
    if (policy == SCHED_FIFO || policy == SCHED_RR)
        return priority >= 1 && priority <= 99 ? -EPERM : -EINVAL;
    bool fair = policy == SCHED_NORMAL || policy == SCHED_BATCH || policy == SCHED_IDLE;
    return fair && priority == 0 ? 0 : -EINVAL;
}

int64_t sys_sched_setparam(struct thread *t, const uint64_t a[6])
{
    return check_policy(t, a[0], SCHED_NORMAL, a[1]);
}

int64_t sys_sched_setscheduler(struct thread *t, const uint64_t a[6])
{
    return check_policy(t, a[0], a[1] & ~(uint64_t)SCHED_RESET_ON_FORK, a[2]);
}

static int64_t priority_limit(uint64_t policy, int real_time)
{
    if (policy == SCHED_FIFO || policy == SCHED_RR)
        return real_time;
    return policy == SCHED_NORMAL || policy == SCHED_BATCH || policy == SCHED_IDLE || policy == SCHED_DEADLINE
               ? 0
               : -EINVAL;
}

int64_t sys_sched_get_priority_max(struct thread *t, const uint64_t a[6])
{
    (void)t;
    return priority_limit(a[0], 99);
}

int64_t sys_sched_get_priority_min(struct thread *t, const uint64_t a[6])
{
    (void)t;
    return priority_limit(a[0], 1);
}

int64_t sys_sched_rr_get_interval(struct thread *t, const uint64_t a[6])
{
    uint64_t ns = t->process->config.quantum_insns;
    struct timespec interval = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    if (!is_known(t, a[0]))
        return -ESRCH;
    return guest_copy_out(t->process->memory, a[1], &interval, sizeof interval);
}

int64_t sys_getcpu(struct thread *t, const uint64_t a[6])
{
    if (a[0] != 0 && put_int(t->process, a[0], 0) < 0)
        return -EFAULT;
    return a[1] == 0 ? 0 : put_int(t->process, a[1], 0);
}
