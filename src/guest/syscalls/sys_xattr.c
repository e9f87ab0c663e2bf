/* Extended attributes: every call fails with EOPNOTSUPP, as on a file system without them. */
#include <errno.h>

#include "guest/files_priv.h"
#include "guest/syscalls/syscall.h"

/* Returns -EOPNOTSUPP if the file exists, else the error of the lookup. A `path_addr` of 0 means descriptor `fd`. */
static int64_t no_attributes(struct thread *t, int fd, uint64_t path_addr, unsigned flags)
{
    struct target target;
    if (path_addr == 0)
        return files_is_guest(fd) && fcntl(fd, F_GETFD) >= 0 ? -EOPNOTSUPP : -EBADF;
    int error = thread_lookup(t, AT_FDCWD, path_addr, flags, &target);
    if (error < 0)
        return error;
    struct stat st;
    error = fstatat(target.dir, target.name, &st, target.at_flags) == 0 ? -EOPNOTSUPP : -errno;
    target_release(&target);
    return error;
}

static int64_t no_attributes_fd(struct thread *t, const uint64_t a[6])
{
    return no_attributes(t, (int)a[0], 0, 0);
}

static int64_t no_attributes_path(struct thread *t, const uint64_t a[6])
{
    return a[0] == 0 ? -EFAULT : no_attributes(t, -1, a[0], LOOKUP_FOLLOW);
}

static int64_t no_attributes_link(struct thread *t, const uint64_t a[6])
{
    return a[0] == 0 ? -EFAULT : no_attributes(t, -1, a[0], 0);
}

int64_t sys_setxattr(struct thread *t, const uint64_t a[6])
{
    return no_attributes_path(t, a);
}

int64_t sys_lsetxattr(struct thread *t, const uint64_t a[6])
{
    return no_attributes_link(t, a);
}

int64_t sys_fsetxattr(struct thread *t, const uint64_t a[6])
{
    return no_attributes_fd(t, a);
}

int64_t sys_getxattr(struct thread *t, const uint64_t a[6])
{
    return no_attributes_path(t, a);
}

int64_t sys_lgetxattr(struct thread *t, const uint64_t a[6])
{
    return no_attributes_link(t, a);
}

int64_t sys_fgetxattr(struct thread *t, const uint64_t a[6])
{
    return no_attributes_fd(t, a);
}

int64_t sys_listxattr(struct thread *t, const uint64_t a[6])
{
    return no_attributes_path(t, a);
}

int64_t sys_llistxattr(struct thread *t, const uint64_t a[6])
{
    return no_attributes_link(t, a);
}

int64_t sys_flistxattr(struct thread *t, const uint64_t a[6])
{
    return no_attributes_fd(t, a);
}

int64_t sys_removexattr(struct thread *t, const uint64_t a[6])
{
    return no_attributes_path(t, a);
}

int64_t sys_lremovexattr(struct thread *t, const uint64_t a[6])
{
    return no_attributes_link(t, a);
}

int64_t sys_fremovexattr(struct thread *t, const uint64_t a[6])
{
    return no_attributes_fd(t, a);
}
