/* System calls that wait for descriptors: ppoll, pselect6, epoll. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "guest/files_priv.h"
#include "guest/syscalls/syscall.h"
#include "guest/time_convert.h"

/* Reads a guest timespec as ns; negative: no timeout. Returns 0, -EFAULT or -EINVAL. */
static int timeout_in(struct thread *t, uint64_t addr, int64_t *ns)
{
    struct timespec ts;
    *ns = -1;
    if (addr == 0)
        return 0;
    if (guest_copy_in(t->process->memory, &ts, addr, sizeof ts) < 0)
        return -EFAULT;
    if (!timespec_valid(&ts))
        return -EINVAL;
    uint64_t total = timespec_to_ns(&ts);
    *ns = total == NEVER ? -1 : (int64_t)total;
    return 0;
}

/* thread_poll on the guest's descriptors. Whether the writer of the standard input has written or closed it yet depends
 * on the host: the guest sees a writer that is fast, and that closes the pipe after all is read. */
static int64_t poll_streams(struct thread *t, struct pollfd *fds, unsigned count, int64_t timeout_ns)
{
    const struct files *f = thread_files(t);
    for (unsigned i = 0; i < count; i++)
        if (fds[i].events & POLLIN)
            file_await_input(t, fds[i].fd);
    int64_t ready = thread_poll(t, fds, count, timeout_ns);
    for (unsigned i = 0; i < count && ready > 0; i++)
        if (files_is_guest(fds[i].fd) && f->standard[fds[i].fd] == 1 && (fds[i].revents & POLLIN))
            fds[i].revents &= ~POLLHUP;
    return ready;
}

/* Like thread_poll, with POLLNVAL for descriptors outside the guest's range. */
static int64_t poll_guest(struct thread *t, struct pollfd *fds, unsigned count, int64_t timeout_ns)
{
    unsigned invalid = 0;
    struct pollfd checked[FD_PRIVATE + 1];
    memcpy(checked, fds, count * sizeof *fds);
    for (unsigned i = 0; i < count; i++) {
        if (fds[i].fd < FD_PRIVATE)
            continue;
        checked[i].fd = -1;
        invalid++;
    }
    int64_t ready = poll_streams(t, checked, count, invalid ? 0 : timeout_ns);
    for (unsigned i = 0; i < count; i++)
        fds[i].revents = fds[i].fd < FD_PRIVATE ? checked[i].revents : POLLNVAL;
    return ready < 0 ? ready : ready + invalid;
}

int64_t sys_ppoll(struct thread *t, const uint64_t a[6])
{
    struct guest_memory *m = t->process->memory;
    struct pollfd fds[FD_PRIVATE + 1];
    int64_t timeout_ns;
    unsigned count = (unsigned)a[1];
    if (count > (unsigned)files_limit(t->process->files))
        return -EINVAL;
    if (guest_copy_in(m, fds, a[0], count * sizeof *fds) < 0)
        return -EFAULT;
    int error = timeout_in(t, a[2], &timeout_ns);
    if (error == 0)
        error = signal_set_call_mask(t, a[3], a[4]);
    if (error < 0)
        return error;
    int64_t ready = poll_guest(t, fds, count, timeout_ns);
    if (ready >= 0 && guest_copy_out(m, a[0], fds, count * sizeof *fds) < 0)
        return -EFAULT;
    return ready;
}

/* ---- pselect6 */

enum { SELECT_SETS = 3, SELECT_WORDS = 1024 / 64 };

/* For each set: events to poll for, and events that make a descriptor ready, as in Linux. */
static const struct {
    short events, result;
} select_set[SELECT_SETS] = {
    {POLLIN, POLLIN | POLLRDNORM | POLLRDBAND | POLLHUP | POLLERR},
    {POLLOUT, POLLOUT | POLLWRNORM | POLLWRBAND | POLLERR},
    {POLLPRI, POLLPRI},
};

static unsigned select_to_poll(uint64_t sets[SELECT_SETS][SELECT_WORDS], unsigned bits, struct pollfd *fds)
{
    unsigned count = 0;
    for (unsigned fd = 0; fd < bits; fd++) {
        short events = 0;
        for (int s = 0; s < SELECT_SETS; s++)
            if (sets[s][fd / 64] >> fd % 64 & 1)
                events |= select_set[s].events;
        if (events)
            fds[count++] = (struct pollfd){.fd = (int)fd, .events = events};
    }
    return count;
}

/* Replaces the sets by the ready descriptors. Returns the number of bits set, or -EBADF. */
static int64_t poll_to_select(const struct pollfd *fds, unsigned count, uint64_t sets[SELECT_SETS][SELECT_WORDS])
{
    int64_t total = 0;
    memset(sets, 0, SELECT_SETS * sizeof *sets);
    for (unsigned i = 0; i < count; i++) {
        if (fds[i].revents & POLLNVAL)
            return -EBADF;
        for (int s = 0; s < SELECT_SETS; s++) {
            if (!(fds[i].events & select_set[s].events) || !(fds[i].revents & select_set[s].result))
                continue;
            sets[s][fds[i].fd / 64] |= UINT64_C(1) << fds[i].fd % 64;
            total++;
        }
    }
    return total;
}

