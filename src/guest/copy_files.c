/* Files of a copied process: descriptors of its own, and memory files instead of files that it writes. */
#include <errno.h>
#include <linux/openat2.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/io.h"
#include "guest/files_priv.h"
#include "guest/process_copy_priv.h"

enum {
    WRITE_ONLY_MAX = 16 << 20, /* largest file whose contents are copied although it is only written */
    DATA_MAX = 1 << 30,        /* most bytes of one file that are copied to memory */
};

/* ---- files that are replaced by memory files */

const struct replaced_file *copy_find_replaced(const struct process_copy *s, dev_t dev, ino_t inode)
{
    for (size_t i = 0; i < s->replaced_count; i++) {
        const struct replaced_file *file = &s->replaced[i];
        if ((file->dev == dev && file->inode == inode) || (file->memory_dev == dev && file->memory_inode == inode))
            return file;
    }
    return NULL;
}

const struct replaced_file *copy_add_replaced(struct process_copy *s, dev_t dev, ino_t inode, int memory, int pin)
{
    struct stat st;
    struct replaced_file *all = array_grow(s->replaced, s->replaced_count, &s->replaced_room, sizeof *all);
    if (all)
        s->replaced = all;
    memory = files_make_private(memory);
    pin = pin >= 0 ? files_make_private(pin) : -1;
    if (all && memory >= 0 && fstat(memory, &st) == 0) {
        all[s->replaced_count] = (struct replaced_file){dev, inode, st.st_dev, st.st_ino, memory, pin};
        return &all[s->replaced_count++];
    }
    if (memory >= 0)
        close(memory);
    if (pin >= 0)
        close(pin);
    return NULL;
}

/* Opens the memory file anew, with an offset of its own. Uses openat2, which no other code does, so that the filter
 * (copy_filter.c) can refuse openat for writing. A descriptor or a negative errno. */
static int open_memory(const struct replaced_file *file, int flags)
{
    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file->memory);
    struct open_how how = {.flags = (uint64_t)(flags & (O_ACCMODE | O_APPEND | O_NONBLOCK | O_CLOEXEC | O_TRUNC))};
    int fd = (int)syscall(SYS_openat2, AT_FDCWD, name, &how, sizeof how);
    return fd >= 0 ? fd : -errno;
}

/* Copies the data of `fd` to a memory file, without its holes. 0 or a negative errno. */
static int copy_data(int fd, int to, off_t size)
{
    char buffer[1 << 16];
    uint64_t copied = 0;
    for (off_t at = 0; at < size;) {
        off_t data = lseek(fd, at, SEEK_DATA);
        if (data < 0 && errno == ENXIO)
            return 0; /* the rest is a hole */
        at = data < 0 ? at : data;
        ssize_t got = io_pread(fd, buffer, sizeof buffer, (uint64_t)at);
        if (got <= 0)
            return got == 0 ? 0 : -EIO;
        copied += (uint64_t)got;
        if (copied > DATA_MAX)
            return -EFBIG;
        if (pwrite(to, buffer, (size_t)got, at) != got)
            return -errno;
        at += got;
    }
    return 0;
}

/* Returns a memory file with the size of a file, and with its contents if `fd`, whose offset changes, is not -1. Or a
 * negative errno. */
