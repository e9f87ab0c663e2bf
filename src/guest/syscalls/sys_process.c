/* Identity of a process: ids, groups, limits, usage, prctl. The guest is an ordinary user with fixed ids, so that a run
 * does not depend on who started it, or with --host-user the host's user. In both cases the emulator accesses files
 * with the rights of the host's user. */
#include <errno.h>
#include <grp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/syscalls/syscall.h"

/* Converts the result of a host call (-1 and errno) to a result of Linux's system-call interface. */
static int64_t host_result(long result)
{
    return result < 0 ? -errno : result;
}

int64_t sys_getpid(struct thread *t, const uint64_t a[6])
{
    (void)a;
    return t->process->pid;
}

/* Parent pid with --host-time. Processes do not take turns then, so only the host knows whether a parent has ended. */
static int host_parent(struct process *p)
{
    const struct member *parent = family_by_host(p->family, getppid());
    return parent && parent->guest_pid == p->ppid ? p->ppid : FAMILY_INIT;
}

int64_t sys_getppid(struct thread *t, const uint64_t a[6])
{
    (void)a;
    struct process *p = t->process;
    return p->config.host_time && p->is_child ? host_parent(p) : p->member->parent_pid;
}

/* ---- user and groups */

struct user_ids process_user(const struct process *p)
{
    if (p->config.host_user)
        return (struct user_ids){getuid(), geteuid(), getgid(), getegid()};
    return (struct user_ids){GUEST_USER, GUEST_USER, GUEST_USER, GUEST_USER};
}

int64_t sys_getuid(struct thread *t, const uint64_t a[6])
{
    (void)a;
    return process_user(t->process).uid;
}

int64_t sys_geteuid(struct thread *t, const uint64_t a[6])
{
    (void)a;
    return process_user(t->process).euid;
}

int64_t sys_getgid(struct thread *t, const uint64_t a[6])
{
    (void)a;
    return process_user(t->process).gid;
}

int64_t sys_getegid(struct thread *t, const uint64_t a[6])
{
    (void)a;
    return process_user(t->process).egid;
}

/* Sets ids by a call of the host. A guest with fixed ids can only set those that it has, or leave them (-1). */
static int64_t set_ids(struct thread *t, long number, const uint64_t a[6], int count)
{
    if (t->process->config.host_user)
        return host_result(syscall(number, (uint32_t)a[0], (uint32_t)a[1], (uint32_t)a[2]));
    for (int i = 0; i < count; i++)
        if ((uint32_t)a[i] != GUEST_USER && (count == 1 || (uint32_t)a[i] != UINT32_MAX))
            return (uint32_t)a[i] == UINT32_MAX ? -EINVAL : -EPERM;
    return 0;
}

int64_t sys_setuid(struct thread *t, const uint64_t a[6])
{
    return set_ids(t, SYS_setuid, a, 1);
}

int64_t sys_setgid(struct thread *t, const uint64_t a[6])
{
    return set_ids(t, SYS_setgid, a, 1);
}

int64_t sys_setreuid(struct thread *t, const uint64_t a[6])
{
    return set_ids(t, SYS_setreuid, a, 2);
}

int64_t sys_setregid(struct thread *t, const uint64_t a[6])
{
    return set_ids(t, SYS_setregid, a, 2);
}

int64_t sys_setresuid(struct thread *t, const uint64_t a[6])
{
    return set_ids(t, SYS_setresuid, a, 3);
}

int64_t sys_setresgid(struct thread *t, const uint64_t a[6])
{
    return set_ids(t, SYS_setresgid, a, 3);
}

/* These two return the id before the call, and never fail. */
int64_t sys_setfsuid(struct thread *t, const uint64_t a[6])
{
    return t->process->config.host_user ? host_result(syscall(SYS_setfsuid, (uid_t)a[0])) : GUEST_USER;
}

int64_t sys_setfsgid(struct thread *t, const uint64_t a[6])
{
    return t->process->config.host_user ? host_result(syscall(SYS_setfsgid, (gid_t)a[0])) : GUEST_USER;
}

static int64_t put_three_ids(struct process *p, const uint64_t a[6], const uint32_t ids[3])
{
    for (int i = 0; i < 3; i++)
        if (guest_copy_out(p->memory, a[i], &ids[i], sizeof ids[i]) < 0)
            return -EFAULT;
    return 0;
}

