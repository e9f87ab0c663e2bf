/* Paths that the host resolves, and special files (special.h). */
#include <errno.h>
#include <string.h>

#include "guest/path_priv.h"

int path_join(char out[PATH_MAX], const char *folder, const char *path)
{
    size_t used = 0;
    const char *parts[2] = {path[0] == '/' ? "" : folder, path};
    for (int i = 0; i < 2; i++) {
        for (const char *p = parts[i]; *p != '\0';) {
            size_t n = strcspn(p, "/");
            if (n == 2 && p[0] == '.' && p[1] == '.') {
                while (used > 0 && out[--used] != '/')
                    ;
            } else if (n > 0 && !(n == 1 && p[0] == '.')) {
                if (used + 1 + n >= PATH_MAX)
                    return -ENAMETOOLONG;
                out[used++] = '/';
                memcpy(out + used, p, n);
                used += n;
            }
            p += n + (p[n] == '/');
        }
    }
    if (used == 0)
        out[used++] = '/';
    out[used] = '\0';
    return 0;
}

/* ---- targets */

void path_target_set(struct target *out, int dir, const char *name, int at_flags)
{
    out->dir = dir;
    out->at_flags = at_flags;
    snprintf(out->name, sizeof out->name, "%s", name);
}

int path_target_descriptor(const struct files *f, int fd, struct target *out)
{
    if (fd != AT_FDCWD && !files_is_guest(fd))
        return -EBADF;
    path_target_set(out, fd == AT_FDCWD ? f->cwd : fd, "", AT_EMPTY_PATH);
    return 0;
}

int path_target_node(struct files *f, const struct node *node, const char *path, unsigned flags, struct target *out)
{
    char host[PATH_MAX];
    int error = special_host_path(f, path, host);
    if (error < 0)
        return error;
    out->node = *node;
    strcpy(out->path, path);
    switch (node->kind) {
    case NODE_MISSING: return -ENOENT;
    case NODE_TEXT:
        out->dir = special_open_text(f, node);
        if (out->dir < 0)
            return out->dir;
        out->owned = true;
        path_target_set(out, out->dir, "", AT_EMPTY_PATH);
        return 0;
    case NODE_DESCRIPTOR:
        if (flags & LOOKUP_FOLLOW)
            return path_target_descriptor(f, node->fd, out);
        path_target_set(out, AT_FDCWD, host, AT_SYMLINK_NOFOLLOW);
        return 0;
    case NODE_FOLDER:
        if (f->isolate)
            path_target_set(out, f->empty, ".", AT_SYMLINK_NOFOLLOW);
        else
            path_target_set(out, AT_FDCWD, host, 0);
        return 0;
    case NODE_LINK: path_target_set(out, AT_FDCWD, host, AT_SYMLINK_NOFOLLOW); return 0;
    default: path_target_set(out, AT_FDCWD, host, 0); return 0;
    }
}

/* ---- paths that the host resolves */

/* Looks up a path in /proc, /dev or /sys without isolation. Special files (special.h) are the emulator's. A path that
 * leads through one of the emulator's links is looked up again from the link's target. Other paths are the host's. */
static int lookup_special(struct files *f, const char *path, unsigned flags, unsigned links, struct target *out)
{
    char head[PATH_MAX], text[PATH_MAX], next[PATH_MAX];
    for (const char *end = path; *end != '\0';) {
        end += 1 + strcspn(end + 1, "/");
        snprintf(head, sizeof head, "%.*s", (int)(end - path), path);
        struct node node = special_find(f, head);
        bool last = *end == '\0';
        if (last && node.kind != NODE_NONE && (node.kind != NODE_LINK || !(flags & LOOKUP_FOLLOW)))
            return path_target_node(f, &node, path, flags, out);
        if (node.kind == NODE_LINK) {
            int error = special_link(f, &node, text);
            *strrchr(head, '/') = '\0';
            if (error == 0)
                error = path_join(next, head, text);
            if (error == 0 && strlen(next) + strlen(end) >= PATH_MAX)
                error = -ENAMETOOLONG;
            return error < 0 ? error : path_lookup_again(f, strcat(next, end), flags, links + 1, out);
        }
        if (node.kind == NODE_MISSING)
            return -ENOENT;
    }
    int error = special_host_path(f, path, text);
    if (error < 0)
        return error;
    path_target_set(out, AT_FDCWD, text, flags & LOOKUP_FOLLOW ? 0 : AT_SYMLINK_NOFOLLOW);
    strcpy(out->path, path);
    return 0;
}

const char *path_special_folder(const struct files *f, int dirfd)
{
    if (dirfd == AT_FDCWD)
        return f->cwd_path;
    return files_is_guest(dirfd) && f->open[dirfd] ? f->open[dirfd]->path : NULL;
}

/* Looks up a path below START_FOLDER; `rest` is the part behind that name. The host resolves it from the folder itself,
 * unless its `..` lead out of the folder: then the path is looked up again without them. */
static int lookup_start(struct files *f, const char *rest, unsigned flags, unsigned links, struct target *out)
{
    int depth = 0;
    for (const char *p = rest; *p != '\0';) {
        size_t n = strcspn(p, "/");
        bool up = n == 2 && p[0] == '.' && p[1] == '.';
        depth += up ? -1 : n > 0 && !(n == 1 && p[0] == '.');
        if (depth < 0) {
            char plain[PATH_MAX];
            int error = path_join(plain, START_FOLDER, rest + strspn(rest, "/"));
            return error < 0 ? error : path_lookup_again(f, plain, flags, links + 1, out);
        }
        p += n + (p[n] == '/');
    }
    rest += strspn(rest, "/");
    path_target_set(out, f->start, *rest ? rest : ".", flags & LOOKUP_FOLLOW ? 0 : AT_SYMLINK_NOFOLLOW);
    out->slash = *rest && rest[strlen(rest) - 1] == '/';
    return 0;
}

const char *path_below_start(const struct files *f, const char *path)
{
    size_t n = strlen(START_FOLDER);
    bool is_below = f->start >= 0 && strncmp(path, START_FOLDER, n) == 0 && (path[n] == '/' || path[n] == '\0');
    return is_below ? path + n : NULL;
}

int path_lookup_host(struct files *f, int dirfd, const char *path, unsigned flags, unsigned links, struct target *out)
{
    const char *folder = path[0] == '/' ? "/" : path_special_folder(f, dirfd);
    char full[PATH_MAX];
    if (folder && path_join(full, folder, path) == 0 && special_tree(full))
        return lookup_special(f, full, flags, links, out);
    const char *rest = path_below_start(f, path);
    if (rest)
        return lookup_start(f, rest, flags, links, out);
    if (path[0] == '/')
        dirfd = AT_FDCWD;
    else if (dirfd == AT_FDCWD)
        dirfd = f->cwd;
    else if (!files_is_guest(dirfd))
        return -EBADF;
    size_t length = strlen(path);
    path_target_set(out, dirfd, path, flags & LOOKUP_FOLLOW ? 0 : AT_SYMLINK_NOFOLLOW);
    out->slash = length > 0 && path[length - 1] == '/';
    return 0;
}
