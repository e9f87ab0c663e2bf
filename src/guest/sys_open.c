/* System calls that make, copy and close descriptors. */
#include <errno.h>
#include <linux/close_range.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/baton.h"
#include "guest/files_priv.h"
#include "guest/syscall.h"

/* The guest's flags are those of asm-generic, which the host's must be, too, to be handed on as they are. */
_Static_assert(O_CREAT == 0100 && O_EXCL == 0200 && O_NOCTTY == 0400 && O_TRUNC == 01000 && O_APPEND == 02000 &&
                   O_NONBLOCK == 04000 && O_DIRECT == 040000 && O_DIRECTORY == 0200000 && O_NOFOLLOW == 0400000 &&
                   O_CLOEXEC == 02000000 && O_PATH == 010000000,
               "open flags of this host need translation");

static const int open_flags = O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_SYNC |
                              O_DIRECT | 0100000 /* O_LARGEFILE of the kernel */ | O_DIRECTORY | O_NOFOLLOW |
                              O_NOATIME | O_CLOEXEC | O_PATH | O_TMPFILE;

/* Opens anew what another descriptor stands for. Isolated, this must not give more than the guest has: a file outside
 * of the mounts, handed over by the caller, only in the ways that it was opened for. */
static int reopen(struct files *f, const struct target *target, int flags)
{
    char self[32], guest[PATH_MAX];
    if (f->isolate) {
        const struct mount *mount = files_mount_of(f, target->dir, guest);
        int held = fcntl(target->dir, F_GETFL), want = flags & O_ACCMODE;
        if (mount && mount->readonly && opens_for_change(flags))
            return -EROFS;
        if (!mount && (held < 0 || (held & O_PATH)))
            return -EACCES;
        held &= O_ACCMODE;
        if (!mount && held != O_RDWR && (held != want || (held == O_RDONLY && (flags & O_TRUNC))))
            return -EACCES;
    }
    snprintf(self, sizeof self, "/proc/self/fd/%d", target->dir);
    return files_openat(f, AT_FDCWD, self, flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW), 0);
}

static int open_named(struct files *f, const struct target *target, int flags, mode_t mode)
{
    if (target->at_flags & AT_SYMLINK_NOFOLLOW)
        flags |= O_NOFOLLOW;
    return files_openat(f, target->dir, target->name, flags, mode);
}

