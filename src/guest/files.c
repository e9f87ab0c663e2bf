#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "guest/files_priv.h"
#include "guest/overlay.h"
#include "guest/process_copy_priv.h"
#include "guest/shm_folder.h"

/* Private descriptors that the emulator needs at the same time, in addition to one per bind: memory files, folders,
 * programs, pipes. */
enum { PRIVATE_ROOM = 64 };

enum { GUEST_UMASK = 022 }; /* the guest's umask at its start, unless it is the caller's */

/* ---- descriptors */

int files_make_private(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, FD_PRIVATE);
    int code = errno;
    close(fd);
    return high >= 0 ? high : -code;
}

int files_private_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    ends[0] = files_make_private(ends[0]);
    ends[1] = files_make_private(ends[1]);
    if (ends[0] >= 0 && ends[1] >= 0)
        return 0;
    errno = ends[0] < 0 ? -ends[0] : -ends[1];
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    return -1;
}

int files_limit(const struct files *f)
{
    rlim_t limit = f->process->limits[RLIMIT_NOFILE].rlim_cur;
    return limit < FD_PRIVATE ? (int)limit : FD_PRIVATE;
}

int files_check_room(const struct files *f)
{
    int lowest_free = fcntl(f->never, F_DUPFD_CLOEXEC, 0);
    if (lowest_free < 0)
        return -errno;
    close(lowest_free);
    return lowest_free < files_limit(f) ? 0 : -EMFILE;
}

int files_adopt(const struct files *f, int fd)
{
    if (fd < files_limit(f))
        return fd;
    close(fd);
    return -EMFILE;
}

mode_t files_apply_umask(const struct files *f)
{
    return umask(f->umask == GUEST_UMASK ? f->umask | f->caller_umask : f->umask);
}

int files_openat(const struct files *f, int dir, const char *name, int flags, mode_t mode)
{
    if (f->process && f->process->copy)
        return copy_openat(f->process, dir, name, flags);
    mode_t host_umask = files_apply_umask(f);
    int noatime = flags & O_PATH ? 0 : O_NOATIME;
    int fd = openat(dir, name, flags | O_NOCTTY | noatime, mode);
    if (fd < 0 && errno == EPERM)
        fd = openat(dir, name, flags | O_NOCTTY, mode); /* O_NOATIME is not permitted on files of other owners */
    int code = errno;
    umask(host_umask);
    return fd >= 0 ? fd : -code;
}

/* Whether two descriptors of one file share their offset: moves the offset of one and checks that of the other. */
static bool share_offset(int a, int b)
{
    off_t was = lseek(a, 0, SEEK_CUR);
    if (was < 0 || lseek(b, 0, SEEK_CUR) != was || lseek(a, was + 1, SEEK_SET) < 0)
        return false;
    bool shared = lseek(b, 0, SEEK_CUR) == was + 1;
    lseek(a, was, SEEK_SET);
    return shared;
}

bool files_is_memory_device(const struct stat *st)
{
    static const uint64_t minors = 1 << 3 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 9; /* null, zero, full, random, urandom */
    return S_ISCHR(st->st_mode) && major(st->st_rdev) == 1 && minor(st->st_rdev) < 64 &&
           (minors >> minor(st->st_rdev) & 1);
}

int files_duplicate_of(const struct files *f, int fd, const struct stat *st)
{
    for (int other = 0; other < fd; other++) {
        struct stat os;
        if (f->open[other] != f->open[fd] || fstat(other, &os) != 0 || os.st_dev != st->st_dev ||
            os.st_ino != st->st_ino || fcntl(other, F_GETFL) != fcntl(fd, F_GETFL))
            continue;
        if (f->open[fd] || share_offset(other, fd))
            return other;
    }
    return -1;
}

struct open_file *files_describe(struct files *f, int fd)
{
    if (!f->open[fd]) {
        f->open[fd] = calloc(1, sizeof *f->open[fd]);
        if (f->open[fd])
            f->open[fd]->references = 1;
    }
    return f->open[fd];
}

