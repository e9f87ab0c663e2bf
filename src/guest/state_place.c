#include <errno.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/shm_folder.h"
#include "guest/state_priv.h"

static void note_contents(struct place *place, const struct stat *st)
{
    place->type = st->st_mode & S_IFMT;
    if (!S_ISREG(st->st_mode))
        return;
    place->bytes = (uint64_t)st->st_size;
    place->seconds = st->st_mtim.tv_sec;
    place->nanoseconds = (uint32_t)st->st_mtim.tv_nsec;
}

int place_find(const struct files *f, int fd, const char *what, struct place *place, struct error *err)
{
    char path[PATH_MAX], guest[PATH_MAX], folder[PATH_MAX];
    struct stat st, named;
    memset(place, 0, sizeof *place);
    int code = host_path(fd, path);
    if (code < 0 || fstat(fd, &st) != 0)
        return error_set(err, code < 0 ? code : -errno, "cannot read the status of %s", what);
    if (path[0] != '/' || st.st_nlink == 0)
        return error_set(err, -ENOTSUP, "%s cannot be saved: %.200s has no name in any folder", what, path);
    if (lstat(path, &named) != 0 || named.st_dev != st.st_dev || named.st_ino != st.st_ino)
        return error_set(err, -ENOTSUP, "%s cannot be saved: another file is now called %.200s", what, path);
    note_contents(place, &st);
    place->mount = -1;
    const char *rest = path;
    const struct mount *mount = files_mount_of(f, fd, guest);
    if (mount && f->shm && strcmp(mount->path, SHM_FOLDER) == 0)
        return error_set(err, -ENOTSUP, "%s cannot be saved: it is in " SHM_FOLDER ", which ends with this run", what);
    if (f->upper >= 0 && host_path(f->upper, folder) == 0 && strncmp(path, folder, strlen(folder)) == 0 &&
        (path[strlen(folder)] == '/' || path[strlen(folder)] == '\0')) {
        place->mount = PLACE_UPPER;
        rest = path + strlen(folder);
        rest += *rest == '/';
    } else if (mount && host_path(mount->fd, folder) == 0) {
        place->mount = (int)(mount - f->mounts);
        rest = path + (strcmp(folder, "/") == 0 ? 0 : strlen(folder));
        rest += *rest == '/';
    }
    strcpy(place->path, *rest ? rest : ".");
    return 0;
}

void place_fields(struct fields *f, struct place *place)
{
    field_int(f, &place->mount);
    field_text(f, place->path, sizeof place->path);
    field_u32(f, &place->type);
    field_u64(f, &place->bytes);
    field_i64(f, &place->seconds);
    field_u32(f, &place->nanoseconds);
}

/* Opens a path below a mount. The saved path has no links and no `..`, so one that has is not followed. */
static int open_beneath(const struct mount *mount, const char *path, int flags)
{
    if (flags & O_PATH)
        flags &= O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC; /* openat2 refuses flags that have no meaning */
    struct open_how how = {.flags = (uint64_t)flags | (flags & O_PATH ? 0 : O_NOATIME),
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    if (mount->readonly && opens_for_change(flags))
        return -EROFS;
    int fd = (int)syscall(SYS_openat2, mount->fd, path, &how, sizeof how);
    if (fd < 0 && errno == EPERM) {
        how.flags &= ~(uint64_t)O_NOATIME; /* not permitted on files of other owners */
        fd = (int)syscall(SYS_openat2, mount->fd, path, &how, sizeof how);
    }
    return fd >= 0 ? fd : -errno;
}

int place_open(const struct files *f, const struct place *place, int flags, struct error *err)
{
    const int allowed = O_ACCMODE | O_APPEND | O_NONBLOCK | O_SYNC | O_DIRECT | O_NOATIME | O_PATH | O_DIRECTORY;
    struct stat st;
    struct place now = {0};
    if (place->mount < PLACE_UPPER || place->mount >= (int)f->mount_count ||
        (place->path[0] == '/') != (place->mount == -1) || (place->mount == PLACE_UPPER && f->upper < 0))
        return error_set(err, -EINVAL, "the checkpoint is damaged: it names a file in an unknown folder");
    if (f->isolate && place->mount == -1)
        return error_set(err, -EACCES, "the program had %.200s open, which --isolate does not let it reach",
                         place->path);
    struct mount upper = {.fd = f->upper};
    const struct mount *mount = place->mount == PLACE_UPPER ? &upper : &f->mounts[place->mount];
    int opened = (flags & allowed) | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
    int fd = f->isolate || place->mount == PLACE_UPPER
                 ? open_beneath(mount, place->path, opened)
                 : files_openat(f, place->mount >= 0 ? mount->fd : AT_FDCWD, place->path, opened, 0);
    if (fd < 0)
        return error_set(err, fd, "the program had %.200s open, which cannot be opened again: %s", place->path,
                         strerror(-fd));
    fd = files_make_private(fd);
    if (fd < 0 || fstat(fd, &st) != 0)
        return error_set(err, fd < 0 ? fd : -errno, "%.200s cannot be opened again", place->path);
    note_contents(&now, &st);
    if (now.type == place->type && now.bytes == place->bytes && now.seconds == place->seconds &&
        now.nanoseconds == place->nanoseconds) {
        if (!(flags & (O_NONBLOCK | O_PATH)))
            fcntl(fd, F_SETFL, flags & allowed);
        return fd;
    }
    close(fd);
    return error_set(err, -ESTALE, "%.300s has changed since the checkpoint was taken", place->path);
}
