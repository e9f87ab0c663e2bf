/* System calls that read and write.
 *
 * Transfers to and from plain files go straight to the host. For descriptors that may block (pipes, terminals,
 * sockets) the call first waits until they are ready, so that other threads run meanwhile. A write to a pipe is split
 * into pieces that the host accepts without blocking; `io_bytes` of the thread counts the bytes written before the
 * thread went to sleep. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "guest/console.h"
#include "guest/file_view.h"
#include "guest/files_priv.h"
#include "guest/memory_files.h"
#include "guest/syscalls/syscall.h"

enum { PATIENCE_MS = 1000 }; /* longest wait for a process outside the run while others of the run could go on */

/* ---- waiting */

bool file_may_block(struct files *f, int fd)
{
    if (files_stream(f, fd) == STREAM_FILE)
        return false;
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && !(flags & (O_NONBLOCK | O_PATH));
}

/* SO_RCVTIMEO or SO_SNDTIMEO of a socket in ns; negative: no timeout. */
static int64_t socket_timeout_ns(int fd, short events)
{
    struct timeval limit = {0};
    socklen_t size = sizeof limit;
    if (getsockopt(fd, SOL_SOCKET, events & POLLOUT ? SO_SNDTIMEO : SO_RCVTIMEO, &limit, &size) != 0 ||
        (limit.tv_sec == 0 && limit.tv_usec == 0))
        return -1;
    return (int64_t)limit.tv_sec * 1000000000 + (int64_t)limit.tv_usec * 1000;
}

/* Waits in the host for a reader outside the run. The speed of that reader must not decide which thread or process
 * runs next, or runs would not repeat: all of them wait. The wait is limited, since the reader may itself wait for
 * another process of the run. */
static void wait_for_reader(const struct process *p, struct pollfd *output)
{
    if (poll(output, 1, 0) == 0 && !p->config.host_time && fd_is_outside(&p->inherited, output->fd))
        poll(output, 1, PATIENCE_MS);
}

/* Standard input from a pipe or socket of the caller. */
static bool is_piped_input(struct files *f, int fd)
{
    return f->standard[fd] == 1 && (files_stream(f, fd) == STREAM_PIPE || files_stream(f, fd) == STREAM_SOCKET);
}

void file_await_input(struct thread *t, int fd)
{
    struct files *f = thread_files(t);
    struct pollfd input = {.fd = fd, .events = POLLIN};
    if (!t->process->config.host_time && files_is_guest(fd) && is_piped_input(f, fd) && !f->input_idle)
        f->input_idle = poll(&input, 1, PATIENCE_MS) == 0;
}

int64_t file_wait(struct thread *t, int fd, short events)
{
    struct pollfd poll = {.fd = fd, .events = events};
    bool socket = files_stream(thread_files(t), fd) == STREAM_SOCKET;
    if (!socket && (events & POLLOUT) && !signal_deliverable(t))
        wait_for_reader(t->process, &poll);
    int64_t ready = thread_poll(t, &poll, 1, socket ? socket_timeout_ns(fd, events) : -1);
    return ready > 0 ? 0 : ready == 0 ? -EAGAIN : ready;
}

/* Polls a descriptor that never becomes ready, for 1 ms. A wait for a descriptor is paced by the host's clock, which
 * is needed here: the change comes from outside or from another thread. */
int64_t file_wait_tick(struct thread *t)
{
    struct pollfd poll = {.fd = thread_files(t)->never, .events = POLLIN};
    t->call.deadline_ns = NEVER;
    return thread_poll(t, &poll, 1, 1000000);
}

void file_broken_pipe(struct thread *t)
{
    siginfo_t info = {.si_signo = SIGPIPE, .si_code = SI_USER};
    info.si_pid = t->process->pid;
    info.si_uid = process_user(t->process).uid;
    signal_send(t->process, t, &info);
}

/* ---- buffers */

