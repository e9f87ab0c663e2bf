/* System calls that open, duplicate and close descriptors. */
#include <errno.h>
#include <linux/close_range.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest/baton.h"
#include "guest/file_view.h"
#include "guest/files_priv.h"
#include "guest/overlay.h"
#include "guest/syscalls/syscall.h"

/* The guest uses the open flags of asm-generic. They are passed to the host unchanged, so the host's values must be
 * equal. */
_Static_assert(O_CREAT == 0100 && O_EXCL == 0200 && O_NOCTTY == 0400 && O_TRUNC == 01000 && O_APPEND == 02000 &&
                   O_NONBLOCK == 04000 && O_DIRECT == 040000 && O_DIRECTORY == 0200000 && O_NOFOLLOW == 0400000 &&
                   O_CLOEXEC == 02000000 && O_PATH == 010000000,
               "open flags of this host need translation");

static const int open_flags = O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_SYNC |
                              O_DIRECT | 0100000 /* O_LARGEFILE of the kernel */ | O_DIRECTORY | O_NOFOLLOW |
                              O_NOATIME | O_CLOEXEC | O_PATH | O_TMPFILE;

/* Opens the file of another descriptor again (/proc/self/fd/N). In an isolated run this must not extend the guest's
 * access: a file outside the mounts, inherited from the caller, can only be opened in ways that the access mode of the
 * inherited descriptor allows. */
static int reopen(struct files *f, const struct target *target, int flags)
{
    char self[32], guest[PATH_MAX];
    if (f->isolate) {
        const struct mount *mount = files_mount_of(f, target->dir, guest);
        int held = fcntl(target->dir, F_GETFL), want = flags & O_ACCMODE;
        if (mount && mount->readonly && opens_for_change(flags))
            return -EROFS;
        if (!mount && (held < 0 || (held & O_PATH)))
            return -EACCES;
        held &= O_ACCMODE;
        if (!mount && held != O_RDWR && (held != want || (held == O_RDONLY && (flags & O_TRUNC))))
            return -EACCES;
    }
    snprintf(self, sizeof self, "/proc/self/fd/%d", target->dir);
    return files_openat(f, AT_FDCWD, self, flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW), 0);
}

static int open_named(struct files *f, const struct target *target, int flags, mode_t mode)
{
    if (target->at_flags & AT_SYMLINK_NOFOLLOW)
        flags |= O_NOFOLLOW;
    return files_openat(f, target->dir, target->name, flags, mode);
}

/* ---- named pipes
 *
 * In the host, opening one end blocks until the other end opens. Here the thread sleeps, so that other threads and
 * processes of the run, timers and signals go on. The host's calls do not block: a reader keeps its end in
 * `opening_fd`, so that a writer finds it, and looks for a writer every millisecond; a writer tries again and again. */

/* How to open: by name, or by /proc/self/fd. */
typedef int open_fn(struct files *f, const struct target *target, int flags);

static int open_by_name(struct files *f, const struct target *target, int flags)
{
    return open_named(f, target, flags, 0);
}

static bool waits_as_fifo(const struct stat *st, int flags)
{
    return S_ISFIFO(st->st_mode) && !(flags & (O_NONBLOCK | O_PATH)) && (flags & O_ACCMODE) != O_RDWR;
}

/* Whether a pipe has, or since it was opened has had, a writer. An empty pipe gives EAGAIN to tee if it has one. */
static bool has_writer(int fd)
{
    struct pollfd state = {.fd = fd, .events = POLLIN};
    int scratch[2];
    if (poll(&state, 1, 0) > 0)
        return true;
    if (pipe2(scratch, O_CLOEXEC) != 0)
        return true; /* no descriptors left: the first read will wait instead */
    bool found = tee(fd, scratch[1], 1, SPLICE_F_NONBLOCK) != 0;
    close(scratch[0]);
    close(scratch[1]);
    return found;
}

bool process_can_only_wait(const struct process *p)
{
    return !p->threads->next && baton_alone(p) && !p->config.host_time && p->timers_armed == 0;
}

static int64_t wait_for_other_end(struct thread *t)
{
    int64_t result = file_wait_tick(t);
    if (result != SYSCALL_RETRY && t->opening_fd >= 0) {
        close(t->opening_fd);
        t->opening_fd = -1;
    }
    return result;
}

