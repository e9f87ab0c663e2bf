/* Removing and renaming names in the layers of the sysroot. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/files_priv.h"
#include "guest/overlay_priv.h"

/* Opens a folder of a layer for reading its entries. NULL with a negative errno in `*error` if it fails. */
static DIR *open_entries(int layer, const char *path, int *error)
{
    int fd = layer_open(layer, path, O_RDONLY | O_DIRECTORY);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    *error = fd < 0 ? fd : entries ? 0 : -ENOMEM;
    if (fd >= 0 && !entries)
        close(fd);
    return entries;
}

static bool is_dot(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

int overlay_list(struct files *f, const char *path, overlay_add_fn *add, void *context)
{
    int error;
    struct stat st;
    DIR *entries = open_entries(overlay_upper(f), path, &error);
    if (!entries)
        return error == -ENOENT || error == -ENOTDIR ? 0 : error;
    for (const struct dirent *d; (d = readdir(entries)) != NULL;) {
        bool removed = d->d_type == DT_LNK && overlay_find(dirfd(entries), d->d_name, &st) == UPPER_REMOVED;
        add(context, d->d_name, d->d_ino, d->d_type, removed);
    }
    closedir(entries);
    return 0;
}

/* What layer_each does with an entry of a lower folder; `path` is that of the entry. 0 or a negative errno. */
typedef int layer_fn(struct files *f, const char *path, const struct stat *st);

/* Calls `act` for each entry that the lower layer has in a folder. */
static int layer_each(struct files *f, const char *folder, layer_fn *act)
{
    int error;
    char path[PATH_MAX];
    struct stat st;
    DIR *entries = open_entries(f->root, folder, &error);
    if (!entries)
        return error == -ENOENT || error == -ENOTDIR ? 0 : error;
    for (const struct dirent *d; error == 0 && (d = readdir(entries)) != NULL;) {
        if (is_dot(d->d_name) || fstatat(dirfd(entries), d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        error = path_join(path, folder, d->d_name);
        if (error == 0 && overlay_covers(f, path))
            error = act(f, path, &st);
    }
    closedir(entries);
    return error;
}

static enum upper find_upper(struct files *f, const char *path, struct stat *st)
{
    char folder[PATH_MAX];
    const char *name = path_split(path, folder);
    int fd = overlay_open_upper(f, folder);
    if (fd < 0)
        return UPPER_NONE;
    enum upper found = overlay_find(fd, name, st);
    close(fd);
    return found;
}

static int hide_one(struct files *f, const char *path, const struct stat *st)
{
    struct stat above;
    enum upper found = find_upper(f, path, &above);
    if (found == UPPER_NONE)
        return layer_mark_removed(f, path);
    return found == UPPER_FOUND && S_ISDIR(above.st_mode) && S_ISDIR(st->st_mode) ? layer_hide(f, path) : 0;
}

int layer_hide(struct files *f, const char *folder)
{
    return layer_each(f, folder, hide_one);
}

/* Copies a file, or a folder with all that it contains, to the upper layer. */
static int copy_whole(struct files *f, const char *path, const struct stat *st)
{
    struct stat above;
    enum upper found = find_upper(f, path, &above);
    if (found == UPPER_REMOVED)
        return 0;
    int error = found == UPPER_NONE ? layer_copy_up(f, path, false) : 0;
    bool folder = S_ISDIR(st->st_mode) && (found == UPPER_NONE || S_ISDIR(above.st_mode));
    return error == 0 && folder ? layer_each(f, path, copy_whole) : error;
}

/* ---- removing */

struct emptiness {
    struct files *f;
    const char *folder;
    bool empty;
};

static void note_entry(void *context, const char *name, uint64_t inode, unsigned char type, bool removed)
{
    struct emptiness *e = context;
    (void)inode, (void)type;
    e->empty = e->empty && (removed || is_dot(name));
}

static int note_lower(struct files *f, const char *path, const struct stat *st)
{
    struct stat above;
    (void)st;
    return find_upper(f, path, &above) == UPPER_NONE ? -ENOTEMPTY : 0;
}

/* 0 if a folder has no entry in the merged view, else -ENOTEMPTY. */
static int check_empty(struct files *f, const char *path)
{
    struct emptiness e = {.f = f, .folder = path, .empty = true};
    int error = overlay_list(f, path, note_entry, &e);
    if (error == 0 && !e.empty)
        return -ENOTEMPTY;
    return error < 0 ? error : layer_each(f, path, note_lower);
}

/* Removes the marks in a folder of the upper layer that is otherwise empty. */
static void drop_marks(struct files *f, const char *path)
{
    int error;
    struct stat st;
    DIR *entries = open_entries(f->upper, path, &error);
    for (const struct dirent *d; entries && (d = readdir(entries)) != NULL;)
        if (!is_dot(d->d_name) && overlay_find(dirfd(entries), d->d_name, &st) == UPPER_REMOVED)
            unlinkat(dirfd(entries), d->d_name, 0);
    if (entries)
        closedir(entries);
}

int overlay_unlink(struct files *f, struct target *target, int flags)
{
    struct stat st;
    if (fstatat(target->dir, target->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return -errno;
    if (target->slash && !S_ISDIR(st.st_mode))
        return -ENOTDIR;
    if (flags & AT_REMOVEDIR) {
        int error = S_ISDIR(st.st_mode) ? check_empty(f, target->path) : -ENOTDIR;
        if (error < 0)
            return error;
    } else if (S_ISDIR(st.st_mode)) {
        return -EISDIR;
    }
    if (target->upper) {
        if (flags & AT_REMOVEDIR)
            drop_marks(f, target->path);
        if (unlinkat(target->dir, target->name, flags) != 0)
            return -errno;
    }
    return layer_mark_removed(f, target->path);
}

/* ---- renaming */

/* Checks what exists at the new name: 0, or a negative errno. */
static int check_replaced(struct files *f, const struct target *to, const struct stat *from, unsigned flags)
{
    struct stat st;
    if (to->missing)
        return flags & RENAME_EXCHANGE ? -ENOENT : to->slash && !S_ISDIR(from->st_mode) ? -ENOTDIR : 0;
    if (fstatat(to->dir, to->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return -errno;
    if (flags & RENAME_NOREPLACE)
        return -EEXIST;
    if (flags & RENAME_EXCHANGE)
        return 0;
    if (S_ISDIR(from->st_mode) && !S_ISDIR(st.st_mode))
        return -ENOTDIR;
    if (!S_ISDIR(from->st_mode) && S_ISDIR(st.st_mode))
        return -EISDIR;
    return S_ISDIR(st.st_mode) ? check_empty(f, to->path) : 0;
}

/* Copies what a target names to the upper layer, with all that it contains. */
static int lift_whole(struct files *f, struct target *target)
{
    struct stat st;
    if (fstatat(target->dir, target->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return -errno;
    int error = copy_whole(f, target->path, &st);
    return error < 0 ? error : overlay_lift(f, target, false);
}

/* A folder of the upper layer has moved to `path`: the lower folder of that path, if any, is not merged with it. */
static int hide_under(struct files *f, const char *path)
{
    struct stat st;
    return find_upper(f, path, &st) == UPPER_FOUND && S_ISDIR(st.st_mode) ? layer_hide(f, path) : 0;
}

int overlay_rename(struct files *f, struct target *from, struct target *to, unsigned flags)
{
    struct stat st, old;
    size_t n = strlen(from->path);
    if ((flags & ~(unsigned)(RENAME_NOREPLACE | RENAME_EXCHANGE)) != 0)
        return -EINVAL;
    if (fstatat(from->dir, from->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return -errno;
    if (S_ISDIR(st.st_mode) && strncmp(to->path, from->path, n) == 0 && to->path[n] == '/')
        return -EINVAL; /* into itself */
    int error = check_replaced(f, to, &st, flags);
    if (error < 0 || strcmp(from->path, to->path) == 0)
        return error;
    error = lift_whole(f, from);
    if (error == 0)
        error = flags & RENAME_EXCHANGE ? lift_whole(f, to) : overlay_place(f, to);
    if (error < 0)
        return error;
    if (!(flags & RENAME_EXCHANGE) && overlay_find(to->dir, to->name, &old) == UPPER_FOUND && S_ISDIR(old.st_mode))
        drop_marks(f, to->path);
    if (renameat2(from->dir, from->name, to->dir, to->name, flags & RENAME_EXCHANGE) != 0)
        return -errno;
    error = hide_under(f, to->path);
    if (error == 0)
        error = flags & RENAME_EXCHANGE ? hide_under(f, from->path) : layer_mark_removed(f, from->path);
    return error;
}
