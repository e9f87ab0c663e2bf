/* System calls that read and write.
 *
 * Plain files are handed to the host. What may block (pipes, terminals, sockets) is waited for first, so that other
 * threads run meanwhile; a write to a pipe goes in pieces that the host takes without blocking, and `io_bytes` of the
 * thread says how far it got when it went to sleep. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "guest/files_priv.h"
#include "guest/syscall.h"

enum {
    TRANSFER_MAX = 0x7ffff000, /* Linux's MAX_RW_COUNT */
    READER_PATIENCE_MS = 1000,
};

/* ---- waiting */

bool file_may_block(struct files *f, int fd)
{
    if (files_stream(f, fd) == STREAM_FILE)
        return false;
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && !(flags & (O_NONBLOCK | O_PATH));
}

/* SO_RCVTIMEO or SO_SNDTIMEO of a socket as ns, negative for none. */
static int64_t socket_timeout_ns(int fd, short events)
{
    struct timeval limit = {0};
    socklen_t size = sizeof limit;
    if (getsockopt(fd, SOL_SOCKET, events & POLLOUT ? SO_SNDTIMEO : SO_RCVTIMEO, &limit, &size) != 0 ||
        (limit.tv_sec == 0 && limit.tv_usec == 0))
        return -1;
    return (int64_t)limit.tv_sec * 1000000000 + (int64_t)limit.tv_usec * 1000;
}

/* Who reads our output outside must not decide which thread or process runs meanwhile, or runs would not repeat: all
 * wait for it. But not forever: it may itself wait for another of them. */