/* Goes on with an open for reading. */
static int64_t finish_reader(struct thread *t, int flags)
{
    while (!has_writer(t->opening_fd)) {
        if (!process_can_only_wait(t->process) || host_signal_waiting() || signal_deliverable(t))
            return wait_for_other_end(t);
        usleep(1000);
    }
    int fd = fcntl(t->opening_fd, flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 0), code = errno;
    close(t->opening_fd);
    t->opening_fd = -1;
    if (fd < 0)
        return -code;
    fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
    fd = files_adopt(thread_files(t), fd);
    if (fd >= 0)
        files_forget(thread_files(t), fd);
    return fd;
}

static int64_t open_fifo(struct thread *t, const struct target *target, int flags, open_fn *opens)
{
    struct files *f = thread_files(t);
    int fd;
    while ((fd = opens(f, target, flags | O_NONBLOCK)) == -ENXIO) {
        if (!process_can_only_wait(t->process) || host_signal_waiting() || signal_deliverable(t))
            return wait_for_other_end(t);
        usleep(1000);
    }
    if (fd < 0 || (flags & O_ACCMODE) == O_WRONLY) {
        if (fd >= 0)
            fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
        return fd;
    }
    fd = files_make_private(fd);
    if (fd < 0)
        return fd;
    t->opening_fd = fd;
    return finish_reader(t, flags);
}

