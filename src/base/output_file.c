#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MOST = 40, NAME_PART = 200 };

static int fail(const struct output_file *f, int code, struct error *err)
{
    return error_set(err, code, "%s %.300s: %s", f->option, f->path, strerror(-code));
}

/* ---- where a path leads */

/* Splits `path` at its last slash and resolves the folder. Sets `folder` and `*name`, the rest of the path. */
static int resolve_folder(const char *path, char folder[PATH_MAX], const char **name)
{
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    if (path[0] == '\0')
        return -ENOENT;
    char *part = slash == NULL ? strdup(".") : slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
    char *found = part ? realpath(part, folder) : NULL;
    int code = found ? 0 : -errno;
    free(part);
    return code == 0 && **name == '\0' ? -EISDIR : code;
}

/* Returns the absolute path of the file that open(2) would open or create for `path`: without symbolic links. The file
 * itself need not exist. Returns a negative code on failure; `*target` is to be freed. */
static int resolve(const char *path, char **target)
{
    char folder[PATH_MAX], link[PATH_MAX];
    char *at = strdup(path);
    int code = at ? 0 : -ENOMEM;
    for (unsigned links = 0; code == 0; links++) {
        const char *name;
        char *whole = NULL;
        code = links <= LINKS_MOST ? resolve_folder(at, folder, &name) : -ELOOP;
        if (code == 0 && asprintf(&whole, "%s/%s", folder[1] ? folder : "", name) < 0)
            code = -ENOMEM;
        free(at);
        at = NULL;
        if (code != 0)
            break;
        ssize_t length = readlink(whole, link, sizeof link - 1);
        if (length < 0) {
            *target = whole;
            return 0;
        }
        link[length] = '\0';
        if (asprintf(&at, "%s%s%s", link[0] == '/' ? "" : folder, link[0] == '/' ? "" : "/", link) < 0) {
            at = NULL;
            code = -ENOMEM;
        }
        free(whole);
    }
    free(at);
    return code;
}

/* Returns the number of the descriptor of this process that `path` names, such as /dev/stdout or /proc/self/fd/3; -1 if
 * it names none. */
static int descriptor_of(const char *path)
{
    char folder[PATH_MAX], own[64], link[64], *end;
    const char *name;
    ssize_t length = readlink(path, link, sizeof link - 1);
    if (length > 0 && strncmp(path, "/dev/", 5) == 0) { /* /dev/stdout is a link to /proc/self/fd/1 */
        link[length] = '\0';
        path = strncmp(link, "/proc/", 6) == 0 ? link : path;
    }
    snprintf(own, sizeof own, "/proc/%d/fd", (int)getpid());
    if (resolve_folder(path, folder, &name) != 0 || strcmp(folder, own) != 0)
        return -1;
    long fd = strtol(name, &end, 10);
    return *end == '\0' && fd >= 0 && fd <= INT_MAX ? (int)fd : -1;
}

/* ---- opening */

/* Allocates a name in the folder of the target, different for each `number`: visible for a stream, otherwise hidden, so
 * that a glob such as NAME* does not match it. NULL without memory. */
static char *name_beside(const struct output_file *f, unsigned number)
{
    char *name = NULL, again[16] = "";
    const char *target = f->target;
    int folder = (int)(strrchr(target, '/') - target), pid = (int)getpid();
    if (number)
        snprintf(again, sizeof again, ".%u", number);
    int length = asprintf(&name, "%.*s/%s%.*s.%d%s%s", folder, target, f->stream ? "" : ".", NAME_PART,
                          target + folder + 1, pid, again, f->stream ? ".partial" : "");
    return length < 0 ? NULL : name;
}

/* Gives `f` a temporary name: `make` creates it and returns a value that is not negative. Returns that value or a
 * negative code. */
static int make_temporary(struct output_file *f, int (*make)(const char *name, int fd), int fd)
{
    for (unsigned number = 0;; number++) {
        char *name = name_beside(f, number);
        if (name == NULL)
            return -ENOMEM;
        int made = make(name, fd);
        if (made >= 0) {
            f->temporary = name;
            return made;
        }
        int code = -errno;
        free(name);
        if (code != -EEXIST || number == UINT_MAX)
            return code;
    }
}

