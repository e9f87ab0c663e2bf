/* Saves and loads what the guest has changed in the sysroot: the upper layer of the overlay, with the contents of its
 * files. Names that the guest has removed are links with a mark (overlay.c), which are saved as links. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "guest/overlay_priv.h"
#include "guest/state_priv.h"

#define CONTENTS_MAX (UINT64_C(1) << 32) /* bytes of one file */

/* A file of the upper layer. `path` is empty in the record behind the last one. */
struct upper_file {
    char path[PATH_MAX];  /* guest path */
    uint32_t mode;        /* type and permissions */
    int64_t seconds;      /* time of modification */
    uint32_t nanoseconds; /* its fraction */
    void *contents;       /* of a plain file; the text of a link */
    uint64_t bytes;       /* of `contents` */
};

static void file_fields(struct fields *f, struct upper_file *file)
{
    field_text(f, file->path, sizeof file->path);
    if (file->path[0] == '\0')
        return;
    field_u32(f, &file->mode);
    field_i64(f, &file->seconds);
    field_u32(f, &file->nanoseconds);
    field_block(f, &file->contents, &file->bytes, CONTENTS_MAX);
}

/* ---- saving */

static int read_contents(int folder, const char *name, const struct stat *st, struct upper_file *file)
{
    if (!S_ISREG(st->st_mode) && !S_ISLNK(st->st_mode))
        return 0;
    file->bytes = (uint64_t)st->st_size;
    file->contents = malloc(file->bytes + 1);
    if (!file->contents)
        return -ENOMEM;
    if (S_ISLNK(st->st_mode))
        return readlinkat(folder, name, file->contents, file->bytes + 1) == st->st_size ? 0 : -EIO;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    bool whole = io_pread_exactly(fd, file->contents, file->bytes, 0);
    close(fd);
    return whole ? 0 : -EIO;
}

static int save_folder(struct files *f, struct fields *to, const char *path, struct error *err);

static int save_entry(struct files *f, struct fields *to, int folder, const char *name, const char *path,
                      struct error *err)
{
    struct stat st;
    struct upper_file file = {0};
    int code = path_join(file.path, path, name);
    if (code == 0 && fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        code = -errno;
    if (code == 0 && S_ISSOCK(st.st_mode))
        return error_set(err, -ENOTSUP, "the program cannot be saved: it has made the socket %.200s", file.path);
    if (code == 0)
        code = read_contents(folder, name, &st, &file);
    if (code == 0) {
        file.mode = st.st_mode;
        file.seconds = st.st_mtim.tv_sec;
        file.nanoseconds = (uint32_t)st.st_mtim.tv_nsec;
        file_fields(to, &file);
        state_view(f->process, to, &st);
    }
    free(file.contents);
    if (code < 0)
        return error_set(err, code, "%.200s, which the program has changed, cannot be saved: %s", file.path,
                         strerror(-code));
    return S_ISDIR(st.st_mode) ? save_folder(f, to, file.path, err) : 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Saves the entries of a folder in the order of their names. */
static int save_folder(struct files *f, struct fields *to, const char *path, struct error *err)
{
    int fd = layer_open(f->upper, path, O_RDONLY | O_DIRECTORY), code = 0;
    struct dirent **entries = NULL;
    int count = fd < 0 ? -1 : scandirat(fd, ".", &entries, NULL, NULL);
    char **names = count >= 0 ? calloc((size_t)count + 1, sizeof *names) : NULL;
    if (!names)
        code = error_set(err, -EIO, "%.200s, which the program has changed, cannot be saved", path);
    for (int i = 0; names && i < count; i++)
        names[i] = entries[i]->d_name;
    if (names)
        qsort(names, (size_t)count, sizeof *names, compare_names);
    for (int i = 0; names && i < count && code == 0; i++)
        if (strcmp(names[i], ".") != 0 && strcmp(names[i], "..") != 0)
            code = save_entry(f, to, fd, names[i], path, err);
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    free(names);
    if (fd >= 0)
        close(fd);
    return code;
}

/* ---- loading */

static int write_file(int folder, const char *name, const struct upper_file *file)
{
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    int code = io_write(fd, file->contents, file->bytes);
    if (code == 0 && fchmod(fd, file->mode & 07777) != 0)
        code = -errno;
    close(fd);
    return code;
}

static int write_entry(int folder, const char *name, const struct upper_file *file)
{
    char text[PATH_MAX];
    int code = 0;
    switch (file->mode & S_IFMT) {
    case S_IFREG: code = write_file(folder, name, file); break;
    case S_IFDIR:
        if (mkdirat(folder, name, 0700) != 0 || fchmodat(folder, name, file->mode & 07777, 0) != 0)
            code = -errno;
        break;
    case S_IFLNK:
        if (file->bytes == 0 || file->bytes >= sizeof text || memchr(file->contents, '\0', file->bytes))
            return -EINVAL;
        memcpy(text, file->contents, file->bytes);
        text[file->bytes] = '\0';
        code = symlinkat(text, folder, name) == 0 ? 0 : -errno;
        break;
    case S_IFIFO: code = mkfifoat(folder, name, file->mode & 07777) == 0 ? 0 : -errno; break;
    default: return -EINVAL;
    }
    struct timespec time = {file->seconds, file->nanoseconds};
    if (code == 0 && utimensat(folder, name, (struct timespec[2]){time, time}, AT_SYMLINK_NOFOLLOW) != 0)
        code = -errno;
    return code;
}

/* The path must be as path_join makes it, and its folder a folder of the upper layer: the file is not trusted. */
static int load_file(struct files *f, const struct upper_file *file, struct stat *st, struct error *err)
{
    char plain[PATH_MAX], folder[PATH_MAX];
    bool possible = path_join(plain, "/", file->path) == 0 && strcmp(plain, file->path) == 0 && strcmp(plain, "/") != 0;
    if (!possible || !f->overlaid)
        return error_set(err, -EINVAL, "the checkpoint is damaged: it has an impossible change of the sysroot");
    int code = overlay_make(f), at = -1;
    const char *name = path_split(file->path, folder);
    if (code == 0 && (at = layer_open(f->upper, folder, O_PATH | O_DIRECTORY)) < 0)
        code = at;
    if (code == 0)
        code = write_entry(at, name, file);
    if (code == 0 && fstatat(at, name, st, AT_SYMLINK_NOFOLLOW) != 0)
        code = -errno;
    if (at >= 0)
        close(at);
    return code < 0 ? error_set(err, code, "%.200s, which the program has changed, cannot be made again: %s",
                                file->path, strerror(-code))
                    : 0;
}

static int load(struct files *f, struct fields *from, struct error *err)
{
    for (int code = 0;;) {
        struct upper_file file = {0};
        file_fields(from, &file);
        bool more = fields_good(from) && file.path[0] != '\0';
        struct stat st;
        if (more)
            code = load_file(f, &file, &st, err);
        free(file.contents);
        if (more && code == 0)
            state_view(f->process, from, &st);
        if (!more || code < 0)
            return code;
    }
}

int state_overlay(struct process *p, struct fields *f, struct error *err)
{
    struct upper_file end = {0};
    if (f->from)
        return load(p->files, f, err);
    int code = p->files->overlaid && overlay_upper(p->files) >= 0 ? save_folder(p->files, f, "/", err) : 0;
    file_fields(f, &end);
    return code;
}
