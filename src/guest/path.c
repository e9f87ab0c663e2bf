#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "guest/overlay.h"
#include "guest/path_priv.h"

/* A walk in progress, one step per component of the path. Invariant: `fd` is the folder that the guest knows as `path`,
 * in the sysroot or in a bind. The walk reached it from a mount by names of folders only; the host followed no link. */
struct walk {
    struct files *f;
    unsigned flags;   /* LOOKUP_ flags */
    unsigned links;   /* number of symbolic links followed so far */
    int fd;           /* current folder */
    bool owned;       /* the walk closes `fd` */
    int upper;        /* the same folder in the upper layer of the sysroot (overlay.h); -1: it has no such folder */
    bool upper_owned; /* the walk closes `upper` */
    bool synthetic;   /* the current folder exists only for the guest (/proc, parents of binds); `fd` stands for it */
    char path[PATH_MAX]; /* guest path of the current folder: absolute, without links, `.` or `..` */
    char rest[PATH_MAX]; /* rest of the path, starting with the next name or with slashes */
};

/* Result of a step, unless it is a negative errno: the walk continues, or the target is set. */
enum { STEP_ON = 1, STEP_DONE = 0 };

/* ---- paths that the emulator walks: with a sysroot, or isolated */

static void walk_release(struct walk *w)
{
    if (w->owned)
        close(w->fd);
    if (w->upper_owned)
        close(w->upper);
    w->owned = w->upper_owned = false;
}

/* Makes `fd` with guest path `path` the current folder. */
static void enter(struct walk *w, int fd, bool owned, const char *path)
{
    walk_release(w);
    w->fd = fd;
    w->owned = owned;
    w->upper = fd == w->f->root && fd >= 0 ? overlay_upper(w->f) : -1;
    w->synthetic = fd == w->f->empty;
    if (path != w->path)
        strcpy(w->path, path);
}

/* Inserts `text` before the rest of the path. If `text` is absolute, the walk continues from the root. */
static int push(struct walk *w, const char *text)
{
    size_t n = strlen(text), m = strlen(w->rest);
    if (n + m >= sizeof w->rest)
        return -ENAMETOOLONG;
    memmove(w->rest + n, w->rest, m + 1);
    memcpy(w->rest, text, n);
    if (text[0] == '/')
        enter(w, w->f->root, false, "/");
    return STEP_ON;
}

static int push_link(struct walk *w, const char *text)
{
    if (++w->links > LINKS_MAX)
        return -ELOOP;
    return text[0] == '\0' ? -ENOENT : push(w, text);
}

/* Handles `..`: removes the last name of the guest path and walks it from the root. The host's `..` could lead out of
 * the mount. */
static int go_up(struct walk *w)
{
    char parent[PATH_MAX];
    int error = path_join(parent, w->path, "..");
    return error < 0 ? error : push(w, parent);
}

/* Removes the next name from the rest of the path. Returns 1, or 0 if there is no further name, or -ENAMETOOLONG. */
static int take_name(struct walk *w, char name[NAME_MAX + 1])
{
    size_t slashes = strspn(w->rest, "/"), n = strcspn(w->rest + slashes, "/");
    if (n > NAME_MAX)
        return -ENAMETOOLONG;
    memcpy(name, w->rest + slashes, n);
    name[n] = '\0';
    memmove(w->rest, w->rest + slashes + n, strlen(w->rest + slashes + n) + 1);
    return n > 0;
}

/* Ends the walk with `name` in the current folder as the target, in the upper layer if `upper`. */
static int finish(struct walk *w, const char *name, const char *path, bool upper, struct target *out)
{
    path_target_set(out, upper ? w->upper : w->fd, name, AT_SYMLINK_NOFOLLOW);
    out->owned = upper ? w->upper_owned : w->owned;
    if (upper)
        w->upper_owned = false;
    else
        w->owned = false;
    out->covered = !w->synthetic && overlay_covers(w->f, path);
    out->upper = upper;
    out->slash = w->rest[0] == '/';
    strcpy(out->path, path);
    if (w->synthetic)
        out->node.kind = NODE_FOLDER;
    return STEP_DONE;
}