void files_forget(struct files *f, int fd)
{
    struct open_file *o = f->open[fd];
    f->open[fd] = NULL;
    f->stream[fd] = STREAM_UNKNOWN;
    f->standard[fd] = 0;
    f->seen[fd] = 0;
    f->borrowed[fd] = 0;
    if (!o || --o->references > 0)
        return;
    if (o->timerfd && f->process)
        timerfd_close(f->process, o);
    if (o->signalfd && f->process)
        f->process->signalfds--;
    listing_free(o->listing);
    free(o->address);
    free(o->path);
    free(o);
}

int files_close(struct files *f, int fd)
{
    if (!files_is_guest(fd))
        return -EBADF;
    files_forget(f, fd);
    return close(fd) == 0 ? 0 : -errno;
}

void files_share(struct files *f, int from, int to)
{
    files_forget(f, to);
    f->stream[to] = f->stream[from];
    f->standard[to] = f->standard[from];
    f->seen[to] = f->seen[from];
    f->borrowed[to] = f->borrowed[from];
    f->open[to] = f->open[from];
    if (f->open[to])
        f->open[to]->references++;
}

enum stream files_stream(struct files *f, int fd)
{
    if (f->stream[fd] == STREAM_UNKNOWN) {
        struct stat st;
        if (fstat(fd, &st) != 0)
            return STREAM_FILE; /* not open: the transfer will fail with EBADF */
        switch (st.st_mode & S_IFMT) {
        case S_IFREG:
        case S_IFDIR:
        case S_IFBLK:
        case S_IFLNK: f->stream[fd] = STREAM_FILE; break;
        case S_IFIFO: f->stream[fd] = STREAM_PIPE; break;
        case S_IFSOCK: f->stream[fd] = STREAM_SOCKET; break;
        default: f->stream[fd] = STREAM_OTHER;
        }
    }
    return f->stream[fd];
}

void files_close_on_exec(struct files *f)
{
    for (int fd = 0; fd < FD_PRIVATE; fd++) {
        int flags = fcntl(fd, F_GETFD);
        if (flags >= 0 && (flags & FD_CLOEXEC))
            files_close(f, fd);
    }
}

void files_say(const struct files *f, const char *format, ...)
{
    char text[1024];
    va_list args;
    if (f->messages < 0 || (f->process && f->process->copy))
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    dprintf(f->messages, "cyclescope: %s\n", text);
}

/* ---- where an open file lies */

int host_path(int fd, char path[PATH_MAX])
{
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, PATH_MAX - 1);
    if (n < 0)
        return errno == ENOENT ? -EBADF : -errno;
    path[n] = '\0';
    return 0;
}

/* If `path` is `folder` or below, returns the part behind `folder`: empty, or starting with a slash. Else NULL. */
static const char *below(const char *path, const char *folder)
{
    size_t n = strcmp(folder, "/") == 0 ? 0 : strlen(folder);
    return strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == '\0') ? path + n : NULL;
}

/* Reads the host paths of the mounts on every call, because a bound folder may be renamed on the host. */
const struct mount *files_mount_of(const struct files *f, int fd, char guest[PATH_MAX])
{
    char path[PATH_MAX], folder[PATH_MAX];
    const struct mount *best = NULL;
    size_t best_length = 0;
    if (host_path(fd, path) < 0 || path[0] != '/')
        return NULL;
    if (f->upper >= 0 && host_path(f->upper, folder) == 0 && below(path, folder)) {
        const char *inside = below(path, folder);
        return path_join(guest, "/", inside + (*inside == '/')) == 0 ? &f->mounts[0] : NULL;
    }
    for (size_t i = 0; i < f->mount_count; i++) {
        if (host_path(f->mounts[i].fd, folder) < 0 || !below(path, folder))
            continue;
        if (!best || strlen(folder) > best_length) {
            best = &f->mounts[i];
            best_length = strlen(folder);
        }
    }
    if (!best || host_path(best->fd, folder) < 0)
        return NULL;
    const char *rest = below(path, folder);
    return rest && path_join(guest, best->path, rest + (*rest == '/')) == 0 ? best : NULL;
}

