/* Makes the guest's own pipes, eventfds and epoll descriptors again for a copied process, with their contents. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "guest/files_priv.h"
#include "guest/process_copy_priv.h"

/* Makes `fd` a duplicate of `own`, and keeps the flags of `fd`. */
static void replace_descriptor(int fd, int own)
{
    int flags = fcntl(fd, F_GETFL), kept = fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0;
    fcntl(own, F_SETFL, flags & (O_NONBLOCK | O_APPEND));
    dup3(own, fd, kept);
}

/* Whether /proc/self/fd shows `fd` as `kind`. */
static bool is_kind(int fd, const char *kind)
{
    char path[PATH_MAX];
    return host_path(fd, path) == 0 && strcmp(path, kind) == 0;
}

static FILE *open_info(int fd)
{
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fdinfo/%d", fd);
    return fopen(name, "re");
}

/* ---- pipes: all descriptors of a pipe have the same inode */

static bool same_file(int fd, const struct stat *st)
{
    struct stat other;
    return fstat(fd, &other) == 0 && other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

bool copy_pipe(int fd, const struct stat *st)
{
    int own[2], reader = -1, size = fcntl(fd, F_GETPIPE_SZ);
    for (int i = 0; i < FD_PRIVATE && reader < 0; i++)
        if (same_file(i, st) && (fcntl(i, F_GETFL) & O_ACCMODE) != O_WRONLY)
            reader = i;
    if (size < 0 || pipe2(own, O_CLOEXEC) != 0)
        return false;
    for (int i = 0; i < 2; i++)
        if ((own[i] = files_make_private(own[i])) < 0)
            return false;
    fcntl(own[1], F_SETPIPE_SZ, size);
    if (reader >= 0)
        (void)!tee(reader, own[1], INT_MAX, SPLICE_F_NONBLOCK);
    for (int i = 0; i < FD_PRIVATE; i++)
        if (same_file(i, st))
            replace_descriptor(i, own[(fcntl(i, F_GETFL) & O_ACCMODE) == O_WRONLY]);
    close(own[0]);
    close(own[1]);
    return true;
}

/* ---- eventfds */

/* Kernels before 6.5 do not show whether an eventfd is a semaphore, but sys_eventfd2 has recorded it. */
bool copy_eventfd(const struct files *f, int fd)
{
    char line[256];
    uint64_t count = 0;
    FILE *info = is_kind(fd, "anon_inode:[eventfd]") ? open_info(fd) : NULL;
    bool known = false;
    int semaphore = f->open[fd] && f->open[fd]->semaphore;
    while (info && fgets(line, sizeof line, info)) {
        known |= sscanf(line, "eventfd-count: %" SCNx64, &count) == 1;
        (void)!sscanf(line, "eventfd-semaphore: %d", &semaphore);
    }
    if (info)
        fclose(info);
    int own = known ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | (semaphore ? EFD_SEMAPHORE : 0)) : -1;
    if (own < 0)
        return false;
    if (count)
        (void)!write(own, &count, sizeof count);
    replace_descriptor(fd, own);
    close(own);
    return true;
}

/* ---- epoll descriptors, after the descriptors that they watch */

bool copy_epoll(int fd)
{
    char line[256];
    FILE *info = is_kind(fd, "anon_inode:[eventpoll]") ? open_info(fd) : NULL;
    int own = info ? epoll_create1(EPOLL_CLOEXEC) : -1;
    bool complete = true;
    while (own >= 0 && fgets(line, sizeof line, info)) {
        int target;
        uint32_t events;
        uint64_t data;
        if (sscanf(line, "tfd: %d events: %" SCNx32 " data: %" SCNx64, &target, &events, &data) != 3)
            continue;
        struct epoll_event event = {.events = events, .data.u64 = data};
        complete &= epoll_ctl(own, EPOLL_CTL_ADD, target, &event) == 0; /* fails for borrowed descriptors */
    }
    if (info)
        fclose(info);
    if (own < 0)
        return false;
    if (complete)
        replace_descriptor(fd, own);
    close(own);
    return complete;
}
