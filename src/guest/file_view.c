#include "guest/file_view_priv.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "guest/files_priv.h"
#include "guest/time_convert.h"

enum {
    BLOCK_BYTES = 4096, /* of every file */
    STREAM_DEVICE = 14,
    FIRST_NUMBER = 11, /* the first inode that an ext4 file system gives to a file */
};

/* ---- the table */

struct views *views_new(struct error *err)
{
    struct views *v = mmap(NULL, sizeof *v, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (v == MAP_FAILED) {
        error_set(err, -errno, "cannot allocate the table of files: %s", strerror(errno));
        return NULL;
    }
    v->next = FIRST_NUMBER;
    return v;
}

void views_free(struct views *v)
{
    if (v)
        munmap(v, sizeof *v);
}

static uint32_t *hash_place(struct views *v, uint64_t dev, uint64_t inode)
{
    uint64_t hash = (inode * 31 + dev) * UINT64_C(0x9e3779b97f4a7c15);
    return &v->first[hash >> 46];
}
_Static_assert(VIEWS_HASH == 1 << (64 - 46), "the hash selects a place");

static void lock(struct views *v)
{
    while (atomic_exchange(&v->lock, 1))
        ;
}

static void unlock(struct views *v)
{
    atomic_store(&v->lock, 0);
}

/* Returns the view of a file, and whether it was added. */
static struct view *find_or_add(struct process *p, uint64_t dev, uint64_t inode, bool *added)
{
    struct views *v = p->views;
    struct view *found = NULL;
    uint32_t *place = hash_place(v, dev, inode);
    lock(v);
    for (uint32_t i = *place; i && !found; i = v->view[i - 1].next)
        if (v->view[i - 1].inode == inode && v->view[i - 1].dev == dev)
            found = &v->view[i - 1];
    *added = !found && v->count < VIEWS_MAX;
    if (*added) {
        found = &v->view[v->count++];
        *found = (struct view){.dev = dev, .inode = inode, .number = v->next++, .next = *place};
        *place = v->count;
    }
    unlock(v);
    return found;
}

const struct view *view_peek(const struct process *p, uint64_t dev, uint64_t inode)
{
    const struct views *v = p->views;
    for (uint32_t i = *hash_place(p->views, dev, inode); i; i = v->view[i - 1].next)
        if (v->view[i - 1].inode == inode && v->view[i - 1].dev == dev)
            return &v->view[i - 1];
    return NULL;
}

struct view *view_find(struct process *p, uint64_t dev, uint64_t inode)
{
    bool added;
    return find_or_add(p, dev, inode, &added);
}

static struct view *find_stat(struct process *p, const struct stat *st)
{
    return view_find(p, st->st_dev, st->st_ino);
}

uint64_t file_number(struct process *p, dev_t dev, ino_t inode)
{
    const struct view *view = view_find(p, dev, inode);
    return view ? view->number : inode;
}

static void copy_views(struct views *to, const struct views *from)
{
    to->next = from->next;
    for (to->count = 0; to->count < from->count;) {
        struct view *view = &to->view[to->count];
        *view = from->view[to->count];
        uint32_t *place = hash_place(to, view->dev, view->inode);
        view->next = *place;
        *place = ++to->count;
    }
}

int views_unshare(struct process *p, struct error *err)
{
    struct views *own = views_new(err);
    if (!own)
        return -ENOMEM;
    copy_views(own, p->views);
    views_free(p->views);
    p->views = own;
    return 0;
}

/* ---- what the guest sees */

static struct timespec to_timespec(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

static void view_times(const struct process *p, const struct view *view, struct stat *st)
{
    struct timespec start = to_timespec(WALL_CLOCK_START_NS);
    if (p->config.host_time)
        return;
    if (view && view->changed) {
        st->st_atim = to_timespec(view->access_ns);
        st->st_mtim = to_timespec(view->change_ns);
        st->st_ctim = to_timespec(view->status_ns);
        return;
    }
    bool kept = (S_ISREG(st->st_mode) || S_ISDIR(st->st_mode) || S_ISLNK(st->st_mode)) && st->st_nlink > 0;
    if (!kept || st->st_mtim.tv_sec >= start.tv_sec)
        st->st_mtim = start;
    st->st_atim = st->st_ctim = st->st_mtim;
}

void file_view(struct process *p, struct stat *st)
{
    struct view *view = find_stat(p, st);
    view_times(p, view, st);
    if (view && !view->changed)
        view->change_ns = timespec_to_ns(&st->st_mtim);
    st->st_ino = view ? view->number : st->st_ino;
    st->st_dev = makedev(8, 1);
    st->st_blksize = BLOCK_BYTES;
    if (S_ISDIR(st->st_mode)) {
        st->st_size = BLOCK_BYTES;
        st->st_nlink = st->st_nlink > 0; /* 1: subfolders are not counted, as in btrfs */
    }
    bool stored = S_ISREG(st->st_mode) || S_ISDIR(st->st_mode);
    st->st_blocks = stored ? (st->st_size / BLOCK_BYTES + (st->st_size % BLOCK_BYTES != 0)) * 8 : 0;
    if (!p->config.host_user)
        st->st_uid = st->st_gid = GUEST_USER;
}

void file_view_standard(const struct process *p, int standard, struct stat *st)
{
    struct user_ids user = process_user(p);
    memset(st, 0, sizeof *st);
    st->st_dev = STREAM_DEVICE;
    st->st_ino = (ino_t)standard;
    st->st_mode = S_IFIFO | 0600;
    st->st_nlink = 1;
    st->st_uid = user.uid;
    st->st_gid = user.gid;
    st->st_blksize = BLOCK_BYTES;
    st->st_atim = st->st_mtim = st->st_ctim = to_timespec(WALL_CLOCK_START_NS);
}

/* ---- what the guest does */

/* The view of a file with times of its own, at first those that the guest has seen so far. After a change of the
 * contents the host has its own time there; what the guest has not seen before is then now. */
static struct view *own_times(struct process *p, const struct stat *st, bool contents_changed)
{
    struct view *view = find_stat(p, st);
    if (!view || view->changed)
        return view;
    struct stat seen = *st;
    view_times(p, view, &seen);
    uint64_t before = contents_changed ? process_wall_clock_ns(p) : timespec_to_ns(&seen.st_mtim);
    if (contents_changed && view->change_ns)
        before = view->change_ns;
    view->access_ns = view->change_ns = view->status_ns = before;
    view->changed = 1;
    return view;
}

/* A new file may have the host's inode of one that was removed, but never its number. */
void file_made(struct process *p, const struct stat *st)
{
    bool added;
    struct view *view = find_or_add(p, st->st_dev, st->st_ino, &added);
    if (!view)
        return;
    if (!added)
        view->number = p->views->next++;
    view->changed = 1;
    view->access_ns = view->change_ns = view->status_ns = process_wall_clock_ns(p);
}

void file_touched(struct process *p, const struct stat *st)
{
    struct view *view = own_times(p, st, true);
    if (view)
        view->change_ns = view->status_ns = process_wall_clock_ns(p);
}

void file_status_changed(struct process *p, const struct stat *st)
{
    struct view *view = own_times(p, st, false);
    if (view)
        view->status_ns = process_wall_clock_ns(p);
}

static void set_time(uint64_t *to, const struct timespec *time, uint64_t now)
{
    if (time->tv_nsec == UTIME_NOW)
        *to = now;
    else if (time->tv_nsec != UTIME_OMIT)
        *to = timespec_to_ns(time);
}

void file_set_times(struct process *p, const struct stat *st, const struct timespec times[2])
{
    static const struct timespec now_twice[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
    struct view *view = own_times(p, st, false);
    uint64_t now = process_wall_clock_ns(p);
    if (!view)
        return;
    times = times ? times : now_twice;
    set_time(&view->access_ns, &times[0], now);
    set_time(&view->change_ns, &times[1], now);
    view->status_ns = now;
}

/* Called for every write to a plain file: the place in the table is kept with the descriptor. */
void file_written(struct process *p, int fd)
{
    struct files *f = p->files;
    struct stat st;
    if (f->standard[fd])
        return;
    if (!f->seen[fd]) {
        struct view *view = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? own_times(p, &st, true) : NULL;
        if (!view)
            return;
        f->seen[fd] = (uint32_t)(view - p->views->view) + 1;
    }
    struct view *view = &p->views->view[f->seen[fd] - 1];
    view->change_ns = view->status_ns = process_wall_clock_ns(p);
}

void file_moved(struct process *p, const struct stat *from, const struct stat *to)
{
    bool added;
    struct view *old = find_stat(p, from), *view = find_or_add(p, to->st_dev, to->st_ino, &added);
    if (!old || !view)
        return;
    if (added)
        p->views->next--; /* the copy needs no number of its own */
    struct view copy = *old;
    copy.dev = view->dev;
    copy.inode = view->inode;
    copy.next = view->next;
    *view = copy;
}

void target_made(struct process *p, const struct target *target)
{
    struct stat st;
    if (fstatat(target->dir, target->name, &st, AT_SYMLINK_NOFOLLOW | (target->at_flags & AT_EMPTY_PATH)) == 0)
        file_made(p, &st);
    target_parent_changed(p, target);
}

void target_parent_changed(struct process *p, const struct target *target)
{
    char folder[PATH_MAX];
    struct stat st;
    snprintf(folder, sizeof folder, "%s", target->name);
    size_t n = strlen(folder);
    while (n > 0 && folder[n - 1] == '/')
        folder[--n] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0'; /* of "/name", the root remains */
    if (fstatat(target->dir, slash ? folder : "", &st, AT_EMPTY_PATH) == 0)
        file_touched(p, &st);
}
