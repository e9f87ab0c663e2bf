/* System calls as a shadow makes them. */
#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <termios.h>
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

/* ---- names of files that are not there but should be */

static uint64_t hash_name(int dir, const char *name)
{
    struct stat st;
    uint64_t hash = 0;
    if (fstatat(dir, "", &st, AT_EMPTY_PATH) == 0)
        hash = (uint64_t)st.st_dev * 31 + st.st_ino;
    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
    return hash | 1;
}

/* Where the name is noted; with 0, a free place. NULL: nowhere. */
static uint64_t *find_made(struct shadow *s, uint64_t hash)
{
    for (unsigned i = 0; i < SHADOW_NAMES; i++)
        if (s->made[i] == hash)
            return &s->made[i];
    return NULL;
}

static void note_made(struct shadow *s, int dir, const char *name)
{
    uint64_t hash = hash_name(dir, name), *place = find_made(s, hash);
    if (place == NULL && (place = find_made(s, 0)) != NULL)
        *place = hash;
}

/* ---- files that are opened for writing */

int shadow_openat(struct shadow *s, int dir, const char *name, int flags)
{
    bool makes = flags & O_CREAT, fresh = (flags & O_TMPFILE) == O_TMPFILE;
    int kept = flags & (O_NOFOLLOW | O_DIRECTORY | O_NONBLOCK), copy;
    int fd = fresh ? -1 : openat(dir, name, O_RDONLY | O_NOCTTY | O_CLOEXEC | kept);
    struct stat st;
    if (fd < 0 && !fresh && (errno != ENOENT || !makes))
        return -errno;
    if (fd >= 0 && (fd = files_make_private(fd)) < 0) /* the copy gets the number that it would have */
        return fd;
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
    if (makes && !fresh)
        note_made(s, dir, name); /* even if it is there: the run may have it now, and not when it is removed */
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

/* What it made itself is gone then. */
static int64_t pretend_unlink(struct thread *t, const uint64_t a[6])
{
    struct target target;
    int code = thread_lookup(t, (int)a[0], a[1], LOOKUP_CREATE | LOOKUP_NAME, &target);
    if (code < 0)
        return code;
    uint64_t *made = find_made(t->process->shadow, hash_name(target.dir, target.name));
    target_release(&target);
    if (made == NULL)
        return look(t, (int)a[0], a[1]);
    *made = 0;
    return 0;
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

/* ---- input that the run needs itself */

static int64_t spoil(struct thread *t, int fd)
{
    struct shadow *s = t->process->shadow;
    snprintf(s->spoiled, sizeof s->spoiled, "it uses descriptor %d, which only the run itself can have", fd);
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
        return is_borrowed(t, (int)a[0]) ? spoil(t, (int)a[0]) : sys_##name(t, a);                                     \
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
READS(sendfile)
READS(vmsplice)
#undef READS

/* ---- output, which the run makes itself */

static int64_t shadow_write(struct thread *t, const uint64_t a[6])
{
    struct iovec buffer;
    if (!is_borrowed(t, (int)a[0]))
        return sys_write(t, a);
    return a[2] ? file_buffer(t, a[1], a[2], PROT_READ, &buffer) : 0;
}

static int64_t shadow_writev(struct thread *t, const uint64_t a[6])
{
    struct iovec buffers[IOV_MAX];
    int count;
    return is_borrowed(t, (int)a[0]) ? file_buffers(t, a[1], a[2], PROT_READ, buffers, &count) : sys_writev(t, a);
}

/* Settings of a terminal are the run's. */
static int64_t shadow_ioctl(struct thread *t, const uint64_t a[6])
{
    bool sets = a[1] == TCSETS || a[1] == TCSETSW || a[1] == TCSETSF || a[1] == TIOCSPGRP || a[1] == TIOCSWINSZ;
    return sets && is_borrowed(t, (int)a[0]) ? 0 : sys_ioctl(t, a);
}

/* ---- which descriptors are the run's: numbers are closed and used anew, duplicates are what they are of */

static void set_borrowed(struct thread *t, int fd, bool borrowed)
{
    uint64_t *word = &t->process->shadow->borrowed[fd / 64], bit = UINT64_C(1) << fd % 64;
    *word = borrowed ? *word | bit : *word & ~bit;
}

static int64_t shadow_close(struct thread *t, const uint64_t a[6])
{
    if (files_is_guest((int)a[0]))
        set_borrowed(t, (int)a[0], false);
    return sys_close(t, a);
}

static int64_t note_duplicate(struct thread *t, int from, int64_t fd)
{
    if (fd >= 0 && files_is_guest((int)fd))
        set_borrowed(t, (int)fd, is_borrowed(t, from));
    return fd;
}

static int64_t shadow_dup(struct thread *t, const uint64_t a[6])
{
    return note_duplicate(t, (int)a[0], sys_dup(t, a));
}

static int64_t shadow_dup3(struct thread *t, const uint64_t a[6])
{
    return note_duplicate(t, (int)a[0], sys_dup3(t, a));
}

/* Locks are the run's as well, and it is granted them. */
static int64_t shadow_fcntl(struct thread *t, const uint64_t a[6])
{
    switch (a[1]) {
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_SETLK:
    case F_OFD_SETLKW: return 0;
    case F_DUPFD:
    case F_DUPFD_CLOEXEC: return note_duplicate(t, (int)a[0], sys_fcntl(t, a));
    default: return sys_fcntl(t, a);
    }
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
    [NR_unlinkat] = pretend_unlink,
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
    [NR_dup] = shadow_dup,
    [NR_dup3] = shadow_dup3,
    [NR_ioctl] = shadow_ioctl,
    [NR_write] = shadow_write,
    [NR_writev] = shadow_writev,
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
    [NR_sendfile] = shadow_sendfile,
    [NR_vmsplice] = shadow_vmsplice,
};

syscall_fn *shadow_call(uint64_t number, syscall_fn *usual)
{
    bool other = number < sizeof instead / sizeof instead[0] && instead[number];
    return other ? instead[number] : usual;
}
