/* System calls of a copied process on descriptors: a borrowed one can be queried, what is written to it is discarded,
 * and everything else that is not listed here ends the copy. */
#include <asm/ioctls.h>
#include <errno.h>
#include <linux/fs.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "guest/copy_calls.h"
#include "guest/files_priv.h"
#include "guest/process_copy_priv.h"
#include "guest/syscalls/syscall.h"

static bool is_borrowed(const struct thread *t, uint64_t fd)
{
    return files_is_guest((int)fd) && thread_files(t)->borrowed[(int)fd];
}

/* Makes a call that changes nothing with the original descriptor at the guest's number. */
static int64_t query(struct thread *t, syscall_fn *call, const uint64_t a[6])
{
    int fd = (int)a[0];
    if (!is_borrowed(t, a[0]))
        return call(t, a);
    int kept = fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0, path_fd = fcntl(fd, F_DUPFD_CLOEXEC, FD_PRIVATE);
    if (path_fd < 0)
        return copy_end(t, fd);
    dup3(thread_files(t)->borrowed[fd], fd, kept);
    int64_t result = call(t, a);
    dup3(path_fd, fd, kept);
    close(path_fd);
    return result;
}

/* ---- calls that only look */

#define QUERIES(name)                                                                                                  \
    int64_t copy_sys_##name(struct thread *t, const uint64_t a[6])                                                     \
    {                                                                                                                  \
        return query(t, sys_##name, a);                                                                                \
    }
QUERIES(getsockname)
QUERIES(getpeername)
QUERIES(readahead) /* these two give advice, or fail for what is no plain file */
QUERIES(fadvise64)
#undef QUERIES

/* Pipes, sockets and terminals have no position: programs try it to find that out. */
int64_t copy_sys_lseek(struct thread *t, const uint64_t a[6])
{
    if (!is_borrowed(t, a[0]) || thread_files(t)->standard[(int)a[0]])
        return sys_lseek(t, a);
    bool has_position = lseek(thread_files(t)->borrowed[(int)a[0]], 0, SEEK_CUR) >= 0;
    return has_position ? copy_end(t, (int)a[0]) : -ESPIPE;
}

int64_t copy_sys_getsockopt(struct thread *t, const uint64_t a[6])
{
    static const int harmless[] = {SO_TYPE,      SO_DOMAIN, SO_PROTOCOL, SO_ACCEPTCONN, SO_PEERCRED,
                                   SO_SNDBUF,    SO_RCVBUF, SO_RCVTIMEO, SO_SNDTIMEO,   SO_REUSEADDR,
                                   SO_KEEPALIVE, SO_LINGER, SO_PASSCRED}; /* not SO_ERROR, which clears the error */
    for (size_t i = 0; (int)a[1] == SOL_SOCKET && i < sizeof harmless / sizeof *harmless; i++)
        if ((int)a[2] == harmless[i])
            return query(t, sys_getsockopt, a);
    return is_borrowed(t, a[0]) ? copy_end(t, (int)a[0]) : sys_getsockopt(t, a);
}

/* ---- output to borrowed descriptors is discarded: the original writes it */

int64_t copy_sys_write(struct thread *t, const uint64_t a[6])
{
    struct iovec buffer;
    if (!is_borrowed(t, a[0]))
        return sys_write(t, a);
    return a[2] ? file_buffer(t, a[1], a[2], PROT_READ, &buffer) : 0;
}

int64_t copy_sys_writev(struct thread *t, const uint64_t a[6])
{
    struct iovec buffers[IOV_MAX];
    int count;
    return is_borrowed(t, a[0]) ? file_buffers(t, a[1], a[2], PROT_READ, buffers, &count) : sys_writev(t, a);
}

/* With the offset -1 it is writev. */
int64_t copy_sys_pwritev2(struct thread *t, const uint64_t a[6])
{
    if (!is_borrowed(t, a[0]))
        return sys_pwritev2(t, a);
    return (int64_t)a[3] == -1 ? copy_sys_writev(t, a) : copy_end(t, (int)a[0]);
}

/* ---- calls with two descriptors */

static int64_t with_two(struct thread *t, syscall_fn *call, const uint64_t a[6], uint64_t other)
{
    if (is_borrowed(t, a[0]) || is_borrowed(t, other))
        return copy_end(t, is_borrowed(t, a[0]) ? (int)a[0] : (int)other);
    return call(t, a);
}

int64_t copy_sys_sendfile(struct thread *t, const uint64_t a[6])
{
    return with_two(t, sys_sendfile, a, a[1]);
}

int64_t copy_sys_copy_file_range(struct thread *t, const uint64_t a[6])
{
    return with_two(t, sys_copy_file_range, a, a[2]);
}

int64_t copy_sys_epoll_ctl(struct thread *t, const uint64_t a[6])
{
    return with_two(t, sys_epoll_ctl, a, a[2]);
}

int64_t copy_sys_mmap(struct thread *t, const uint64_t a[6])
{
    bool of_file = !((int)a[3] & MAP_ANONYMOUS);
    return of_file && is_borrowed(t, a[4]) ? copy_end(t, (int)a[4]) : sys_mmap(t, a);
}

/* ---- the network: without --allow-net the calls fail, in the copy as in the run */

static int64_t network(struct thread *t, syscall_fn *call, const uint64_t a[6])
{
    if (!t->process->config.allow_net)
        return call(t, a);
    copy_spoil(t->process, "uses the network");
    return SYSCALL_NO_RESULT;
}

int64_t copy_sys_socket(struct thread *t, const uint64_t a[6])
{
    return network(t, sys_socket, a);
}

int64_t copy_sys_bind(struct thread *t, const uint64_t a[6])
{
    return network(t, sys_bind, a);
}

int64_t copy_sys_connect(struct thread *t, const uint64_t a[6])
{
    return network(t, sys_connect, a);
}

/* ---- requests: lists of what may pass */

enum request_rule {
    REQUEST_ENDS,    /* not in the list: ends the copy if the descriptor is borrowed */
    REQUEST_QUERY,   /* only looks, or concerns only the number: made with the original */
    REQUEST_PRETEND, /* returns 0, and has no effect */
    REQUEST_IGNORE,  /* the same, also for the copy's own descriptors, which are opened files of the host */
};

struct request {
    uint32_t number;
    enum request_rule rule;
};

static enum request_rule find_request(const struct request *list, size_t count, uint32_t number)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].number == number)
            return list[i].rule;
    return REQUEST_ENDS;
}

