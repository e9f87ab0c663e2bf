/* signalfd: pending signals are read from a descriptor.
 *
 * The host descriptor is an eventfd, which holds 1 while a signal of the descriptor's set is pending, so that poll and
 * epoll see it. signalfd_refresh keeps it so; signal.c calls it whenever a queue changes. Reading takes signals from
 * the queues. Each process has its own queues, so a forked child gets eventfds of its own.
 *
 * Limit: a signal that is pending for one thread makes the descriptor readable for all threads of the process. */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "guest/files_priv.h"
#include "guest/syscalls/syscall.h"

static uint64_t pending_anywhere(const struct process *p)
{
    uint64_t set = p->pending.set;
    for (const struct thread *t = p->threads; t; t = t->next)
        set |= t->pending.set;
    return set;
}

static void set_readable(int fd, bool readable)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    uint64_t count = 1;
    bool is_readable = poll(&poll_fd, 1, 0) == 1;
    if (readable && !is_readable)
        (void)!write(fd, &count, sizeof count);
    else if (!readable && is_readable)
        (void)!read(fd, &count, sizeof count);
}

void signalfd_refresh(struct process *p)
{
    if (p->signalfds == 0)
        return;
    uint64_t pending = pending_anywhere(p);
    for (int fd = 0; fd < FD_PRIVATE; fd++)
        if (p->files->open[fd] && p->files->open[fd]->signalfd)
            set_readable(fd, pending & p->files->open[fd]->signal_set);
}

/* Replaces the eventfd of each signalfd, for all descriptors of a record. */
void signalfd_forked(struct process *p)
{
    struct files *f = p->files;
    for (int fd = 0; p->signalfds > 0 && fd < FD_PRIVATE; fd++) {
        struct open_file *o = f->open[fd];
        if (!o || !o->signalfd)
            continue;
        int first = 0, flags = fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0;
        while (f->open[first] != o)
            first++;
        int own = first < fd ? first : eventfd(0, EFD_CLOEXEC | (fcntl(fd, F_GETFL) & O_NONBLOCK));
        if (own < 0)
            continue;
        dup3(own, fd, flags);
        if (own != first)
            close(own);
    }
    signalfd_refresh(p);
}

int64_t sys_signalfd4(struct thread *t, const uint64_t a[6])
{
    struct process *p = t->process;
    struct files *f = thread_files(t);
    int fd = (int)a[0], flags = (int)a[3];
    uint64_t set;
    if (a[2] != sizeof set || flags & ~(SFD_CLOEXEC | SFD_NONBLOCK))
        return -EINVAL;
    if (guest_copy_in(p->memory, &set, a[1], sizeof set) < 0)
        return -EFAULT;
    bool fresh = fd == -1;
    if (!fresh && (!files_is_guest(fd) || fcntl(fd, F_GETFD) < 0))
        return -EBADF;
    if (!fresh && !(f->open[fd] && f->open[fd]->signalfd))
        return -EINVAL;
    if (fresh) {
        fd = eventfd(0, flags);
        fd = fd >= 0 ? files_adopt(thread_files(t), fd) : -errno;
        if (fd < 0)
            return fd;
    }
    struct open_file *file = files_describe(f, fd);
    if (!file) {
        files_close(f, fd);
        return -ENOMEM;
    }
    p->signalfds += fresh;
    file->signalfd = true;
    file->signal_set = set & ~(signal_bit(SIGKILL) | signal_bit(SIGSTOP));
    signalfd_refresh(p);
    return fd;
}

static struct signalfd_siginfo describe(const siginfo_t *info)
{
    struct signalfd_siginfo s = {.ssi_signo = (uint32_t)info->si_signo,
                                 .ssi_errno = info->si_errno,
                                 .ssi_code = info->si_code,
                                 .ssi_pid = (uint32_t)info->si_pid,
                                 .ssi_uid = info->si_uid};
    if (info->si_code == SI_TIMER) {
        s.ssi_pid = s.ssi_uid = 0;
        s.ssi_tid = (uint32_t)info->si_timerid;
        s.ssi_overrun = (uint32_t)info->si_overrun;
    }
    if (info->si_signo == SIGCHLD && info->si_code > 0)
        s.ssi_status = info->si_status;
    if (info->si_code < 0) {
        s.ssi_int = info->si_value.sival_int;
        s.ssi_ptr = (uint64_t)(uintptr_t)info->si_value.sival_ptr;
    }
    return s;
}

/* Copies to the buffers after their first `done` bytes. */
static void put_bytes(const struct iovec *iov, int count, uint64_t done, const void *from, size_t size)
{
    struct iovec part[IOV_MAX];
    int n = file_buffers_part(part, iov, count, done, size);
    for (int i = 0; i < n; i++) {
        memcpy(part[i].iov_base, from, part[i].iov_len);
        from = (const char *)from + part[i].iov_len;
    }
}

int64_t signalfd_read(struct thread *t, int fd, const struct iovec *iov, int count, int64_t total)
{
    struct files *f = thread_files(t);
    siginfo_t info;
    int64_t done = 0;
    if (total < (int64_t)sizeof(struct signalfd_siginfo))
        return -EINVAL;
    while (total - done >= (int64_t)sizeof(struct signalfd_siginfo) && signal_take(t, f->open[fd]->signal_set, &info)) {
        struct signalfd_siginfo s = describe(&info);
        put_bytes(iov, count, (uint64_t)done, &s, sizeof s);
        done += (int64_t)sizeof s;
    }
    if (done > 0)
        return done;
    if (!file_may_block(f, fd))
        return -EAGAIN;
    int64_t waiting = file_wait(t, fd, POLLIN);
    return waiting < 0 ? waiting : file_wait_tick(t); /* pending for another thread */
}