int64_t sys_getresuid(struct thread *t, const uint64_t a[6])
{
    uid_t ids[3] = {GUEST_USER, GUEST_USER, GUEST_USER};
    if (t->process->config.host_user)
        getresuid(&ids[0], &ids[1], &ids[2]);
    return put_three_ids(t->process, a, ids);
}

int64_t sys_getresgid(struct thread *t, const uint64_t a[6])
{
    gid_t ids[3] = {GUEST_USER, GUEST_USER, GUEST_USER};
    if (t->process->config.host_user)
        getresgid(&ids[0], &ids[1], &ids[2]);
    return put_three_ids(t->process, a, ids);
}

/* A guest with fixed ids is in no other group. */
int64_t sys_getgroups(struct thread *t, const uint64_t a[6])
{
    int room = (int)a[0];
    if (room < 0 || room > 65536)
        return -EINVAL;
    void *groups = guest_ptr(t->process->memory, a[1], (uint64_t)room * sizeof(gid_t), PROT_WRITE);
    if (room > 0 && !groups)
        return -EFAULT;
    return t->process->config.host_user ? host_result(getgroups(room, groups)) : 0;
}

int64_t sys_setgroups(struct thread *t, const uint64_t a[6])
{
    if (a[0] > 65536)
        return -EINVAL;
    const void *groups = guest_ptr(t->process->memory, a[1], a[0] * sizeof(gid_t), PROT_READ);
    if (a[0] > 0 && !groups)
        return -EFAULT;
    return t->process->config.host_user ? host_result(syscall(SYS_setgroups, (int)a[0], groups)) : -EPERM;
}

/* ---- process groups and sessions: the host's, with translated ids */

int64_t sys_getpgid(struct thread *t, const uint64_t a[6])
{
    struct family *f = t->process->family;
    int host = family_to_host(f, (int)a[0]);
    int64_t group = host < 0 ? host : host_result(getpgid(host));
    return group < 0 ? group : family_group_to_guest(f, (int)group);
}

int64_t sys_setpgid(struct thread *t, const uint64_t a[6])
{
    struct family *f = t->process->family;
    int host = family_to_host(f, (int)a[0]), group = family_to_host(f, (int)a[1]);
    if ((int)a[1] < 0)
        return -EINVAL;
    if (host < 0)
        return host;
    int64_t result = group < 0 ? -EPERM : host_result(setpgid(host, group));
    if (result == 0 && (int)a[1] != FAMILY_OUTSIDE && getpgid(host) == f->outside_host_pgrp)
        f->leads = true;
    return result;
}

int64_t sys_getsid(struct thread *t, const uint64_t a[6])
{
    struct family *f = t->process->family;
    int host = family_to_host(f, (int)a[0]);
    int64_t session = host < 0 ? host : host_result(getsid(host));
    return session < 0 ? session : family_group_to_guest(f, (int)session);
}

int64_t sys_setsid(struct thread *t, const uint64_t a[6])
{
    (void)a;
    return setsid() < 0 ? -errno : t->process->pid;
}

/* ---- priorities, capabilities, personality: stored or constant, without effect */

int64_t sys_getpriority(struct thread *t, const uint64_t a[6])
{
    return a[0] > PRIO_USER ? -EINVAL : 20 - t->process->nice;
}

int64_t sys_setpriority(struct thread *t, const uint64_t a[6])
{
    struct process *p = t->process;
    int nice = (int)a[2];
    if (a[0] > PRIO_USER)
        return -EINVAL;
    nice = nice < -20 ? -20 : nice > 19 ? 19 : nice;
    if (nice < p->nice)
        return -EACCES;
    p->nice = nice;
    return 0;
}

int64_t sys_capget(struct thread *t, const uint64_t a[6])
{
    enum { VERSION_3 = 0x20080522 };
    struct guest_memory *m = t->process->memory;
    const uint32_t none[6] = {0}, version = VERSION_3;
    uint32_t header[2];
    if (guest_copy_in(m, header, a[0], sizeof header) < 0)
        return -EFAULT;
    if (header[0] != VERSION_3) {
        if (guest_copy_out(m, a[0], &version, sizeof version) < 0)
            return -EFAULT;
        return a[1] == 0 ? 0 : -EINVAL;
    }
    return a[1] == 0 ? 0 : guest_copy_out(m, a[1], none, sizeof none);
}

int64_t sys_personality(struct thread *t, const uint64_t a[6])
{
    uint32_t old = t->process->personality;
    if ((uint32_t)a[0] != UINT32_MAX)
        t->process->personality = (uint32_t)a[0];
    return old;
}