static int64_t request(struct thread *t, syscall_fn *call, const uint64_t a[6], enum request_rule rule)
{
    if (rule == REQUEST_IGNORE || (rule == REQUEST_PRETEND && is_borrowed(t, a[0]))) {
        t->process->copy->acted = true;
        return 0;
    }
    if (rule == REQUEST_QUERY || !is_borrowed(t, a[0]))
        return query(t, call, a);
    return copy_end(t, (int)a[0]);
}

int64_t copy_sys_ioctl(struct thread *t, const uint64_t a[6])
{
    static const struct request list[] = {
        {TCGETS, REQUEST_QUERY},       {0x802c542a, REQUEST_QUERY}, /* TCGETS2 */
        {TIOCGWINSZ, REQUEST_QUERY},   {TIOCGPGRP, REQUEST_QUERY},
        {TIOCGSID, REQUEST_QUERY},     {TIOCOUTQ, REQUEST_QUERY},
        {TIOCGPTN, REQUEST_QUERY},     {FIONREAD, REQUEST_QUERY},
        {FIGETBSZ, REQUEST_QUERY},     {SIOCATMARK, REQUEST_QUERY},
        {TCSETS, REQUEST_PRETEND},     {TCSETSW, REQUEST_PRETEND},
        {TCSETSF, REQUEST_PRETEND},    {0x402c542b, REQUEST_PRETEND}, /* TCSETS2 and its two variants */
        {0x402c542c, REQUEST_PRETEND}, {0x402c542d, REQUEST_PRETEND},
        {TCSBRK, REQUEST_PRETEND},     {TCSBRKP, REQUEST_PRETEND},
        {TIOCSWINSZ, REQUEST_PRETEND}, {TIOCSPGRP, REQUEST_PRETEND},
        {TIOCSCTTY, REQUEST_PRETEND},  {TIOCNOTTY, REQUEST_PRETEND},
        {FIONBIO, REQUEST_PRETEND},
    };
    if (is_borrowed(t, a[0]) && ((uint32_t)a[1] == FIOCLEX || (uint32_t)a[1] == FIONCLEX))
        return fcntl((int)a[0], F_SETFD, (uint32_t)a[1] == FIOCLEX ? FD_CLOEXEC : 0) == 0 ? 0 : -errno;
    return request(t, sys_ioctl, a, find_request(list, sizeof list / sizeof *list, (uint32_t)a[1]));
}

/* Locks are granted without effect: the original holds them. A new flag of a borrowed descriptor is not seen by a later
 * F_GETFL. */
int64_t copy_sys_fcntl(struct thread *t, const uint64_t a[6])
{
    static const struct request list[] = {
        {F_GETFL, REQUEST_QUERY},
        {F_GETPIPE_SZ, REQUEST_QUERY},
        {F_GET_SEALS, REQUEST_QUERY},
        {F_GETLK, REQUEST_QUERY},
        {F_OFD_GETLK, REQUEST_QUERY},
        {F_GET_RW_HINT, REQUEST_QUERY},
        {F_GET_FILE_RW_HINT, REQUEST_QUERY},
        {F_SETFL, REQUEST_PRETEND},
        {F_SETLK, REQUEST_IGNORE},
        {F_SETLKW, REQUEST_IGNORE},
        {F_OFD_SETLK, REQUEST_IGNORE},
        {F_OFD_SETLKW, REQUEST_IGNORE},
        {F_SET_RW_HINT, REQUEST_IGNORE},
        {F_SET_FILE_RW_HINT, REQUEST_IGNORE},
    };
    switch ((int)a[1]) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
    case F_GETFD:
    case F_SETFD:
    case F_GETOWN: return sys_fcntl(t, a); /* these concern only the number */
    default: return request(t, sys_fcntl, a, find_request(list, sizeof list / sizeof *list, (uint32_t)a[1]));
    }
}

/* The signal at the death of the parent ends the copy with the run: the guest cannot have another one. */
int64_t copy_sys_prctl(struct thread *t, const uint64_t a[6])
{
    return (int)a[0] == PR_SET_PDEATHSIG ? 0 : sys_prctl(t, a);
}