int64_t file_buffer(struct thread *t, uint64_t addr, uint64_t length, int prot, struct iovec *out)
{
    struct guest_memory *m = t->process->memory;
    if (length > TRANSFER_MAX)
        length = TRANSFER_MAX;
    *out = (struct iovec){.iov_base = NULL, .iov_len = 0};
    if (length == 0)
        return 0;
    out->iov_base = guest_ptr(m, addr, length, prot);
    if (!out->iov_base) {
        uint64_t end = addr;
        while (end - addr < length) {
            const struct guest_area *area = guest_area_at_or_above(m, end);
            if (!area || area->start > end || (area->prot & prot) != prot)
                break;
            end = area->end;
        }
        length = end - addr < length ? end - addr : length;
        out->iov_base = length > 0 ? guest_ptr(m, addr, length, prot) : NULL;
        if (!out->iov_base)
            return -EFAULT;
    }
    out->iov_len = length;
    return (int64_t)length;
}

int64_t file_buffers(struct thread *t, uint64_t iov_addr, uint64_t iov_count, int prot, struct iovec out[IOV_MAX],
                     int *count)
{
    struct iovec guest[IOV_MAX];
    uint64_t total = 0;
    *count = 0;
    if (iov_count > IOV_MAX)
        return -EINVAL;
    if (guest_copy_in(t->process->memory, guest, iov_addr, iov_count * sizeof *guest) < 0)
        return -EFAULT;
    for (uint64_t i = 0; i < iov_count; i++)
        if ((int64_t)guest[i].iov_len < 0)
            return -EINVAL;
    for (uint64_t i = 0; i < iov_count && total < TRANSFER_MAX; i++) {
        uint64_t want = guest[i].iov_len;
        if (want > TRANSFER_MAX - total)
            want = TRANSFER_MAX - total;
        int64_t n = file_buffer(t, (uint64_t)(uintptr_t)guest[i].iov_base, want, prot, &out[*count]);
        if (n < 0)
            return total > 0 ? (int64_t)total : n;
        total += (uint64_t)n;
        ++*count;
        if ((uint64_t)n < want)
            break;
    }
    return (int64_t)total;
}

/* ---- transfers without a position */

static int64_t read_random(struct thread *t, const struct iovec *iov, int count)
{
    int64_t total = 0;
    for (int i = 0; i < count; i++) {
        random_fill(&t->process->random, iov[i].iov_base, iov[i].iov_len);
        total += (int64_t)iov[i].iov_len;
    }
    return total;
}

