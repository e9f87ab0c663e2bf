/* System calls that send and receive messages on sockets.
 *
 * Every host call is made with MSG_DONTWAIT; when the guest's call has to wait, the scheduler puts its thread to
 * sleep. Ancillary data is copied and checked before the host gets it: the guest can send only its own descriptors. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "guest/files_priv.h"
#include "guest/process_copy_priv.h"
#include "guest/syscalls/syscall.h"

enum { CONTROL_MAX = 4096 }; /* most bytes of ancillary data in one message */

/* The guest's struct msghdr has the layout of the host's; its pointers are guest addresses. */
_Static_assert(sizeof(struct msghdr) == 56 && sizeof(struct cmsghdr) == 16,
               "struct msghdr of this host needs translation");

/* A message in host memory, with everything that its header points to. */
struct message {
    struct msghdr header;
    struct host_address peer;
    struct iovec iov[IOV_MAX];
    int64_t bytes; /* total length of `iov` */
    char control[CONTROL_MAX] __attribute__((aligned(8)));
};

static uint64_t guest_addr(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

/* ---- sending */

/* True if this transfer may put the thread to sleep. */
static bool may_sleep(struct thread *t, int fd, int flags)
{
    return !(flags & MSG_DONTWAIT) && file_may_block(thread_files(t), fd);
}

/* Sends the part of `m` after its first `done` bytes, without blocking. */
static ssize_t send_rest(int fd, const struct message *m, uint64_t done, int flags)
{
    struct iovec part[IOV_MAX];
    struct msghdr rest = m->header;
    rest.msg_iov = part;
    rest.msg_iovlen = (size_t)file_buffers_part(part, m->iov, (int)m->header.msg_iovlen, done, UINT64_MAX);
    return sendmsg(fd, &rest, flags | MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Sends a whole message, in several pieces if necessary. `io_bytes` of the thread counts the bytes sent before a
 * sleep. */
static int64_t send_message(struct thread *t, int fd, struct message *m, int flags)
{
    int64_t result = 0;
    bool may_wait = may_sleep(t, fd, flags), full = false;
    for (;;) {
        if (t->io_bytes > 0)
            m->header.msg_controllen = 0; /* sent with the first piece */
        ssize_t n = send_rest(fd, m, t->io_bytes, flags);
        result = n >= 0 ? 0 : -errno;
        if (n > 0)
            t->io_bytes += (uint64_t)n;
        if (result == 0 && (!may_wait || (int64_t)t->io_bytes >= m->bytes))
            break;
        if (result < 0 && (result != -EAGAIN || !may_wait))
            break;
        /* The receiver of a datagram may be full although the sender polls as writable. No descriptor signals the end
         * of that, so poll by time. */
        result = full && n < 0 ? file_wait_tick(t) : file_wait(t, fd, POLLOUT);
        if (result == SYSCALL_RETRY)
            return result;
        if (result < 0)
            break;
        full = n < 0;
    }
    if (t->io_bytes > 0)
        result = (int64_t)t->io_bytes;
    t->io_bytes = 0;
    if (result == -EPIPE && !(flags & MSG_NOSIGNAL))
        file_broken_pipe(t);
    return result;
}

/* Copies the destination address of a message in. Without --allow-net only the connected peer is allowed. */
static int peer_in(struct thread *t, uint64_t addr, uint64_t length, struct message *m)
{
    m->peer.held = -1;
    if (addr == 0 || length == 0)
        return 0;
    if (!t->process->config.allow_net)
        return -EACCES;
    if (t->process->copy) {
        copy_spoil(t->process, "uses the network");
        return (int)SYSCALL_NO_RESULT;
    }
    int error = address_in(t, addr, length, &m->peer);
    m->header.msg_name = &m->peer.storage;
    m->header.msg_namelen = m->peer.length;
    return error;
}

int64_t sys_sendto(struct thread *t, const uint64_t a[6])
{
    struct message m;
    int fd = (int)a[0];
    memset(&m.header, 0, sizeof m.header);
    if (!files_is_guest(fd))
        return -EBADF;
    m.bytes = file_buffer(t, a[1], a[2], PROT_READ, &m.iov[0]);
    if (m.bytes < 0)
        return m.bytes;
    m.header.msg_iov = m.iov;
    m.header.msg_iovlen = 1;
    int64_t result = peer_in(t, a[4], (uint32_t)a[5], &m);
    if (result == 0)
        result = send_message(t, fd, &m, (int)a[3]);
    address_release(&m.peer);
    return result;
}

/* Checks ancillary data that the guest sends and translates its pids to host pids. 0 or a negative errno. */
static int check_control(struct thread *t, struct msghdr *header)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
        size_t left = (size_t)((char *)header->msg_control + header->msg_controllen - (char *)c);
        if (c->cmsg_len < sizeof *c || c->cmsg_len > left)
            return -EINVAL;
        if (c->cmsg_level != SOL_SOCKET)
            continue;
        if (c->cmsg_type == SCM_RIGHTS) {
            int fds[CONTROL_MAX / sizeof(int)];
            size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            memcpy(fds, CMSG_DATA(c), count * sizeof(int));
            for (size_t i = 0; i < count; i++)
                if (!files_is_guest(fds[i]))
                    return -EBADF;
        } else if (c->cmsg_type == SCM_CREDENTIALS && c->cmsg_len >= CMSG_LEN(sizeof(struct ucred))) {
            struct ucred *own = (struct ucred *)CMSG_DATA(c);
            own->pid = family_to_host(t->process->family, own->pid);
            if (!t->process->config.host_user && own->uid == GUEST_USER && own->gid == GUEST_USER) {
                own->uid = getuid();
                own->gid = getgid();
            }
        }
    }
    return 0;
}

/* Copies a guest's message header in and translates its buffers for access by `prot`. 0 or a negative errno. */
static int message_in(struct thread *t, uint64_t addr, int prot, struct msghdr *guest, struct message *m)
{
    int count;
    memset(&m->header, 0, sizeof m->header);
    m->peer.held = -1;
    if (guest_copy_in(t->process->memory, guest, addr, sizeof *guest) < 0)
        return -EFAULT;
    if (guest->msg_iovlen > IOV_MAX)
        return -EMSGSIZE;
    m->bytes = file_buffers(t, guest_addr(guest->msg_iov), guest->msg_iovlen, prot, m->iov, &count);
    if (m->bytes < 0)
        return (int)m->bytes;
    m->header.msg_iov = m->iov;
    m->header.msg_iovlen = (size_t)count;
    return 0;
}

static int64_t send_one(struct thread *t, int fd, uint64_t addr, int flags)
{
    struct message m;
    struct msghdr guest;
    if (!files_is_guest(fd))
        return -EBADF;
    int64_t result = message_in(t, addr, PROT_READ, &guest, &m);
    if (result < 0)
        return result;
    if (guest.msg_controllen > CONTROL_MAX)
        return -ENOBUFS;
    if (guest.msg_controllen > 0) {
        m.header.msg_control = m.control;
        m.header.msg_controllen = guest.msg_controllen;
        if (guest_copy_in(t->process->memory, m.control, guest_addr(guest.msg_control), guest.msg_controllen) < 0)
            return -EFAULT;
        result = check_control(t, &m.header);
    }
    if (result == 0)
        result = peer_in(t, guest_addr(guest.msg_name), guest.msg_namelen, &m);
    if (result == 0)
        result = send_message(t, fd, &m, flags);
    address_release(&m.peer);
    return result;
}

int64_t sys_sendmsg(struct thread *t, const uint64_t a[6])
{
    return send_one(t, (int)a[0], a[1], (int)a[2]);
}

/* ---- receiving */

/* Whether the receiving side of a socket is shut down. */
static bool receives_no_more(int fd)
{
    struct pollfd socket = {.fd = fd, .events = POLLRDHUP};
    return poll(&socket, 1, 0) == 1 && socket.revents & POLLRDHUP;
}

/* Waits for a message and receives it. `flags` are the flags that the guest passed. */
static int64_t receive(struct thread *t, int fd, struct msghdr *header, int flags)
{
    bool may_wait = may_sleep(t, fd, flags) && !(flags & MSG_ERRQUEUE);
    for (;;) {
        if (may_wait) {
            int64_t waiting = file_wait(t, fd, flags & MSG_OOB ? POLLPRI : POLLIN);
            if (waiting < 0)
                return waiting;
        }
        ssize_t n = recvmsg(fd, header, (flags & ~MSG_WAITALL) | MSG_DONTWAIT);
        if (n >= 0 || errno != EAGAIN || !may_wait)
            return n >= 0 ? n : -errno;
        /* A datagram socket that is shut down is ready and has nothing: 0, as of a call that waits. Another one with
         * that may have dropped a damaged message. */
        if (receives_no_more(fd))
            return 0;
        int64_t waiting = file_wait_tick(t);
        if (waiting < 0)
            return waiting;
    }
}

/* MSG_WAITALL: receives until the buffer is full or no more data comes (end of stream, error, signal). */
static int64_t receive_all(struct thread *t, int fd, const struct iovec *whole, int flags)
{
    int64_t n;
    do {
        struct iovec rest = {.iov_base = (char *)whole->iov_base + t->io_bytes,
                             .iov_len = whole->iov_len - t->io_bytes};
        struct msghdr header = {.msg_iov = &rest, .msg_iovlen = 1};
        n = receive(t, fd, &header, flags);
        if (n == SYSCALL_RETRY)
            return n;
        if (n > 0)
            t->io_bytes += (uint64_t)n;
    } while (n > 0 && t->io_bytes < whole->iov_len);
    if (t->io_bytes > 0)
        n = (int64_t)t->io_bytes;
    t->io_bytes = 0;
    return n;
}

int64_t sys_recvfrom(struct thread *t, const uint64_t a[6])
{
    struct sockaddr_storage peer;
    struct iovec iov;
    int fd = (int)a[0], flags = (int)a[3];
    if (!files_is_guest(fd))
        return -EBADF;
    int64_t n = file_buffer(t, a[1], a[2], PROT_WRITE, &iov);
    if (n < 0)
        return n;
    if ((flags & MSG_WAITALL) && !(flags & MSG_PEEK) && a[4] == 0 && may_sleep(t, fd, flags))
        return receive_all(t, fd, &iov, flags);
    struct msghdr header = {.msg_iov = &iov, .msg_iovlen = 1, .msg_name = &peer, .msg_namelen = sizeof peer};
    n = receive(t, fd, &header, flags);
    if (n < 0 || a[4] == 0)
        return n;
    int error = address_out(t, a[4], a[5], &peer, header.msg_namelen);
    return error < 0 ? error : n;
}

/* Processes received ancillary data: translates pids to guest pids and drops stale records under the numbers of
 * received descriptors. A descriptor outside the guest's range is closed with all that follow it, as if the control
 * buffer had been too small. */
static void accept_control(struct thread *t, struct msghdr *header)
{
    struct files *f = thread_files(t);
    for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
        if (c->cmsg_level != SOL_SOCKET)
            continue;
        if (c->cmsg_type == SCM_CREDENTIALS && c->cmsg_len >= CMSG_LEN(sizeof(struct ucred))) {
            struct ucred *peer = (struct ucred *)CMSG_DATA(c);
            peer->pid = family_to_guest(t->process->family, peer->pid);
            if (!t->process->config.host_user)
                peer->uid = peer->gid = GUEST_USER;
        }
        if (c->cmsg_type != SCM_RIGHTS)
            continue;
        guest_keeps_unknown(t->process->memory);
        int fds[CONTROL_MAX / sizeof(int)];
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int), kept = 0;
        memcpy(fds, CMSG_DATA(c), count * sizeof(int));
        for (size_t i = 0; i < count; i++) {
            if (fds[i] < files_limit(f) && kept == i) {
                files_forget(f, fds[i]);
                kept++;
            } else {
                close(fds[i]);
            }
        }
        if (kept < count) {
            c->cmsg_len = CMSG_LEN(kept * sizeof(int));
            header->msg_controllen = (size_t)((char *)c - (char *)header->msg_control) + c->cmsg_len;
            header->msg_flags |= MSG_CTRUNC;
            return;
        }
    }
}