/* Writes the guest path of the folder `dirfd` (or AT_FDCWD). -EACCES if the folder lies in no mount. */
static int place_of(const struct files *f, int dirfd, char path[PATH_MAX])
{
    const char *special = path_special_folder(f, dirfd);
    int fd = dirfd == AT_FDCWD ? f->cwd : dirfd;
    if (special) {
        strcpy(path, special);
        return 0;
    }
    if (files_mount_of(f, fd, path))
        return 0;
    return fcntl(fd, F_GETFD) < 0 ? -EBADF : -EACCES;
}

/* Finds the current folder, which the walk has not reached by its path, in the upper layer. */
static void walk_find_upper(struct walk *w)
{
    if (w->upper >= 0 || !overlay_covers(w->f, w->path) || overlay_upper(w->f) < 0)
        return;
    w->upper = overlay_open_upper(w->f, w->path);
    w->upper_owned = w->upper >= 0;
}

/* A step through /proc/self/fd/N: enters a folder; any other file is the target. */
static int step_descriptor(struct walk *w, const struct node *node, const char *path, bool last, struct target *out)
{
    struct stat st;
    char place[PATH_MAX];
    if (fstat(node->fd, &st) != 0)
        return -ENOENT;
    if (!S_ISDIR(st.st_mode))
        return last ? path_target_node(w->f, node, path, LOOKUP_FOLLOW, out) : -ENOTDIR;
    int error = place_of(w->f, node->fd, place);
    if (error < 0)
        return error;
    enter(w, node->fd, false, place);
    walk_find_upper(w);
    w->synthetic = path_special_folder(w->f, node->fd) != NULL;
    return STEP_ON;
}

/* A step to a special file. Called only when isolated. */
static int step_special(struct walk *w, const struct node *node, const char *path, bool last, bool follow,
                        struct target *out)
{
    char text[PATH_MAX];
    switch (node->kind) {
    case NODE_MISSING: return -ENOENT;
    case NODE_FOLDER: enter(w, w->f->empty, false, path); return STEP_ON;
    case NODE_LINK: {
        if (last && !follow)
            return path_target_node(w->f, node, path, 0, out);
        int error = special_link(w->f, node, text);
        return error < 0 ? error : push_link(w, text);
    }
    case NODE_DESCRIPTOR:
        if (last && !follow)
            return path_target_node(w->f, node, path, 0, out);
        return step_descriptor(w, node, path, last, out);
    default: return last ? path_target_node(w->f, node, path, LOOKUP_FOLLOW, out) : -ENOTDIR;
    }
}

/* Folders of the system. Those that the sysroot has are the guest's alone: what the host has there is another system.
 */
static bool is_system(const char *path)
{
    static const char *const folders[] = {"/bin", "/boot", "/etc", "/lib", "/lib64", "/opt", "/sbin", "/usr", "/var"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t n = strlen(folders[i]);
        if (strncmp(path, folders[i], n) == 0 && path[n] == '/')
            return strncmp(path, "/var/tmp/", 9) != 0;
    }
    return false;
}

/* The sysroot has no file `path`, and the guest is not isolated: continues with the host's file of the same path. If
 * the file may be created, and the host has no such folder, or the run began in it, the target is a new file in the
 * sysroot. */
