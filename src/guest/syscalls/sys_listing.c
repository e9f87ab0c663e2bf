/* getdents64. The first call on a folder reads all its entries and sorts them by name; later calls return them in that
 * order. The guest's view does not depend on how the host's file system orders entries. A position is an index into
 * the sorted entries. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "guest/file_view.h"
#include "guest/files_priv.h"
#include "guest/listing.h"
#include "guest/overlay.h"
#include "guest/syscalls/syscall.h"

/* struct linux_dirent64 */
struct guest_dirent {
    uint64_t inode;
    int64_t next;    /* position of the next entry */
    uint16_t length; /* bytes of this record, a multiple of 8 */
    uint8_t type;
    char name[];
} __attribute__((packed));
enum { DIRENT_HEAD = sizeof(struct guest_dirent) };
_Static_assert(DIRENT_HEAD == 19, "struct linux_dirent64");

static void listing_clear(struct listing *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->entries[i].name);
    l->count = 0;
}

void listing_free(struct listing *l)
{
    if (!l)
        return;
    listing_clear(l);
    free(l->entries);
    free(l);
}

void listing_add(struct listing *l, const char *name, uint64_t inode, unsigned char type)
{
    struct entry *entries = array_grow(l->entries, l->count, &l->room, sizeof *entries);
    if (!entries) {
        l->failed = true;
        return;
    }
    l->entries = entries;
    struct entry *e = &l->entries[l->count];
    *e = (struct entry){.name = strdup(name), .inode = inode, .dev = l->dev, .sequence = l->count, .type = type};
    if (e->name)
        l->count++;
    else
        l->failed = true;
}

static void add_special(void *context, const char *name, unsigned char type)
{
    struct listing *l = context;
    l->dev = 0;
    listing_add(l, name, l->count + 1, type);
}

static bool is_dot(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Adds the host's entries of `fd`, or only `.` and `..`. Returns 0 or a negative errno. */
static int read_host(struct listing *l, int fd, bool only_dots)
{
    char buffer[32768] __attribute__((aligned(8)));
    struct stat st;
    l->dev = fstat(fd, &st) == 0 ? st.st_dev : 0;
    lseek(fd, 0, SEEK_SET);
    for (;;) {
        long n = syscall(SYS_getdents64, fd, buffer, sizeof buffer);
        if (n <= 0)
            return n == 0 ? 0 : -errno;
        for (long at = 0; at < n;) {
            const struct guest_dirent *d = (const struct guest_dirent *)(buffer + at);
            if (!only_dots || is_dot(d->name))
                listing_add(l, d->name, d->inode, d->type);
            at += d->length;
        }
    }
}

/* `.` and `..` first, then by name; of two entries with one name the one that was added first. */
static int compare(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (is_dot(a->name) != is_dot(b->name))
        return is_dot(a->name) ? -1 : 1;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

static void drop_duplicates(struct listing *l)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->count; i++) {
        if (kept > 0 && strcmp(l->entries[kept - 1].name, l->entries[i].name) == 0)
            free(l->entries[i].name);
        else
            l->entries[kept++] = l->entries[i];
    }
    l->count = kept;
}

static void drop_removed(struct listing *l)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->count; i++) {
        if (l->entries[i].type == DT_WHT)
            free(l->entries[i].name);
        else
            l->entries[kept++] = l->entries[i];
    }
    l->count = kept;
}

/* Adds an entry of the upper layer. A mark of a removed name hides the entry of the lower layer; it is dropped later.
 */
static void add_upper(void *context, const char *name, uint64_t inode, unsigned char type, bool removed)
{
    listing_add(context, name, inode, removed ? DT_WHT : type);
}