static int64_t receive_one(struct thread *t, int fd, uint64_t addr, int flags)
{
    struct guest_memory *memory = t->process->memory;
    struct message m;
    struct msghdr guest;
    if (!files_is_guest(fd))
        return -EBADF;
    int64_t result = message_in(t, addr, PROT_WRITE, &guest, &m);
    if (result < 0)
        return result;
    m.header.msg_name = &m.peer.storage;
    m.header.msg_namelen = sizeof m.peer.storage;
    m.header.msg_control = m.control;
    m.header.msg_controllen = guest.msg_controllen < CONTROL_MAX ? guest.msg_controllen : CONTROL_MAX;
    int64_t n = receive(t, fd, &m.header, flags);
    if (n < 0)
        return n;
    accept_control(t, &m.header);
    uint64_t name_bytes = guest.msg_namelen < m.header.msg_namelen ? guest.msg_namelen : m.header.msg_namelen;
    if (guest.msg_name && guest_copy_out(memory, guest_addr(guest.msg_name), &m.peer.storage, name_bytes) < 0)
        return -EFAULT;
    if (m.header.msg_controllen > 0 &&
        guest_copy_out(memory, guest_addr(guest.msg_control), m.control, m.header.msg_controllen) < 0)
        return -EFAULT;
    guest.msg_namelen = guest.msg_name ? m.header.msg_namelen : 0;
    guest.msg_controllen = m.header.msg_controllen;
    guest.msg_flags = m.header.msg_flags;
    return guest_copy_out(memory, addr, &guest, sizeof guest) < 0 ? -EFAULT : n;
}

