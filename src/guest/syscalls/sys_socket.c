/* System calls that create, bind and connect sockets.
 *
 * Without --allow-net the guest can only create pairs of connected Unix sockets, and cannot bind or connect them. The
 * path of a Unix socket is looked up like any other path. Where the host's path differs from the guest's, the host
 * gets a path through /proc/self/fd, which a peer may see. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest/files_priv.h"
#include "guest/overlay.h"
#include "guest/syscalls/syscall.h"

/* ---- addresses */

void address_release(struct host_address *address)
{
    if (address->held >= 0)
        close(address->held);
    address->held = -1;
}

/* Copies the path of a Unix address to `path`, or an empty string if it has none. */
static void unix_path(const struct host_address *address, char path[sizeof((struct sockaddr_un *)0)->sun_path + 1])
{
    const struct sockaddr_un *unix_address = (const struct sockaddr_un *)&address->storage;
    size_t head = offsetof(struct sockaddr_un, sun_path), n = 0;
    if (address->storage.ss_family == AF_UNIX && address->length > head)
        n = strnlen(unix_address->sun_path, address->length - head);
    memcpy(path, unix_address->sun_path, n);
    path[n] = '\0';
}

/* Replaces the path of a Unix address by `format` applied to `fd` and `name`. 0 or -ENAMETOOLONG. */
static int set_unix_path(struct host_address *address, const char *format, int fd, const char *name)
{
    struct sockaddr_un *unix_address = (struct sockaddr_un *)&address->storage;
    int n = snprintf(unix_address->sun_path, sizeof unix_address->sun_path, format, fd, name);
    if (n >= (int)sizeof unix_address->sun_path)
        return -ENAMETOOLONG;
    address->length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)n + 1);
    return 0;
}

static int copy_address(struct thread *t, uint64_t addr, uint64_t length, struct host_address *out)
{
    memset(out, 0, sizeof *out);
    out->held = -1;
    if (length > sizeof out->storage)
        return -EINVAL;
    out->length = (socklen_t)length;
    return guest_copy_in(t->process->memory, &out->storage, addr, length);
}

/* True if the host resolves this path as the guest does: no path, or an absolute one without a sysroot. */
static bool is_host_path(const struct files *f, const char *path)
{
    return path[0] == '\0' || (path[0] == '/' && f->root < 0 && !path_below_start(f, path));
}

int address_in(struct thread *t, uint64_t addr, uint64_t length, struct host_address *out)
{
    struct files *f = thread_files(t);
    char path[sizeof((struct sockaddr_un *)0)->sun_path + 1];
    struct target target;
    int error = copy_address(t, addr, length, out);
    if (error < 0)
        return error;
    unix_path(out, path);
    if (is_host_path(f, path))
        return 0;
    error = path_lookup(f, AT_FDCWD, path, LOOKUP_FOLLOW, &target);
    if (error < 0)
        return error;
    out->held = target_open(&target, O_PATH);
    target_release(&target);
    return out->held < 0 ? out->held : set_unix_path(out, "/proc/self/fd/%d%s", out->held, "");
}

int address_out(struct thread *t, uint64_t addr, uint64_t length_addr, const struct sockaddr_storage *from,
                socklen_t length)
{
    struct guest_memory *m = t->process->memory;
    int32_t room, real = (int32_t)length;
    if (guest_copy_in(m, &room, length_addr, sizeof room) < 0)
        return -EFAULT;
    if (room < 0)
        return -EINVAL;
    if (guest_copy_out(m, addr, from, (uint64_t)(room < real ? room : real)) < 0)
        return -EFAULT;
    return guest_copy_out(m, length_addr, &real, sizeof real);
}

/* ---- making sockets */

int64_t sys_socket(struct thread *t, const uint64_t a[6])
{
    if (!t->process->config.allow_net)
        return -EACCES;
    int fd = socket((int)a[0], (int)a[1], (int)a[2]);
    return fd >= 0 ? files_adopt(thread_files(t), fd) : -errno;
}

int64_t sys_socketpair(struct thread *t, const uint64_t a[6])
{
    int fds[2];
    if ((int)a[0] != AF_UNIX)
        return t->process->config.allow_net ? -EOPNOTSUPP : -EACCES;
    if (socketpair(AF_UNIX, (int)a[1], (int)a[2], fds) != 0)
        return -errno;
    return files_give_pair(t, fds, a[3]);
}

/* Binds to a path that the host resolves differently. Records the guest's address for getsockname. */
static int bind_path(struct files *f, int fd, const char *path, struct host_address *address)
{
    struct target target;
    struct open_file *o = files_describe(f, fd);
    struct sockaddr_un *guest = calloc(1, sizeof *guest);
    if (!o || !guest) {
        free(guest);
        return -ENOMEM;
    }
    memcpy(guest, &address->storage, sizeof *guest);
    int error = path_lookup_create(f, AT_FDCWD, path, &target);
    if (error == 0) {
        error = target.dir == AT_FDCWD ? set_unix_path(address, "%.0d%s", 0, target.name)
                                       : set_unix_path(address, "/proc/self/fd/%d/%s", target.dir, target.name);
        mode_t host_umask = files_apply_umask(f);
        if (error == 0 && bind(fd, (struct sockaddr *)&address->storage, address->length) != 0)
            error = -errno;
        umask(host_umask);
        overlay_made(f, &target);
        target_release(&target);
    }
    if (error < 0) {
        free(guest);
        return error == -EEXIST ? -EADDRINUSE : error;
    }
    free(o->address);
    o->address = guest;
    return 0;
}