int64_t sys_prctl(struct thread *t, const uint64_t a[6])
{
    struct process *p = t->process;
    int32_t signal = 0;
    switch ((int)a[0]) {
    case PR_SET_NAME: {
        char name[sizeof t->name] = "";
        int64_t length = guest_copy_string(p->memory, name, sizeof name, a[1]);
        if (length < 0 && length != -ENAMETOOLONG)
            return length;
        name[sizeof name - 1] = 0;
        memcpy(t->name, name, sizeof name);
        return 0;
    }
    case PR_GET_NAME: return guest_copy_out(p->memory, a[1], t->name, sizeof t->name);
    case PR_SET_PDEATHSIG: return host_result(prctl(PR_SET_PDEATHSIG, a[1]));
    case PR_GET_PDEATHSIG:
        prctl(PR_GET_PDEATHSIG, &signal);
        return guest_copy_out(p->memory, a[1], &signal, sizeof signal);
    case PR_GET_DUMPABLE: return 1;
    case PR_SET_DUMPABLE:
    case PR_SET_TIMERSLACK: return 0;
    case PR_SET_CHILD_SUBREAPER:
        p->member->subreaper = a[1] != 0;
        return host_result(prctl(PR_SET_CHILD_SUBREAPER, a[1] != 0));
    case PR_GET_CHILD_SUBREAPER:
        signal = p->member->subreaper;
        return guest_copy_out(p->memory, a[1], &signal, sizeof signal);
    case PR_GET_TIMERSLACK: return 50000;
    case PR_TASK_PERF_EVENTS_ENABLE:
    case PR_TASK_PERF_EVENTS_DISABLE: p->marked = (int)a[0] == PR_TASK_PERF_EVENTS_ENABLE; return 0;
    case PR_GET_NO_NEW_PRIVS:
    case PR_GET_KEEPCAPS:
    case PR_GET_SECCOMP:
    case PR_CAPBSET_READ: return 0;
    case PR_SET_NO_NEW_PRIVS: return host_result(prctl(PR_SET_NO_NEW_PRIVS, a[1], a[2], a[3], a[4]));
    default: return -EINVAL;
    }
}

/* ---- limits and usage */

int64_t sys_prlimit64(struct thread *t, const uint64_t a[6])
{
    struct process *p = t->process;
    struct rlimit limit;
    if (a[1] >= RLIM_NLIMITS)
        return -EINVAL;
    if ((int)a[0] != 0 && (int)a[0] != p->pid)
        return family_by_guest(p->family, (int)a[0]) ? -EPERM : -ESRCH;
    struct rlimit *current = &p->limits[a[1]], old = *current;
    if (a[2] != 0) {
        if (guest_copy_in(p->memory, &limit, a[2], sizeof limit) < 0)
            return -EFAULT;
        if (limit.rlim_cur > limit.rlim_max)
            return -EINVAL;
        if (limit.rlim_max > current->rlim_max)
            return -EPERM;
        *current = limit;
        if (a[1] == RLIMIT_CPU)
            timers_limit_cpu(p);
    }
    return a[3] == 0 ? 0 : guest_copy_out(p->memory, a[3], &old, sizeof old);
}

int64_t sys_getrlimit(struct thread *t, const uint64_t a[6])
{
    return sys_prlimit64(t, (uint64_t[6]){0, a[0], 0, a[1]});
}

int64_t sys_setrlimit(struct thread *t, const uint64_t a[6])
{
    return sys_prlimit64(t, (uint64_t[6]){0, a[0], a[1], 0});
}

int64_t sys_getrusage(struct thread *t, const uint64_t a[6])
{
    const struct process *p = t->process;
    struct rusage usage;
    uint64_t ns;
    memset(&usage, 0, sizeof usage);
    switch ((int)a[0]) {
    case RUSAGE_SELF: ns = p->retired_insns; break;
    case RUSAGE_THREAD: ns = t->hart.retired; break;
    case RUSAGE_CHILDREN: ns = p->children_insns; break;
    default: return -EINVAL;
    }
    usage.ru_utime.tv_sec = (time_t)(ns / 1000000000);
    usage.ru_utime.tv_usec = (suseconds_t)(ns % 1000000000 / 1000);
    if ((int)a[0] != RUSAGE_CHILDREN)
        usage.ru_maxrss = (long)(guest_resident_bytes(p->memory) >> 10);
    return guest_copy_out(p->memory, a[1], &usage, sizeof usage);
}
