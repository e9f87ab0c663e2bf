/* System calls that change or synchronize a file without transferring data: mode, owner, times, length, fsync and
 * others.
 *
 * The host has no chmod or truncate that takes a name in a folder and does not follow links, so these calls act on an
 * O_PATH descriptor through /proc/self/fd. Closing an O_PATH descriptor does not drop the guest's record locks. */
#include <errno.h>
#include <unistd.h>

#include "guest/file_view.h"
#include "guest/files_priv.h"
#include "guest/memory_files.h"
#include "guest/overlay.h"
#include "guest/syscalls/syscall.h"

/* Looks up a path for a change and writes its /proc/self/fd name, which the host resolves, to `self`. Returns an
 * O_PATH descriptor that the caller closes, or a negative errno. */
static int open_change(struct thread *t, int dirfd, uint64_t path_addr, unsigned flags, char self[32])
{
    struct target target;
    int error = thread_lookup_change(t, dirfd, path_addr, flags, &target);
    if (error < 0)
        return error;
    int fd = target_open(&target, O_PATH);
    target_release(&target);
    if (fd >= 0)
        snprintf(self, 32, "/proc/self/fd/%d", fd);
    return fd;
}

/* The guest has changed mode or owner of an open file. */
static void note_status(struct thread *t, int fd)
{
    struct stat st;
    if (fstat(fd, &st) == 0)
        file_status_changed(t->process, &st);
}

static int64_t change_mode(struct thread *t, int dirfd, uint64_t path_addr, mode_t mode, int flags)
{
    char self[32];
    if ((flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) != 0)
        return -EINVAL;
    int fd = open_change(t, dirfd, path_addr, lookup_flags(flags), self);
    if (fd < 0)
        return fd;
    int64_t result = chmod(self, mode & 07777) == 0 ? 0 : -errno;
    if (result == 0)
        note_status(t, fd);
    close(fd);
    return result;
}

int64_t sys_fchmodat(struct thread *t, const uint64_t a[6])
{
    return change_mode(t, (int)a[0], a[1], (mode_t)a[2], 0);
}

int64_t sys_fchmodat2(struct thread *t, const uint64_t a[6])
{
    return change_mode(t, (int)a[0], a[1], (mode_t)a[2], (int)a[3]);
}

/* Returns 0 if `fd` is a guest descriptor and the guest may change its file, else a negative errno. */
static int check_change(struct thread *t, int fd)
{
    int error = files_is_guest(fd) ? files_may_change(thread_files(t), fd) : -EBADF;
    return error < 0 ? error : overlay_lift_descriptor(thread_files(t), fd);
}

int64_t sys_fchmod(struct thread *t, const uint64_t a[6])
{
    int error = check_change(t, (int)a[0]);
    if (error < 0)
        return error;
    if (fchmod((int)a[0], (mode_t)a[1] & 07777) != 0)
        return -errno;
    note_status(t, (int)a[0]);
    return 0;
}

/* Without --host-user all files belong to the guest's one user, who cannot give them away. */
static int check_owner(uint64_t uid, uint64_t gid)
{
    bool same = ((uint32_t)uid == GUEST_USER || (uint32_t)uid == UINT32_MAX) &&
                ((uint32_t)gid == GUEST_USER || (uint32_t)gid == UINT32_MAX);
    return same ? 0 : -EPERM;
}

int64_t sys_fchown(struct thread *t, const uint64_t a[6])
{
    int error = check_change(t, (int)a[0]);
    if (error < 0)
        return error;
    if (!t->process->config.host_user)
        return fcntl((int)a[0], F_GETFD) < 0 ? -EBADF : check_owner(a[1], a[2]);
    return fchown((int)a[0], (uid_t)a[1], (gid_t)a[2]) == 0 ? 0 : -errno;
}

int64_t sys_fchownat(struct thread *t, const uint64_t a[6])
{
    struct target target;
    int flags = (int)a[4];
    if ((flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) != 0)
        return -EINVAL;
    int error = thread_lookup_change(t, (int)a[0], a[1], lookup_flags(flags), &target);
    if (error < 0)
        return error;
    struct stat st;
    int64_t result;
    if (t->process->config.host_user)
        result = fchownat(target.dir, target.name, (uid_t)a[2], (gid_t)a[3], target.at_flags) == 0 ? 0 : -errno;
    else
        result = fstatat(target.dir, target.name, &st, target.at_flags) == 0 ? check_owner(a[2], a[3]) : -errno;
    target_release(&target);
    return result;
}

int64_t sys_utimensat(struct thread *t, const uint64_t a[6])
{
    struct timespec buffer[2], *times = NULL;
    struct stat st;
    int flags = (int)a[3];
    if ((flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) != 0)
        return -EINVAL;
    if (a[2] != 0) {
        times = buffer;
        if (guest_copy_in(t->process->memory, times, a[2], sizeof buffer) < 0)
            return -EFAULT;
    }
    if (a[1] == 0) {
        int error = check_change(t, (int)a[0]);
        if (error < 0)
            return error;
        if (futimens((int)a[0], times) != 0 || fstat((int)a[0], &st) != 0)
            return -errno;
        file_set_times(t->process, &st, times);
        return 0;
    }
    struct target target;
    int error = thread_lookup_change(t, (int)a[0], a[1], lookup_flags(flags), &target);
    if (error < 0)
        return error;
    int64_t result = utimensat(target.dir, target.name, times, target.at_flags) == 0 ? 0 : -errno;
    if (result == 0 && fstatat(target.dir, target.name, &st, target.at_flags) == 0)
        file_set_times(t->process, &st, times);
    target_release(&target);
    return result;
}

