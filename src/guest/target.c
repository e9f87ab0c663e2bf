/* Operations on the result of a path lookup: opening it, and checking whether the guest may change it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest/files_priv.h"
#include "guest/overlay.h"

void target_release(struct target *target)
{
    if (target->owned)
        close(target->dir);
    target->owned = false;
}

/* The N of a path that names descriptor N: /dev/stdout, /dev/fd/N; -1 for other paths. */
static int named_descriptor(const char *path)
{
    static const char *const names[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
    for (int i = 0; i < 3; i++)
        if (strcmp(path, names[i]) == 0)
            return i;
    if (strncmp(path, "/dev/fd/", 8) != 0 || path[8] < '0' || path[8] > '9')
        return -1;
    char *end;
    long fd = strtol(path + 8, &end, 10);
    return *end == '\0' && fd < FD_PRIVATE ? (int)fd : -1;
}

int target_standard(const struct files *f, const struct target *target)
{
    int fd = target->at_flags & AT_EMPTY_PATH ? target->dir : named_descriptor(target->path);
    return files_is_guest(fd) ? f->standard[fd] : 0;
}

int target_open(const struct target *target, int flags)
{
    char self[32];
    int fd;
    flags |= O_CLOEXEC | O_NOCTTY;
    if (target->at_flags & AT_EMPTY_PATH) {
        snprintf(self, sizeof self, "/proc/self/fd/%d", target->dir);
        fd = open(self, flags);
    } else {
        fd = openat(target->dir, target->name, flags | (target->at_flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0));
    }
    return fd >= 0 ? fd : -errno;
}

int target_may_change(const struct files *f, const struct target *target)
{
    if (target->node.kind == NODE_TEXT || target->node.kind == NODE_LINK)
        return -EPERM;
    if (!f->isolate)
        return 0;
    if (target->at_flags & AT_EMPTY_PATH)
        return files_may_change(f, target->dir);
    if (target->node.kind != NODE_NONE)
        return target->node.kind == NODE_FOLDER ? -EROFS : -EPERM;
    int error = files_may_change(f, target->dir);
    if (error < 0 || target->missing)
        return error;
    /* Check the file itself too: the sysroot may contain a bound folder, so a path that leads through the sysroot may
     * end in a read-only bind. */
    int fd = target_open(target, O_PATH);
    if (fd < 0)
        return fd;
    error = files_may_change(f, fd);
    close(fd);
    return error;
}

int path_lookup_change(struct files *f, int dirfd, const char *path, unsigned flags, struct target *out)
{
    int error = path_lookup(f, dirfd, path, flags, out);
    if (error < 0)
        return error;
    error = target_may_change(f, out);
    if (error == 0 && !(flags & LOOKUP_LAYERS))
        error = overlay_lift(f, out, false);
    if (error < 0)
        target_release(out);
    return error;
}

int path_lookup_create(struct files *f, int dirfd, const char *path, struct target *out)
{
    int error = path_lookup(f, dirfd, path, LOOKUP_CREATE | LOOKUP_NAME, out);
    if (error < 0)
        return error;
    if (f->isolate || out->covered)
        error = out->missing ? target_may_change(f, out) : -EEXIST;
    if (error == 0)
        error = overlay_place(f, out);
    if (error < 0)
        target_release(out);
    return error;
}

/* Copies a path from guest memory. With LOOKUP_EMPTY a null pointer is an empty path, as in Linux since 6.11. */
static int path_in(struct thread *t, uint64_t addr, unsigned flags, char path[PATH_MAX])
{
    path[0] = '\0';
    if (addr == 0 && (flags & LOOKUP_EMPTY))
        return 0;
    int64_t n = guest_copy_string(t->process->memory, path, PATH_MAX, addr);
    return n < 0 ? (int)n : 0;
}

int thread_lookup(struct thread *t, int dirfd, uint64_t path_addr, unsigned flags, struct target *out)
{
    char path[PATH_MAX];
    int error = path_in(t, path_addr, flags, path);
    return error < 0 ? error : path_lookup(thread_files(t), dirfd, path, flags, out);
}

int thread_lookup_change(struct thread *t, int dirfd, uint64_t path_addr, unsigned flags, struct target *out)
{
    char path[PATH_MAX];
    int error = path_in(t, path_addr, flags, path);
    return error < 0 ? error : path_lookup_change(thread_files(t), dirfd, path, flags, out);
}

int thread_lookup_create(struct thread *t, int dirfd, uint64_t path_addr, struct target *out)
{
    char path[PATH_MAX];
    int error = path_in(t, path_addr, 0, path);
    return error < 0 ? error : path_lookup_create(thread_files(t), dirfd, path, out);
}