int64_t sys_pselect6(struct thread *t, const uint64_t a[6])
{
    struct guest_memory *m = t->process->memory;
    uint64_t sets[SELECT_SETS][SELECT_WORDS] = {0}, mask[2] = {0, 8};
    struct pollfd fds[FD_PRIVATE + 1];
    int64_t timeout_ns;
    if ((int)a[0] < 0)
        return -EINVAL;
    unsigned bits = (unsigned)a[0] < FD_PRIVATE ? (unsigned)a[0] : FD_PRIVATE;
    uint64_t bytes = (bits + 63) / 64 * 8;
    for (int s = 0; s < SELECT_SETS; s++)
        if (a[1 + s] != 0 && guest_copy_in(m, sets[s], a[1 + s], bytes) < 0)
            return -EFAULT;
    if (a[5] != 0 && guest_copy_in(m, mask, a[5], sizeof mask) < 0)
        return -EFAULT;
    int error = timeout_in(t, a[4], &timeout_ns);
    if (error == 0)
        error = signal_set_call_mask(t, mask[0], mask[1]);
    if (error < 0)
        return error;
    unsigned count = select_to_poll(sets, bits, fds);
    int64_t ready = poll_streams(t, fds, count, timeout_ns);
    if (ready < 0)
        return ready;
    ready = poll_to_select(fds, count, sets);
    for (int s = 0; s < SELECT_SETS && ready >= 0; s++)
        if (a[1 + s] != 0 && guest_copy_out(m, a[1 + s], sets[s], bytes) < 0)
            return -EFAULT;
    return ready;
}

/* ---- epoll: the host keeps the interest set; the guest's call waits until the host's epoll descriptor is readable */

/* struct epoll_event of riscv64, which unlike that of x86-64 is not packed. */
struct guest_epoll_event {
    uint32_t events, pad;
    uint64_t data;
};

enum { EPOLL_BATCH = 256 }; /* most events that one call returns */

int64_t sys_epoll_create1(struct thread *t, const uint64_t a[6])
{
    (void)t;
    int fd = epoll_create1((int)a[0]);
    return fd >= 0 ? files_adopt(t->process->files, fd) : -errno;
}

int64_t sys_epoll_ctl(struct thread *t, const uint64_t a[6])
{
    struct guest_epoll_event guest = {0};
    if (!files_is_guest((int)a[0]) || !files_is_guest((int)a[2]))
        return -EBADF;
    if ((int)a[1] != EPOLL_CTL_DEL && guest_copy_in(t->process->memory, &guest, a[3], sizeof guest) < 0)
        return -EFAULT;
    struct epoll_event event = {.events = guest.events, .data.u64 = guest.data};
    return epoll_ctl((int)a[0], (int)a[1], (int)a[2], &event) == 0 ? 0 : -errno;
}

static int64_t wait_epoll(struct thread *t, const uint64_t a[6], int64_t timeout_ns)
{
    struct epoll_event events[EPOLL_BATCH];
    struct guest_epoll_event guest[EPOLL_BATCH] = {0};
    int epfd = (int)a[0], max = (int)a[2];
    if (!files_is_guest(epfd))
        return -EBADF;
    if (max <= 0)
        return -EINVAL;
    int error = signal_set_call_mask(t, a[4], a[5]);
    if (error < 0)
        return error;
    struct pollfd poll = {.fd = epfd, .events = POLLIN};
    int64_t ready = thread_poll(t, &poll, 1, timeout_ns);
    if (ready <= 0)
        return ready;
    int count = epoll_wait(epfd, events, max < EPOLL_BATCH ? max : EPOLL_BATCH, 0);
    if (count < 0)
        return -errno;
    for (int i = 0; i < count; i++)
        guest[i] = (struct guest_epoll_event){.events = events[i].events, .data = events[i].data.u64};
    return guest_copy_out(t->process->memory, a[1], guest, (uint64_t)count * sizeof *guest) < 0 ? -EFAULT : count;
}

int64_t sys_epoll_pwait(struct thread *t, const uint64_t a[6])
{
    int timeout_ms = (int)a[3];
    return wait_epoll(t, a, timeout_ms < 0 ? -1 : (int64_t)timeout_ms * 1000000);
}

int64_t sys_epoll_pwait2(struct thread *t, const uint64_t a[6])
{
    int64_t timeout_ns;
    int error = timeout_in(t, a[3], &timeout_ns);
    return error < 0 ? error : wait_epoll(t, a, timeout_ns);
}
