#include "guest/overlay.h"

#include <dirent.h>
#include <errno.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/file_view.h"
#include "guest/files_priv.h"
#include "guest/overlay_priv.h"

/* Contents of the link that marks a name as removed. No program makes such a link. */
static const char removed_mark[] = "\001removed by the guest of cyclescope\001";

/* ---- layers */

static bool is_below(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    return strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

bool overlay_has_results(const struct files *f, const char *path)
{
    return f->results && is_below(path, f->results);
}

bool overlay_covers(const struct files *f, const char *path)
{
    if (!f->overlaid || special_tree(path) || overlay_has_results(f, path))
        return false;
    for (size_t i = 1; i < f->mount_count; i++)
        if (is_below(path, f->mounts[i].path))
            return false;
    return true;
}

int overlay_upper(struct files *f)
{
    if (f->upper < 0 && f->overlaid)
        overlay_join(f);
    return f->upper;
}

enum upper overlay_find(int folder, const char *name, struct stat *st)
{
    char text[sizeof removed_mark];
    if (fstatat(folder, name, st, AT_SYMLINK_NOFOLLOW) != 0)
        return UPPER_NONE;
    if (!S_ISLNK(st->st_mode) || st->st_size != sizeof removed_mark - 1)
        return UPPER_FOUND;
    ssize_t n = readlinkat(folder, name, text, sizeof text);
    bool marked = n == sizeof removed_mark - 1 && memcmp(text, removed_mark, (size_t)n) == 0;
    return marked ? UPPER_REMOVED : UPPER_FOUND;
}

int layer_open(int layer, const char *path, int flags)
{
    struct open_how how = {.flags = (uint64_t)flags | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    path += strspn(path, "/");
    if (layer < 0)
        return -ENOENT;
    int fd = (int)syscall(SYS_openat2, layer, *path ? path : ".", &how, sizeof how);
    return fd >= 0 ? files_make_private(fd) : -errno;
}

int overlay_open_upper(struct files *f, const char *path)
{
    return layer_open(overlay_upper(f), path, O_PATH | O_DIRECTORY);
}

int overlay_open_lower(const struct files *f, const char *path)
{
    return layer_open(f->root, path, O_PATH | O_DIRECTORY);
}

const char *path_split(const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    snprintf(folder, PATH_MAX, "%.*s", (int)(slash - path), path);
    if (folder[0] == '\0')
        strcpy(folder, "/");
    return slash + 1;
}

/* Opens the folder of a path in a layer. */
static int open_parent(int layer, const char *path, const char **name)
{
    char folder[PATH_MAX];
    *name = path_split(path, folder);
    return layer_open(layer, folder, O_PATH | O_DIRECTORY);
}

bool overlay_exists_below(const struct files *f, const char *path)
{
    const char *name;
    struct stat st;
    int folder = open_parent(f->root, path, &name);
    if (folder < 0)
        return false;
    bool found = fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    close(folder);
    return found;
}

/* ---- copies */

/* A copy has the inode number and the times of its original. Of a folder, the host's time changes with its entries. */
static void note_copy(struct files *f, int below, int above, const char *name)
{
    struct stat from, to;
    if (fstatat(below, name, &from, AT_SYMLINK_NOFOLLOW) != 0 || fstatat(above, name, &to, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    if (S_ISDIR(from.st_mode))
        file_set_times(f->process, &from, (struct timespec[2]){{0, UTIME_OMIT}, {0, UTIME_OMIT}});
    file_moved(f->process, &from, &to);
}

/* Makes `folder` and the folders above it in the upper layer, with the modes of the lower ones. 0 or a negative errno.
 */
static int make_folders(struct files *f, const char *folder)
{
    char part[PATH_MAX];
    for (const char *end = folder; *end != '\0';) {
        end += 1 + strcspn(end + 1, "/");
        snprintf(part, sizeof part, "%.*s", (int)(end - folder), folder);
        if (strcmp(part, "/") == 0)
            continue;
        const char *name;
        struct stat st;
        mode_t mode = 0755;
        int below = open_parent(f->root, part, &name), above = open_parent(f->upper, part, &name);
        if (below >= 0 && fstatat(below, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
            mode = st.st_mode & 07777;
        int error = above < 0 ? above : mkdirat(above, name, 0700) == 0 ? 0 : errno == EEXIST ? 1 : -errno;
        if (error == 0)
            fchmodat(above, name, mode | S_IRWXU, 0); /* this user must be able to make files in it */
        if (error == 0 && below >= 0)
            note_copy(f, below, above, name);
        if (below >= 0)
            close(below);
        if (above >= 0)
            close(above);
        if (error < 0)
            return error;
    }
    return 0;
}

int layer_make_parent(struct files *f, const char *path)
{
    char folder[PATH_MAX];
    const char *name;
    path_split(path, folder);
    int error = overlay_make(f);
    if (error == 0)
        error = make_folders(f, folder);
    return error < 0 ? error : open_parent(f->upper, path, &name);
}

static int copy_contents(int from, int to)
{
    for (;;) {
        ssize_t n = sendfile(to, from, NULL, 1 << 30);
        if (n <= 0)
            return n == 0 ? 0 : -errno;
    }
}

/* Copies a plain file to a name in the upper layer that appears when the copy is complete. */
static int copy_plain(int below, const char *name, int above, const struct stat *st, bool empty)
{
    char part[NAME_MAX + 1];
    int from = openat(below, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (from < 0)
        return -errno;
    snprintf(part, sizeof part, "\001copy-%d", getpid());
    int to = openat(above, part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int error = to < 0 ? -errno : empty ? 0 : copy_contents(from, to);
    close(from);
    if (to < 0)
        return error;
    if (error == 0 &&
        (fchmod(to, st->st_mode & 07777) != 0 || futimens(to, (struct timespec[2]){st->st_atim, st->st_mtim}) != 0 ||
         renameat(above, part, above, name) != 0))
        error = -errno;
    close(to);
    if (error < 0)
        unlinkat(above, part, 0);
    return error;
}

static int copy_entry(int below, const char *name, int above, const struct stat *st, bool empty)
{
    char text[PATH_MAX];
    ssize_t n;
    switch (st->st_mode & S_IFMT) {
    case S_IFREG: return copy_plain(below, name, above, st, empty);
    case S_IFDIR:
        if (mkdirat(above, name, 0700) != 0)
            return errno == EEXIST ? 0 : -errno;
        fchmodat(above, name, (st->st_mode & 07777) | S_IRWXU, 0);
        break;
    case S_IFLNK:
        n = readlinkat(below, name, text, sizeof text - 1);
        text[n > 0 ? n : 0] = '\0';
        if (n <= 0 || symlinkat(text, above, name) != 0)
            return -errno;
        break;
    default:
        if (mknodat(above, name, st->st_mode, st->st_rdev) != 0)
            return -errno;
    }
    utimensat(above, name, (struct timespec[2]){st->st_atim, st->st_mtim}, AT_SYMLINK_NOFOLLOW);
    return 0;
}

int layer_copy_up(struct files *f, const char *path, bool empty)
{
    const char *name;
    struct stat st;
    bool copied = false;
    if (strcmp(path, "/") == 0)
        return overlay_make(f);
    int above = layer_make_parent(f, path), below = open_parent(f->root, path, &name), error = 0;
    if (above < 0)
        error = above;
    else if (overlay_find(above, name, &st) == UPPER_NONE && below < 0)
        error = below;
    else if ((copied = overlay_find(above, name, &st) == UPPER_NONE))
        error =
            fstatat(below, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? copy_entry(below, name, above, &st, empty) : -errno;
    if (error == 0 && above >= 0 && below >= 0 && copied)
        note_copy(f, below, above, name);
    if (above >= 0)
        close(above);
    if (below >= 0)
        close(below);
    return error;
}

/* ---- targets */

/* Makes the target point to its path in the upper layer, of which the folder exists. */
static int point_up(struct files *f, struct target *target)
{
    const char *name;
    bool root = strcmp(target->path, "/") == 0;
    int folder = root ? layer_open(f->upper, "/", O_PATH | O_DIRECTORY) : open_parent(f->upper, target->path, &name);
    if (folder < 0)
        return folder;
    target_release(target);
    target->dir = folder;
    target->owned = target->upper = true;
    target->at_flags = AT_SYMLINK_NOFOLLOW;
    snprintf(target->name, sizeof target->name, "%s", root ? "." : name);
    return 0;
}

static bool stays(const struct files *f, const struct target *target)
{
    return !target->covered || target->upper || (f->process && f->process->copy);
}

int overlay_lift(struct files *f, struct target *target, bool empty)
{
    if (stays(f, target))
        return 0;
    int error = layer_copy_up(f, target->path, empty);
    return error < 0 ? error : point_up(f, target);
}

int overlay_place(struct files *f, struct target *target)
{
    const char *name;
    struct stat st;
    if (stays(f, target))
        return 0;
    int folder = layer_make_parent(f, target->path);
    if (folder < 0)
        return folder;
    close(folder);
    int error = point_up(f, target);
    if (error < 0)
        return error;
    name = target->name;
    if (overlay_find(target->dir, name, &st) == UPPER_REMOVED)
        unlinkat(target->dir, name, 0);
    return 0;
}

int layer_mark_removed(struct files *f, const char *path)
{
    char folder[PATH_MAX];
    const char *name = path_split(path, folder);
    struct stat st;
    if (!overlay_exists_below(f, path))
        return 0;
    int above = layer_make_parent(f, path);
    if (above < 0)
        return above;
    int error = 0;
    if (overlay_find(above, name, &st) == UPPER_NONE && symlinkat(removed_mark, above, name) != 0)
        error = -errno;
    close(above);
    return error;
}

void overlay_made(struct files *f, const struct target *target)
{
    struct stat st;
    if (!target->covered || !target->upper)
        return;
    if (overlay_find(target->dir, target->name, &st) == UPPER_NONE)
        (void)!layer_mark_removed(f, target->path);
    else if (S_ISDIR(st.st_mode))
        (void)!layer_hide(f, target->path);
}

int overlay_lift_descriptor(struct files *f, int fd)
{
    char path[PATH_MAX], host[PATH_MAX], upper[PATH_MAX];
    int flags = fcntl(fd, F_GETFL);
    if (!f->overlaid || (f->process && f->process->copy) || flags < 0)
        return 0;
    if (files_mount_of(f, fd, path) != &f->mounts[0] || !overlay_covers(f, path) || host_path(fd, host) < 0)
        return 0;
    if (f->upper >= 0 && host_path(f->upper, upper) == 0 && is_below(host, upper))
        return 0;
    int error = layer_copy_up(f, path, false);
    if (error < 0)
        return error;
    int own = layer_open(f->upper, path, flags & (O_ACCMODE | O_APPEND | O_NONBLOCK | O_DIRECTORY | O_PATH));
    if (own < 0)
        return own;
    lseek(own, lseek(fd, 0, SEEK_CUR), SEEK_SET);
    dup3(own, fd, fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0);
    close(own);
    return 0;
}

int overlay_may_write(const struct files *f, const struct stat *st)
{
    bool root = f->process && f->process->config.host_user && geteuid() == 0;
    return root || (st->st_mode & S_IWUSR) ? 0 : -EACCES;
}
