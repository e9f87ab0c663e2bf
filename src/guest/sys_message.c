/* System calls that send and receive messages on sockets.
 *
 * The host is always asked not to block; what a guest waits for is waited for by the scheduler. Ancillary data is
 * copied and checked before the host sees it: descriptors that are not the guest's cannot be sent. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "guest/files_priv.h"
#include "guest/syscall.h"

enum { CONTROL_MAX = 4096 }; /* bytes of ancillary data in one message */

/* Pointers in it are guest addresses; everything else is where the host has it. */
_Static_assert(sizeof(struct msghdr) == 56 && sizeof(struct cmsghdr) == 16,
               "struct msghdr of this host needs translation");

/* A message with all that it points to. */
struct message {
    struct msghdr header;
    struct host_address peer;
    struct iovec iov[IOV_MAX];
    int64_t bytes;
    char control[CONTROL_MAX] __attribute__((aligned(8)));
};

static uint64_t guest_addr(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

/* ---- sending */

static bool waits(struct thread *t, int fd, int flags)
{
    return !(flags & MSG_DONTWAIT) && file_may_block(thread_files(t), fd);
}

/* Sends the rest of `m` behind the first `done` bytes. */
static ssize_t send_rest(int fd, const struct message *m, uint64_t done, int flags)
{
    struct iovec part[IOV_MAX];
    struct msghdr rest = m->header;
    size_t used = 0;
    for (size_t i = 0; i < m->header.msg_iovlen; i++) {
        if (done > 0 && done >= m->iov[i].iov_len) {
            done -= m->iov[i].iov_len;
            continue;
        }
        part[used].iov_base = (char *)m->iov[i].iov_base + done;
        part[used++].iov_len = m->iov[i].iov_len - done;
        done = 0;
    }
    rest.msg_iov = part;
    rest.msg_iovlen = used;
    return sendmsg(fd, &rest, flags | MSG_DONTWAIT | MSG_NOSIGNAL);
}

static int64_t send_message(struct thread *t, int fd, struct message *m, int flags)
{
    int64_t result = 0;
    bool may_wait = waits(t, fd, flags), full = false;
    for (;;) {
        if (t->io_bytes > 0)
            m->header.msg_controllen = 0; /* went with the first piece */
        ssize_t n = send_rest(fd, m, t->io_bytes, flags);
        result = n >= 0 ? 0 : -errno;
        if (n > 0)
            t->io_bytes += (uint64_t)n;
        if (result == 0 && (!may_wait || (int64_t)t->io_bytes >= m->bytes))
            break;
        if (result < 0 && (result != -EAGAIN || !may_wait))
            break;
        /* A datagram's receiver may be full although the sender is ready: no descriptor tells when that ends. */
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

/* Where to: nobody but the connected peer without --allow-net. */
static int peer_in(struct thread *t, uint64_t addr, uint64_t length, struct message *m)
{
    m->peer.held = -1;
    if (addr == 0 || length == 0)
        return 0;
    if (!t->process->config.allow_net)
        return -EACCES;
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
        }
    }
    return 0;
}

/* Brings a guest's message header in, with its buffers for access by `prot`. */
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

/* Waits for a message and receives it; `flags` are the guest's. */
static int64_t receive(struct thread *t, int fd, struct msghdr *header, int flags)
{
    bool may_wait = waits(t, fd, flags) && !(flags & MSG_ERRQUEUE);
    for (;;) {
        if (may_wait) {
            int64_t waiting = file_wait(t, fd, flags & MSG_OOB ? POLLPRI : POLLIN);
            if (waiting < 0)
                return waiting;
        }
        ssize_t n = recvmsg(fd, header, (flags & ~MSG_WAITALL) | MSG_DONTWAIT);
        if (n >= 0 || errno != EAGAIN || !may_wait)
            return n >= 0 ? n : -errno;
    }
}

/* MSG_WAITALL: receives until the buffer is full or the peer has no more. */
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
    if ((flags & MSG_WAITALL) && !(flags & MSG_PEEK) && a[4] == 0 && waits(t, fd, flags))
        return receive_all(t, fd, &iov, flags);
    struct msghdr header = {.msg_iov = &iov, .msg_iovlen = 1, .msg_name = &peer, .msg_namelen = sizeof peer};
    n = receive(t, fd, &header, flags);
    if (n < 0 || a[4] == 0)
        return n;
    int error = address_out(t, a[4], a[5], &peer, header.msg_namelen);
    return error < 0 ? error : n;
}

/* Takes what came with a message into the guest's world. Descriptors beyond the guest's range are dropped with all that
 * follows, as if there had been no room. */
static void accept_control(struct thread *t, struct msghdr *header)
{
    struct files *f = thread_files(t);
    for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
        if (c->cmsg_level != SOL_SOCKET)
            continue;
        if (c->cmsg_type == SCM_CREDENTIALS && c->cmsg_len >= CMSG_LEN(sizeof(struct ucred))) {
            struct ucred *peer = (struct ucred *)CMSG_DATA(c);
            peer->pid = family_to_guest(t->process->family, peer->pid);
        }
        if (c->cmsg_type != SCM_RIGHTS)
            continue;
        int fds[CONTROL_MAX / sizeof(int)];
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int), kept = 0;
        memcpy(fds, CMSG_DATA(c), count * sizeof(int));
        for (size_t i = 0; i < count; i++) {
            if (files_is_guest(fds[i]) && kept == i) {
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

/* ---- several messages: after the first, as many as can be had without waiting */

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
