/* timerfd: timers whose expiries are read from a descriptor.
 *
 * The host descriptor is an eventfd, which has the reading, waiting and counting of a timerfd. A timer of timer.h adds
 * to it when it expires, by guest time. A copied process gets an eventfd of its own like any other.
 *
 * Limit: a timer belongs to the process that armed it. A forked child reads and waits for its expiries, which end with
 * that process; a child that sets the timer again has one of its own. */
#include <errno.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "guest/files_priv.h"
#include "guest/syscalls/syscall.h"

static struct open_file *timerfd_file(struct thread *t, uint64_t number, int *error)
{
    struct files *f = thread_files(t);
    int fd = (int)number; /* the kernel looks at the lower half only */
    *error = -EBADF;
    if (!files_is_guest(fd) || fcntl(fd, F_GETFD) < 0)
        return NULL;
    *error = -EINVAL;
    return f->open[fd] && f->open[fd]->timerfd ? f->open[fd] : NULL;
}

/* The timer of this file, or NULL if this process has not armed it. */
static struct timer *timer_of(struct process *p, const struct open_file *file)
{
    for (int i = TIMER_POSIX; i < TIMER_CPU_LIMIT; i++)
        if (p->timers[i].file == file)
            return &p->timers[i];
    return NULL;
}

/* A descriptor of this file. There is one: closing the last one frees the timer. */
static int descriptor_of(const struct files *f, const struct open_file *file)
{
    int fd = 0;
    while (fd < FD_PRIVATE && f->open[fd] != file)
        fd++;
    return fd;
}

void timerfd_expire(struct process *p, const struct timer *timer, uint64_t count)
{
    int fd = descriptor_of(p->files, timer->file);
    if (fd < FD_PRIVATE)
        (void)!write(fd, &count, sizeof count);
}

void timerfd_close(struct process *p, const struct open_file *file)
{
    struct timer *timer = timer_of(p, file);
    if (timer)
        timer_free(p, timer);
}

int64_t sys_timerfd_create(struct thread *t, const uint64_t a[6])
{
    int clock = (int)a[0], flags = (int)a[1];
    if (flags & ~(TFD_CLOEXEC | TFD_NONBLOCK) ||
        (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME &&
         clock != CLOCK_REALTIME_ALARM && clock != CLOCK_BOOTTIME_ALARM))
        return -EINVAL;
    int fd = eventfd(0, flags);
    fd = fd >= 0 ? files_adopt(thread_files(t), fd) : -errno;
    if (fd < 0)
        return fd;
    struct open_file *file = files_describe(thread_files(t), fd);
    if (!file) {
        files_close(thread_files(t), fd);
        return -ENOMEM;
    }
    file->timerfd = true;
    file->clock = clock;
    return fd;
}

/* Forgets the expiries that nobody has read. */
static void clear_count(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    uint64_t count;
    if (poll(&poll_fd, 1, 0) == 1)
        (void)!read(fd, &count, sizeof count);
}

int64_t sys_timerfd_settime(struct thread *t, const uint64_t a[6])
{
    struct process *p = t->process;
    int error;
    struct open_file *file = timerfd_file(t, a[0], &error);
    if (!file)
        return error;
    if (a[1] & ~(uint64_t)(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET))
        return -EINVAL;
    struct timer *timer = timer_of(p, file);
    if (!timer && (timer = timer_new(p, file->clock)) == NULL)
        return -ENOMEM;
    timer->file = file;
    int64_t result = timer_change(t, timer, a[1] & TFD_TIMER_ABSTIME, a[2], a[3]);
    if (result == 0)
        clear_count((int)a[0]);
    return result;
}

int64_t sys_timerfd_gettime(struct thread *t, const uint64_t a[6])
{
    int error;
    const struct open_file *file = timerfd_file(t, a[0], &error);
    if (!file)
        return error;
    struct timer none = {.expires_ns = NEVER};
    const struct timer *timer = timer_of(t->process, file);
    return timer_get(t, timer ? timer : &none, a[1]);
}