static int leave_to_host(struct walk *w, const char *name, const char *path, bool last, struct target *out)
{
    struct stat st;
    bool start = path_below_start(w->f, path) != NULL, create = last && (w->flags & LOOKUP_CREATE);
    bool own = overlay_has_results(w->f, path);
    if (!start && create && (own || stat(w->path, &st) != 0 || !S_ISDIR(st.st_mode))) {
        out->missing = true;
        return finish(w, name, path, false, out);
    }
    char full[PATH_MAX];
    if (snprintf(full, sizeof full, "%s%s", path, w->rest) >= (int)sizeof full)
        return -ENAMETOOLONG;
    return path_lookup_host(w->f, AT_FDCWD, full, w->flags, w->links, out);
}

/* The current folder has no entry `name`. */
static int step_missing(struct walk *w, const char *name, const char *path, bool last, struct target *out)
{
    if (!w->f->isolate && !is_system(path))
        return leave_to_host(w, name, path, last, out);
    if (files_is_busy(w->f, path) || strcmp(path, "/dev") == 0) {
        enter(w, w->f->empty, false, path);
        return STEP_ON;
    }
    if (!last || !(w->flags & LOOKUP_CREATE))
        return -ENOENT;
    out->missing = true;
    return finish(w, name, path, false, out);
}

/* The guest has removed the entry `name` of the sysroot: the host's file of that path does not appear instead. */
static int step_removed(struct walk *w, const char *name, const char *path, bool last, struct target *out)
{
    if (!last || !(w->flags & LOOKUP_CREATE))
        return -ENOENT;
    out->missing = true;
    return finish(w, name, path, false, out);
}

/* Enters the folder `name` of the current folder: in both layers, or in the one that has it. */
static int enter_folder(struct walk *w, const char *name, const char *path)
{
    const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int upper = w->upper >= 0 ? openat(w->upper, name, flags) : -1;
    int fd = openat(w->fd, name, flags), code = errno;
    if (fd < 0 && upper >= 0)
        fd = fcntl(upper, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) {
        if (upper >= 0)
            close(upper);
        return -code;
    }
    enter(w, fd, true, path);
    w->upper = upper;
    w->upper_owned = upper >= 0;
    return STEP_ON;
}

static const struct mount *mount_at(const struct files *f, const char *path)
{
    for (size_t i = 0; i < f->mount_count; i++)
        if (strcmp(f->mounts[i].path, path) == 0)
            return &f->mounts[i];
    return NULL;
}