static void wait_for_reader(const struct process *p, struct pollfd *output)
{
    if (poll(output, 1, 0) == 0 && !p->config.host_time && fd_is_outside(&p->inherited, output->fd))
        poll(output, 1, READER_PATIENCE_MS);
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

/* Waiting for a descriptor makes this a wait on the host's clock: what changes is outside, or another thread's doing.
 */
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
    info.si_uid = getuid();
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

static bool is_random(const struct files *f, int fd)
{
    return f->open[fd] && f->open[fd]->random;
}

static int64_t read_stream(struct thread *t, int fd, const struct iovec *iov, int count, int64_t total)
{
    struct files *f = thread_files(t);
    if (is_random(f, fd))
        return read_random(t, iov, count);
    if (total > 0 && file_may_block(f, fd)) {
        int64_t waiting = file_wait(t, fd, POLLIN);
        if (waiting < 0)
            return waiting;
    }
    ssize_t n = readv(fd, iov, count);
    return n >= 0 ? n : -errno;
}

/* The part of `iov` that follows the first `done` bytes, at most `limit` bytes of it; the number of buffers. */
static int iov_part(struct iovec out[IOV_MAX], const struct iovec *iov, int count, uint64_t done, uint64_t limit)
{
    int used = 0;
    for (int i = 0; i < count && limit > 0; i++) {
        if (done >= iov[i].iov_len) {
            done -= iov[i].iov_len;
            continue;
        }
        out[used].iov_base = (char *)iov[i].iov_base + done;
        out[used].iov_len = iov[i].iov_len - done < limit ? iov[i].iov_len - done : limit;
        limit -= out[used++].iov_len;
        done = 0;
    }
    return used;
}

/* One piece of a write that the host takes without blocking. A pipe that is ready takes PIPE_BUF bytes. */
static ssize_t write_piece(enum stream stream, int fd, const struct iovec *iov, int count, uint64_t done)
{
    struct iovec part[IOV_MAX];
    int n = iov_part(part, iov, count, done, stream == STREAM_PIPE ? PIPE_BUF : TRANSFER_MAX);
    if (stream != STREAM_SOCKET)
        return writev(fd, part, n);
    struct msghdr message = {.msg_iov = part, .msg_iovlen = (size_t)n};
    return sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Writes all, in as many pieces and sleeps as it takes. */
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
        ssize_t n = write_piece(stream, fd, iov, count, t->io_bytes);
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
    if (is_random(f, fd))
        return total;
    int64_t result;
    if (total > 0 && file_may_block(f, fd)) {
        result = write_blocking(t, fd, iov, count, total);
    } else {
        ssize_t n = writev(fd, iov, count);
        result = n >= 0 ? n : -errno;
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

/* ---- transfers at a position: plain files, or an error of the host's choice */

static int64_t read_at(struct thread *t, int fd, const struct iovec *iov, int count, int64_t offset, int flags)
{
    if (offset < 0)
        return -EINVAL;
    if (is_random(thread_files(t), fd))
        return read_random(t, iov, count);
    ssize_t n = preadv2(fd, iov, count, offset, flags);
    return n >= 0 ? n : -errno;
}

static int64_t write_at(int fd, const struct iovec *iov, int count, int64_t offset, int flags)
{
    if (offset < 0)
        return -EINVAL;
    ssize_t n = pwritev2(fd, iov, count, offset, flags);
    return n >= 0 ? n : -errno;
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
    return total < 0 ? total : write_at((int)a[0], &iov, 1, (int64_t)a[3], 0);
}

/* The position is one register on a 64-bit machine; the next one, its upper half elsewhere, is not looked at. */
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
        return write_at(fd, iov, count, (int64_t)a[3], flags);
    ssize_t n = pwritev2(fd, iov, count, -1, flags);
    return n >= 0 ? n : -errno;
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
    if (f->open[fd] && f->open[fd]->listing)
        return folder_seek(f, fd, (int64_t)a[1], (int)a[2]);
    off_t at = lseek(fd, (off_t)a[1], (int)a[2]);
    return at >= 0 ? at : -errno;
}

/* ---- from descriptor to descriptor */

/* An offset that the guest passes by address; NULL if it passes none. */
static int offset_in(struct thread *t, uint64_t addr, off_t *offset, off_t **pointer)
{
    *pointer = NULL;
    if (addr == 0)
        return 0;
    *pointer = offset;
    return guest_copy_in(t->process->memory, offset, addr, sizeof *offset);
}

static int offset_out(struct thread *t, uint64_t addr, const off_t *offset)
{
    return addr == 0 ? 0 : guest_copy_out(t->process->memory, addr, offset, sizeof *offset);
}

int64_t sys_sendfile(struct thread *t, const uint64_t a[6])
{
    struct files *f = thread_files(t);
    int out = (int)a[0], in = (int)a[1];
    uint64_t count = a[3] < TRANSFER_MAX ? a[3] : TRANSFER_MAX;
    off_t offset, *pointer;
    if (!files_is_guest(out) || !files_is_guest(in))
        return -EBADF;
    if (is_random(f, in) || is_random(f, out) || file_may_block(f, in)) /* from a pipe or socket it would block us */
        return -EINVAL;
    if (offset_in(t, a[2], &offset, &pointer) < 0)
        return -EFAULT;
    if (file_may_block(f, out)) {
        int64_t waiting = file_wait(t, out, POLLOUT);
        if (waiting < 0)
            return waiting;
        if (count > PIPE_BUF)
            count = PIPE_BUF; /* a short count is as good to the caller, and cannot block */
    }
    ssize_t n = sendfile(out, in, pointer, count);
    if (n < 0) {
        int code = errno;
        if (code == EPIPE)
            file_broken_pipe(t);
        return -code;
    }
    return offset_out(t, a[2], &offset) < 0 ? -EFAULT : n;
}

int64_t sys_copy_file_range(struct thread *t, const uint64_t a[6])
{
    int in = (int)a[0], out = (int)a[2];
    off_t in_offset, *in_pointer, out_offset, *out_pointer;
    if (!files_is_guest(in) || !files_is_guest(out))
        return -EBADF;
    if (offset_in(t, a[1], &in_offset, &in_pointer) < 0 || offset_in(t, a[3], &out_offset, &out_pointer) < 0)
        return -EFAULT;
    ssize_t n = copy_file_range(in, in_pointer, out, out_pointer, a[4], (unsigned)a[5]);
    if (n < 0)
        return -errno;
    bool told = offset_out(t, a[1], &in_offset) == 0 && offset_out(t, a[3], &out_offset) == 0;
    return told ? n : -EFAULT;
}

/* Refused so that programs fall back to reading and writing. */
int64_t sys_splice(struct thread *t, const uint64_t a[6])
{
    (void)t;
    return files_is_guest((int)a[0]) && files_is_guest((int)a[2]) ? -EINVAL : -EBADF;
}

int64_t sys_vmsplice(struct thread *t, const uint64_t a[6])
{
    (void)t;
    return files_is_guest((int)a[0]) ? -EINVAL : -EBADF;
}

int64_t sys_tee(struct thread *t, const uint64_t a[6])
{
    (void)t;
    return files_is_guest((int)a[0]) && files_is_guest((int)a[1]) ? -EINVAL : -EBADF;
}
