/* Saves and loads descriptors, the working folder and the umask. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "guest/state_priv.h"

enum kind {
    KIND_END,    /* end of the list of descriptors */
    KIND_CALLER, /* standard input, output or error, or a pipe or socket that the caller left open */
    KIND_SHARED, /* duplicate of a lower descriptor: the two share offset and flags */
    KIND_FILE,   /* file, folder or harmless device that is opened again by name */
    KIND_TEXT,   /* special file (special.c), saved with its contents */
};

#define TEXT_MAX (UINT64_C(64) << 20) /* maximum size of a special file in bytes */

struct descriptor {
    uint32_t fd;         /* guest descriptor */
    uint32_t kind;       /* enum kind */
    bool close_on_exec;  /* FD_CLOEXEC */
    uint32_t of;         /* KIND_CALLER: number of the caller's descriptor; KIND_SHARED: the lower descriptor */
    int flags;           /* KIND_FILE: result of F_GETFL */
    int64_t offset;      /* KIND_FILE and KIND_TEXT: file offset */
    struct place place;  /* KIND_FILE: where the file is */
    void *text;          /* KIND_TEXT: contents */
    uint64_t text_bytes; /* KIND_TEXT: size of the contents */
};

static void descriptor_fields(struct fields *f, struct descriptor *d)
{
    field_u32(f, &d->kind);
    if (d->kind == KIND_END)
        return;
    field_u32(f, &d->fd);
    field_bool(f, &d->close_on_exec);
    switch (d->kind) {
    case KIND_CALLER:
    case KIND_SHARED: field_u32(f, &d->of); break;
    case KIND_FILE:
        field_int(f, &d->flags);
        place_fields(f, &d->place);
        field_i64(f, &d->offset);
        break;
    case KIND_TEXT:
        field_block(f, &d->text, &d->text_bytes, TEXT_MAX);
        field_i64(f, &d->offset);
        break;
    default: fields_check(f, false, "a descriptor has an unknown kind");
    }
}

/* Fields of the emulator's record of a descriptor. Duplicates share the record and have no fields of their own. */
static void open_file_fields(struct fields *f, struct open_file *o)
{
    field_bool(f, &o->random);
    field_string(f, &o->path);
    state_listing(f, &o->listing);
}

/* ---- saving */

/* Returns the number of the caller's descriptor with the same file as `fd`, or -1. Tries `fd` itself first. */
static int find_caller(const struct files *f, int fd, const struct stat *st)
{
    int flags = fcntl(fd, F_GETFL);
    for (int i = -1; i < 3; i++) {
        int n = i < 0 ? fd : i;
        if (n > 2 || !f->caller[n].open || f->caller[n].dev != st->st_dev || f->caller[n].inode != st->st_ino)
            continue;
        if (S_ISREG(st->st_mode) && (n == 0 || ((f->caller[n].flags ^ flags) & (O_ACCMODE | O_APPEND))))
            continue; /* a plain file as standard input is opened again; another file must be open in the same mode */
        if (files_is_memory_device(st) && n != fd)
            continue; /* e.g. /dev/null: the guest has opened the device itself */
        return n;
    }
    return inherited_number(&f->process->inherited, fd, st);
}

static bool holds_lock(int fd)
{
    char name[64], line[256];
    snprintf(name, sizeof name, "/proc/self/fdinfo/%d", fd);
    FILE *info = fopen(name, "re");
    bool found = false;
    while (info && !found && fgets(line, sizeof line, info))
        found = strncmp(line, "lock:", 5) == 0;
    if (info)
        fclose(info);
    return found;
}

/* Checks whether a descriptor that is not the caller's can be saved: 0, or -ENOTSUP and a message. */
static int check_saveable(int fd, const struct stat *st, struct error *err)
{
    char path[PATH_MAX];
    if (S_ISFIFO(st->st_mode))
        return error_set(err, -ENOTSUP, "descriptor %d cannot be saved: it is a pipe, whose other end is elsewhere",
                         fd);
    if (S_ISSOCK(st->st_mode))
        return error_set(err, -ENOTSUP, "descriptor %d cannot be saved: it is a socket, whose other end is elsewhere",
                         fd);
    if (S_ISREG(st->st_mode) || S_ISDIR(st->st_mode) || files_is_memory_device(st))
        return holds_lock(fd)
                   ? error_set(err, -ENOTSUP, "descriptor %d cannot be saved: it holds a lock on its file", fd)
                   : 0;
    if (S_ISLNK(st->st_mode))
        return error_set(err, -ENOTSUP, "descriptor %d cannot be saved: it is a symbolic link itself", fd);
    if (host_path(fd, path) < 0)
        strcpy(path, "something without a name");
    return error_set(err, -ENOTSUP, "descriptor %d cannot be saved: it is %.200s, which only the kernel knows", fd,
                     path);
}

