/* inotify: the host's, so that changes by processes outside of the run are seen as well.
 *
 * What a guest process changes is an event at once, in the order of the changes. The host numbers pairs of renames
 * through all its processes; the guest gets numbers from 1 up for each descriptor, so that runs repeat.
 *
 * Limits: the emulator opens and reads some files by itself (programs, folders), so events of IN_OPEN, IN_ACCESS and
 * IN_CLOSE_NOWRITE can be more than on a machine of the guest's own. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/uio.h>
#include <unistd.h>

#include "guest/files_priv.h"
#include "guest/syscalls/syscall.h"

int64_t sys_inotify_init1(struct thread *t, const uint64_t a[6])
{
    struct files *f = thread_files(t);
    int fd = inotify_init1((int)a[0]);
    fd = fd >= 0 ? files_adopt(f, fd) : -errno;
    if (fd < 0)
        return fd;
    struct open_file *file = files_describe(f, fd);
    if (!file) {
        files_close(f, fd);
        return -ENOMEM;
    }
    file->inotify = true;
    return fd;
}

int64_t sys_inotify_add_watch(struct thread *t, const uint64_t a[6])
{
    char name[32];
    struct target target;
    uint32_t mask = (uint32_t)a[2];
    if (!files_is_guest((int)a[0]) || fcntl((int)a[0], F_GETFD) < 0)
        return -EBADF;
    int code = thread_lookup(t, AT_FDCWD, a[1], mask & IN_DONT_FOLLOW ? 0 : LOOKUP_FOLLOW, &target);
    if (code < 0)
        return code;
    int file = target_open(&target, O_PATH | O_CLOEXEC);
    target_release(&target);
    if (file < 0)
        return file;
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    int watch = inotify_add_watch((int)a[0], name, mask & ~(uint32_t)IN_DONT_FOLLOW); /* the name itself is a link */
    code = errno;
    close(file);
    return watch >= 0 ? watch : -code;
}

int64_t sys_inotify_rm_watch(struct thread *t, const uint64_t a[6])
{
    (void)t;
    if (!files_is_guest((int)a[0]))
        return -EBADF;
    return inotify_rm_watch((int)a[0], (int)a[1]) == 0 ? 0 : -errno;
}

/* Replaces the host's number of each rename by the guest's. The two events of a rename follow each other. */
static void renumber(struct open_file *file, char *events, size_t bytes)
{
    struct inotify_event event;
    for (size_t at = 0; at + sizeof event <= bytes; at += sizeof event + event.len) {
        memcpy(&event, events + at, sizeof event);
        if (event.cookie == 0)
            continue;
        if (event.cookie != file->host_cookie) {
            file->host_cookie = event.cookie;
            file->cookie++;
        }
        event.cookie = file->cookie;
        memcpy(events + at, &event, sizeof event);
    }
}

int64_t inotify_read(struct thread *t, int fd, const struct iovec *first)
{
    struct files *f = thread_files(t);
    if (file_may_block(f, fd)) {
        int64_t waiting = file_wait(t, fd, POLLIN);
        if (waiting < 0)
            return waiting;
    }
    ssize_t n = read(fd, first->iov_base, first->iov_len);
    if (n < 0)
        return -errno;
    renumber(f->open[fd], first->iov_base, (size_t)n);
    return n;
}