/* Opens a special file or folder. Returns a descriptor or a negative errno. */
static int64_t open_node(struct thread *t, struct target *target, int flags)
{
    struct files *f = thread_files(t);
    struct stat st;
    char path[PATH_MAX];
    switch (target->node.kind) {
    case NODE_TEXT: {
        if (opens_for_change(flags))
            return -EACCES;
        if (flags & O_DIRECTORY)
            return -ENOTDIR;
        int fd = fcntl(target->dir, flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
        return fd >= 0 ? fd : -errno;
    }
    case NODE_DESCRIPTOR:
        if (!(target->at_flags & AT_EMPTY_PATH))
            return -ELOOP;
        if (fstat(target->dir, &st) == 0 && waits_as_fifo(&st, flags) && host_path(target->dir, path) == 0 &&
            path[0] == '/') /* the host does not wait for the other end of a pipe without a name */
            return open_fifo(t, target, flags, reopen);
        return reopen(f, target, flags);
    case NODE_LINK: return -ELOOP;
    case NODE_FOLDER:
        if (target->missing)
            return -EROFS;
        if (opens_for_change(flags))
            return flags & O_DIRECTORY ? -EROFS : -EISDIR;
        break;
    default: break;
    }
    return open_named(f, target, flags & ~(O_CREAT | O_EXCL | O_TRUNC), 0);
}

/* Makes a covered target ready to be opened for a change: a plain file is copied, a new name is placed. Pipes and
 * devices stay where they are: they are not changed by what is written to them. 0 or a negative errno. */
static int open_in_layers(struct files *f, struct target *target, int flags)
{
    struct stat st;
    if (target->missing)
        return overlay_place(f, target);
    if ((flags & O_CREAT) && (flags & O_EXCL))
        return -EEXIST;
    if (fstatat(target->dir, target->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return -errno;
    if (S_ISDIR(st.st_mode) && (flags & O_TMPFILE) == O_TMPFILE)
        return overlay_lift(f, target, false);
    if (!S_ISREG(st.st_mode) || !opens_for_change(flags))
        return 0;
    int error = overlay_may_write(f, &st);
    return error < 0 ? error : overlay_lift(f, target, flags & O_TRUNC);
}

static int64_t open_plain(struct thread *t, struct target *target, int flags, mode_t mode)
{
    struct files *f = thread_files(t);
    struct stat st;
    if (target->slash && (flags & O_CREAT))
        return -EISDIR;
    if (opens_for_change(flags) || (target->missing && (flags & O_CREAT))) {
        int error = target_may_change(f, target);
        if (error == 0 && target->covered)
            error = open_in_layers(f, target, flags);
        if (error < 0)
            return error;
    }
    if (!(flags & (O_NONBLOCK | O_PATH)) && (flags & O_ACCMODE) != O_RDWR &&
        fstatat(target->dir, target->name, &st, target->at_flags) == 0 && waits_as_fifo(&st, flags))
        return open_fifo(t, target, flags, open_by_name);
    bool makes = (flags & O_CREAT) && fstatat(target->dir, target->name, &st, target->at_flags) != 0;
    int fd = open_named(f, target, flags, mode);
    if (fd < 0 && (flags & O_CREAT))
        overlay_made(f, target);
    bool temporary = (flags & O_TMPFILE) == O_TMPFILE;
    if (fd < 0 || !(makes || temporary || ((flags & O_TRUNC) && opens_for_change(flags))) || fstat(fd, &st) != 0)
        return fd;
    if (makes || temporary)
        file_made(t->process, &st);
    else if (S_ISREG(st.st_mode))
        file_touched(t->process, &st);
    if (makes)
        target_parent_changed(t->process, target);
    return fd;
}

/* Records what kind of file `fd` is, if it is special. Special files and folders keep their guest path, because paths
 * relative to them are special as well. */
static int describe(struct files *f, int fd, const struct target *target)
{
    struct stat st;
    bool named = target->node.kind == NODE_TEXT ||
                 (special_tree(target->path) && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) ||
                 (target->node.kind == NODE_FOLDER && target->path[0] != '\0');
    if (!named && target->node.kind != NODE_RANDOM)
        return 0;
    struct open_file *o = files_describe(f, fd);
    if (!o)
        return -ENOMEM;
    o->random = target->node.kind == NODE_RANDOM;
    if (!named)
        return 0;
    o->path = strdup(target->path);
    return o->path ? 0 : -ENOMEM;
}

/* A terminal that is opened without O_NOCTTY becomes the controlling terminal of a session leader that has none. The
 * host opens all files with O_NOCTTY. The kernel refuses where it should; the master side of a pseudo-terminal, which
 * has a number, never is one. */
static void take_opened_terminal(const struct thread *t, int fd)
{
    int number;
    if (!t->process->copy && isatty(fd) && getsid(0) == getpid() && ioctl(fd, TIOCGPTN, &number) != 0)
        (void)!ioctl(fd, TIOCSCTTY, 0);
}

static int64_t open_path(struct thread *t, int dirfd, uint64_t path_addr, int flags, mode_t mode)
{
    if (flags & O_TRUNC)
        guest_file_shrinks(t->process->memory);
    if (t->opening_fd >= 0)
        return finish_reader(t, flags);
    struct files *f = thread_files(t);
    struct target target;
    unsigned lookup = 0;
    bool exclusive = (flags & O_CREAT) && (flags & O_EXCL);
    if (!(flags & O_NOFOLLOW) && !exclusive)
        lookup |= LOOKUP_FOLLOW;
    if ((flags & O_CREAT) && !(flags & O_PATH))
        lookup |= LOOKUP_CREATE;
    int error = thread_lookup(t, dirfd, path_addr, lookup, &target);
    if (error < 0)
        return error;
    int64_t fd = flags & (O_CREAT | O_TRUNC) ? files_check_room(f) : 0;
    if (fd == 0)
        fd = target.node.kind != NODE_NONE ? open_node(t, &target, flags) : open_plain(t, &target, flags, mode);
    if (fd >= 0)
        fd = files_adopt(thread_files(t), (int)fd);
    if (fd >= 0) {
        files_forget(f, (int)fd);
        f->standard[fd] = (uint8_t)target_standard(f, &target);
        error = describe(f, (int)fd, &target);
        if (error < 0) {
            files_close(f, (int)fd);
            fd = error;
        }
    }
    if (fd >= 0 && !(flags & (O_NOCTTY | O_PATH)))
        take_opened_terminal(t, (int)fd);
    target_release(&target);
    return fd;
}

int files_open_private(struct files *f, const char *guest_path, char real[PATH_MAX])
{
    struct target target;
    int error = path_lookup(f, AT_FDCWD, guest_path, LOOKUP_FOLLOW, &target);
    if (error < 0)
        return error;
    int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK; /* must not block on a named pipe, which is not a program */
    int fd;
    if (target.node.kind == NODE_DESCRIPTOR)
        fd = reopen(f, &target, flags);
    else if (target.at_flags & AT_EMPTY_PATH)
        fd = target_open(&target, flags);
    else
        fd = open_named(f, &target, flags, 0);
    if (fd >= 0)
        fd = files_make_private(fd);
    if (fd >= 0 && real) {
        error = files_path(f, fd, real);
        if (error < 0) {
            close(fd);
            fd = error;
        }
    }
    target_release(&target);
    return fd;
}

int64_t sys_openat(struct thread *t, const uint64_t a[6])
{
    return open_path(t, (int)a[0], a[1], (int)a[2] & open_flags, (mode_t)a[3] & 07777);
}

/* RESOLVE_ flags are refused with ENOSYS, as if the kernel did not have the call. */
int64_t sys_openat2(struct thread *t, const uint64_t a[6])
{
    struct open_how how;
    if (a[3] < sizeof how)
        return -EINVAL;
    if (a[3] > sizeof how)
        return -E2BIG;
    if (guest_copy_in(t->process->memory, &how, a[2], sizeof how) < 0)
        return -EFAULT;
    if ((how.flags & ~(uint64_t)open_flags) != 0 || (how.mode & ~UINT64_C(07777)) != 0)
        return -EINVAL;
    if (how.resolve != 0)
        return -ENOSYS;
    return open_path(t, (int)a[0], a[1], (int)how.flags, (mode_t)how.mode);
}

int64_t sys_close(struct thread *t, const uint64_t a[6])
{
    return files_close(thread_files(t), (int)a[0]);
}

int64_t sys_close_range(struct thread *t, const uint64_t a[6])
{
    unsigned first = (unsigned)a[0], last = (unsigned)a[1], flags = (unsigned)a[2];
    if (first > last || (flags & ~(unsigned)(CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC)) != 0)
        return -EINVAL;
    for (unsigned fd = first; fd <= last && fd < FD_PRIVATE; fd++) {
        if (!(flags & CLOSE_RANGE_CLOEXEC))
            files_close(thread_files(t), (int)fd);
        else if (fcntl((int)fd, F_GETFD) >= 0)
            fcntl((int)fd, F_SETFD, FD_CLOEXEC);
    }
    return 0;
}

int64_t sys_dup(struct thread *t, const uint64_t a[6])
{
    int from = (int)a[0];
    if (!files_is_guest(from))
        return -EBADF;
    int fd = dup(from);
    fd = fd >= 0 ? files_adopt(thread_files(t), fd) : -errno;
    if (fd >= 0)
        files_share(thread_files(t), from, fd);
    return fd;
}

int64_t sys_dup3(struct thread *t, const uint64_t a[6])
{
    int from = (int)a[0], to = (int)a[1];
    if (from == to || ((int)a[2] & ~O_CLOEXEC) != 0)
        return -EINVAL;
    if (!files_is_guest(from) || to < 0 || to >= files_limit(thread_files(t)))
        return -EBADF;
    if (dup3(from, to, (int)a[2]) < 0)
        return -errno;
    files_share(thread_files(t), from, to);
    return to;
}

int64_t sys_umask(struct thread *t, const uint64_t a[6])
{
    struct files *f = thread_files(t);
    mode_t old = f->umask;
    f->umask = (mode_t)a[0] & 0777;
    return old;
}

/* Writes a pair of new descriptors to guest memory; closes both on failure. */
int64_t files_give_pair(struct thread *t, const int fds[2], uint64_t addr)
{
    int32_t pair[2] = {fds[0], fds[1]};
    int limit = files_limit(thread_files(t));
    bool fit = fds[0] < limit && fds[1] < limit;
    if (fit && guest_copy_out(t->process->memory, addr, pair, sizeof pair) == 0)
        return 0;
    close(fds[0]);
    close(fds[1]);
    return fit ? -EFAULT : -EMFILE;
}

int64_t sys_pipe2(struct thread *t, const uint64_t a[6])
{
    int fds[2];
    if (pipe2(fds, (int)a[1]) != 0)
        return -errno;
    return files_give_pair(t, fds, a[0]);
}

int64_t sys_eventfd2(struct thread *t, const uint64_t a[6])
{
    struct files *f = thread_files(t);
    int fd = eventfd((unsigned)a[0], (int)a[1]);
    fd = fd >= 0 ? files_adopt(thread_files(t), fd) : -errno;
    struct open_file *o = fd >= 0 ? files_describe(f, fd) : NULL;
    if (o)
        o->semaphore = a[1] & EFD_SEMAPHORE;
    return fd;
}

int64_t sys_memfd_create(struct thread *t, const uint64_t a[6])
{
    char name[250];
    int64_t n = guest_copy_string(t->process->memory, name, sizeof name, a[0]);
    if (n < 0)
        return n == -ENAMETOOLONG ? -EINVAL : n;
    int fd = memfd_create(name, (unsigned)a[1]);
    return fd >= 0 ? files_adopt(thread_files(t), fd) : -errno;
}