static int create_named(const char *name, int fd)
{
    (void)fd;
    return open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

static int link_nameless(const char *name, int fd)
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* Opens a new file in the folder of the target: without a name if it is no stream and the file system supports that. */
static int open_new(struct output_file *f)
{
    const char *slash = strrchr(f->target, '/');
    char *folder = strndup(f->target, slash == f->target ? 1 : (size_t)(slash - f->target));
    int fd = folder && !f->stream ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666) : -1;
    free(folder);
    return fd >= 0 ? fd : make_temporary(f, create_named, -1);
}

static void remove_temporary(struct output_file *f)
{
    if (f->temporary && f->owner == getpid())
        unlink(f->temporary);
    free(f->temporary);
    f->temporary = NULL;
}

/* Gives the new file the mode, and if they differ owner and group, of the existing file. */
static bool take_attributes(int fd, const struct stat *old)
{
    struct stat now;
    if (fstat(fd, &now) != 0)
        return false;
    bool owned = now.st_uid == old->st_uid && now.st_gid == old->st_gid;
    return (owned || fchown(fd, old->st_uid, old->st_gid) == 0) && fchmod(fd, old->st_mode & 0777) == 0;
}

/* Opens a new file that will replace `old`. If that is not possible, opens the old file itself. */
static int open_replacement(struct output_file *f, const struct stat *old)
{
    int writable = open(f->target, O_WRONLY | O_CLOEXEC); /* a file that we may not write must not be replaced */
    if (writable < 0)
        return -errno;
    int fd = open_new(f);
    if (fd >= 0 && take_attributes(fd, old)) {
        close(writable);
        return fd;
    }
    if (fd >= 0)
        close(fd);
    remove_temporary(f);
    f->in_place = true;
    if (f->stream && ftruncate(writable, 0) != 0) { /* otherwise old contents would follow what a kill leaves */
        int code = -errno;
        close(writable);
        return code;
    }
    return writable;
}