int64_t sys_recvmsg(struct thread *t, const uint64_t a[6])
{
    return receive_one(t, (int)a[0], a[1], (int)a[2]);
}

/* ---- several messages: only the first may wait */

typedef int64_t one_fn(struct thread *t, int fd, uint64_t addr, int flags);

static int64_t for_each(struct thread *t, const uint64_t a[6], one_fn *one, int flags)
{
    struct mmsghdr *unused;
    uint64_t size = sizeof *unused, count = (uint32_t)a[2] < IOV_MAX ? (uint32_t)a[2] : IOV_MAX;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t addr = a[1] + i * size;
        int64_t n = one(t, (int)a[0], addr, i == 0 ? flags : flags | MSG_DONTWAIT);
        if (n < 0)
            return i > 0 ? (int64_t)i : n;
        uint32_t bytes = (uint32_t)n;
        if (guest_copy_out(t->process->memory, addr + offsetof(struct mmsghdr, msg_len), &bytes, sizeof bytes) < 0)
            return -EFAULT;
    }
    return (int64_t)count;
}

int64_t sys_sendmmsg(struct thread *t, const uint64_t a[6])
{
    return for_each(t, a, send_one, (int)a[3]);
}

int64_t sys_recvmmsg(struct thread *t, const uint64_t a[6])
{
    return for_each(t, a, receive_one, (int)a[3] & ~MSG_WAITFORONE);
}