bool files_is_busy(const struct files *f, const char *guest)
{
    for (size_t i = 0; i < f->mount_count; i++)
        if (below(f->mounts[i].path, guest))
            return true;
    return false;
}

/* Whether a host path as /proc/self/fd shows it belongs to a file in no folder: a pipe, a socket, a memory file. */
static bool is_anonymous(const char *path)
{
    return path[0] != '/' || strncmp(path, "/memfd:", 7) == 0;
}

int files_may_change(const struct files *f, int fd)
{
    char path[PATH_MAX];
    if (!f->isolate)
        return 0;
    const struct mount *m = files_mount_of(f, fd, path);
    if (m)
        return m->readonly ? -EROFS : 0;
    int error = host_path(fd, path);
    if (error < 0)
        return error;
    return is_anonymous(path) ? 0 : -EPERM;
}

int files_path(const struct files *f, int fd, char path[PATH_MAX])
{
    if (files_is_guest(fd) && f->open[fd] && f->open[fd]->path) {
        strcpy(path, f->open[fd]->path);
        return 0;
    }
    if (files_mount_of(f, fd, path))
        return 0;
    int error = host_path(fd, path);
    struct stat st;
    if (error == 0 && f->isolate && !is_anonymous(path) && fstat(fd, &st) == 0 && !S_ISCHR(st.st_mode))
        strcpy(path, "/unreachable"); /* passed by the caller: an isolated guest may not learn its host path */
    return error;
}

void files_show(const struct files *f, char path[PATH_MAX])
{
    char folder[PATH_MAX], shown[PATH_MAX];
    if (f->start < 0 || host_path(f->start, folder) < 0)
        return;
    const char *rest = below(path, folder);
    if (rest && snprintf(shown, sizeof shown, "%s%s", START_FOLDER, rest) < (int)sizeof shown)
        strcpy(path, shown);
}

/* ---- set-up */

void files_raise_host_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* Checks that the host's limit on descriptors, raised as far as it goes, leaves room for the emulator's own. */
static int make_room_for_private(size_t count, struct error *err)
{
    struct rlimit limit;
    rlim_t need = FD_PRIVATE + PRIVATE_ROOM + count;
    files_raise_host_limit();
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < need)
        return error_set(err, -EMFILE,
                         "the limit on open files is %llu, but %llu are needed: raise it with `ulimit -n`",
                         (unsigned long long)limit.rlim_max, (unsigned long long)need);
    return 0;
}

static int open_folder(const char *path, const char *what, struct error *err)
{
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        fd = files_make_private(fd);
    else
        fd = -errno;
    return fd >= 0 ? fd : error_set(err, fd, "the %s %s cannot be opened: %s", what, path, strerror(-fd));
}

/* Returns a descriptor of a folder that is already removed: it is empty, and no file can be created in it. */
static int open_empty_folder(struct error *err)
{
    char path[PATH_MAX];
    if (scratch_folder(path) < 0)
        return error_set(err, -ENOENT, "cannot create a temporary folder: set TMPDIR to a writable folder");
    chmod(path, 0555);
    int fd = open_folder(path, "folder", err);
    rmdir(path);
    return fd;
}

/* Writes the guest path of a bind at the absolute path `path`, with symbolic links of the sysroot resolved as far as
 * the folders exist in the sysroot. */
static int mount_path(struct files *f, const char *path, char out[PATH_MAX])
{
    struct target target;
    int error = path_lookup(f, AT_FDCWD, path, LOOKUP_FOLLOW, &target);
    if (error == 0) {
        strcpy(out, target.path);
        target_release(&target);
        return 0;
    }
    char parent[PATH_MAX], above[PATH_MAX];
    strcpy(parent, path);
    char *slash = strrchr(parent, '/');
    *slash = '\0';
    error = mount_path(f, slash == parent ? "/" : parent, above);
    return error < 0 ? error : path_join(out, above, slash + 1);
}

