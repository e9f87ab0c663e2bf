/* System calls on socket options. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/mman.h>

#include "guest/syscalls/syscall.h"

/* Options that are passed to the host unchanged: their values contain no addresses. All others give ENOPROTOOPT. */
static const struct {
    int level;
    int name;
} options[] = {
    {SOL_SOCKET, SO_DEBUG},
    {SOL_SOCKET, SO_REUSEADDR},
    {SOL_SOCKET, SO_TYPE},
    {SOL_SOCKET, SO_ERROR},
    {SOL_SOCKET, SO_DONTROUTE},
    {SOL_SOCKET, SO_BROADCAST},
    {SOL_SOCKET, SO_SNDBUF},
    {SOL_SOCKET, SO_RCVBUF},
    {SOL_SOCKET, SO_KEEPALIVE},
    {SOL_SOCKET, SO_OOBINLINE},
    {SOL_SOCKET, SO_PRIORITY},
    {SOL_SOCKET, SO_LINGER},
    {SOL_SOCKET, SO_REUSEPORT},
    {SOL_SOCKET, SO_PASSCRED},
    {SOL_SOCKET, SO_PEERCRED},
    {SOL_SOCKET, SO_RCVLOWAT},
    {SOL_SOCKET, SO_SNDLOWAT},
    {SOL_SOCKET, SO_RCVTIMEO},
    {SOL_SOCKET, SO_SNDTIMEO},
    {SOL_SOCKET, SO_ACCEPTCONN},
    {SOL_SOCKET, SO_PROTOCOL},
    {SOL_SOCKET, SO_DOMAIN},
    {SOL_SOCKET, SO_TIMESTAMP},
    {SOL_SOCKET, SO_MARK},
    {IPPROTO_TCP, TCP_NODELAY},
    {IPPROTO_TCP, TCP_MAXSEG},
    {IPPROTO_TCP, TCP_CORK},
    {IPPROTO_TCP, TCP_KEEPIDLE},
    {IPPROTO_TCP, TCP_KEEPINTVL},
    {IPPROTO_TCP, TCP_KEEPCNT},
    {IPPROTO_TCP, TCP_SYNCNT},
    {IPPROTO_TCP, TCP_LINGER2},
    {IPPROTO_TCP, TCP_DEFER_ACCEPT},
    {IPPROTO_TCP, TCP_WINDOW_CLAMP},
    {IPPROTO_TCP, TCP_INFO},
    {IPPROTO_TCP, TCP_QUICKACK},
    {IPPROTO_TCP, TCP_CONGESTION},
    {IPPROTO_TCP, TCP_USER_TIMEOUT},
    {IPPROTO_TCP, TCP_FASTOPEN},
    {IPPROTO_IP, IP_TOS},
    {IPPROTO_IP, IP_TTL},
    {IPPROTO_IP, IP_RECVERR},
    {IPPROTO_IP, IP_PKTINFO},
    {IPPROTO_IP, IP_MTU_DISCOVER},
    {IPPROTO_IP, IP_MULTICAST_TTL},
    {IPPROTO_IP, IP_MULTICAST_LOOP},
    {IPPROTO_IP, IP_ADD_MEMBERSHIP},
    {IPPROTO_IP, IP_DROP_MEMBERSHIP},
    {IPPROTO_IPV6, IPV6_V6ONLY},
    {IPPROTO_IPV6, IPV6_RECVERR},
    {IPPROTO_IPV6, IPV6_UNICAST_HOPS},
    {IPPROTO_IPV6, IPV6_RECVPKTINFO},
    {IPPROTO_IPV6, IPV6_TCLASS},
};

static bool is_plain_option(int level, int name)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].level == level && options[i].name == name)
            return true;
    return false;
}

/* Returns 0 if `fd` is an open socket of the guest, else a negative errno. */
static int check_socket(int fd)
{
    struct stat st;
    if (!files_is_guest(fd) || fstat(fd, &st) != 0)
        return -EBADF;
    return S_ISSOCK(st.st_mode) ? 0 : -ENOTSOCK;
}

int64_t sys_setsockopt(struct thread *t, const uint64_t a[6])
{
    int length = (int)a[4], error = check_socket((int)a[0]);
    if (error < 0)
        return error;
    if (!is_plain_option((int)a[1], (int)a[2]))
        return -ENOPROTOOPT;
    if (length < 0)
        return -EINVAL;
    const void *value = guest_ptr(t->process->memory, a[3], (uint64_t)length, PROT_READ);
    if (!value)
        return -EFAULT;
    return setsockopt((int)a[0], (int)a[1], (int)a[2], value, (socklen_t)length) == 0 ? 0 : -errno;
}

int64_t sys_getsockopt(struct thread *t, const uint64_t a[6])
{
    struct guest_memory *m = t->process->memory;
    socklen_t length;
    int error = check_socket((int)a[0]);
    if (error < 0)
        return error;
    if (!is_plain_option((int)a[1], (int)a[2]))
        return -ENOPROTOOPT;
    if (guest_copy_in(m, &length, a[4], sizeof length) < 0)
        return -EFAULT;
    if ((int)length < 0)
        return -EINVAL;
    void *value = guest_ptr(m, a[3], length, PROT_WRITE);
    if (!value)
        return -EFAULT;
    if (getsockopt((int)a[0], (int)a[1], (int)a[2], value, &length) != 0)
        return -errno;
    if ((int)a[1] == SOL_SOCKET && (int)a[2] == SO_PEERCRED && length >= sizeof(struct ucred)) {
        struct ucred *peer = value;
        peer->pid = family_to_guest(t->process->family, peer->pid);
        if (!t->process->config.host_user)
            peer->uid = peer->gid = GUEST_USER;
    }
    return guest_copy_out(m, a[4], &length, sizeof length);
}