static int open_node(struct files *f, struct target *target, int flags)
{
    switch (target->node.kind) {
    case NODE_TEXT: {
        if (opens_for_change(flags))
            return -EACCES;
        if (flags & O_DIRECTORY)
            return -ENOTDIR;
        int fd = fcntl(target->dir, flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
        return fd >= 0 ? fd : -errno;
    }
    case NODE_DESCRIPTOR: return target->at_flags & AT_EMPTY_PATH ? reopen(f, target, flags) : -ELOOP;
    case NODE_LINK: return -ELOOP;
    case NODE_FOLDER:
        if (target->missing)
            return -EROFS;
        if (opens_for_change(flags))
            return flags & O_DIRECTORY ? -EROFS : -EISDIR;
        break;
    default: break;
    }
    return open_named(f, target, flags & ~(O_CREAT | O_EXCL | O_TRUNC), 0);
}

/* A named pipe opens when its other end does; other threads and processes, one of which may be that end, need not wait
 * for that. Alone, the process may as well block in the host. As a reader among others we come back at once: the first
 * read waits for the writer. */
static int64_t open_fifo(struct thread *t, const struct target *target, int flags)
{
    struct files *f = thread_files(t);
    if (!t->process->threads->next && baton_alone(t->process))
        return open_named(f, target, flags, 0);
    int fd = open_named(f, target, flags | O_NONBLOCK, 0);
    if (fd == -ENXIO)
        return file_wait_tick(t);
    if (fd >= 0)
        fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
    return fd;
}

static int64_t open_plain(struct thread *t, const struct target *target, int flags, mode_t mode)
{
    struct files *f = thread_files(t);
    struct stat st;
    if (target->slash && (flags & O_CREAT))
        return -EISDIR;
    if (opens_for_change(flags) || (target->missing && (flags & O_CREAT))) {
        int error = target_may_change(f, target);
        if (error < 0)
            return error;
    }
    if (!(flags & (O_NONBLOCK | O_PATH)) && (flags & O_ACCMODE) != O_RDWR &&
        fstatat(target->dir, target->name, &st, target->at_flags) == 0 && S_ISFIFO(st.st_mode))
        return open_fifo(t, target, flags);
    return open_named(f, target, flags, mode);
}

/* Special files and folders keep their guest path: what is opened relative to them is special as well. */
static int describe(struct files *f, int fd, const struct target *target)
{
    struct stat st;
    bool named = target->node.kind == NODE_TEXT ||
                 (special_tree(target->path) && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) ||
                 (target->node.kind == NODE_FOLDER && target->path[0] != '\0');
    if (!named && target->node.kind != NODE_RANDOM)
        return 0;
    struct open_file *o = files_describe(f, fd);
    if (!o)
        return -ENOMEM;
    o->random = target->node.kind == NODE_RANDOM;
    if (!named)
        return 0;
    o->path = strdup(target->path);
    return o->path ? 0 : -ENOMEM;
}

static int64_t open_path(struct thread *t, int dirfd, uint64_t path_addr, int flags, mode_t mode)
{
    if (flags & O_TRUNC)
        guest_file_shrinks(t->process->memory);
    struct files *f = thread_files(t);
    struct target target;
    unsigned lookup = 0;
    bool exclusive = (flags & O_CREAT) && (flags & O_EXCL);
    if (!(flags & O_NOFOLLOW) && !exclusive)
        lookup |= LOOKUP_FOLLOW;
    if ((flags & O_CREAT) && !(flags & O_PATH))
        lookup |= LOOKUP_CREATE;
    int error = thread_lookup(t, dirfd, path_addr, lookup, &target);
    if (error < 0)
        return error;
    int64_t fd = target.node.kind != NODE_NONE ? open_node(f, &target, flags) : open_plain(t, &target, flags, mode);
    if (fd >= 0)
        fd = files_adopt((int)fd);
    if (fd >= 0) {
        files_forget(f, (int)fd);
        error = describe(f, (int)fd, &target);
        if (error < 0) {
            files_close(f, (int)fd);
            fd = error;
        }
    }
    target_release(&target);
    return fd;
}

int files_open_private(struct files *f, const char *guest_path, char real[PATH_MAX])
{
    struct target target;
    int error = path_lookup(f, AT_FDCWD, guest_path, LOOKUP_FOLLOW, &target);
    if (error < 0)
        return error;
    int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK; /* a named pipe is no program and must not hold us up */
    int fd;
    if (target.node.kind == NODE_DESCRIPTOR)
        fd = reopen(f, &target, flags);
    else if (target.at_flags & AT_EMPTY_PATH)
        fd = target_open(&target, flags);
    else
        fd = open_named(f, &target, flags, 0);
    if (fd >= 0)
        fd = files_make_private(fd);
    if (fd >= 0 && real) {
        error = files_path(f, fd, real);
        if (error < 0) {
            close(fd);
            fd = error;
        }
    }
    target_release(&target);
    return fd;
}

int64_t sys_openat(struct thread *t, const uint64_t a[6])
{
    return open_path(t, (int)a[0], a[1], (int)a[2] & open_flags, (mode_t)a[3] & 07777);
}

/* Restrictions on the resolution are refused, as by a kernel that does not have the call. */
int64_t sys_openat2(struct thread *t, const uint64_t a[6])
{
    struct open_how how;
    if (a[3] < sizeof how)
        return -EINVAL;
    if (a[3] > sizeof how)
        return -E2BIG;
    if (guest_copy_in(t->process->memory, &how, a[2], sizeof how) < 0)
        return -EFAULT;
    if ((how.flags & ~(uint64_t)open_flags) != 0 || (how.mode & ~UINT64_C(07777)) != 0)
        return -EINVAL;
    if (how.resolve != 0)
        return -ENOSYS;
    return open_path(t, (int)a[0], a[1], (int)how.flags, (mode_t)how.mode);
}

int64_t sys_close(struct thread *t, const uint64_t a[6])
{
    return files_close(thread_files(t), (int)a[0]);
}

int64_t sys_close_range(struct thread *t, const uint64_t a[6])
{
    unsigned first = (unsigned)a[0], last = (unsigned)a[1], flags = (unsigned)a[2];
    if (first > last || (flags & ~(unsigned)(CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC)) != 0)
        return -EINVAL;
    for (unsigned fd = first; fd <= last && fd < FD_PRIVATE; fd++) {
        if (!(flags & CLOSE_RANGE_CLOEXEC))
            files_close(thread_files(t), (int)fd);
        else if (fcntl((int)fd, F_GETFD) >= 0)
            fcntl((int)fd, F_SETFD, FD_CLOEXEC);
    }
    return 0;
}

int64_t sys_dup(struct thread *t, const uint64_t a[6])
{
    int from = (int)a[0];
    if (!files_is_guest(from))
        return -EBADF;
    int fd = dup(from);
    fd = fd >= 0 ? files_adopt(fd) : -errno;
    if (fd >= 0)
        files_share(thread_files(t), from, fd);
    return fd;
}

int64_t sys_dup3(struct thread *t, const uint64_t a[6])
{
    int from = (int)a[0], to = (int)a[1];
    if (from == to || ((int)a[2] & ~O_CLOEXEC) != 0)
        return -EINVAL;
    if (!files_is_guest(from) || !files_is_guest(to))
        return -EBADF;
    if (dup3(from, to, (int)a[2]) < 0)
        return -errno;
    files_share(thread_files(t), from, to);
    return to;
}

int64_t sys_umask(struct thread *t, const uint64_t a[6])
{
    struct files *f = thread_files(t);
    mode_t old = f->umask;
    f->umask = (mode_t)a[0] & 0777;
    return old;
}

/* Hands a pair of new descriptors to the guest, or closes them. */
int64_t files_give_pair(struct thread *t, const int fds[2], uint64_t addr)
{
    int32_t pair[2] = {fds[0], fds[1]};
    bool fit = files_is_guest(fds[0]) && files_is_guest(fds[1]);
    if (fit && guest_copy_out(t->process->memory, addr, pair, sizeof pair) == 0)
        return 0;
    close(fds[0]);
    close(fds[1]);
    return fit ? -EFAULT : -EMFILE;
}

int64_t sys_pipe2(struct thread *t, const uint64_t a[6])
{
    int fds[2];
    if (pipe2(fds, (int)a[1]) != 0)
        return -errno;
    return files_give_pair(t, fds, a[0]);
}

int64_t sys_eventfd2(struct thread *t, const uint64_t a[6])
{
    (void)t;
    int fd = eventfd((unsigned)a[0], (int)a[1]);
    return fd >= 0 ? files_adopt(fd) : -errno;
}

int64_t sys_memfd_create(struct thread *t, const uint64_t a[6])
{
    char name[250];
    int64_t n = guest_copy_string(t->process->memory, name, sizeof name, a[0]);
    if (n < 0)
        return n == -ENAMETOOLONG ? -EINVAL : n;
    int fd = memfd_create(name, (unsigned)a[1]);
    return fd >= 0 ? files_adopt(fd) : -errno;
}