static int add_mount(struct files *f, const char *path, int fd, bool readonly)
{
    char *copy = strdup(path);
    if (!copy) {
        close(fd);
        return -ENOMEM;
    }
    f->mounts[f->mount_count++] = (struct mount){.path = copy, .fd = fd, .readonly = readonly};
    if (strcmp(path, "/") == 0)
        f->root = fd;
    return 0;
}

static int add_bind(struct files *f, const struct guest_bind *bind, struct error *err)
{
    char here[PATH_MAX], path[PATH_MAX], guest[PATH_MAX];
    int fd = open_folder(bind->path, "bound folder", err);
    if (fd < 0)
        return fd;
    int error = getcwd(here, sizeof here) ? path_join(path, here, bind->path) : -errno;
    if (error == 0)
        error = mount_path(f, path, guest);
    if (error < 0)
        close(fd);
    else
        error = add_mount(f, guest, fd, bind->readonly);
    return error == 0 ? 0
                      : error_set(err, error, "cannot show the bound folder %s to the guest: %s", bind->path,
                                  strerror(-error));
}

static int add_shm(struct files *f, struct error *err)
{
    int fd;
    for (size_t i = 0; i < f->mount_count; i++)
        if (strcmp(f->mounts[i].path, SHM_FOLDER) == 0)
            return 0;
    f->shm = shm_folder_new(&fd, err);
    if (!f->shm)
        return -ENOENT;
    return add_mount(f, SHM_FOLDER, fd, false) < 0 ? error_set(err, -ENOMEM, "out of memory") : 0;
}

static int add_mounts(struct files *f, const struct process_config *config, struct error *err)
{
    size_t binds = config->isolate ? config->bind_count : 0;
    f->mounts = calloc(binds + 2, sizeof *f->mounts);
    if (!f->mounts)
        return error_set(err, -ENOMEM, "out of memory");
    if (config->sysroot) {
        int fd = open_folder(config->sysroot, "sysroot", err);
        if (fd < 0)
            return fd;
        if (add_mount(f, "/", fd, false) < 0)
            return error_set(err, -ENOMEM, "out of memory");
    }
    if (config->isolate) {
        f->empty = open_empty_folder(err);
        if (f->empty < 0)
            return f->empty;
        if (f->root < 0)
            f->root = f->empty;
    }
    for (size_t i = 0; i < binds; i++) {
        int error = add_bind(f, &config->binds[i], err);
        if (error < 0)
            return error;
    }
    return config->isolate ? add_shm(f, err) : 0;
}

/* Sets the guest's first working folder: `config->chdir`, or the caller's folder. If isolated and the caller's folder
 * lies in no mount, the guest starts in its root. */
static int start_folder(struct files *f, const struct process_config *config, struct error *err)
{
    char guest[PATH_MAX];
    f->cwd = open_folder(".", "working folder", err);
    if (f->cwd < 0)
        return f->cwd;
    int error = 0;
    bool mounted = files_mount_of(f, f->cwd, guest) != NULL;
    if (f->isolate && !mounted)
        error = files_chdir(f, AT_FDCWD, "/");
    if (mounted && strcmp(guest, "/") != 0 && (f->results = strdup(guest)) == NULL)
        return error_set(err, -ENOMEM, "out of memory");
    if (!f->isolate && !mounted && !(config->chdir && config->chdir[0] == '/'))
        f->start = fcntl(f->cwd, F_DUPFD_CLOEXEC, FD_PRIVATE);
    if (error == 0 && config->chdir)
        error = files_chdir(f, AT_FDCWD, config->chdir);
    if (error == 0)
        return 0;
    return error_set(err, error, "the guest cannot start in the folder %s: %s", config->chdir ? config->chdir : "/",
                     strerror(-error));
}