/* Adds the entries of a folder in the layers of the sysroot. `path` is its guest path. */
static int read_layers(struct files *f, struct listing *l, const char *path)
{
    struct stat st;
    l->dev = fstat(overlay_upper(f), &st) == 0 ? st.st_dev : 0;
    int error = overlay_list(f, path, add_upper, l);
    int lower = error < 0 ? -1 : overlay_open_lower(f, path);
    if (lower < 0)
        return error;
    int fd = openat(lower, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    error = fd < 0 ? -errno : read_host(l, fd, false);
    if (fd >= 0)
        close(fd);
    close(lower);
    return error;
}

/* Whether the folder lies in the sysroot and the guest has changed the sysroot; writes its guest path. */
static bool has_layers(struct files *f, int fd, char path[PATH_MAX])
{
    return f->overlaid && overlay_upper(f) >= 0 && files_mount_of(f, fd, path) == &f->mounts[0] &&
           overlay_covers(f, path);
}

/* Reads the folder anew: the host's entries unless hidden, then the entries that exist only for the guest. */
static int fill(struct files *f, struct listing *l, int fd)
{
    char path[PATH_MAX], layered[PATH_MAX];
    const char *special = f->open[fd] ? f->open[fd]->path : NULL;
    bool hides = special && special_hides_host(f, special);
    listing_clear(l);
    l->stale = false;
    if (!special && f->isolate) {
        if (!files_mount_of(f, fd, path))
            return -EACCES; /* inherited from the caller and not in any bind */
        special = path;
    }
    bool layers = !hides && has_layers(f, fd, layered);
    int error = layers ? read_layers(f, l, layered) : read_host(l, fd, hides);
    if (error == -ENOENT && special) {
        /* `files.empty` is a removed folder, in which the host does not list `.` and `..`. */
        add_special(l, ".", DT_DIR);
        add_special(l, "..", DT_DIR);
    } else if (error < 0) {
        return error;
    }
    if (special)
        special_list(f, special, add_special, l);
    if (l->failed)
        return -ENOMEM;
    qsort(l->entries, l->count, sizeof *l->entries, compare);
    drop_duplicates(l);
    if (layers)
        drop_removed(l);
    for (size_t i = 0; i < l->count; i++)
        if (l->entries[i].dev)
            l->entries[i].inode = file_number(f->process, l->entries[i].dev, l->entries[i].inode);
    return 0;
}

/* Copies as many records as fit to `to`. Returns their bytes, 0 at the end, or -EINVAL if not even one fits. */
static int64_t copy_records(struct listing *l, char *to, uint64_t size)
{
    uint64_t used = 0;
    while (l->position < l->count) {
        const struct entry *e = &l->entries[l->position];
        size_t bytes = strlen(e->name) + 1, length = (DIRENT_HEAD + bytes + 7) / 8 * 8;
        if (length > size - used)
            return used > 0 ? (int64_t)used : -EINVAL;
        struct guest_dirent head = {
            .inode = e->inode, .next = (int64_t)++l->position, .length = (uint16_t)length, .type = e->type};
        memset(to + used, 0, length);
        memcpy(to + used, &head, DIRENT_HEAD);
        memcpy(to + used + DIRENT_HEAD, e->name, bytes);
        used += length;
    }
    return (int64_t)used;
}

int64_t sys_getdents64(struct thread *t, const uint64_t a[6])
{
    struct files *f = thread_files(t);
    struct stat st;
    int fd = (int)a[0];
    uint64_t size = (uint32_t)a[2];
    if (!files_is_guest(fd) || fstat(fd, &st) != 0)
        return -EBADF;
    if (!S_ISDIR(st.st_mode))
        return -ENOTDIR;
    char *to = guest_ptr(t->process->memory, a[1], size, PROT_WRITE);
    if (!to)
        return -EFAULT;
    struct open_file *o = files_describe(f, fd);
    if (o && !o->listing && (o->listing = calloc(1, sizeof *o->listing)))
        o->listing->stale = true;
    if (!o || !o->listing)
        return -ENOMEM;
    if (o->listing->stale) {
        int error = fill(f, o->listing, fd);
        if (error < 0) {
            listing_free(o->listing);
            o->listing = NULL;
            return error;
        }
    }
    return copy_records(o->listing, to, size);
}

int64_t folder_seek(struct files *f, int fd, int64_t offset, int whence)
{
    struct listing *l = f->open[fd]->listing;
    if (whence != SEEK_CUR && whence != SEEK_SET)
        return -EINVAL;
    if (whence == SEEK_CUR && __builtin_add_overflow(offset, (int64_t)l->position, &offset))
        return -EOVERFLOW;
    if (offset < 0)
        return -EINVAL;
    l->stale |= offset == 0 && whence == SEEK_SET;
    l->position = (size_t)offset;
    return offset;
}