int64_t sys_bind(struct thread *t, const uint64_t a[6])
{
    struct files *f = thread_files(t);
    struct host_address address;
    char path[sizeof((struct sockaddr_un *)0)->sun_path + 1];
    int fd = (int)a[0];
    if (!files_is_guest(fd))
        return -EBADF;
    if (!t->process->config.allow_net)
        return -EACCES;
    int error = copy_address(t, a[1], (uint32_t)a[2], &address);
    if (error < 0)
        return error;
    unix_path(&address, path);
    if (!is_host_path(f, path))
        return bind_path(f, fd, path, &address);
    mode_t host_umask = files_apply_umask(f);
    int64_t result = bind(fd, (struct sockaddr *)&address.storage, address.length) == 0 ? 0 : -errno;
    umask(host_umask);
    return result;
}

int64_t sys_listen(struct thread *t, const uint64_t a[6])
{
    (void)t;
    if (!files_is_guest((int)a[0]))
        return -EBADF;
    return listen((int)a[0], (int)a[1]) == 0 ? 0 : -errno;
}

/* ---- connecting */

/* connect without blocking, even on a blocking socket. */
static int connect_now(int fd, const struct host_address *address)
{
    int flags = fcntl(fd, F_GETFL);
    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    int result = connect(fd, (const struct sockaddr *)&address->storage, address->length) == 0 ? 0 : -errno;
    fcntl(fd, F_SETFL, flags);
    return result;
}

/* Starts a connection, or checks on one that is in progress. `io_bytes` is 1 if an earlier try has started it. */
static int64_t connect_waiting(struct thread *t, int fd, const struct host_address *address)
{
    for (;;) {
        int result = connect_now(fd, address);
        if (result == -EISCONN && t->io_bytes > 0)
            return 0;
        if (result == -EAGAIN)
            return file_wait_tick(t); /* Unix socket with a full backlog */
        if (result != -EINPROGRESS && result != -EALREADY)
            return result;
        t->io_bytes = 1;
        int64_t waiting = file_wait(t, fd, POLLOUT);
        if (waiting < 0)
            return waiting;
    }
}

int64_t sys_connect(struct thread *t, const uint64_t a[6])
{
    struct host_address address;
    int fd = (int)a[0];
    if (!files_is_guest(fd))
        return -EBADF;
    if (!t->process->config.allow_net)
        return -EACCES;
    int error = address_in(t, a[1], (uint32_t)a[2], &address);
    if (error < 0)
        return error;
    int64_t result;
    if (file_may_block(thread_files(t), fd)) {
        result = connect_waiting(t, fd, &address);
        if (result != SYSCALL_RETRY)
            t->io_bytes = 0;
    } else {
        result = connect(fd, (struct sockaddr *)&address.storage, address.length) == 0 ? 0 : -errno;
    }
    address_release(&address);
    return result;
}

int64_t sys_accept4(struct thread *t, const uint64_t a[6])
{
    struct files *f = thread_files(t);
    struct sockaddr_storage peer;
    socklen_t length = sizeof peer;
    int fd = (int)a[0];
    if (!files_is_guest(fd))
        return -EBADF;
    if (file_may_block(f, fd)) {
        int64_t waiting = file_wait(t, fd, POLLIN);
        if (waiting < 0)
            return waiting;
    }
    int new_fd = files_check_room(f);
    if (new_fd < 0)
        return new_fd; /* the connection waits */
    new_fd = accept4(fd, (struct sockaddr *)&peer, &length, (int)a[3]);
    new_fd = new_fd >= 0 ? files_adopt(f, new_fd) : -errno;
    if (new_fd < 0 || a[1] == 0)
        return new_fd;
    int error = address_out(t, a[1], a[2], &peer, length);
    if (error < 0)
        files_close(f, new_fd);
    return error < 0 ? error : new_fd;
}

int64_t sys_accept(struct thread *t, const uint64_t a[6])
{
    uint64_t without_flags[6] = {a[0], a[1], a[2], 0, 0, 0};
    return sys_accept4(t, without_flags);
}

int64_t sys_getsockname(struct thread *t, const uint64_t a[6])
{
    struct files *f = thread_files(t);
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    int fd = (int)a[0];
    if (!files_is_guest(fd))
        return -EBADF;
    if (getsockname(fd, (struct sockaddr *)&address, &length) != 0)
        return -errno;
    if (f->open[fd] && f->open[fd]->address) {
        const struct sockaddr_un *guest = f->open[fd]->address;
        memcpy(&address, guest, sizeof *guest);
        length =
            (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strnlen(guest->sun_path, sizeof guest->sun_path) + 1);
    }
    return address_out(t, a[1], a[2], &address, length);
}

int64_t sys_getpeername(struct thread *t, const uint64_t a[6])
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (!files_is_guest((int)a[0]))
        return -EBADF;
    if (getpeername((int)a[0], (struct sockaddr *)&address, &length) != 0)
        return -errno;
    return address_out(t, a[1], a[2], &address, length);
}

int64_t sys_shutdown(struct thread *t, const uint64_t a[6])
{
    (void)t;
    if (!files_is_guest((int)a[0]))
        return -EBADF;
    return shutdown((int)a[0], (int)a[1]) == 0 ? 0 : -errno;
}