/* Describes a special file. It is a memory file that cannot be written any more, so its contents are final. */
static int describe_text(int fd, const struct stat *st, struct descriptor *d, struct error *err)
{
    d->kind = KIND_TEXT;
    d->text_bytes = (uint64_t)st->st_size;
    d->text = malloc(d->text_bytes + 1);
    d->offset = lseek(fd, 0, SEEK_CUR);
    if (!d->text || !io_pread_exactly(fd, d->text, d->text_bytes, 0))
        return error_set(err, -EIO, "descriptor %d cannot be read", fd);
    return 0;
}

static int describe(const struct files *f, int fd, struct descriptor *d, struct error *err)
{
    char what[32];
    struct stat st;
    const struct open_file *o = f->open[fd];
    *d = (struct descriptor){.fd = (uint32_t)fd, .kind = KIND_FILE};
    d->close_on_exec = fcntl(fd, F_GETFD) & FD_CLOEXEC;
    if (fstat(fd, &st) != 0)
        return error_set(err, -errno, "cannot read the status of descriptor %d: %s", fd, strerror(errno));
    int of = find_caller(f, fd, &st);
    d->kind = KIND_CALLER;
    if (of < 0) {
        of = files_duplicate_of(f, fd, &st);
        d->kind = KIND_SHARED;
    }
    d->of = (uint32_t)of;
    if (of >= 0)
        return 0;
    if (o && o->path && S_ISREG(st.st_mode))
        return describe_text(fd, &st, d, err);
    if (o && o->path && (f->isolate || strncmp(o->path, "/proc/", 6) == 0))
        return error_set(err, -ENOTSUP, "descriptor %d cannot be saved: it is the folder %.200s", fd, o->path);
    int code = check_saveable(fd, &st, err);
    if (code < 0)
        return code;
    d->kind = KIND_FILE;
    d->flags = fcntl(fd, F_GETFL);
    d->offset = lseek(fd, 0, SEEK_CUR);
    if (d->offset < 0 || S_ISCHR(st.st_mode) || S_ISDIR(st.st_mode))
        d->offset = 0;
    snprintf(what, sizeof what, "descriptor %d", fd);
    return place_find(f, fd, what, &d->place, err);
}

static int save_descriptors(struct files *f, struct fields *to, struct error *err)
{
    struct descriptor d;
    int code = 0;
    for (int fd = 0; fd < FD_PRIVATE && code == 0; fd++) {
        struct open_file none = {0};
        if (fcntl(fd, F_GETFD) < 0)
            continue;
        code = describe(f, fd, &d, err);
        if (code == 0)
            descriptor_fields(to, &d);
        free(d.text);
        if (code == 0 && (d.kind == KIND_FILE || d.kind == KIND_TEXT))
            open_file_fields(to, f->open[fd] ? f->open[fd] : &none);
    }
    d = (struct descriptor){.kind = KIND_END};
    descriptor_fields(to, &d);
    return code;
}

static int save(struct files *f, struct fields *to, struct error *err)
{
    struct place cwd;
    bool special = f->cwd_path != NULL;
    if (special)
        return error_set(err, -ENOTSUP, "the program cannot be saved while its working folder is %.200s", f->cwd_path);
    int code = place_find(f, f->cwd, "the working folder", &cwd, err);
    if (code < 0)
        return code;
    place_fields(to, &cwd);
    bool named = f->start >= 0;
    field_bool(to, &named);
    if (named && (code = place_find(f, f->start, "the start folder", &cwd, err)) < 0)
        return code;
    if (named)
        place_fields(to, &cwd);
    uint32_t mask = f->umask;
    field_u32(to, &mask);
    return save_descriptors(f, to, err);
}

/* ---- loading */

/* Closes all descriptors below FD_PRIVATE. `caller` receives private duplicates of those that may be needed: standard
 * input, output and error, and inherited pipes and sockets; -1 for all others. */
static void take_callers(const struct inherited_files *inherited, int caller[FD_PRIVATE])
{
    for (int fd = 0; fd < FD_PRIVATE; fd++) {
        struct stat st;
        bool wanted = fd < 3 || (fstat(fd, &st) == 0 && inherited_number(inherited, fd, &st) >= 0);
        caller[fd] = wanted ? fcntl(fd, F_DUPFD_CLOEXEC, FD_PRIVATE) : -1;
        close(fd);
    }
}

