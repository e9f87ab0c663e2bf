/* Waiting for children, and pidfds. Children are host processes; their ids are translated. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest/fork.h"
#include "guest/syscalls/syscall.h"

/* Reaps an ended child. Adds its retired instructions, including those of its own children, to the parent's and
 * returns them. */
static uint64_t reap_child(struct process *p, struct member *child)
{
    uint64_t insns = child->insns;
    p->children_insns += insns;
    family_reap(p->family, child);
    return insns;
}

void wait_reap_all(struct process *p)
{
    int host_pid;
    while ((host_pid = waitpid(-1, NULL, WNOHANG)) > 0) {
        struct member *child = family_by_host(p->family, host_pid);
        if (child)
            reap_child(p, child);
    }
}

static int put_usage(struct process *p, uint64_t addr, uint64_t insns)
{
    struct rusage usage;
    if (addr == 0)
        return 0;
    memset(&usage, 0, sizeof usage);
    usage.ru_utime.tv_sec = (time_t)(insns / 1000000000);
    usage.ru_utime.tv_usec = (suseconds_t)(insns % 1000000000 / 1000);
    return guest_copy_out(p->memory, addr, &usage, sizeof usage);
}

/* Sleeps until the state of a child changes. */
static int64_t sleep_for_child(struct thread *t)
{
    t->call.child = true;
    return call_sleep(t, NEVER);
}

int64_t sys_wait4(struct thread *t, const uint64_t a[6])
{
    struct process *p = t->process;
    const int known = WNOHANG | WUNTRACED | WCONTINUED | (int)(__WALL | __WCLONE | __WNOTHREAD);
    int pid = (int)a[0], options = (int)a[2], status = 0;
    if (options & ~known)
        return -EINVAL;
    if (pid == INT_MIN)
        return -ESRCH;
    int host = pid;
    if (pid > 0 || pid < -1) {
        host = family_to_host(p->family, pid > 0 ? pid : -pid);
        if (host < 0)
            return -ECHILD;
        host = pid > 0 ? host : -host;
    }
    int got = waitpid(host, &status, (options & (WUNTRACED | WCONTINUED)) | WNOHANG);
    if (got < 0)
        return -errno;
    if (got == 0)
        return options & WNOHANG ? 0 : sleep_for_child(t);
    struct member *child = family_by_host(p->family, got);
    int guest_pid = child ? child->guest_pid : FAMILY_OUTSIDE;
    uint64_t insns = 0;
    if (child && (WIFEXITED(status) || WIFSIGNALED(status)))
        insns = reap_child(p, child);
    if (a[1] != 0 && guest_copy_out(p->memory, a[1], &status, sizeof status) < 0)
        return -EFAULT;
    return put_usage(p, a[3], insns) < 0 ? -EFAULT : guest_pid;
}

/* Translates the id argument of waitid to the host's. Returns a negative errno if there is no such child. */
static int64_t wait_id(struct process *p, int type, uint64_t id)
{
    switch (type) {
    case P_ALL: return 0;
    case P_PIDFD: return files_is_guest((int)id) ? (int64_t)id : -EBADF;
    case P_PID:
    case P_PGID: {
        int host = (int)id < 0 || (type == P_PID && id == 0) ? -EINVAL : family_to_host(p->family, (int)id);
        return host == -ESRCH ? -ECHILD : host;
    }
    default: return -EINVAL;
    }
}

int64_t sys_waitid(struct thread *t, const uint64_t a[6])
{
    struct process *p = t->process;
    int type = (int)a[0], options = (int)a[3];
    siginfo_t info;
    int64_t id = wait_id(p, type, a[1]);
    if (id < 0)
        return id;
    memset(&info, 0, sizeof info);
    if (syscall(SYS_waitid, type, (int)id, &info, options | WNOHANG, NULL) < 0)
        return -errno;
    if (info.si_pid == 0 && !(options & WNOHANG))
        return sleep_for_child(t);
    uint64_t insns = 0;
    if (info.si_pid != 0) {
        struct member *child = family_by_host(p->family, info.si_pid);
        info.si_pid = child ? child->guest_pid : FAMILY_OUTSIDE;
        bool ended = info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED;
        if (child && ended && !(options & WNOWAIT))
            insns = reap_child(p, child);
    }
    if (a[2] != 0 && guest_copy_out(p->memory, a[2], &info, sizeof info) < 0)
        return -EFAULT;
    return put_usage(p, a[4], insns);
}

/* ---- descriptors of processes */

int64_t sys_pidfd_open(struct thread *t, const uint64_t a[6])
{
    struct process *p = t->process;
    if ((int)a[0] <= 0)
        return -EINVAL;
    const struct member *m = family_by_guest(p->family, (int)a[0]);
    if (!m || !member_exists(m))
        return -ESRCH;
    if (a[1] & ~(uint64_t)O_NONBLOCK) /* PIDFD_NONBLOCK */
        return -EINVAL;
    int fd = member_open(m);
    if (fd >= 0 && (a[1] & O_NONBLOCK))
        fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd < 0 ? fd : files_adopt(p->files, fd);
}

/* Guest pid of the process that a pidfd refers to, from the host's /proc/self/fdinfo; negative errno on failure. */
static int pidfd_process(struct process *p, int fd)
{
    char name[64], line[128];
    int host = 0;
    snprintf(name, sizeof name, "/proc/self/fdinfo/%d", fd);
    FILE *info = files_is_guest(fd) ? fopen(name, "re") : NULL;
    if (!info)
        return -EBADF;
    while (fgets(line, sizeof line, info) && sscanf(line, "Pid: %d", &host) != 1)
        ;
    fclose(info);
    if (host == 0)
        return -EBADF;
    const struct member *m = host > 0 ? family_by_host(p->family, host) : NULL;
    return m ? m->guest_pid : -ESRCH;
}

int64_t sys_pidfd_send_signal(struct thread *t, const uint64_t a[6])
{
    int pid = pidfd_process(t->process, (int)a[0]);
    if (pid < 0 || a[3] != 0)
        return pid < 0 ? pid : -EINVAL;
    if (a[2] != 0)
        return sys_rt_sigqueueinfo(t, (uint64_t[6]){(uint64_t)pid, a[1], a[2]});
    return sys_kill(t, (uint64_t[6]){(uint64_t)pid, a[1]});
}
