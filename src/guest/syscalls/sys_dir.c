/* System calls that create, remove, rename and link names, and that set the working directory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/file_view.h"
#include "guest/files_priv.h"
#include "guest/overlay.h"
#include "guest/syscalls/syscall.h"

/* ---- the working directory */

/* Makes `fd` the working directory and takes it over, even on failure. `special` is the guest path of a special
 * folder, or NULL. */
static int set_cwd(struct files *f, int fd, const char *special)
{
    char *path = special ? strdup(special) : NULL;
    if (special && !path) {
        close(fd);
        return -ENOMEM;
    }
    fd = files_make_private(fd);
    if (fd < 0) {
        free(path);
        return fd;
    }
    if (f->cwd >= 0)
        close(f->cwd);
    free(f->cwd_path);
    f->cwd = fd;
    f->cwd_path = path;
    return 0;
}

int files_chdir(struct files *f, int dirfd, const char *path)
{
    struct target target;
    int error = path_lookup(f, dirfd, path, LOOKUP_FOLLOW, &target);
    if (error < 0)
        return error;
    int fd = target_open(&target, O_PATH | O_DIRECTORY);
    target_release(&target);
    if (fd < 0)
        return fd;
    if (syscall(SYS_faccessat2, fd, "", X_OK, AT_EMPTY_PATH | AT_EACCESS) != 0 && errno == EACCES) {
        close(fd);
        return -EACCES;
    }
    return set_cwd(f, fd, special_tree(target.path) || target.node.kind == NODE_FOLDER ? target.path : NULL);
}

int64_t sys_chdir(struct thread *t, const uint64_t a[6])
{
    char path[PATH_MAX];
    int64_t n = guest_copy_string(t->process->memory, path, sizeof path, a[0]);
    return n < 0 ? n : files_chdir(thread_files(t), AT_FDCWD, path);
}

