/* System calls as a shadow makes them. */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest/files_priv.h"
#include "guest/shadow_priv.h"
#include "guest/syscall.h"

enum number {
#define SYSCALL(number, name) NR_##name = number,
#define SYSCALL_REFUSED(number, name, error)
#define SYSCALL_MISSING(number, name)
#include "guest/syscall.def"
#undef SYSCALL
#undef SYSCALL_REFUSED
#undef SYSCALL_MISSING
};

/* ---- files that are opened for writing */

int shadow_openat(int dir, const char *name, int flags)
{
    bool makes = flags & O_CREAT, fresh = (flags & O_TMPFILE) == O_TMPFILE;
    int kept = flags & (O_NOFOLLOW | O_DIRECTORY | O_NONBLOCK), copy;
    int fd = fresh ? -1 : openat(dir, name, O_RDONLY | O_NOCTTY | O_CLOEXEC | kept);
    struct stat st;
    if (fd < 0 && !fresh && (errno != ENOENT || !makes))
        return -errno;
    if (fd >= 0 && makes && (flags & O_EXCL)) {
        close(fd);
        return -EEXIST;
    }
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        bool folder = S_ISDIR(st.st_mode);
        close(fd);
        if (folder)
            return -EISDIR;
        fd = openat(AT_FDCWD, "/dev/null", (flags & (O_ACCMODE | O_CLOEXEC)));
        return fd >= 0 ? fd : -errno;
    }
    copy = fd < 0 || (flags & O_TRUNC) ? memfd_create("shadow", MFD_CLOEXEC) : shadow_copy(fd, true);
    if (copy < 0 && fd < 0)
        copy = -errno;
    if (fd >= 0)
        close(fd);
    if (copy >= 0 && (flags & O_APPEND))
        fcntl(copy, F_SETFL, O_APPEND);
    if (copy >= 0 && !(flags & O_CLOEXEC))
        fcntl(copy, F_SETFD, 0);
    return copy;
}

/* ---- calls that would change the world */

static int64_t pretend(struct thread *t, const uint64_t a[6])
{
    (void)t;
    (void)a;
    return 0;
}

/* Whether something is at the path: 0 or a negative errno. */
static int look(struct thread *t, int dirfd, uint64_t path_addr)
{
    struct target target;
    struct stat st;
    int code = thread_lookup(t, dirfd, path_addr, LOOKUP_CREATE | LOOKUP_NAME, &target);
    if (code < 0)
        return code;
    if (fstatat(target.dir, target.name, &st, target.at_flags | AT_SYMLINK_NOFOLLOW) != 0)
        code = -errno;
    target_release(&target);
    return code;
}

static int64_t pretend_change(struct thread *t, const uint64_t a[6])
{
    return look(t, (int)a[0], a[1]);
}

static int64_t pretend_change_here(struct thread *t, const uint64_t a[6])
{
    return look(t, AT_FDCWD, a[0]);
}

static int64_t make(struct thread *t, int dirfd, uint64_t path_addr)
{
    int code = look(t, dirfd, path_addr);
    return code == 0 ? -EEXIST : code == -ENOENT ? 0 : code;
}

static int64_t pretend_make(struct thread *t, const uint64_t a[6])
{
    return make(t, (int)a[0], a[1]);
}

static int64_t pretend_symlink(struct thread *t, const uint64_t a[6])
{
    return make(t, (int)a[1], a[2]);
}

static int64_t pretend_link(struct thread *t, const uint64_t a[6])
{
    int code = look(t, (int)a[0], a[1]);
    return code < 0 ? code : make(t, (int)a[2], a[3]);
}

/* Locks are the run's, and it is granted them. */
static int64_t shadow_fcntl(struct thread *t, const uint64_t a[6])
{
    switch (a[1]) {
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_SETLK:
    case F_OFD_SETLKW: return 0;
    default: return sys_fcntl(t, a);
    }
}