/* Opens what the record describes. Returns a private descriptor, or a negative errno with a message in `err`. */
static int open_again(struct files *f, const struct descriptor *d, const int *caller, struct error *err)
{
    int fd = -EINVAL;
    switch (d->kind) {
    case KIND_CALLER:
        fd = d->of < FD_PRIVATE && caller[d->of] >= 0 ? fcntl(caller[d->of], F_DUPFD_CLOEXEC, FD_PRIVATE) : -1;
        return fd >= 0 ? fd : error_set(err, -EBADF, "the program needs descriptor %u, which is closed", d->of);
    case KIND_SHARED:
        fd = d->of < d->fd ? fcntl((int)d->of, F_DUPFD_CLOEXEC, FD_PRIVATE) : -1;
        return fd >= 0 ? fd
                       : error_set(err, -EINVAL, "the checkpoint is damaged: a duplicate has no original descriptor");
    case KIND_FILE: fd = place_open(f, &d->place, d->flags, err); break;
    case KIND_TEXT:
        fd = special_text_file(d->text, d->text_bytes);
        if (fd < 0)
            return error_set(err, fd, "cannot create a file of /proc again: %s", strerror(-fd));
    }
    if (fd >= 0 && d->offset != 0 && lseek(fd, d->offset, SEEK_SET) < 0) {
        close(fd);
        return error_set(err, -EINVAL, "the checkpoint is damaged: a file has an impossible offset");
    }
    return fd;
}

static int load_open_file(struct files *f, int fd, struct fields *from, struct error *err)
{
    struct open_file o = {0};
    open_file_fields(from, &o);
    bool needed = o.random || o.path || o.listing;
    struct open_file *to = needed && fields_good(from) ? files_describe(f, fd) : NULL;
    if (to) {
        to->random = o.random;
        to->path = o.path;
        to->listing = o.listing;
        return 0;
    }
    listing_free(o.listing);
    free(o.path);
    return needed && fields_good(from) ? error_set(err, -ENOMEM, "out of memory") : 0;
}

static int load_descriptor(struct files *f, struct fields *from, struct descriptor *d, const int *caller,
                           const uint8_t standard[3], struct error *err)
{
    if (d->kind == KIND_CALLER && d->of > 2 && d->of < FD_PRIVATE && caller[d->of] < 0)
        return 0; /* the caller of this run has not left this descriptor open: the guest finds it closed */
    int fd = open_again(f, d, caller, err);
    if (fd < 0)
        return fd;
    int made = dup3(fd, (int)d->fd, d->close_on_exec ? O_CLOEXEC : 0);
    close(fd);
    if (made < 0)
        return error_set(err, -errno, "cannot open descriptor %u again: %s", d->fd, strerror(errno));
    if (d->kind == KIND_SHARED)
        files_share(f, (int)d->of, made);
    else
        f->standard[made] = d->kind == KIND_CALLER && d->of < 3 ? standard[d->of] : 0;
    return d->kind == KIND_FILE || d->kind == KIND_TEXT ? load_open_file(f, made, from, err) : 0;
}

static int load_descriptors(struct files *f, struct fields *from, struct error *err)
{
    int caller[FD_PRIVATE], code = 0;
    uint32_t lowest = 0;
    uint8_t standard[3];
    memcpy(standard, f->standard, sizeof standard);
    memset(f->standard, 0, sizeof f->standard);
    take_callers(&f->process->inherited, caller);
    while (code == 0) {
        struct descriptor d = {0};
        descriptor_fields(from, &d);
        bool possible = d.kind == KIND_END || (d.fd >= lowest && d.fd < FD_PRIVATE);
        bool more = fields_check(from, possible, "its descriptors are out of order") && d.kind != KIND_END;
        if (more)
            code = load_descriptor(f, from, &d, caller, standard, err);
        free(d.text);
        if (!more)
            break;
        lowest = d.fd + 1;
    }
    for (int fd = 0; fd < FD_PRIVATE; fd++)
        if (caller[fd] >= 0)
            close(caller[fd]);
    return code;
}

static int load(struct files *f, struct fields *from, struct error *err)
{
    struct place cwd, start;
    bool named = false;
    uint32_t mask = 0;
    place_fields(from, &cwd);
    field_bool(from, &named);
    if (named)
        place_fields(from, &start);
    field_u32(from, &mask);
    if (!fields_check(from, mask <= 0777, "its umask is impossible"))
        return 0;
    int fd = place_open(f, &cwd, O_PATH | O_DIRECTORY, err);
    if (fd < 0)
        return fd;
    close(f->cwd);
    f->cwd = fd;
    named = named && !f->isolate;
    fd = named ? place_open(f, &start, O_PATH | O_DIRECTORY, err) : -1;
    if (named && fd < 0)
        return fd;
    if (f->start >= 0)
        close(f->start);
    f->start = fd;
    f->umask = mask;
    return load_descriptors(f, from, err);
}

int state_files(struct process *p, struct fields *f, struct error *err)
{
    return f->to ? save(p->files, f, err) : load(p->files, f, err);
}