/* Walks one component. Returns STEP_ON, or STEP_DONE with `out` set, or a negative errno. */
static int step(struct walk *w, const char *name, struct target *out)
{
    struct files *f = w->f;
    char path[PATH_MAX], text[PATH_MAX];
    int error = path_join(path, w->path, name);
    if (error < 0)
        return error;
    bool last = w->rest[strspn(w->rest, "/")] == '\0';
    bool follow = (w->flags & LOOKUP_FOLLOW) || (w->rest[0] == '/' && !(w->flags & LOOKUP_NAME));
    if (special_tree(path)) {
        if (!f->isolate)
            return leave_to_host(w, name, path, last, out);
        struct node node = special_find(f, path);
        if (node.kind != NODE_NONE)
            return step_special(w, &node, path, last, follow, out);
    }
    if (path_below_start(f, path))
        return leave_to_host(w, name, path, last, out);
    const struct mount *mount = mount_at(f, path);
    if (mount) {
        enter(w, mount->fd, false, path);
        return STEP_ON;
    }
    struct stat st;
    enum upper found = w->upper >= 0 && overlay_covers(f, path) ? overlay_find(w->upper, name, &st) : UPPER_NONE;
    if (found == UPPER_REMOVED)
        return step_removed(w, name, path, last, out);
    if (found == UPPER_NONE && fstatat(w->fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? step_missing(w, name, path, last, out) : -errno;
    if (S_ISLNK(st.st_mode) && (!last || follow)) {
        ssize_t n = readlinkat(found == UPPER_FOUND ? w->upper : w->fd, name, text, sizeof text - 1);
        if (n < 0)
            return -errno;
        text[n] = '\0';
        return push_link(w, text);
    }
    if (!S_ISDIR(st.st_mode) && (!last || w->rest[0] == '/'))
        return -ENOTDIR;
    return last ? finish(w, name, path, found == UPPER_FOUND, out) : enter_folder(w, name, path);
}

static int walk(struct walk *w, struct target *out)
{
    for (;;) {
        char name[NAME_MAX + 1];
        int found = take_name(w, name);
        if (found < 0)
            return found;
        if (!found)
            return finish(w, ".", w->path, w->upper >= 0, out);
        int result = STEP_ON;
        if (strcmp(name, "..") == 0)
            result = go_up(w);
        else if (strcmp(name, ".") != 0)
            result = step(w, name, out);
        if (result != STEP_ON)
            return result;
    }
}

/* A walk that starts at a descriptor of either layer: finds the folder in both. */
static void walk_use_layers(struct walk *w)
{
    if (!overlay_covers(w->f, w->path) || overlay_upper(w->f) < 0)
        return;
    walk_find_upper(w);
    int lower = overlay_open_lower(w->f, w->path);
    if (lower < 0)
        return; /* the folder is only in the upper layer, and `fd` is it */
    w->fd = lower;
    w->owned = true;
}

/* Sets the folder at which the walk starts. Returns -EXDEV if a relative path starts at a folder outside of the sysroot
 * and the guest is not isolated: then the host resolves the path. */
static int walk_start(struct walk *w, int dirfd)
{
    struct files *f = w->f;
    if (w->rest[0] == '/') {
        enter(w, f->root, false, "/");
        return 0;
    }
    if (dirfd != AT_FDCWD && !files_is_guest(dirfd))
        return -EBADF;
    int error = place_of(f, dirfd, w->path);
    if (!f->isolate && (error == -EACCES || path_special_folder(f, dirfd)))
        return -EXDEV;
    w->fd = dirfd == AT_FDCWD ? f->cwd : dirfd;
    w->synthetic = path_special_folder(f, dirfd) != NULL;
    if (error == 0 && !w->synthetic)
        walk_use_layers(w);
    return error;
}

/* ---- entry points */

static int lookup(struct files *f, int dirfd, const char *path, unsigned flags, unsigned links, struct target *out)
{
    if (links > LINKS_MAX)
        return -ELOOP;
    if (f->root < 0)
        return path_lookup_host(f, dirfd, path, flags, links, out);
    struct walk w = {.f = f, .flags = flags, .links = links, .fd = -1, .upper = -1};
    strcpy(w.rest, path);
    int error = walk_start(&w, dirfd);
    if (error == -EXDEV)
        return path_lookup_host(f, dirfd, path, flags, links, out);
    if (error == 0)
        error = walk(&w, out);
    walk_release(&w);
    return error;
}

int path_lookup_again(struct files *f, const char *path, unsigned flags, unsigned links, struct target *out)
{
    return lookup(f, AT_FDCWD, path, flags, links, out);
}

int path_lookup(struct files *f, int dirfd, const char *path, unsigned flags, struct target *out)
{
    out->dir = -1;
    out->owned = out->slash = out->missing = out->covered = out->upper = false;
    out->at_flags = 0;
    out->node = (struct node){.kind = NODE_NONE};
    out->name[0] = out->path[0] = '\0';
    if (path[0] == '\0')
        return flags & LOOKUP_EMPTY ? path_target_descriptor(f, dirfd, out) : -ENOENT;
    if (strlen(path) >= PATH_MAX)
        return -ENAMETOOLONG;
    int error = lookup(f, dirfd, path, flags, 0, out);
    if (error == 0 && out->owned && files_is_guest(out->dir)) {
        /* Move `dir` out of the guest's numbers: a file opened in it must get the guest's lowest free number. */
        out->dir = files_make_private(out->dir);
        if (out->dir < 0) {
            out->owned = false;
            error = -ENFILE;
        }
    }
    if (error < 0)
        target_release(out);
    return error;
}