/* Opens what `path` names. Returns a descriptor or a negative code. */
static int open_path(struct output_file *f)
{
    struct stat st;
    bool exists = stat(f->path, &st) == 0;
    if (!exists && errno != ENOENT)
        return -errno;
    int own = exists && S_ISREG(st.st_mode) ? descriptor_of(f->path) : -1;
    if (own >= 0 || (exists && !S_ISREG(st.st_mode))) {
        int fd = own >= 0 ? fcntl(own, F_DUPFD_CLOEXEC, 0) : open(f->path, O_WRONLY | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
    }
    int code = resolve(f->path, &f->target);
    if (code != 0)
        return code;
    return exists ? open_replacement(f, &st) : open_new(f);
}

/* Opens the file that `f` describes. */
static int open_described(struct output_file *f, FILE *standard, int lowest_fd, struct error *err)
{
    const char *path = f->path;
    if (path == NULL)
        return 0;
    if (strcmp(path, "-") == 0) {
        f->to = standard;
        f->shared = true;
        return 0;
    }
    int fd = open_path(f);
    if (fd >= 0 && fd < lowest_fd) {
        int high = fcntl(fd, F_DUPFD_CLOEXEC, lowest_fd);
        int code = high < 0 ? -errno : 0;
        close(fd);
        fd = high < 0 ? code : high;
    }
    f->to = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (f->to)
        return 0;
    if (fd >= 0) {
        close(fd);
        fd = -ENOMEM;
    }
    output_file_abort(f);
    return fail(f, fd, err);
}

int output_file_open(struct output_file *f, const char *option, const char *path, FILE *standard, int lowest_fd,
                     struct error *err)
{
    *f = (struct output_file){.option = option, .path = path, .owner = getpid()};
    return open_described(f, standard, lowest_fd, err);
}

int output_file_open_stream(struct output_file *f, const char *option, const char *path, FILE *standard, int lowest_fd,
                            struct error *err)
{
    *f = (struct output_file){.option = option, .path = path, .stream = true, .owner = getpid()};
    return open_described(f, standard, lowest_fd, err);
}

/* ---- closing */

static void forget(struct output_file *f)
{
    free(f->target);
    free(f->temporary);
    f->target = f->temporary = NULL;
}

static void sync_folder(const char *target)
{
    const char *slash = strrchr(target, '/');
    char *name = strndup(target, slash == target ? 1 : (size_t)(slash - target));
    int folder = name ? open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    free(name);
    if (folder >= 0) {
        fsync(folder); /* if this fails, a power loss may lose the name, but never leaves a name without its contents */
        close(folder);
    }
}

/* Writes everything to the file. errno of an earlier failure is lost: it is EIO then, unless the rest fails, too. */
static int flush(struct output_file *f)
{
    bool failed = ferror(f->to);
    errno = EIO;
    if (fflush(f->to) != 0 || failed)
        return -errno;
    int fd = fileno(f->to);
    if (f->in_place && ftruncate(fd, lseek(fd, 0, SEEK_CUR)) != 0)
        return -errno;
    return f->durable && f->target && fsync(fd) != 0 ? -errno : 0;
}

int output_file_close(struct output_file *f, struct error *err)
{
    if (f->to == NULL)
        return 0;
    int code = flush(f);
    bool replaces = f->target && !f->in_place && f->owner == getpid();
    if (code == 0 && replaces && f->temporary == NULL)
        code = make_temporary(f, link_nameless, fileno(f->to));
    if (!f->shared && fclose(f->to) != 0 && code == 0)
        code = -errno;
    f->to = NULL;
    if (code == 0 && replaces && rename(f->temporary, f->target) != 0)
        code = -errno;
    if (code != 0)
        remove_temporary(f);
    else if (f->durable && f->target)
        sync_folder(f->target);
    forget(f);
    return code == 0 ? 0 : fail(f, code, err);
}

void output_file_abort(struct output_file *f)
{
    if (f->to && !f->shared)
        fclose(f->to);
    f->to = NULL;
    remove_temporary(f);
    forget(f);
}

/* ---- names */

struct output_name {
    const char *what; /* option, or what the input is */
    char *path;       /* of an input, as the user wrote it */
    char *target;     /* of an output: resolved path; NULL: an input */
    dev_t device;     /* of an input */
    ino_t inode;
};

/* Returns a new row, or NULL without memory. */
static struct output_name *add_name(struct output_names *n, const char *what)
{
    struct output_name *more = realloc(n->name, (n->count + 1) * sizeof *more);
    if (more == NULL)
        return NULL;
    n->name = more;
    n->name[n->count] = (struct output_name){.what = what};
    return &n->name[n->count++];
}

void output_names_add_input(struct output_names *n, const char *what, const char *path)
{
    struct stat st;
    if (path == NULL || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    char *copy = strdup(path);
    struct output_name *added = copy ? add_name(n, what) : NULL;
    if (added == NULL) {
        free(copy);
    } else {
        added->path = copy;
        added->device = st.st_dev;
        added->inode = st.st_ino;
    }
}

/* Compares an output with the files that are known already. `st` is NULL if the output does not exist yet. */
static int check_name(const struct output_names *n, const char *option, const char *path, const char *target,
                      const struct stat *st, struct error *err)
{
    for (size_t i = 0; i < n->count; i++) {
        const struct output_name *o = &n->name[i];
        if (o->target && strcmp(o->target, target) == 0)
            return error_set(err, -EEXIST, "%s %.300s: %s writes the same file: give each its own", option, path,
                             o->what);
        if (o->target == NULL && st && st->st_dev == o->device && st->st_ino == o->inode)
            return error_set(err, -EEXIST, "%s %.200s: this is %s %.200s: give the name of another file", option, path,
                             o->what, o->path);
    }
    return 0;
}

int output_names_add(struct output_names *n, const char *option, const char *path, struct error *err)
{
    struct stat st;
    char *target = NULL;
    if (path == NULL || strcmp(path, "-") == 0)
        return 0;
    bool exists = stat(path, &st) == 0;
    if ((exists && (!S_ISREG(st.st_mode) || descriptor_of(path) >= 0)) || resolve(path, &target) != 0)
        return 0; /* opening it reports what is wrong */
    int code = check_name(n, option, path, target, exists ? &st : NULL, err);
    struct output_name *added = code == 0 ? add_name(n, option) : NULL;
    if (added)
        added->target = target;
    else
        free(target);
    return code;
}

void output_names_free(struct output_names *n)
{
    for (size_t i = 0; i < n->count; i++)
        free(n->name[i].target ? n->name[i].target : n->name[i].path);
    free(n->name);
    *n = (struct output_names){0};
}