static int memory_file_of(int fd, const struct stat *st)
{
    int copy = memfd_create("copy", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (copy < 0)
        return -errno;
    int code = ftruncate(copy, st->st_size) == 0 ? 0 : -errno;
    if (code == 0 && fd >= 0)
        code = copy_data(fd, copy, st->st_size);
    if (code == 0)
        return copy;
    close(copy);
    return code;
}

/* The copy of a copy: every memory file is replaced by one more, which is found by both identities of the first. */
static int renew_replaced(struct process_copy *s)
{
    for (size_t i = 0; i < s->replaced_count; i++) {
        struct replaced_file *file = &s->replaced[i];
        struct stat st;
        if (fstat(file->memory, &st) != 0)
            return -errno;
        int again = memory_file_of(file->memory, &st);
        if (again < 0)
            return again;
        file->memory_dev = st.st_dev;
        file->memory_inode = st.st_ino;
        dup3(again, file->memory, O_CLOEXEC);
        close(again);
    }
    return 0;
}

/* Opens the file that `path_fd`, an O_PATH descriptor, names, for reading. A descriptor or a negative errno. */
static int open_named_by(int path_fd, int flags)
{
    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%d", path_fd);
    flags = (flags & (O_DIRECTORY | O_NONBLOCK | O_CLOEXEC)) | O_RDONLY | O_NOCTTY;
    int fd = open(name, flags | O_NOATIME);
    if (fd < 0 && errno == EPERM)
        fd = open(name, flags);
    return fd >= 0 ? fd : -errno;
}

/* Replaces a plain file that the O_PATH descriptor `path_fd` names. Takes the descriptor. Returns NULL with a negative
 * errno in `*error` if it fails. */
static const struct replaced_file *replace_file(struct process_copy *s, int path_fd, const struct stat *st,
                                                bool content, int *error)
{
    int reader = content ? open_named_by(path_fd, O_CLOEXEC) : -1;
    int memory = content && reader < 0 ? reader : memory_file_of(reader, st);
    if (reader >= 0)
        close(reader);
    if (memory < 0) {
        close(path_fd);
        *error = memory;
        return NULL;
    }
    const struct replaced_file *file = copy_add_replaced(s, st->st_dev, st->st_ino, memory, path_fd);
    *error = file ? 0 : -EMFILE;
    return file;
}

/* ---- opening by name */

/* True for files whose contents vanish when they are read: the kernel's log and traces. */
static bool is_consumed(int fd)
{
    char path[PATH_MAX];
    struct statfs fs;
    if (fstatfs(fd, &fs) != 0 || fs.f_type == TRACEFS_MAGIC || fs.f_type == DEBUGFS_MAGIC)
        return true;
    return fs.f_type == PROC_SUPER_MAGIC && host_path(fd, path) == 0 && strcmp(path, "/proc/kmsg") == 0;
}

static int open_plain(struct process *p, int path_fd, const struct stat *st, int flags)
{
    const struct replaced_file *file = copy_find_replaced(p->copy, st->st_dev, st->st_ino);
    int error = 0;
    if (file == NULL && !opens_for_change(flags)) {
        if (is_consumed(path_fd)) {
            copy_spoil(p, "reads a file that can be read only once");
            return -EIO;
        }
        return open_named_by(path_fd, flags);
    }
    if (flags & O_DIRECTORY)
        return -ENOTDIR;
    if (opens_for_change(flags) && faccessat(path_fd, "", W_OK, AT_EMPTY_PATH | AT_EACCESS) != 0 &&
        (errno == EACCES || errno == EROFS))
        return -errno;
    p->copy->acted = true;
    if (file == NULL) {
        int pin = fcntl(path_fd, F_DUPFD_CLOEXEC, FD_PRIVATE);
        file = pin < 0 ? NULL : replace_file(p->copy, pin, st, !(flags & O_TRUNC), &error);
    }
    return file ? open_memory(file, flags) : error < 0 ? error : -EMFILE;
}

/* Of devices, only harmless ones can be used. Those that can be written were opened before the filter was there. */
static int open_device(struct process *p, int path_fd, const struct stat *st, int flags)
{
    static const unsigned minors[COPY_DEVICES] = {3, 5, 7};
    if (!opens_for_change(flags))
        return open_named_by(path_fd, flags);
    for (int i = 0; i < COPY_DEVICES; i++) {
        if (minor(st->st_rdev) != minors[i] || p->copy->device[i] < 0)
            continue;
        int fd = fcntl(p->copy->device[i], flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
        return fd >= 0 ? fd : -errno;
    }
    return open_named_by(path_fd, flags); /* random or urandom: the emulator itself takes what the guest writes */
}

/* Whether this is /dev/tty and there is no controlling terminal: opening it fails with ENXIO, for the run as well. */
static bool is_absent_terminal(int path_fd, const struct stat *st)
{
    if (!S_ISCHR(st->st_mode) || st->st_rdev != makedev(5, 0))
        return false;
    int fd = open_named_by(path_fd, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd == -ENXIO;
}

static int open_existing(struct process *p, int path_fd, const char *name, int flags)
{
    struct stat st;
    if (fstat(path_fd, &st) != 0)
        return -errno;
    switch (st.st_mode & S_IFMT) {
    case S_IFREG: return open_plain(p, path_fd, &st, flags);
    case S_IFDIR: return opens_for_change(flags) ? -EISDIR : open_named_by(path_fd, flags);
    case S_IFLNK: return -ELOOP;
    case S_IFSOCK: return -ENXIO;
    default: break;
    }
    if (files_is_memory_device(&st))
        return open_device(p, path_fd, &st, flags);
    if (is_absent_terminal(path_fd, &st))
        return -ENXIO;
    copy_spoil(p, "opens %.100s, which only the run itself can have", name);
    return -EIO;
}

static uint64_t hash_name(int dir, const char *name)
{
    struct stat st;
    uint64_t hash = 0;
    if (fstatat(dir, "", &st, AT_EMPTY_PATH) == 0)
        hash = (uint64_t)st.st_dev * 31 + st.st_ino;
    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
    return hash | 1;
}

/* Returns the entry of a name's hash; for hash 0, a free entry. NULL: none. */
static uint64_t *find_created(struct process_copy *s, uint64_t hash)
{
    for (unsigned i = 0; i < COPY_CREATED_MAX; i++)
        if (s->created[i] == hash)
            return &s->created[i];
    return NULL;
}

static void note_created(struct process_copy *s, int dir, const char *name)
{
    uint64_t hash = hash_name(dir, name), *place = find_created(s, hash);
    if (place == NULL && (place = find_created(s, 0)) != NULL)
        *place = hash;
}

bool copy_forget_created(struct process_copy *s, int dir, const char *name)
{
    uint64_t *created = find_created(s, hash_name(dir, name));
    if (created)
        *created = 0;
    return created != NULL;
}

int copy_openat(struct process *p, int dir, const char *name, int flags)
{
    bool makes = flags & O_CREAT, fresh = (flags & O_TMPFILE) == O_TMPFILE;
    if (flags & O_PATH) {
        int fd = openat(dir, name, flags);
        return fd >= 0 ? fd : -errno;
    }
    if (fresh) {
        int fd = memfd_create("copy", flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
        return fd >= 0 ? fd : -errno;
    }
    int path_fd = openat(dir, name, O_PATH | O_CLOEXEC | (flags & (O_NOFOLLOW | O_DIRECTORY)));
    if (path_fd < 0 && (errno != ENOENT || !makes))
        return -errno;
    if (path_fd >= 0 && makes && (flags & O_EXCL)) {
        close(path_fd);
        return -EEXIST;
    }
    if (makes)
        note_created(p->copy, dir, name); /* even if it exists: the original may remove it before the copy does */
    if (path_fd < 0) {
        p->copy->acted = true;
        int fd = memfd_create("copy", flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
        if (fd >= 0 && (flags & O_APPEND))
            fcntl(fd, F_SETFL, O_APPEND);
        return fd >= 0 ? fd : -errno;
    }
    path_fd = files_make_private(path_fd); /* so that the guest gets its lowest free number */
    int fd = path_fd < 0 ? path_fd : open_existing(p, path_fd, name, flags);
    if (path_fd >= 0)
        close(path_fd);
    return fd;
}

int copy_open_devices(struct process_copy *s, struct error *err)
{
    static const char *const names[COPY_DEVICES] = {"/dev/null", "/dev/zero", "/dev/full"};
    for (int i = 0; i < COPY_DEVICES; i++) {
        int fd = open(names[i], O_RDWR | O_CLOEXEC);
        s->device[i] = fd >= 0 ? files_make_private(fd) : -1;
        if (fd >= 0 && s->device[i] < 0)
            return error_set(err, -EMFILE, "too many open files for a copy of the program");
    }
    return 0;
}

/* ---- descriptors that are open when the copy is made */

/* Makes `fd` a duplicate of `own`, closes `own`, and keeps close-on-exec. */
static void put_in_place(int own, int fd)
{
    dup3(own, fd, fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0);
    close(own);
}

static int open_path_of(int fd)
{
    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    int path_fd = open(name, O_PATH | O_CLOEXEC);
    return path_fd >= 0 ? files_make_private(path_fd) : -errno;
}

/* Makes a memory file for a plain file that is open for writing. Returns NULL with a negative errno in `*error` if it
 * fails. The contents of a large file that is only written are not copied: nobody reads them. */
static const struct replaced_file *replace_open_file(struct process_copy *s, int fd, int path_fd, const struct stat *st,
                                                     int *error)
{
    bool reads = (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR, content = reads || st->st_size <= WRITE_ONLY_MAX;
    int reader = content ? open_named_by(path_fd, O_CLOEXEC) : -1;
    if (reads && reader < 0)
        reader = fd; /* opened with rights that this user does not have: the caller restores the offset */
    int memory = memory_file_of(reader, st), seals = fcntl(fd, F_GET_SEALS);
    if (reader >= 0 && reader != fd)
        close(reader);
    *error = memory < 0 ? memory : -EMFILE;
    if (memory < 0)
        return NULL;
    if (seals > 0)
        fcntl(memory, F_ADD_SEALS, seals);
    return copy_add_replaced(s, st->st_dev, st->st_ino, memory, fcntl(path_fd, F_DUPFD_CLOEXEC, FD_PRIVATE));
}

/* Gives a plain file or a folder an offset of the copy's own. */
static int unshare_file(struct process *p, int fd, const struct stat *st)
{
    int flags = fcntl(fd, F_GETFL), error = 0, own;
    off_t offset = lseek(fd, 0, SEEK_CUR);
    int path_fd = open_path_of(fd);
    if (path_fd < 0)
        return path_fd;
    const struct replaced_file *file = copy_find_replaced(p->copy, st->st_dev, st->st_ino);
    if (S_ISREG(st->st_mode) && file == NULL && (flags & O_ACCMODE) != O_RDONLY)
        file = replace_open_file(p->copy, fd, path_fd, st, &error);
    if (file) {
        own = open_memory(file, flags & ~O_TRUNC);
    } else if (error < 0) {
        own = error;
    } else {
        own = open_named_by(path_fd, flags);
        if (own < 0 && S_ISREG(st->st_mode)) /* opened with rights that this user does not have */
            own = memory_file_of(fd, st);
    }
    close(path_fd);
    lseek(fd, offset, SEEK_SET);
    if (own < 0)
        return own;
    lseek(own, offset, SEEK_SET);
    put_in_place(own, fd);
    return 0;
}

/* Leaves only an O_PATH descriptor at the guest's number. */
static int borrow(struct files *f, int fd)
{
    int original = fcntl(fd, F_DUPFD_CLOEXEC, FD_PRIVATE), path_fd = open_path_of(fd);
    if (original < 0 || path_fd < 0) {
        int error = path_fd < 0 ? path_fd : -EMFILE;
        if (original >= 0)
            close(original);
        if (path_fd >= 0)
            close(path_fd);
        return error;
    }
    f->borrowed[fd] = original;
    put_in_place(path_fd, fd);
    return 0;
}

static int unshare_descriptor(struct process *p, int fd, const struct stat *st)
{
    struct files *f = p->files;
    if (S_ISREG(st->st_mode) || S_ISDIR(st->st_mode))
        return unshare_file(p, fd, st);
    bool inside = !fd_is_outside(&p->inherited, fd);
    if (inside && (S_ISFIFO(st->st_mode) ? copy_pipe(fd, st) : copy_eventfd(f, fd)))
        return 0;
    char path[PATH_MAX];
    if (inside && host_path(fd, path) == 0 && strcmp(path, "anon_inode:[eventpoll]") == 0)
        return 0; /* replaced after the descriptors that it watches */
    return borrow(f, fd);
}

/* Whether the descriptor can stay as it is: nothing but its number belongs to it. */
static bool has_no_state(int fd, const struct stat *st)
{
    return (fcntl(fd, F_GETFL) & O_PATH) || files_is_memory_device(st);
}

enum { NOT_OPEN = -2 }; /* instead of the number that a descriptor duplicates; -1: it duplicates none */

/* Files that are open for writing come first, because descriptors that read them must read the memory file. */
static int unshare_in_order(struct process *p, const int *duplicate, bool writable, int *at)
{
    int code = 0;
    for (int fd = 0; fd < FD_PRIVATE && code == 0; fd++) {
        struct stat st;
        *at = fd;
        if (duplicate[fd] == NOT_OPEN || fstat(fd, &st) != 0 || has_no_state(fd, &st) || duplicate[fd] >= 0)
            continue;
        bool writes = S_ISREG(st.st_mode) && (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
        if (writes == writable)
            code = unshare_descriptor(p, fd, &st);
    }
    return code;
}

/* Duplicates, which share one offset, become duplicates of the new descriptor. */
static void duplicate_again(struct files *f, const int *duplicate)
{
    for (int fd = 0; fd < FD_PRIVATE; fd++) {
        f->stream[fd] = STREAM_UNKNOWN;
        if (duplicate[fd] < 0)
            continue;
        dup3(duplicate[fd], fd, fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0);
        f->borrowed[fd] = f->borrowed[duplicate[fd]];
    }
}

/* Finds the descriptors that are duplicates of others. One call of poll tells which ones are open at all: a process may
 * be copied hundreds of times, and most of its descriptors are not. To poll those of O_PATH are as if they were not
 * open, which does not matter, since they have no state. */
static void find_duplicates(struct files *f, int duplicate[FD_PRIVATE])
{
    struct pollfd asked[FD_PRIVATE];
    struct stat st;
    for (int fd = 0; fd < FD_PRIVATE; fd++)
        asked[fd] = (struct pollfd){.fd = fd};
    bool known = poll(asked, FD_PRIVATE, 0) >= 0;
    for (int fd = 0; fd < FD_PRIVATE; fd++) {
        bool open = !(known && asked[fd].revents & POLLNVAL) && fstat(fd, &st) == 0;
        duplicate[fd] = !open ? NOT_OPEN : has_no_state(fd, &st) ? -1 : files_duplicate_of(f, fd, &st);
    }
}

int copy_unshare_files(struct process *p, struct error *err)
{
    struct files *f = p->files;
    int duplicate[FD_PRIVATE], code = 0, at = 0;
    char path[PATH_MAX];
    find_duplicates(f, duplicate);
    code = renew_replaced(p->copy);
    if (code == 0)
        code = unshare_in_order(p, duplicate, true, &at);
    if (code == 0)
        code = unshare_in_order(p, duplicate, false, &at);
    duplicate_again(f, duplicate);
    /* Epoll descriptors come last, because they must watch the new descriptors. */
    for (int fd = 0; fd < FD_PRIVATE && code == 0; fd++) {
        at = fd;
        if (duplicate[fd] == -1 && !f->borrowed[fd] && host_path(fd, path) == 0 &&
            strcmp(path, "anon_inode:[eventpoll]") == 0 && !copy_epoll(fd))
            code = borrow(f, fd);
    }
    if (code < 0)
        return error_set(err, code, "descriptor %d cannot be copied: %s", at, strerror(-code));
    duplicate_again(f, duplicate);
    return 0;
}