/* Whether a regular file may grow to `size` bytes under RLIMIT_FSIZE: 0, or -EFBIG after SIGXFSZ was sent. */
static int64_t may_grow(struct thread *t, int fd, int64_t size)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || size <= st.st_size)
        return 0;
    int64_t allowed = file_limit(t, fd, size - 1, 1);
    return allowed < 0 ? allowed : 0;
}

int64_t sys_truncate(struct thread *t, const uint64_t a[6])
{
    char self[32];
    if ((int64_t)a[1] < 0)
        return -EINVAL;
    int fd = open_change(t, AT_FDCWD, a[0], LOOKUP_FOLLOW, self);
    if (fd < 0)
        return fd;
    guest_file_shrinks(t->process->memory);
    int64_t result = may_grow(t, fd, (int64_t)a[1]);
    if (result == 0 && truncate(self, (off_t)a[1]) != 0)
        result = -errno;
    struct stat st;
    if (result == 0 && fstat(fd, &st) == 0)
        file_touched(t->process, &st);
    close(fd);
    return result;
}

int64_t sys_ftruncate(struct thread *t, const uint64_t a[6])
{
    if (!files_is_guest((int)a[0]))
        return -EBADF;
    if (thread_files(t)->standard[(int)a[0]])
        return -EINVAL;
    int64_t allowed = may_grow(t, (int)a[0], (int64_t)a[1]);
    if (allowed < 0)
        return allowed;
    guest_file_shrinks(t->process->memory);
    if (ftruncate((int)a[0], (off_t)a[1]) != 0)
        return -errno;
    file_written(t->process, (int)a[0]);
    return 0;
}

int64_t sys_fallocate(struct thread *t, const uint64_t a[6])
{
    if (!files_is_guest((int)a[0]))
        return -EBADF;
    if (thread_files(t)->standard[(int)a[0]])
        return -ESPIPE;
    if (!((int)a[1] & FALLOC_FL_PUNCH_HOLE)) {
        int may = memory_files_may_write(t->process, (int)a[0], a[3]);
        if (may < 0)
            return may;
    }
    int64_t end, allowed = 0;
    if (!((int)a[1] & FALLOC_FL_KEEP_SIZE) && !__builtin_add_overflow((int64_t)a[2], (int64_t)a[3], &end))
        allowed = may_grow(t, (int)a[0], end);
    if (allowed < 0)
        return allowed;
    if (fallocate((int)a[0], (int)a[1], (off_t)a[2], (off_t)a[3]) != 0)
        return -errno;
    file_written(t->process, (int)a[0]);
    return 0;
}

int64_t sys_fadvise64(struct thread *t, const uint64_t a[6])
{
    if (!files_is_guest((int)a[0]))
        return -EBADF;
    if (thread_files(t)->standard[(int)a[0]])
        return -ESPIPE;
    return -posix_fadvise((int)a[0], (off_t)a[1], (off_t)a[2], (int)a[3]);
}

int64_t sys_readahead(struct thread *t, const uint64_t a[6])
{
    if (!files_is_guest((int)a[0]))
        return -EBADF;
    if (thread_files(t)->standard[(int)a[0]])
        return -EINVAL;
    return readahead((int)a[0], (off_t)a[1], a[2]) == 0 ? 0 : -errno;
}

int64_t sys_fsync(struct thread *t, const uint64_t a[6])
{
    if (!files_is_guest((int)a[0]))
        return -EBADF;
    if (thread_files(t)->standard[(int)a[0]])
        return -EINVAL;
    return fsync((int)a[0]) == 0 ? 0 : -errno;
}

int64_t sys_fdatasync(struct thread *t, const uint64_t a[6])
{
    if (!files_is_guest((int)a[0]))
        return -EBADF;
    if (thread_files(t)->standard[(int)a[0]])
        return -EINVAL;
    return fdatasync((int)a[0]) == 0 ? 0 : -errno;
}

int64_t sys_sync_file_range(struct thread *t, const uint64_t a[6])
{
    (void)t;
    if (!files_is_guest((int)a[0]))
        return -EBADF;
    return sync_file_range((int)a[0], (off_t)a[1], (off_t)a[2], (unsigned)a[3]) == 0 ? 0 : -errno;
}

/* Does nothing: the guest cannot observe whether the host has written its caches to disk. */
int64_t sys_sync(struct thread *t, const uint64_t a[6])
{
    (void)t;
    (void)a;
    return 0;
}

int64_t sys_syncfs(struct thread *t, const uint64_t a[6])
{
    (void)t;
    return files_is_guest((int)a[0]) && fcntl((int)a[0], F_GETFD) >= 0 ? 0 : -EBADF;
}