/* ---- input that the run needs itself */

static int64_t spoil(struct thread *t, const char *what, int fd)
{
    struct shadow *s = t->process->shadow;
    snprintf(s->spoiled, sizeof s->spoiled, "it %s descriptor %d, which only the run itself can have", what, fd);
    process_end(t->process, 0, SIGKILL);
    return SYSCALL_NO_RESULT;
}

static bool is_borrowed(const struct thread *t, int fd)
{
    return files_is_guest(fd) && t->process->shadow->borrowed[fd / 64] >> fd % 64 & 1;
}

#define READS(name)                                                                                                    \
    static int64_t shadow_##name(struct thread *t, const uint64_t a[6])                                                \
    {                                                                                                                  \
        return is_borrowed(t, (int)a[0]) ? spoil(t, "uses", (int)a[0]) : sys_##name(t, a);                             \
    }
READS(read)
READS(readv)
READS(recvfrom)
READS(recvmsg)
READS(recvmmsg)
READS(sendto)
READS(sendmsg)
READS(sendmmsg)
READS(accept)
READS(accept4)
READS(connect)
READS(epoll_ctl)
READS(epoll_pwait)
READS(epoll_pwait2)
READS(splice)
READS(tee)
#undef READS

/* A number that is closed or used anew is the shadow's own. */
static int64_t shadow_close(struct thread *t, const uint64_t a[6])
{
    if (is_borrowed(t, (int)a[0]))
        t->process->shadow->borrowed[a[0] / 64] &= ~(UINT64_C(1) << a[0] % 64);
    return sys_close(t, a);
}

static syscall_fn *const instead[] = {
    [NR_setxattr] = pretend_change_here,
    [NR_lsetxattr] = pretend_change_here,
    [NR_fsetxattr] = pretend,
    [NR_removexattr] = pretend_change_here,
    [NR_lremovexattr] = pretend_change_here,
    [NR_fremovexattr] = pretend,
    [NR_mknodat] = pretend_make,
    [NR_mkdirat] = pretend_make,
    [NR_symlinkat] = pretend_symlink,
    [NR_linkat] = pretend_link,
    [NR_unlinkat] = pretend_change,
    [NR_renameat2] = pretend_change,
    [NR_truncate] = pretend_change_here,
    [NR_fchmod] = pretend,
    [NR_fchmodat] = pretend_change,
    [NR_fchmodat2] = pretend_change,
    [NR_fchown] = pretend,
    [NR_fchownat] = pretend,
    [NR_utimensat] = pretend,
    [NR_sync] = pretend,
    [NR_fsync] = pretend,
    [NR_fdatasync] = pretend,
    [NR_sync_file_range] = pretend,
    [NR_syncfs] = pretend,
    [NR_flock] = pretend,
    [NR_fcntl] = shadow_fcntl,
    [NR_close] = shadow_close,
    [NR_read] = shadow_read,
    [NR_readv] = shadow_readv,
    [NR_recvfrom] = shadow_recvfrom,
    [NR_recvmsg] = shadow_recvmsg,
    [NR_recvmmsg] = shadow_recvmmsg,
    [NR_sendto] = shadow_sendto,
    [NR_sendmsg] = shadow_sendmsg,
    [NR_sendmmsg] = shadow_sendmmsg,
    [NR_accept] = shadow_accept,
    [NR_accept4] = shadow_accept4,
    [NR_connect] = shadow_connect,
    [NR_epoll_ctl] = shadow_epoll_ctl,
    [NR_epoll_pwait] = shadow_epoll_pwait,
    [NR_epoll_pwait2] = shadow_epoll_pwait2,
    [NR_splice] = shadow_splice,
    [NR_tee] = shadow_tee,
};

syscall_fn *shadow_call(uint64_t number, syscall_fn *usual)
{
    bool other = number < sizeof instead / sizeof instead[0] && instead[number];
    return other ? instead[number] : usual;
}