static int open_never_ready(struct files *f, struct error *err)
{
    int fd = eventfd(0, EFD_CLOEXEC);
    f->never = fd >= 0 ? files_make_private(fd) : -errno;
    return f->never >= 0 ? 0 : error_set(err, f->never, "cannot create an eventfd: %s", strerror(-f->never));
}

/* Whether an argument names a descriptor, as a shell's <(COMMAND) does. */
static bool is_named(char *const *argv, int fd)
{
    char name[32], other[32];
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    snprintf(other, sizeof other, "/proc/self/fd/%d", fd);
    for (; argv && *argv; argv++)
        if (strcmp(*argv, name) == 0 || strcmp(*argv, other) == 0)
            return true;
    return false;
}

/* Closes the descriptors that the caller left open, except the standard streams and those that `argv` names. What a
 * shell or a build tool leaves open by chance would change the numbers of the guest's descriptors. */
static void close_inherited(char *const *argv)
{
    for (int fd = 3; fd < FD_PRIVATE; fd++)
        if (!is_named(argv, fd))
            close(fd);
}

/* What the caller has connected the standard streams to must not change counts, so all look like a pipe. Only input
 * from a file stays a file: its name is part of the command. */
static void mark_standard(struct files *f)
{
    for (int fd = 0; fd < 3; fd++) {
        struct stat st;
        if (fstat(fd, &st) == 0 && (fd > 0 || !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))))
            f->standard[fd] = (uint8_t)(1 + fd);
    }
}

static void note_caller(struct files *f)
{
    for (int fd = 0; fd < 3; fd++) {
        struct stat st;
        if (fstat(fd, &st) == 0)
            f->caller[fd] = (struct caller_file){true, st.st_dev, st.st_ino, fcntl(fd, F_GETFL)};
    }
}

struct files *files_new(const struct process_config *config, struct error *err)
{
    struct files *f = calloc(1, sizeof *f);
    if (!f) {
        error_set(err, -ENOMEM, "out of memory");
        return NULL;
    }
    f->root = f->empty = f->start = f->scratch = f->upper = f->cwd = f->never = f->messages = -1;
    f->isolate = config->isolate;
    f->overlaid = config->sysroot && !config->write_sysroot;
    note_caller(f);
    f->caller_umask = umask(0);
    umask(f->caller_umask);
    f->umask = config->host_user ? f->caller_umask : GUEST_UMASK;
    if (config->isolate || !config->host_streams)
        close_inherited(config->isolate ? NULL : config->argv);
    if (!config->host_streams)
        mark_standard(f);
    int code = make_room_for_private(config->bind_count, err);
    f->messages = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, FD_PRIVATE);
    if (code < 0 || open_never_ready(f, err) < 0 || add_mounts(f, config, err) < 0 ||
        start_folder(f, config, err) < 0) {
        files_free(f);
        return NULL;
    }
    return f;
}

void files_attach(struct files *f, struct process *p)
{
    f->process = p;
}

void files_free(struct files *f)
{
    if (!f)
        return;
    for (int fd = 0; fd < FD_PRIVATE; fd++)
        files_forget(f, fd);
    for (size_t i = 0; i < f->mount_count; i++) {
        close(f->mounts[i].fd);
        free(f->mounts[i].path);
    }
    free(f->mounts);
    shm_folder_free(f->shm);
    if (f->empty >= 0)
        close(f->empty);
    if (f->never >= 0)
        close(f->never);
    if (f->messages >= 0)
        close(f->messages);
    if (f->start >= 0)
        close(f->start);
    if (f->upper >= 0)
        close(f->upper);
    if (f->scratch >= 0)
        close(f->scratch);
    free(f->results);
    if (f->cwd >= 0)
        close(f->cwd);
    free(f->cwd_path);
    free(f);
}
