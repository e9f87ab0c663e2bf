/* Pipes, event counters and epoll sets of the guest's own, made again for a shadow with what is in them. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "guest/files_priv.h"
#include "guest/shadow_priv.h"

/* Puts a new descriptor in the place of another, with the flags that this has. */
static void take_place(int fd, int own)
{
    int flags = fcntl(fd, F_GETFL), kept = fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0;
    fcntl(own, F_SETFL, flags & (O_NONBLOCK | O_APPEND));
    dup3(own, fd, kept);
}

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

/* ---- pipes: all descriptors of one are found by its inode */

static bool same_file(int fd, const struct stat *st)
{
    struct stat other;
    return fstat(fd, &other) == 0 && other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

bool shadow_pipe(int fd, const struct stat *st)
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
            take_place(i, own[(fcntl(i, F_GETFL) & O_ACCMODE) == O_WRONLY]);
    close(own[0]);
    close(own[1]);
    return true;
}

/* ---- event counters */

bool shadow_eventfd(int fd)
{
    char line[256];
    uint64_t count = 0;
    FILE *info = is_kind(fd, "anon_inode:[eventfd]") ? open_info(fd) : NULL;
    bool known = false;
    while (info && !known && fgets(line, sizeof line, info))
        known = sscanf(line, "eventfd-count: %" SCNx64, &count) == 1;
    if (info)
        fclose(info);
    int own = known ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
    if (own < 0)
        return false;
    if (count)
        (void)!write(own, &count, sizeof count);
    take_place(fd, own);
    close(own);
    return true;
}

/* ---- epoll sets, once what they watch is made again */

bool shadow_epoll(int fd)
{
    char line[256];
    FILE *info = is_kind(fd, "anon_inode:[eventpoll]") ? open_info(fd) : NULL;
    int own = info ? epoll_create1(EPOLL_CLOEXEC) : -1;
    while (own >= 0 && fgets(line, sizeof line, info)) {
        int target;
        uint32_t events;
        uint64_t data;
        if (sscanf(line, "tfd: %d events: %" SCNx32 " data: %" SCNx64, &target, &events, &data) != 3)
            continue;
        struct epoll_event event = {.events = events, .data.u64 = data};
        epoll_ctl(own, EPOLL_CTL_ADD, target, &event);
    }
    if (info)
        fclose(info);
    if (own < 0)
        return false;
    take_place(fd, own);
    close(own);
    return true;
}