int64_t file_limit(struct thread *t, int fd, int64_t offset, int64_t total)
{
    uint64_t limit = t->process->limits[RLIMIT_FSIZE].rlim_cur;
    struct stat st;
    if (limit >= INT64_MAX || total <= 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return total;
    if (offset < 0)
        offset = fcntl(fd, F_GETFL) & O_APPEND ? st.st_size : lseek(fd, 0, SEEK_CUR);
    if (offset >= 0 && (uint64_t)offset < limit)
        return (uint64_t)total < limit - (uint64_t)offset ? total : (int64_t)(limit - (uint64_t)offset);
    siginfo_t info = {.si_signo = SIGXFSZ, .si_code = SI_USER};
    info.si_pid = t->process->pid;
    info.si_uid = process_user(t->process).uid;
    signal_send(t->process, t, &info);
    return -EFBIG;
}

bool file_is_random(const struct files *f, int fd)
{
    return f->open[fd] && f->open[fd]->random;
}

/* Reads from the caller's pipe until the buffers are full or the input has ended, so that what the guest gets does not
 * depend on the pieces in which the writer happens to write. All threads and processes of the run wait meanwhile, if
 * the writer is not slower than PATIENCE_MS. A signal ends the call early, as always. */
static int64_t read_whole(struct thread *t, int fd, const struct iovec *iov, int count, int64_t total)
{
    int64_t result = 0;
    struct files *f = thread_files(t);
    while (t->io_bytes < (uint64_t)total) {
        struct pollfd input = {.fd = fd, .events = POLLIN};
        struct iovec part[IOV_MAX];
        int patience_ms = process_can_only_wait(t->process) ? -1 : f->input_idle ? 0 : PATIENCE_MS;
        if (poll(&input, 1, patience_ms) <= 0) {
            f->input_idle = true;
            result = file_wait(t, fd, POLLIN);
            if (result == SYSCALL_RETRY)
                return result;
            if (result < 0)
                break;
        }
        int used = file_buffers_part(part, iov, count, t->io_bytes, TRANSFER_MAX);
        ssize_t n = readv(fd, part, used);
        result = n >= 0 ? n : -errno;
        if (n <= 0)
            break;
        t->io_bytes += (uint64_t)n;
        f->input_idle = false;
    }
    if (t->io_bytes > 0)
        result = (int64_t)t->io_bytes;
    t->io_bytes = 0;
    return result;
}

static int64_t read_stream(struct thread *t, int fd, const struct iovec *iov, int count, int64_t total)
{
    struct files *f = thread_files(t);
    if (file_is_random(f, fd))
        return read_random(t, iov, count);
    if (f->open[fd] && f->open[fd]->signalfd)
        return signalfd_read(t, fd, iov, count, total);
    if (f->open[fd] && f->open[fd]->inotify && count > 0)
        return inotify_read(t, fd, iov);
    if (f->open[fd] && f->open[fd]->timerfd && total < (int64_t)sizeof(uint64_t))
        return -EINVAL; /* before it waits */
    if (total > 0 && file_may_block(f, fd)) {
        if (is_piped_input(f, fd) && !t->process->config.host_time)
            return read_whole(t, fd, iov, count, total);
        console_await_input(t->process, fd);
        int64_t waiting = file_wait(t, fd, POLLIN);
        if (waiting < 0)
            return waiting;
    }
    ssize_t n = readv(fd, iov, count);
    int code = errno;
    if (n > 0)
        console_note_input(t->process, fd, console_last(iov, count, n));
    return n >= 0 ? n : -code;
}

int file_buffers_part(struct iovec out[IOV_MAX], const struct iovec *iov, int count, uint64_t done, uint64_t limit)
{
    int used = 0;
    for (int i = 0; i < count && limit > 0; i++) {
        if (done >= iov[i].iov_len) {
            done -= iov[i].iov_len;
            continue;
        }
        out[used].iov_base = done ? (char *)iov[i].iov_base + done : iov[i].iov_base; /* NULL + 0 is undefined */
        out[used].iov_len = iov[i].iov_len - done < limit ? iov[i].iov_len - done : limit;
        limit -= out[used++].iov_len;
        done = 0;
    }
    return used;
}

/* As writev, with the command's own line away from the terminal. */
static ssize_t write_host(const struct process *p, int fd, const struct iovec *iov, int count)
{
    bool console = console_begin(p, fd);
    ssize_t n = writev(fd, iov, count);
    int code = errno;
    if (console)
        console_end(p, console_last(iov, count, n));
    errno = code;
    return n;
}

/* Writes one piece that the host accepts without blocking. A pipe that polls as writable accepts PIPE_BUF bytes. */
static ssize_t write_piece(const struct process *p, enum stream stream, int fd, const struct iovec *iov, int count,
                           uint64_t done)
{
    struct iovec part[IOV_MAX];
    int n = file_buffers_part(part, iov, count, done, stream == STREAM_PIPE ? PIPE_BUF : TRANSFER_MAX);
    if (stream != STREAM_SOCKET)
        return write_host(p, fd, part, n);
    struct msghdr message = {.msg_iov = part, .msg_iovlen = (size_t)n};
    return sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Writes everything, in as many pieces and sleeps as necessary. After an error or a signal returns the bytes written
 * so far. */
static int64_t write_blocking(struct thread *t, int fd, const struct iovec *iov, int count, int64_t total)
{
    enum stream stream = files_stream(thread_files(t), fd);
    int64_t result = 0;
    do {
        result = file_wait(t, fd, POLLOUT);
        if (result == SYSCALL_RETRY)
            return result;
        if (result < 0)
            break;
        ssize_t n = write_piece(t->process, stream, fd, iov, count, t->io_bytes);
        if (n >= 0)
            t->io_bytes += (uint64_t)n;
        else if (errno != EAGAIN)
            result = -errno;
    } while (result == 0 && t->io_bytes < (uint64_t)total);
    if (t->io_bytes > 0)
        result = (int64_t)t->io_bytes;
    t->io_bytes = 0;
    return result;
}

static int64_t write_stream(struct thread *t, int fd, const struct iovec *iov, int count, int64_t total)
{
    struct files *f = thread_files(t);
    if (file_is_random(f, fd))
        return total;
    if (f->open[fd] && (f->open[fd]->timerfd || f->open[fd]->signalfd))
        return -EINVAL;
    if (f->open[fd] && f->open[fd]->inotify)
        return -EBADF; /* before it waits */
    int64_t result = memory_files_may_write(t->process, fd, (uint64_t)total);
    if (result < 0)
        return result;
    if (total > 0 && file_may_block(f, fd)) {
        result = write_blocking(t, fd, iov, count, total);
    } else {
        struct iovec part[IOV_MAX];
        int64_t allowed = file_limit(t, fd, -1, total);
        if (allowed < 0)
            return allowed;
        if (allowed < total) {
            count = file_buffers_part(part, iov, count, 0, (uint64_t)allowed);
            iov = part;
        }
        ssize_t n = write_host(t->process, fd, iov, count);
        result = n >= 0 ? n : -errno;
        if (n > 0)
            file_written(t->process, fd);
    }
    if (result == -EPIPE)
        file_broken_pipe(t);
    return result;
}

int64_t sys_read(struct thread *t, const uint64_t a[6])
{
    struct iovec iov;
    if (!files_is_guest((int)a[0]))
        return -EBADF;
    int64_t total = file_buffer(t, a[1], a[2], PROT_WRITE, &iov);
    return total < 0 ? total : read_stream(t, (int)a[0], &iov, 1, total);
}

int64_t sys_write(struct thread *t, const uint64_t a[6])
{
    struct iovec iov;
    if (!files_is_guest((int)a[0]))
        return -EBADF;
    int64_t total = file_buffer(t, a[1], a[2], PROT_READ, &iov);
    return total < 0 ? total : write_stream(t, (int)a[0], &iov, 1, total);
}

int64_t sys_readv(struct thread *t, const uint64_t a[6])
{
    struct iovec iov[IOV_MAX];
    int count;
    if (!files_is_guest((int)a[0]))
        return -EBADF;
    int64_t total = file_buffers(t, a[1], a[2], PROT_WRITE, iov, &count);
    return total < 0 ? total : read_stream(t, (int)a[0], iov, count, total);
}

int64_t sys_writev(struct thread *t, const uint64_t a[6])
{
    struct iovec iov[IOV_MAX];
    int count;
    if (!files_is_guest((int)a[0]))
        return -EBADF;
    int64_t total = file_buffers(t, a[1], a[2], PROT_READ, iov, &count);
    return total < 0 ? total : write_stream(t, (int)a[0], iov, count, total);
}

/* ---- transfers at a position: plain files; the host returns an error for all others */

static int64_t read_at(struct thread *t, int fd, const struct iovec *iov, int count, int64_t offset, int flags)
{
    if (offset < 0)
        return -EINVAL;
    if (thread_files(t)->standard[fd])
        return -ESPIPE;
    if (file_is_random(thread_files(t), fd))
        return read_random(t, iov, count);
    ssize_t n = preadv2(fd, iov, count, offset, flags);
    return n >= 0 ? n : -errno;
}

static int64_t write_at(struct thread *t, int fd, const struct iovec *iov, int count, int64_t offset, int flags)
{
    struct iovec part[IOV_MAX];
    int64_t total = 0, allowed;
    if (offset < 0)
        return -EINVAL;
    if (thread_files(t)->standard[fd])
        return -ESPIPE;
    for (int i = 0; i < count; i++)
        total += (int64_t)iov[i].iov_len;
    if ((allowed = file_limit(t, fd, offset, total)) < 0)
        return allowed;
    if (allowed < total) {
        count = file_buffers_part(part, iov, count, 0, (uint64_t)allowed);
        iov = part;
    }
    int may = memory_files_may_write(t->process, fd, (uint64_t)allowed);
    if (may < 0)
        return may;
    ssize_t n = pwritev2(fd, iov, count, offset, flags);
    int code = errno;
    if (n > 0)
        file_written(t->process, fd);
    return n >= 0 ? n : -code;
}

int64_t sys_pread64(struct thread *t, const uint64_t a[6])
{
    struct iovec iov;
    if (!files_is_guest((int)a[0]))
        return -EBADF;
    int64_t total = file_buffer(t, a[1], a[2], PROT_WRITE, &iov);
    return total < 0 ? total : read_at(t, (int)a[0], &iov, 1, (int64_t)a[3], 0);
}

int64_t sys_pwrite64(struct thread *t, const uint64_t a[6])
{
    struct iovec iov;
    if (!files_is_guest((int)a[0]))
        return -EBADF;
    int64_t total = file_buffer(t, a[1], a[2], PROT_READ, &iov);
    return total < 0 ? total : write_at(t, (int)a[0], &iov, 1, (int64_t)a[3], 0);
}

/* On a 64-bit machine the position is one argument. The next one, the upper half on 32-bit machines, is ignored. */
int64_t sys_preadv2(struct thread *t, const uint64_t a[6])
{
    struct iovec iov[IOV_MAX];
    int count, fd = (int)a[0], flags = (int)a[5];
    if (!files_is_guest(fd))
        return -EBADF;
    int64_t total = file_buffers(t, a[1], a[2], PROT_WRITE, iov, &count);
    if (total < 0)
        return total;
    if ((int64_t)a[3] == -1 && flags == 0)
        return read_stream(t, fd, iov, count, total);
    if ((int64_t)a[3] != -1)
        return read_at(t, fd, iov, count, (int64_t)a[3], flags);
    ssize_t n = preadv2(fd, iov, count, -1, flags);
    return n >= 0 ? n : -errno;
}

int64_t sys_pwritev2(struct thread *t, const uint64_t a[6])
{
    struct iovec iov[IOV_MAX];
    int count, fd = (int)a[0], flags = (int)a[5];
    if (!files_is_guest(fd))
        return -EBADF;
    int64_t total = file_buffers(t, a[1], a[2], PROT_READ, iov, &count);
    if (total < 0)
        return total;
    if ((int64_t)a[3] == -1 && flags == 0)
        return write_stream(t, fd, iov, count, total);
    if ((int64_t)a[3] != -1)
        return write_at(t, fd, iov, count, (int64_t)a[3], flags);
    int may = memory_files_may_write(t->process, fd, (uint64_t)total);
    if (may < 0)
        return may;
    bool console = console_begin(t->process, fd);
    ssize_t n = pwritev2(fd, iov, count, -1, flags);
    int code = errno;
    if (console)
        console_end(t->process, console_last(iov, count, n));
    if (n > 0)
        file_written(t->process, fd);
    return n >= 0 ? n : -code;
}

int64_t sys_preadv(struct thread *t, const uint64_t a[6])
{
    uint64_t with_flags[6] = {a[0], a[1], a[2], a[3], 0, 0};
    return (int64_t)a[3] < 0 ? -EINVAL : sys_preadv2(t, with_flags);
}

int64_t sys_pwritev(struct thread *t, const uint64_t a[6])
{
    uint64_t with_flags[6] = {a[0], a[1], a[2], a[3], 0, 0};
    return (int64_t)a[3] < 0 ? -EINVAL : sys_pwritev2(t, with_flags);
}

int64_t sys_lseek(struct thread *t, const uint64_t a[6])
{
    struct files *f = thread_files(t);
    int fd = (int)a[0];
    if (!files_is_guest(fd))
        return -EBADF;
    if (f->standard[fd])
        return fcntl(fd, F_GETFD) < 0 ? -EBADF : -ESPIPE;
    if (f->open[fd] && f->open[fd]->listing)
        return folder_seek(f, fd, (int64_t)a[1], (int)a[2]);
    off_t at = lseek(fd, (off_t)a[1], (int)a[2]);
    return at >= 0 ? at : -errno;
}