int64_t sys_fchdir(struct thread *t, const uint64_t a[6])
{
    struct files *f = thread_files(t);
    int dirfd = (int)a[0];
    char guest[PATH_MAX];
    if (!files_is_guest(dirfd))
        return -EBADF;
    const char *special = f->open[dirfd] ? f->open[dirfd]->path : NULL;
    int fd = openat(dirfd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (f->isolate && !special && !files_mount_of(f, fd, guest)) {
        close(fd);
        return -EACCES;
    }
    return set_cwd(f, fd, special);
}

int64_t sys_getcwd(struct thread *t, const uint64_t a[6])
{
    struct files *f = thread_files(t);
    char path[PATH_MAX];
    struct stat st;
    if (f->cwd_path) {
        strcpy(path, f->cwd_path);
    } else {
        if (fstat(f->cwd, &st) == 0 && st.st_nlink == 0)
            return -ENOENT;
        int error = files_path(f, f->cwd, path);
        if (error < 0)
            return error;
        files_show(f, path);
    }
    uint64_t bytes = strlen(path) + 1;
    if (bytes > a[1])
        return -ERANGE;
    return guest_copy_out(t->process->memory, a[0], path, bytes) < 0 ? -EFAULT : (int64_t)bytes;
}

/* ---- names */

int64_t sys_mkdirat(struct thread *t, const uint64_t a[6])
{
    struct files *f = thread_files(t);
    struct target target;
    int error = thread_lookup_create(t, (int)a[0], a[1], &target);
    if (error < 0)
        return error;
    mode_t host_umask = files_apply_umask(f);
    int64_t result = mkdirat(target.dir, target.name, (mode_t)a[2] & 01777) == 0 ? 0 : -errno;
    umask(host_umask);
    overlay_made(f, &target);
    if (result == 0)
        target_made(t->process, &target);
    target_release(&target);
    return result;
}

/* Refuses device files in an isolated run, since they would bypass isolation; otherwise the host decides. */
int64_t sys_mknodat(struct thread *t, const uint64_t a[6])
{
    struct files *f = thread_files(t);
    struct target target;
    mode_t mode = (mode_t)a[2], type = mode & S_IFMT;
    if (f->isolate && (type == S_IFCHR || type == S_IFBLK))
        return -EPERM;
    int error = thread_lookup_create(t, (int)a[0], a[1], &target);
    if (error < 0)
        return error;
    mode_t host_umask = files_apply_umask(f);
    int64_t result = -ENOENT;
    if (!target.slash)
        result = mknodat(target.dir, target.name, mode, (dev_t)(uint32_t)a[3]) == 0 ? 0 : -errno;
    umask(host_umask);
    overlay_made(f, &target);
    if (result == 0)
        target_made(t->process, &target);
    target_release(&target);
    return result;
}

/* A link into the start folder gets the host's path: it must lead there for the host as well, and after the run. */
static int link_text_to_host(const struct files *f, char text[PATH_MAX])
{
    char folder[PATH_MAX], host[PATH_MAX];
    const char *rest = path_below_start(f, text);
    if (!rest)
        return 0;
    int error = host_path(f->start, folder);
    if (error == 0 && snprintf(host, sizeof host, "%s%s", folder, rest) >= (int)sizeof host)
        error = -ENAMETOOLONG;
    if (error == 0)
        strcpy(text, host);
    return error;
}

int64_t sys_symlinkat(struct thread *t, const uint64_t a[6])
{
    struct target target;
    char text[PATH_MAX];
    int64_t n = guest_copy_string(t->process->memory, text, sizeof text, a[0]);
    if (n < 0)
        return n;
    int error = link_text_to_host(thread_files(t), text);
    if (error == 0)
        error = thread_lookup_create(t, (int)a[1], a[2], &target);
    if (error < 0)
        return error;
    int64_t result = -ENOENT;
    if (!target.slash)
        result = symlinkat(text, target.dir, target.name) == 0 ? 0 : -errno;
    overlay_made(thread_files(t), &target);
    if (result == 0)
        target_made(t->process, &target);
    target_release(&target);
    return result;
}

/* True if the target is a mount or contains one: it must not be removed or renamed. */
static bool is_busy(const struct files *f, const struct target *target)
{
    return target->path[0] != '\0' && files_is_busy(f, target->path);
}

int64_t sys_unlinkat(struct thread *t, const uint64_t a[6])
{
    struct target target;
    int error = thread_lookup_change(t, (int)a[0], a[1], LOOKUP_NAME | LOOKUP_LAYERS, &target);
    if (error < 0)
        return error;
    int64_t result = -EBUSY;
    if (!is_busy(thread_files(t), &target) && target.covered)
        result = overlay_unlink(thread_files(t), &target, (int)a[2]);
    else if (!is_busy(thread_files(t), &target))
        result = unlinkat(target.dir, target.name, (int)a[2]) == 0 ? 0 : -errno;
    if (result == 0)
        target_parent_changed(t->process, &target);
    target_release(&target);
    return result;
}

/* In an isolated run mounts behave like separate file systems, even if they are on one host file system. */
static bool crosses_mounts(const struct files *f, int from, int to)
{
    char path[PATH_MAX];
    return f->isolate && files_mount_of(f, from, path) != files_mount_of(f, to, path);
}

static int64_t link_target(const struct files *f, const struct target *from, const struct target *to)
{
    char self[32];
    int result;
    if (to->slash)
        return -ENOENT;
    if (crosses_mounts(f, from->dir, to->dir))
        return -EXDEV;
    if (from->at_flags & AT_EMPTY_PATH) {
        snprintf(self, sizeof self, "/proc/self/fd/%d", from->dir);
        result = linkat(AT_FDCWD, self, to->dir, to->name, AT_SYMLINK_FOLLOW);
    } else {
        int follow = from->at_flags & AT_SYMLINK_NOFOLLOW ? 0 : AT_SYMLINK_FOLLOW;
        result = linkat(from->dir, from->name, to->dir, to->name, follow);
    }
    return result == 0 ? 0 : -errno;
}

int64_t sys_linkat(struct thread *t, const uint64_t a[6])
{
    struct target from, to;
    int flags = (int)a[4];
    if ((flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH)) != 0)
        return -EINVAL;
    unsigned lookup = (flags & AT_SYMLINK_FOLLOW ? LOOKUP_FOLLOW : 0u) | (flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0u);
    int error = thread_lookup(t, (int)a[0], a[1], lookup, &from);
    if (error < 0)
        return error;
    int64_t result = thread_lookup_create(t, (int)a[2], a[3], &to);
    if (result == 0) {
        result = from.covered == to.covered ? overlay_lift(thread_files(t), &from, false) : -EXDEV;
        if (result == 0)
            result = link_target(thread_files(t), &from, &to);
        overlay_made(thread_files(t), &to);
        if (result == 0)
            target_parent_changed(t->process, &to);
        target_release(&to);
    }
    target_release(&from);
    return result;
}

static int64_t rename_target(struct files *f, struct target *from, struct target *to, unsigned flags)
{
    if (is_busy(f, from) || is_busy(f, to))
        return -EBUSY;
    if (from->covered != to->covered)
        return -EXDEV; /* the sysroot is a file system of its own */
    if (from->covered)
        return overlay_rename(f, from, to, flags);
    if (crosses_mounts(f, from->dir, to->dir))
        return -EXDEV;
    return renameat2(from->dir, from->name, to->dir, to->name, flags) == 0 ? 0 : -errno;
}

int64_t sys_renameat2(struct thread *t, const uint64_t a[6])
{
    struct target from, to;
    int error = thread_lookup_change(t, (int)a[0], a[1], LOOKUP_NAME | LOOKUP_LAYERS, &from);
    if (error < 0)
        return error;
    int64_t result = thread_lookup_change(t, (int)a[2], a[3], LOOKUP_NAME | LOOKUP_CREATE | LOOKUP_LAYERS, &to);
    if (result == 0) {
        result = rename_target(thread_files(t), &from, &to, (unsigned)a[4]);
        if (result == 0) {
            target_parent_changed(t->process, &from);
            target_parent_changed(t->process, &to);
        }
        target_release(&to);
    }
    target_release(&from);
    return result;
}
